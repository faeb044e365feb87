"""Table comp: AVD of every scheme on Adult, two to six attributes, at three readings of epsilon.

The caption says epsilon = 4. Theorem ldp counts epsilon for each attribute, so 4 each, 32 in all,
is the most generous reading. The printed numbers are those of the rounding model at 1 each, 8 in
all. The third reading is what one respondent spends in all, .5 each. RR-Joint randomises just the
attributes asked, as one, with their share of the budget; hybrid is castell up to four attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from castell.linear.operators import Floats
from experiments import datasets
from experiments.harness import REFERENCES, Scheme, draw_sets, schemes, summarise
from experiments.lines import lines
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, describe
from experiments.text import Result, Table, number, pick

WIDTHS = (2, 3, 4, 5, 6)
PRINT = {
    "castell": (0.0004, 0.0023, 0.0129, 0.0635, 0.3384),
    "independent": (0.0588, 0.0669, 0.0395, 0.0405, 0.0215),
    "hybrid": (0.0004, 0.0023, 0.0129, 0.0405, 0.0215),
    "truncated": (0.0004, 0.0019, 0.0068, 0.0182, 0.0223),
    "RR-Joint": (0.0001, 0.0004),
    "lopub": (0.1262, 0.2832, 0.3560, 0.3891, 0.4576),
}
# The column "mean" as it is printed; that of independent is .00004 above what its row gives.
PRINTED_MEANS = {
    "castell": 0.0835,
    "independent": 0.0455,
    "hybrid": 0.0155,
    "truncated": 0.0099,
    "RR-Joint": 0.0003,
    "lopub": 0.3224,
}
GOLDEN = {
    "castell": (0.0005, 0.0026, 0.0141, 0.0695, 0.3003),
    "truncated, no cell < 0": (0.0005, 0.0022, 0.0073, 0.0165, 0.0232),
}
# Computed before, independently: epsilon 1 each, real noise.
REAL = {
    "castell": (0.044, 0.107, 0.245, 0.517, 1.24),
    "truncated, no cell < 0": (0.037, 0.052, 0.058, 0.084, 0.159),
}
CAPTION, TOTAL = 4.0, 4.0
PROPOSED = ("castell", "hybrid", "truncated")


def _not_below_zero(table: Floats) -> Floats:
    return np.maximum(table, 0.0)


NOT_BELOW_ZERO = Scheme("truncated, no cell < 0", "truncated", finish=_not_below_zero)
SCHEMES = (NOT_BELOW_ZERO,)


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    attributes = len(people.schema)
    budgets = settings.each(attributes, (CAPTION, 1.0, TOTAL / attributes))
    repeats, most = settings.times(5, 2), settings.most(None, 12)
    widths = [w for w in WIDTHS if w <= attributes]
    chosen = (*schemes(), *SCHEMES)
    sets = {w: draw_sets(people, w, most, cells=1 << 21) for w in widths}
    questions = [Question(people, each, sets[w]) for each in budgets for w in widths]
    errors = evaluate(questions, settings, repeats, chosen=chosen)
    records = []
    for k, each in enumerate(budgets):
        own = errors[k * len(widths) : (k + 1) * len(widths)]
        for scheme in own[0]:
            columns = [found[scheme] for found in own]
            average = np.mean([values.mean(axis=1) for values in columns], axis=0)[:, None]
            what = {"data": reading(each, attributes), "each": each, "scheme": scheme}
            records += [
                {**what, "x": x, **summarise(values)}
                for x, values in zip([*widths, "mean"], [*columns, average], strict=True)
            ]
    asked = ", ".join(str(len(sets[w])) for w in widths)
    facts = {
        "data": people.note,
        "n": people.n,
        "each": budgets,
        "total": [each * attributes for each in budgets],
        "sets": f"{asked} attribute sets of 2 to {widths[-1]} attributes",
        "repeats": repeats,
        "left out": left_out(questions, settings, repeats, chosen=chosen),
    }
    return {"about": describe(settings, **facts), "records": records}


def reading(each: float, attributes: int) -> str:
    """A budget in words; the name of its panel."""
    return f"epsilon {each:g} each, {each * attributes:g} in all"


def table(results: Sequence[Result]) -> Table:
    rows = []
    for scheme, values in PRINT.items():
        gaps = [""] * (len(WIDTHS) - len(values))
        cells = [f"{value:.4f}" for value in values]
        rows.append(["print", "4", scheme, *cells, *gaps, f"{PRINTED_MEANS[scheme]:.4f}"])
    for result in results:
        noise = result["about"]["noise"]
        for each, scheme in dict.fromkeys((r["each"], r["scheme"]) for r in result["records"]):
            found = {r["x"]: r for r in pick(result, scheme=scheme, each=each)}
            cells = [
                number(found[x]["mean"], found[x]["error"]) if x in found else ""
                for x in (*WIDTHS, "mean")
            ]
            rows.append([noise, f"{each:g} each", scheme, *cells])
    titles = ["noise", "epsilon", "scheme", *(f"w = {w}" for w in WIDTHS), "mean"]
    return Table(titles, rows, words=3)


def draw(result: Result) -> Any:
    shown = {**result, "records": [r for r in result["records"] if r["x"] != "mean"]}
    printed = {s: dict(zip(WIDTHS, v, strict=False)) for s, v in PRINT.items()}
    return lines(
        shown, "Adult: AVD by the number of attributes", x="attributes w", whole=True,
        printed=printed,
    )  # fmt: skip


def averages(result: Result, each: float) -> dict[str, float]:
    """The mean over widths of each scheme that answered all, at one budget."""
    found = pick(result, x="mean", each=each)
    return {r["scheme"]: r["mean"] for r in found if r["mean"] is not None}


def budgets_of(result: Result) -> list[float]:
    return list(dict.fromkeys(r["each"] for r in result["records"]))


def sentence(noise: str, result: Result) -> str:
    """What the pictures show, in a sentence."""
    if noise == "rounding":
        means = averages(result, 1.0)
        return (
            f"In the rounding model at 1 each castell averages {number(means.get('castell'))} and "
            f"hybrid {number(means.get('hybrid'))}, next to the diamonds of the print (.0835 and "
            ".0155): the print is this model."
        )
    told = []
    for each in budgets_of(result):
        means = averages(result, each)
        won = [s for s in PROPOSED if s in means and means[s] < means["independent"]]
        told.append(f"{' and '.join(won) or 'none'} at {pick(result, each=each)[0]['data']}")
    return f"With real noise these of the paper's schemes beat independent: {'; '.join(told)}."


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    if "rounding" in results and 1.0 in budgets_of(results["rounding"]):
        means = averages(results["rounding"], 1.0)
        near = abs(means["castell"] / PRINTED_MEANS["castell"] - 1) < 0.15
        hybrid = f", hybrid {means['hybrid']:.4f} (print .0155)" if "hybrid" in means else ""
        said.append(
            f"In the rounding model at 1 each castell averages {means['castell']:.4f} (print "
            f".0835){hybrid} and truncated, with its negative cells set to 0, "
            f"{means['truncated, no cell < 0']:.4f} (print .0099). "
            + ("The print is this model." if near else "On these sets it is not the print.")
            + " Algorithm 4 to the letter leaves negative cells and gives "
            f"{means['truncated']:.4f}."
        )
    if "real" in results:
        said += [_real(results["real"], each) for each in budgets_of(results["real"])]
    return said


def _real(result: Result, each: float) -> str:
    means = averages(result, each)
    ours = {s: m for s, m in means.items() if s not in REFERENCES}
    best = min(ours, key=lambda s: ours[s])
    listed = ", ".join(f"{s} {number(means[s])}" for s in PROPOSED if s in means)
    won = [s for s in PROPOSED if s in means and means[s] < means["independent"]]
    better = [f"{w}" for w in WIDTHS if _clearly_better(result, w, each)]
    claim = (
        f"so {' and '.join(won)} {'beats' if len(won) == 1 else 'beat'} independent, as the paper "
        "says"
        if won
        else "so none of the paper's schemes beats independent, against what it says"
    )
    return (
        f"With real noise and {pick(result, each=each)[0]['data']}, {listed} against "
        f"{number(means['independent'])} for independent: {claim}. castell is better by more than "
        f"two standard errors at {'w = ' + ', '.join(better) if better else 'no width'}; the best "
        f"scheme is {best} with {number(ours[best])}, and knowing nothing scores "
        f"{number(means['uniform table'])}."
    )


def _clearly_better(result: Result, w: int, each: float) -> bool:
    one, two = (
        (pick(result, scheme=s, x=w, each=each) or [{}])[0] for s in ("castell", "independent")
    )
    if not one.get("mean") or not two.get("mean"):
        return False
    room = 2 * float(np.hypot(one["error"] or 0.0, two["error"] or 0.0))
    return bool(one["mean"] + room < two["mean"])


def check(results: Mapping[str, Result]) -> list[tuple[str, bool]]:
    found = []
    for scheme, golden in GOLDEN.items():
        for w, wanted in zip(WIDTHS, golden, strict=True):
            got = pick(results["rounding"], scheme=scheme, x=w, each=1.0)[0]["mean"]
            close = abs(got - wanted) < max(0.02 * wanted, 6e-5)
            found.append((f"{scheme}, w = {w}, rounding: {got:.4f} is {wanted}", close))
    for scheme, before in REAL.items():
        for w, wanted in zip(WIDTHS, before, strict=True):
            record = pick(results["real"], scheme=scheme, x=w, each=1.0)[0]
            # Computed before on some of the sets, here on all: about the same, not the same.
            room = 0.12 * wanted + 2 * (record["error"] or 0.0)
            said = f"{scheme}, w = {w}, real: {record['mean']:.3f} ± {room:.3f} holds {wanted}"
            found.append((said, abs(record["mean"] - wanted) <= room + 5e-4))
    return found
