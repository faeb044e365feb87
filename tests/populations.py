"""Populations to test on, and reports drawn from them without a respondent being simulated.

Nothing here uses the package's inverses or expectations: the channels are written out as dense
matrices from their integer weights, so that what is tested is compared with something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, KaryResponse, MatrixResponse, Reports, Schema, Study
from castell.channels import CyclicResponse
from castell.channels.difference_sets import singer
from castell.inference.inversion import Observed, parts_of
from castell.linear.operators import Floats
from castell.study.design import Block, Design

# Rows are answers; neither symmetric nor doubly stochastic, and one with more reports than answers.
ASYMMETRIC = [[0.7, 0.2, 0.1], [0.15, 0.8, 0.05], [0.3, 0.1, 0.6]]
RECTANGULAR = [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]


def studies(each: float = 2.0) -> dict[str, Study]:
    """Designs of every kind over attributes of 2, 3 and 4 values, `each` epsilon an attribute.

    The cluster is not in the order of the schema, and neither are its attributes in it.
    """
    asked = schema((2, 3, 4))
    two = {"a": each, "c": each}
    clusters = [["c", "a"], ["b"]]
    return {
        "independent": Study(asked, 3 * each),
        "joint": Study(asked, 3 * each, "joint"),
        "clusters": Study(asked, 3 * each, clusters),
        "matrix": Study(asked, shares=two, channels={"b": ASYMMETRIC}),
        "mixed": Study(asked, None, clusters, shares=two, channels={"b": ASYMMETRIC}),
    }


def own_cluster() -> Study:
    """One asymmetric matrix for two attributes, in another order than the schema's."""
    weights = np.random.default_rng(5).integers(1, 9, (8, 8))
    weights[np.arange(8), np.arange(8)] += 100 - weights.sum(axis=1)
    channels = {("c", "a"): MatrixResponse(weights.tolist())}
    return Study(schema((2, 3, 4)), None, [["c", "a"]], shares={"b": 2.0}, channels=channels)


def rectangular(each: float = 2.0) -> Study:
    """The same attributes, and reports of the first that are no answers."""
    shares = {"b": each, "c": each}
    return Study(schema((2, 3, 4)), shares=shares, channels={"a": RECTANGULAR})


def tiny() -> Study:
    """2 x 3 values through small integers, so that every report has a simple fraction."""
    channels = {
        "a": MatrixResponse([[3, 1], [1, 3]]),
        "b": MatrixResponse([[14, 4, 2], [3, 16, 1], [6, 2, 12]]),
    }
    return Study(schema((2, 3)), channels=channels)


def tiny_drawn() -> Study:
    """3 x 5 x 2 values, of which each respondent reports a block, through small integers.

    Blocks overlap, in no order, and no two are alike: as many reports as answers that are no
    answers, more reports than answers, a k-ary response with digits, an asymmetric matrix.
    """
    blocks = (
        Block(("b", "a"), (5, 3), CyclicResponse(15, 15, singer(2, 4), 3, 1)),
        Block(("c", "a"), (2, 3), KaryResponse(6, 4, 1)),
        Block(("a",), (3,), CyclicResponse(3, 7, (0, 1, 3), 5, 2)),
        Block(("b", "c"), (5, 2), CyclicResponse(10, 13, singer(3, 3), 3, 1)),
        Block(("c",), (2,), MatrixResponse([[8, 2], [3, 7]])),
    )
    return Study(schema((3, 5, 2)), design=Design(blocks, draw=True))


def drawn_studies() -> dict[str, Study]:
    """Designs of every kind in which each respondent reports one block."""
    clusters = [["c", "a"], ["b"], ["b", "c"]]
    return {
        "singles": Study(schema((2, 3, 4)), 2.0, "singles"),
        "pairs": Study(schema((2, 3, 4)), 2.0, "pairs"),
        "cover": Study(schema((2, 3, 4)), 2.5, "cover"),
        "clusters": Study(schema((2, 3, 4)), 2.0, clusters, draw=True),
        "cyclic": Study(schema((5, 3, 20)), 0.7, "pairs"),
        "tiny": tiny_drawn(),
    }


