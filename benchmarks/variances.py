"""Variances of mechanisms: what their papers say, what the weights say, and 4,000 collections.

The variance of 200 numbers is itself known to 10 % only, and to 3 % pooled over values that nobody
gave (frequencies) or over the numbers of a grid (means): 4,000 collections can tell 5 %. What the
weights say is exact: no noise stands between it and the paper. `by the paper` is the variance of
the paper's own estimate of the same reports, how many speak for an answer less those that would
anyway; castell's also knows that shares sum to one.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np

from benchmarks._text import grid
from castell.channels import Channel, CyclicResponse, mechanism
from castell.channels.fake_data import FakeDataResponse
from castell.channels.hybrid import number_variance
from castell.channels.supported import SupportedChannel
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.linear.operators import Floats

EPSILON, VALUES, PEOPLE, REPEATS = 1.0, 11, 2000, 4000
FREQUENCIES = ("grr", "sue", "oue", "olh", "subset", "hadamard", "rs+fd")
NUMBERS = ("harmony", "piecewise", "hybrid")
# Points of the grid of numbers, and how many of them people have.
GRID, NUMBERS_ASKED = 41, 9


def run(quick: bool) -> dict[str, Any]:
    repeats = 3 if quick else REPEATS
    rows = [_frequency(name, repeats) for name in FREQUENCIES]
    rows += [_number(name, repeats) for name in NUMBERS]
    sizes = {"values": VALUES, "people": PEOPLE, "repeats": repeats}
    return {"epsilon": EPSILON, **sizes, "rows": rows}


def _of(p: float, q: float) -> float:
    return q * (1.0 - q) / (p - q) ** 2


def paper_variance(name: str, k: int, epsilon: float) -> float:
    """The variance for each report of the share of a value that nobody gave, as papers state it."""
    e = exp(epsilon)
    if name == "grr":
        return (k - 2 + e) / (e - 1.0) ** 2
    if name == "sue":
        return exp(epsilon / 2) / (exp(epsilon / 2) - 1.0) ** 2
    if name == "oue":
        return 4.0 * e / (e - 1.0) ** 2
    if name == "olh":
        g = round(e + 1.0)
        return _of(e / (e + g - 1.0), 1.0 / g)
    if name == "subset":
        d = max(1, round(k / (e + 1.0)))
        p = d * e / (d * e + k - d)
        return _of(p, p * (d - 1) / (k - 1) + (1.0 - p) * d / (k - 1))
    if name == "hadamard":
        return _of(e / (e + 1.0), 0.5)
    p, q = e / (e + k - 1.0), 1.0 / (e + k - 1.0)  # rs+fd among two attributes
    seen = (q + 1.0 / k) / 2.0
    return 4.0 * seen * (1.0 - seen) / (p - q) ** 2


def _frequency(name: str, repeats: int) -> dict[str, Any]:
    """Everybody gives the first of so many values; the shares of the others are all noise."""
    channel: Channel
    if name == "rs+fd":
        channel = FakeDataResponse.with_epsilon((VALUES, VALUES), EPSILON)
        lens = channel.project((VALUES, VALUES), (0,))
        forward, read = lens.forward.dense()[:, 0], lens.inverse.dense()[1:]
    else:
        channel = mechanism(name, VALUES, EPSILON)
        forward, read = channel.forward.dense()[:, 0], channel.inverse.dense()[1:]
    squares = []
    for seed in range(repeats):
        codes = respond(channel, np.zeros(PEOPLE, dtype=np.intp), seeded_words(seed))
        codes = codes.astype(np.int64) // (VALUES if name == "rs+fd" else 1)
        counts = np.bincount(codes, minlength=len(forward))
        squares.append(PEOPLE * float(np.mean((read @ counts / PEOPLE) ** 2)))
    exact = float((read**2 @ forward).mean())
    found = _row(name, paper_variance(name, VALUES, EPSILON), exact, np.array(squares))
    return {**found, "own": support_variance(channel)}


def support_variance(channel: Channel) -> float | None:
    """The variance for each report of the usual estimate: how many reports speak for an answer."""
    if isinstance(channel, SupportedChannel):
        support = channel.support()
    elif isinstance(channel, CyclicResponse):
        support = channel.member().dense()
    else:
        return None
    p, *others = support @ channel.forward.dense()[:, 0]
    return float(np.mean([_of(p, q) for q in others]))


def _number(name: str, repeats: int) -> dict[str, Any]:
    """Means of people who all have one number, pooled over some numbers."""
    size = 2 if name == "harmony" else GRID
    channel, ends = mechanism(name, size, EPSILON), np.linspace(-1.0, 1.0, size)
    numbers = np.linspace(-1.0, 1.0, NUMBERS_ASKED)
    # On the grid, or one of two ends, by chance, so that their mean is the number.
    up = np.clip((numbers[:, None] - ends) * (size - 1) / 2.0, -1.0, 1.0)
    rounded = 1.0 - np.abs(up)
    read, matrix = ends @ channel.inverse.dense(), rounded @ channel.forward.dense().T
    exact = float((matrix @ read**2 - numbers**2).mean())
    paper = float(np.mean([number_variance(name, x, EPSILON) for x in numbers]))
    squares = []
    for seed in range(repeats):
        off = []
        for place, chances in enumerate(rounded):
            generator = np.random.default_rng([seed, place])
            codes = generator.choice(size, PEOPLE, p=chances).astype(np.intp)
            made = respond(channel, codes, seeded_words(1000 * seed + place))
            off.append(float(read[made].mean()) - numbers[place])
        squares.append(PEOPLE * float(np.mean(np.square(off))))
    return _row(name, paper, exact, np.array(squares))


def _row(name: str, paper: float, exact: float, squares: Floats) -> dict[str, Any]:
    spread = float(squares.std(ddof=1) / sqrt(len(squares)))
    measured = float(squares.mean())
    return {
        "mechanism": name,
        "own": None,
        "paper": paper,
        "exact": exact,
        "measured": measured,
        "spread": spread,
    }


def show(result: dict[str, Any]) -> str:
    rows = [
        [
            row["mechanism"],
            f"{row['paper']:.3f}",
            f"{row['exact']:.3f}",
            f"{row['exact'] / row['paper']:.3f}",
            "" if row["own"] is None else f"{row['own'] / row['paper']:.3f}",
            f"{row['measured']:.3f} ± {row['spread']:.3f}",
            f"{row['measured'] / row['exact']:.3f}",
        ]
        for row in result["rows"]
    ]
    head = [
        "mechanism",
        "paper",
        "from the weights",
        "ratio",
        "by the paper",
        "measured",
        "to the weights'",
    ]
    said = f"{result['repeats']} collections of {result['people']:,}, epsilon {result['epsilon']:g}"
    return f"{grid(head, rows)}\n\n{said}; variance for each report, {result['values']} values"
