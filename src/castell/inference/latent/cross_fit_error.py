"""How wrong a mixture is about associations, pair by pair, by the reports held out from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np

from castell.counting import Counts
from castell.inference.association_error import (
    AssociationError,
    HeldOut,
    Pair,
    Residuals,
    association_error,
    groups_of,
    residuals,
)
from castell.inference.inversion import Observed, Part, parts_of
from castell.inference.latent.coarse_blocks import Leaves
from castell.inference.latent.cross_validation import Hyperparameters
from castell.inference.latent.em import CountedTable
from castell.inference.latent.leaf_residuals import leaf_residuals
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.structural_zero_mixture import Answers
from castell.inference.latent.sufficient_statistics import (
    BlockTable,
    LeafTable,
    PairTables,
    studies_of_tables,
)
from castell.linear.operators import Floats
from castell.study.study import Study

T = TypeVar("T")
Key = tuple[int, int, int]  # which table of the reports, and which two attributes


def mixture_error(
    counts: Counts,
    mixture: Mixture,
    hyperparameters: Hyperparameters,
    fold_models: Sequence[Answers],
    leaves: Sequence[Leaves] = (),
) -> AssociationError:
    """The mean squared error of a mixture's associations, overall and of each pair.

    `fold_models` are what it answers without each fold, `leaves` those of blocks that ask coarsely.
    """
    found: dict[Pair, list[Residuals]] = {}
    for pair, each in _residuals(counts, mixture, hyperparameters, fold_models):
        found.setdefault(pair, []).append(each)
    held_out = hyperparameters.held_out
    if leaves and held_out:
        for places, each in leaf_residuals(held_out, hyperparameters.fold_models, leaves):
            asked = frozenset(counts.study.names[place] for place in places)
            found.setdefault(asked, []).append(each)
    return association_error(found)


def _residuals(
    counts: Counts,
    mixture: Mixture,
    hyperparameters: Hyperparameters,
    fold_models: Sequence[Answers],
) -> Iterator[tuple[Pair, Residuals]]:
    """For each pair of attributes that some table of the reports holds."""
    names = counts.study.names
    homes = studies_of_tables(counts)
    folds = [_observe_pairs(names, homes, tables) for tables in hyperparameters.held_out]
    if not folds:
        return
    # The same tables, with what the mixture expects in place of what was counted.
    tables = [t.with_counts(t.report_probabilities(mixture)) for t in hyperparameters.held_out[0]]
    expected = _observe_pairs(names, homes, tables)
    # Repeatable: nobody's privacy depends on it.
    generator = np.random.default_rng(0)
    margins = [mixture.weights @ part for part in mixture.parts]
    groups = [groups_of(margin, generator) for margin in margins]
    for (one, two), homes_of_pair in tables_of_pairs(sorted(set().union(*folds))):
        keys = [(home, one, two) for home in homes_of_pair]
        found = residuals(
            [HeldOut([fold.get(k) for fold in folds], expected[k].frequencies()) for k in keys],
            [model.table([one, two]) for model in fold_models],
            groups[one],
            groups[two],
        )
        if found is not None:
            yield frozenset((names[one], names[two])), found


def tables_of_pairs(keys: Sequence[Key]) -> Iterator[tuple[tuple[int, int], list[int]]]:
    """Each pair with the tables that hold it; where there are many, some that stand for all."""
    found: dict[tuple[int, int], list[int]] = {}
    for home, one, two in keys:
        found.setdefault((one, two), []).append(home)
    pairs = sorted(found)
    pairs = pairs[:: max(-(-len(pairs) // SETTINGS.most_pairs), 1)]
    most = max(SETTINGS.most_tables_of_pairs // max(len(pairs), 1), 1)
    for pair in pairs:
        yield pair, evenly(found[pair], most)


def evenly(every: Sequence[T], most: int) -> list[T]:
    """Some that stand for all: the middles of as many equal parts."""
    if len(every) <= most:
        return list(every)
    return [every[int((k + 0.5) * len(every) / most)] for k in range(most)]


def _observe_pairs(
    names: Sequence[str], homes: Sequence[Study], tables: Sequence[CountedTable]
) -> dict[Key, Observed]:
    """The reports of every pair, in the tables they were counted in: those of one study once."""
    found: dict[Key, Observed] = {}
    seen: set[tuple[int, int, int]] = set()
    for i, (home, table) in enumerate(zip(homes, tables, strict=True)):
        if isinstance(table, PairTables):
            found |= {(i, *pair): view for pair, view in _across(home, table)}
        elif isinstance(table, LeafTable):
            continue  # no pair of attributes can be told from the others' leaves
        elif isinstance(table, BlockTable) and table.counts.sum():
            for one, two in combinations(sorted(table.attributes), 2):
                if (id(home), one, two) in seen:
                    continue
                seen.add((id(home), one, two))
                pair = [names[one], names[two]]
                found[i, one, two] = _within(home, table, names, pair)
    return found


def _across(study: Study, table: PairTables) -> Iterator[tuple[tuple[int, int], Observed]]:
    """Pairs of attributes that are reported apart."""
    ends = np.cumsum([0, *(f.rows for f in table.forward)])
    owners = [study.design.holders(name)[0] for name in study.names]
    for one, two in combinations(range(len(owners)), 2):
        if owners[one] == owners[two]:
            continue
        pair = [study.names[one], study.names[two]]
        parts = parts_of(study, pair)
        counts = table.counts[ends[one] : ends[one + 1], ends[two] : ends[two + 1]]
        if parts[0].names[0] != pair[0]:
            counts = counts.T
        if counts.sum():
            yield (one, two), _observe(study, pair, parts, counts)


def _within(study: Study, table: BlockTable, names: Sequence[str], pair: Sequence[str]) -> Observed:
    """A pair of one block, out of the table of more of its attributes."""
    asked = [names[a] for a in table.attributes]
    every = parts_of(study, asked)
    shape = [axis.size for part in every for axis in part.axes]
    counts = table.counts.reshape(shape)
    return _observe(study, asked, every, counts).project(pair)


def _observe(
    study: Study, names: Sequence[str], parts: tuple[Part, ...], table: Floats
) -> Observed:
    return Observed(study, study.schema.select(names), parts, table, round(float(table.sum())))