@dataclass(frozen=True, eq=False)
class Population:
    """A distribution of answers: one axis for each attribute, in the order of the schema."""

    schema: Schema
    table: Floats

    def margin(self, names: Sequence[str]) -> Floats:
        """The true table of some attributes, in the order asked."""
        gone = tuple(i for i, name in enumerate(self.schema.names) if name not in names)
        kept = [name for name in self.schema.names if name in names]
        table: Floats = self.table.sum(axis=gone)
        return table.transpose([kept.index(name) for name in names])

    def codes(self, n: int, seed: int) -> dict[str, NDArray[np.intp]]:
        """The answers of n people as integers, a column for each attribute."""
        flat = np.random.default_rng(seed).choice(self.table.size, n, p=self.table.ravel())
        columns = np.unravel_index(flat, self.table.shape)
        return dict(zip(self.schema.names, columns, strict=True))

    def answers(self, n: int, seed: int) -> dict[str, list[str]]:
        """The answers of n people as labels: what a frame would hold."""
        codes = self.codes(n, seed)
        return {a.name: [a.values[code] for code in codes[a.name]] for a in self.schema}


def schema(sizes: Sequence[int], names: Sequence[str] | None = None) -> Schema:
    """Attributes a, b, c... with values a0, a1..."""
    names = names or "abcdefghijklmnopqrstuvwxyz"[: len(sizes)]
    pairs = zip(names, sizes, strict=True)
    return Schema([Attribute(name, [f"{name}{i}" for i in range(k)]) for name, k in pairs])


def population(sizes: Sequence[int], seed: int = 0, *, sharpness: float = 1.0) -> Population:
    """Attributes with real association: a mixture of a few classes of respondents.

    The larger `sharpness`, the more a class's answers gather on few values.
    """
    generator = np.random.default_rng(seed)
    table = np.zeros(tuple(sizes))
    for weight in generator.dirichlet(np.full(4, 3.0)):
        margins = [generator.dirichlet(np.full(size, 1.0 / sharpness)) for size in sizes]
        table += weight * reduce(np.multiply.outer, margins)
    return Population(schema(sizes), table / table.sum())


def sparse(sizes: Sequence[int], held: int, seed: int = 0) -> Population:
    """Nearly everybody in a few cells, next to nobody in the others."""
    generator = np.random.default_rng(seed)
    table = np.zeros(prod(sizes))
    table[generator.choice(table.size, held, replace=False)] = generator.dirichlet(np.ones(held))
    table = 0.999 * table + 0.001 / table.size
    return Population(schema(sizes), table.reshape(tuple(sizes)))


def product(margins: Mapping[str, Sequence[float]]) -> Population:
    """Attributes that have nothing to do with each other."""
    table = reduce(np.multiply.outer, [np.array(margin) for margin in margins.values()])
    return Population(schema(table.shape, list(margins)), np.asarray(table))


def pairs(first: Floats, second: Floats) -> Population:
    """Attributes a, b, c, d: a goes with c and b with d, and nothing else with anything."""
    table = np.einsum("ac,bd->abcd", first, second)
    return Population(schema(table.shape), table)


# -- channels as dense matrices ------------------------------------------------------------------


def matrix(block: Block) -> Floats:
    """Row x holds the probabilities of the reports of answer x."""
    return np.array(block.channel.weights(), dtype=np.float64) / block.channel.total


def kronecker(matrices: Iterable[Floats]) -> Floats:
    result = np.ones((1, 1))
    for one in matrices:
        result = np.asarray(np.kron(result, one), dtype=np.float64)
    return result


def whole_matrix(study: Study) -> Floats:
    """The matrix of all blocks at once, from answers to reports, in the order of the blocks.

    Where one block is drawn, the answers are in the order of the schema.
    """
    if study.design.draw:
        return drawn_matrix(study)
    return kronecker(matrix(block) for block in study.design.blocks)


def drawn_matrix(study: Study) -> Floats:
    """A row for each combination of all answers, a column for each report: a drawn code, and what
    is public."""
    blocks = study.design.hidden
    public = [study.names.index(block.names[0]) for block in study.design.public]
    shown = [study.schema.sizes[place] for place in public]
    matrices = [matrix(block) / len(blocks) for block in blocks]
    rows = []
    for answers in np.ndindex(*study.schema.sizes):
        row: list[float] = []
        for block, chances in zip(blocks, matrices, strict=True):
            own = tuple(answers[study.names.index(name)] for name in block.names)
            row += chances[np.ravel_multi_index(own, block.sizes)].tolist()
        plain = np.zeros(shown)
        plain[tuple(answers[place] for place in public)] = 1.0
        rows.append(np.multiply.outer(row, plain).ravel())
    return np.array(rows)


