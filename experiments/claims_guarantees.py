"""Claims about what is guaranteed and what it costs: privacy, the inverse, time, bounds."""

from __future__ import annotations

from math import ceil, exp, log2

import numpy as np

from experiments._clock import problem
from experiments.text import number
from experiments.verdict import HOLDS, MODEL, NOT, Results, Verdict


def privacy(results: Results) -> Verdict:
    """Theorem ldp: epsilon for each attribute, m epsilon in all."""
    about = results["fig_adw"]["real"]["about"]
    totals = ", ".join(f"{total:g}" for total in about["total"])
    each = about["each"]
    return Verdict(
        HOLDS,
        f"exact: a report is at most e^{each:g} = {exp(each):.2f} times likelier for one value of "
        f"an attribute than for another; {each:g} each is {totals} in all on the data sets",
    )


def unique_inverse(_: Results) -> Verdict:
    """Theorem otimes: the inverse of the product is the product of the inverses."""
    answers = [np.asarray(call()) for call in problem(4).values()]
    same = all(np.allclose(answers[0], other, rtol=0.0, atol=1e-12) for other in answers[1:])
    return Verdict(
        HOLDS if same else NOT,
        "naive, reduced and castell agree to 1e-12 on a table of 3^4 cells; published before (Wang,"
        " Wu and Hu 2016; Vinterbo 2018)",
    )


def cost(results: Results) -> Verdict:
    growth = results["table_invcost"]["real"]["growth"]["castell"]
    return Verdict(
        f"storage {HOLDS}; time {NOT}",
        f"an attribute of 3 values more takes {growth['bytes']:.1f} times the memory and "
        f"{growth['median']:.1f} times the time: the table has 3 times the cells. Linear are "
        "the small inversions alone",
    )


def seconds(results: Results) -> Verdict:
    records = [r for r in results["fig_time"]["real"]["records"] if r["way"] == "castell"]
    time = {r["w"]: r["median"] for r in records}
    more = (time[6] - time[2]) / 4
    quick = time[6] <= 0.007 and more <= 2e-5
    return Verdict(
        HOLDS if quick else NOT,
        f"{time[6]:.1e} s for 3^6 cells, {more:.0e} s an attribute from 2 to 6",
    )


def order_of_ways(results: Results) -> Verdict:
    records = results["fig_time"]["real"]["records"]
    last = {r["way"]: r["median"] for r in records if r["w"] == 6}
    right = last["naive"] > last["reduced"] > last["castell"]
    return Verdict(
        HOLDS if right else NOT, ", ".join(f"{way} {time:.1e} s" for way, time in last.items())
    )


def upper_bounds(results: Results) -> Verdict:
    curves = results["table_crossover"]["real"]["curves"]["w*"]
    pair = next(p for p in curves if p["x"] == 2)
    return Verdict(
        f"Th. rrind.mse {HOLDS} with its inequalities turned round; Th. avd {MODEL}",
        "largest MSE / (V²/d) of random tables .5 at most; castell on pairs of Adult errs by "
        f"{number(pair['castell'])} at 1 each. The bounds' thresholds are far from those measured",
    )


def efficiency(results: Results) -> Verdict:
    """Table rrs: what a respondent sends, and what inverting costs."""
    cells = next(
        r["cells"] for r in results["table_datasets"]["real"]["records"] if r["data"] == "adult"
    )
    bits = ceil(log2(cells))
    return Verdict(
        f"of the proposed schemes {HOLDS}; that RR-Joint is worse {NOT}",
        f"all eight answers of Adult are {bits} bits, randomised together or apart; the channel of "
        "RR-Joint has an inverse in closed form",
    )
