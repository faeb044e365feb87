"""Whether blocks agree: what each tells of an attribute that several of them hold.

Who draws which block is a matter of chance, so honest reports of all blocks tell the same margins,
up to noise. Reports that are forged in some blocks only, or more in some than in others, do not.
A forger who draws as honest people do and lies alike in every block is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.counting import Counts, samples_with
from castell.inference.chisquare import p_text, tail
from castell.inference.constants import ALARM
from castell.inference.inversion import observe
from castell.linear.operators import Floats
from castell.results.trust.signal import Signal, unknown_signal

KEY, TITLE = "agreement", "Blocks that disagree"
# Fewer reports of a block say too little of their own variance.
LEAST_REPORTS = 200


@dataclass(frozen=True)
class Agreement:
    """The test of one attribute: margins of several blocks against their common one."""

    name: str
    blocks: int
    statistic: float
    freedom: int
    p: float
    farthest: tuple[str, ...]  # the block that is farthest from the others


def agreements(counts: Counts, names: Sequence[str]) -> tuple[Agreement, ...]:
    """The attributes that two blocks or more tell, each tested."""
    found = (_agreement(counts, name) for name in names)
    return tuple(one for one in found if one is not None)


def _agreement(counts: Counts, name: str) -> Agreement | None:
    samples = [s for s in samples_with(counts, [name]) if s.n >= LEAST_REPORTS]
    if len(samples) < 2:
        return None
    values: list[Floats] = []
    precisions: list[Floats] = []
    for sample in samples:
        seen = observe(sample, [name])
        # The last share follows from the others.
        gains = seen.parts[0].lens.inverse.dense()[:-1]
        shares = seen.smoothed().frequencies().ravel()
        mean = gains @ shares
        spread = (gains * shares) @ gains.T - np.outer(mean, mean)
        values.append(seen.invert().ravel()[:-1])
        precisions.append(np.asarray(np.linalg.inv(spread / seen.n), dtype=np.float64))
    common = np.linalg.solve(
        sum(precisions[1:], start=precisions[0]),
        sum((p @ v for p, v in zip(precisions, values, strict=True)), start=np.zeros(1)),
    )
    off = [_distance(v - common, p) for v, p in zip(values, precisions, strict=True)]
    freedom = (len(samples) - 1) * len(common)
    statistic = float(sum(off))
    farthest = samples[int(np.argmax(off))].study.names
    return Agreement(name, len(samples), statistic, freedom, tail(statistic, freedom), farthest)


def _distance(off: Floats, precision: Floats) -> float:
    return float(off @ precision @ off)


def agreement(counts: Counts, names: Sequence[str]) -> Signal:
    """Whether the blocks that hold some attributes agree on each of them."""
    tests = agreements(counts, names)
    if not tests:
        why = "No two blocks with enough reports hold the same attribute: nothing to compare."
        return unknown_signal(KEY, TITLE, why)
    worst = min(tests, key=lambda test: test.p)
    p = min(1.0, worst.p * len(tests))
    apart = p < ALARM
    if apart:
        text = (
            f"Blocks tell different shares of '{worst.name}'; {' x '.join(worst.farthest)} stands "
            "out most. Who draws what is chance, so honest reports agree: some are forged, or "
            "devices do not draw as they should."
        )
    else:
        text = f"{worst.blocks} blocks or fewer tell the same of each attribute."
    return Signal(
        KEY,
        TITLE,
        "look" if apart else "fine",
        f"p {p_text(p)}",
        text,
        f"chi-square of each block's margin against their common one, {len(tests)} attributes, the "
        f"worst with {worst.freedom} degrees of freedom, statistic {worst.statistic:.1f}, p "
        f"{p_text(p)} for all",
        {"p": p, "statistic": worst.statistic, "freedom": worst.freedom},
    )
