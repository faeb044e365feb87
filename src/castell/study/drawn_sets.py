"""Sets of attributes to draw from, where each respondent reports one of them.

`singles` and `pairs`, `sample` = k in general, take all sets of a width. `cover` takes fewer and
fuller ones: every respondent tells as much as their budget lets through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from castell.errors import StudyError
from castell.numbers import is_whole
from castell.study.schema import Schema, suggest

# Each set needs enough respondents of its own; more sets than this never get them.
MOST_BLOCKS = 1 << 14
DRAWN = ("singles", "pairs", "cover")


def sets_to_draw_from(
    schema: Schema, design: object, sample: int | None, epsilon: float
) -> list[tuple[str, ...]]:
    """The sets of attributes of which each respondent reports one."""
    names = schema.names
    if sample is not None or design in ("singles", "pairs"):
        width = sample if sample is not None else (1 if design == "singles" else 2)
        if not is_whole(width, 1):
            raise StudyError(f"sample is {sample!r}", "give how many attributes each one reports")
        # With fewer attributes than that there is one set, of all.
        width = min(width, len(names))
        _refuse_too_many(math.comb(len(names), width))
        return list(combinations(names, width))
    if design == "cover":
        return _cover(schema, epsilon)
    if design in ("independent", "joint", "bloom"):
        raise StudyError(f"design {design!r} with a draw", "name the sets to draw from as clusters")
    sets = clusters(schema, design)
    if len({frozenset(s) for s in sets}) < len(sets):
        raise StudyError("two clusters to draw from are the same", "list each once")
    missing = [name for name in names if not any(name in s for s in sets)]
    if missing:
        raise StudyError(f"no cluster to draw from holds {', '.join(missing)}", "add one that does")
    return sets


def _refuse_too_many(sets: int) -> None:
    if sets > MOST_BLOCKS:
        raise StudyError(
            f"there are {sets:,} or more sets of attributes to draw from",
            f"more than {MOST_BLOCKS:,} would get too few respondents each; use fewer",
        )


def _cover(schema: Schema, epsilon: float) -> list[tuple[str, ...]]:
    """Sets that hold every pair of attributes, with as many in each as one report can tell.

    k-ary response says the truth half of the time at e^epsilon combinations. A set up to that size
    informs on all its pairs at once for the price of one. Each set starts from the smallest pair
    that no set has yet and takes in what brings most such pairs, of these the smallest, while it
    fits.
    """
    names = schema.names
    if len(names) == 1:
        return [names]
    limit = math.exp(min(epsilon, 700.0))
    size = {name: schema[name].size for name in names}
    order = {name: i for i, name in enumerate(names)}
    pairs = sorted(combinations(names, 2), key=lambda pair: size[pair[0]] * size[pair[1]])
    missing, sets = set(pairs), []
    for pair in pairs:
        if pair not in missing:
            continue
        chosen_names = list(pair)
        while True:
            room = limit / math.prod(size[name] for name in chosen_names)
            gains = {
                name: sum(_pair(order, name, other) in missing for other in chosen_names)
                for name in names
                if name not in chosen_names and size[name] <= room
            }
            best = max(gains, key=lambda name: (gains[name], -size[name]), default=None)
            if best is None or not gains[best]:
                break
            chosen_names.append(best)
        chosen = tuple(sorted(chosen_names, key=order.__getitem__))
        sets.append(chosen)
        missing.difference_update(combinations(chosen, 2))
        _refuse_too_many(len(sets))
    return sets


def _pair(order: dict[str, int], one: str, two: str) -> tuple[str, str]:
    return (one, two) if order[one] < order[two] else (two, one)


def clusters(schema: Schema, design: object) -> list[tuple[str, ...]]:
    """Sets as a person lists them: names of the schema, each once in a set."""
    if isinstance(design, str) or not isinstance(design, Sequence):
        raise StudyError(
            f"{design!r} is not a design",
            f"use 'independent', 'joint', {', '.join(map(repr, DRAWN))}, 'bloom', 'inpht' or "
            "clusters, a list of lists of attribute names",
        )
    listed: list[tuple[str, ...]] = []
    for cluster in design:
        if isinstance(cluster, str) or not isinstance(cluster, Sequence) or not cluster:
            raise StudyError(
                f"{cluster!r} is not a cluster", "write each as a list of attribute names"
            )
        for name in cluster:
            if name not in schema.names:
                raise StudyError(
                    f"a cluster names {name!r}, which is no attribute",
                    suggest(str(name), schema.names),
                )
        if len(set(cluster)) < len(cluster):
            raise StudyError(f"cluster {list(cluster)} names one twice", "name each once")
        listed.append(tuple(cluster))
    return listed
