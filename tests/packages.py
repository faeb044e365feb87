"""Packages to install in tests, without a network or a builder."""

from __future__ import annotations

from pathlib import Path

CODE = '''
"""Even shares: nothing is learned from the reports."""
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from castell.extend import WeightedChannel, count_batches, batch_moments, entries, table_method

@table_method
def even(counts, names, *, lift=0.0):
    """Every cell alike, whatever the reports say."""
    sizes = [counts.study.schema[name].size for name in names]
    return np.full(sizes, 1 / np.prod(sizes)) + lift

@dataclass(frozen=True)
class Coin(WeightedChannel):
    kind: ClassVar[str] = "coin"
    heads: int
    def weights(self):
        return [[self.heads, 1], [1, self.heads]]
    def document(self):
        return {"kind": self.kind, "heads": self.heads}
    @classmethod
    def from_document(cls, document):
        return cls(*entries(document, "heads"))

class Lies(Coin):
    kind: ClassVar[str] = "lies"
    @property
    def exact_epsilon(self):
        return super().exact_epsilon / 2

@dataclass(frozen=True, eq=False)
class TextCounts:
    path: object
    study: object
    secure: bool = True
    backend: object = None
    @property
    def n(self):
        return sum(len(columns[0]) for columns in self.batches([0]))
    def batches(self, blocks):
        yield list(np.loadtxt(self.path, dtype=int, ndmin=2)[:, list(blocks)].T)
    def table(self, axes):
        return count_batches(self, axes)
    def moments(self, queries):
        return batch_moments(self, queries)

class Text:
    @staticmethod
    def opens(source):
        return str(source).endswith(".txt")
    @staticmethod
    def open(source, study, progress):
        return TextCounts(source, study)

def failing(counts):
    """Fails when it is used."""
    raise ZeroDivisionError("oh")

def nothing(source, study, progress):
    return 3

def other(source, study, progress):
    import castell
    return TextCounts(source, castell.Study(study.schema, 1.0))

number = 3
'''


def unpacked(
    folder: Path, package: str = "even-shares", code: str = CODE, **groups: dict[str, str]
) -> None:
    """A package in a folder, as an installer leaves it: its module, and its entry points."""
    module = package.replace("-", "_")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines.append(f"[castell.{group}]")
        lines += [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