def by_blocks(study: Study, table: NDArray[Any]) -> NDArray[Any]:
    """A table over the schema with its axes in the order of the blocks."""
    if study.design.draw:
        return table
    held = [name for block in study.design.blocks for name in block.names]
    return table.transpose([study.names.index(name) for name in held])


def by_schema(study: Study, flat: NDArray[Any]) -> NDArray[Any]:
    """The way back, from a vector over the answers in the order of the blocks."""
    held = [name for block in study.design.blocks for name in block.names]
    table = flat.reshape([study.schema[name].size for name in held])
    return table.transpose([held.index(name) for name in study.names])


def report_shape(study: Study) -> tuple[int, ...]:
    outputs = tuple(block.channel.outputs for block in study.design.hidden)
    public = tuple(block.channel.outputs for block in study.design.public)
    if study.design.draw:
        return (sum(outputs), *public)
    return tuple(block.channel.outputs for block in study.design.blocks)


def report_distribution(study: Study, table: Floats) -> Floats:
    """How likely each report is: one axis for each block, or one in all if one is drawn."""
    flat = by_blocks(study, table).ravel() @ whole_matrix(study)
    return np.asarray(flat.reshape(report_shape(study)))


def observed_exactly(study: Study, table: Floats) -> Observed:
    """What would be observed over all attributes if every report came as often as expected.

    For channels with as many reports as answers. n is 1: variances are those of one report.
    """
    parts = parts_of(study, study.names)
    sizes = [axis.size for part in parts for axis in part.axes]
    chances = report_distribution(study, table).reshape(sizes)
    return Observed(study, study.schema.attributes, parts, chances, 1)


def dense_inverse(study: Study) -> Floats:
    """What each report adds to each cell: an axis for each attribute, and one for the reports.

    Brute force, from the matrix of the whole study; for as many reports as answers.
    """
    inverse = np.linalg.inv(whole_matrix(study).T)
    return np.stack([by_schema(study, column) for column in inverse.T], axis=-1)


# -- reports -------------------------------------------------------------------------------------


def reports_of(study: Study, counts: NDArray[Any], *, secure: bool = True) -> Reports:
    """Reports with given counts, one axis for each block."""
    flat = np.repeat(np.arange(counts.size), counts.ravel())
    return Reports(study, np.unravel_index(flat, report_shape(study)), secure=secure)


def flat_codes(reports: Reports) -> NDArray[np.intp]:
    """Each report as one number, in the order of `report_distribution` when flattened."""
    columns = tuple(column.astype(np.intp) for column in reports.columns)
    return np.asarray(np.ravel_multi_index(columns, report_shape(reports.study)), dtype=np.intp)


def collect(study: Study, table: Floats, n: int, generator: np.random.Generator) -> Reports:
    """The reports of n respondents drawn from a population."""
    if max(report_shape(study)) > 1 << 20:
        # No table holds reports such as Bloom filters: the respondents are asked one by one.
        flat = generator.choice(table.size, n, p=table.ravel())
        columns = np.unravel_index(flat, table.shape)
        answers = {
            a.name: [a.values[code] for code in codes]
            for a, codes in zip(study.schema, columns, strict=True)
        }
        reports = study.randomize(answers, seed=int(generator.integers(1 << 32)))
        return Reports(study, reports.columns, secure=True)
    chances = report_distribution(study, table).ravel()
    counts = generator.multinomial(n, chances / chances.sum())
    return reports_of(study, counts.reshape(report_shape(study)))


def ask(study: Study, people: NDArray[Any], generator: np.random.Generator) -> Reports:
    """The reports of fixed respondents: `people` counts them, an axis for each attribute."""
    flat = by_blocks(study, people).ravel()
    chances = whole_matrix(study)
    counts = generator.multinomial(flat, chances).sum(axis=0)
    return reports_of(study, counts.reshape(report_shape(study)))
