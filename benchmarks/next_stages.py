"""What a plan of the next stage is worth in the population itself, without a collection's noise.

A first stage is collected with real noise, and the next planned from its reports. The errors to
expect after both are then reckoned as the planner does (`planning/uncertainty.py`), but with the
known population in the place of a model, and with the present design beside the plan. `promised`
is the gain that the plan expects, `pairs` that in the root of the expected squared error of all
cells of pairs, `largest` that in the largest error of a cell, a mean over tables of two to six
attributes, in per cent of the error and a mean over first stages. Whole collections (`stages`)
differ by a third of the error at epsilon 1: there many are needed to see a gain of a twentieth.
With `--known` the plan is made from the population itself and asked of everybody, for all cells of
pairs and for the large cells of tables: no plan of these blocks could be expected to gain more.
`python -m benchmarks.next_stages --help` measures one case.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import Study, plan_next
from castell.channels import best_channel
from castell.linear.operators import Floats
from castell.planning.allocation import allocate
from castell.planning.candidates import candidates
from castell.planning.design_share import information
from castell.planning.uncertainty import Codes, Uncertainty, root_information, uncertainty
from castell.study.design import Design
from experiments.datasets import truth as populations
from experiments.datasets.population import Population
from experiments.datasets.truth import Truth
from experiments.harness import draw_sets

# People that covariances are read from, sets of each width, and draws of what is still open.
PEOPLE, SETS, DRAWS = 4000, 15, 150
# The largest error of a table is hardly ever that of a smaller cell.
LEAST_CELL = 0.005
# What plans for the population itself are made for: cells above a share in tables of some widths.
LARGE, WIDTHS = 0.01, (2, 3, 4)


@dataclass(frozen=True)
class Case:
    """A population, how many respondents in all, what each spends, and the first stage."""

    data: str
    people: int
    epsilon: float
    design: str
    first: float


# Respondents of each population; first stages of each.
USUAL = {"survey": 10_000, "fair": 6000, "births": 10_000}
STAGES = ((1.0, "pairs", 0.15), (4.0, "cover", 0.1))


def run(quick: bool) -> dict[str, Any]:
    have, missing = at_hand(quick, tuple(USUAL))
    if quick:
        return {"missing": missing, "cases": [_case(have[0], 2000, STAGES[1], range(1))]}
    cases = [_case(data, USUAL.get(data, 10_000), s, range(4)) for data in have for s in STAGES]
    return {"missing": missing, "cases": cases}


def _case(
    data: str, people: int, stage: tuple[float, str, float], seeds: Sequence[int]
) -> dict[str, Any]:
    return measure(Case(data, people, *stage), seeds)


def measure(case: Case, seeds: Sequence[int]) -> dict[str, Any]:
    truth = truth_of(case.data)
    study = Study(truth.schema, epsilon=case.epsilon, design=case.design, name=case.data)
    known = Known.of(truth)
    before = int(case.people * case.first)
    rest = case.people - before
    present = information(study.design, study.names, known.open_)
    rounds = []
    for seed in seeds:
        row = f"{case.data} {case.design} {case.epsilon}".encode()
        people = truth.respondents(before, np.random.default_rng([seed, before, *row]))
        plan = plan_next(study.randomize(people.frame(), seed=1000 + seed), rest)
        planned = information(plan.planned.design, study.names, known.open_)
        now, then = (known.errors(before * present + rest * each) for each in (present, planned))
        gains = [1.0 - b / a for a, b in zip(now, then, strict=True)]
        found = {"promised": plan.gain, "pairs": gains[0], "largest": gains[1]}
        rounds.append({"seed": seed, "share": plan.share, "kept": plan.keeps_design, **found})
    return {**asdict(case), "note": truth.note, "rounds": rounds}


@dataclass(frozen=True, eq=False)
class Known:
    """What is open before any report if the population is known, and the large cells of tables:
    how each changes with the directions that are open."""

    open_: Uncertainty
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, truth: Truth) -> Known:
        people = truth.respondents(PEOPLE, np.random.default_rng(7))
        codes = [people.codes[name].astype(np.intp) for name in truth.schema.names]
        open_ = uncertainty(codes, truth.schema.sizes, None)
        centred = open_.scores - open_.scores.mean(axis=0)
        cells = (_large_cells(people, names) for names in _tables(truth))
        return cls(open_, tuple(each.T @ centred / PEOPLE for each in cells))

    def errors(self, told: Floats) -> tuple[float, float]:
        """Of all cells of pairs, and the largest of a table, given what reports tell."""
        after = self.open_.after(told)
        root = np.linalg.cholesky(np.linalg.inv(after.precision))
        # The same deviates whatever the design: the difference of two has next to no noise.
        deviates = np.random.default_rng(3).standard_normal((len(root), DRAWS))
        drawn = root @ deviates
        largest = [np.abs(table @ drawn).max(axis=0).mean() for table in self.tables]
        return float(np.sqrt(after.expected_loss)), float(np.mean(largest))


def measure_known(case: Case) -> list[tuple[str, float, float]]:
    """What a plan from the population gains: for what it is made, in pairs and in largest errors,
    in parts of the error of the present design."""
    truth = truth_of(case.data)
    study = Study(truth.schema, epsilon=case.epsilon, design=case.design, name=case.data)
    known = Known.of(truth)
    now = known.errors(case.people * information(study.design, study.names, known.open_))
    found = []
    for what, wanted in (("pairs", None), ("large cells", list(_large(known.open_.people)))):
        planned = _plan_for(study, known, wanted, case.people)
        then = known.errors(case.people * information(planned, study.names, known.open_))
        found.append((what, 1.0 - then[0] / now[0], 1.0 - then[1] / now[1]))
    return found


def _large(people: Sequence[Codes]) -> Iterator[NDArray[np.bool_]]:
    """Who is in each large cell of the tables of some widths."""
    for width in WIDTHS:
        for columns in combinations(people, width):
            _, cells, counts = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
            for cell in np.flatnonzero(counts >= LARGE * len(people[0])):
                yield np.ravel(cells) == cell


def _plan_for(study: Study, known: Known, wanted: list[NDArray[np.bool_]] | None, n: int) -> Design:
    people, sizes = known.open_.people, study.schema.sizes
    open_, epsilon = uncertainty(people, sizes, wanted), study.design.exact_epsilon
    offered = list(candidates(people, sizes, float(epsilon), np.random.default_rng(1)))
    channels = {many: best_channel(many, epsilon) for many in {c.many for c in offered}}
    roots = [
        root_information(open_.scores, c.codes, c.many, channels[c.many].forward) for c in offered
    ]
    portions = allocate(open_, roots, n)
    chosen = [(c, many) for c, many in zip(offered, portions, strict=True) if many]
    blocks = tuple(c.block(study.schema, epsilon) for c, _ in chosen)
    return Design(blocks, draw=True, weights=tuple(many for _, many in chosen))


def _tables(truth: Truth) -> Iterator[tuple[str, ...]]:
    for width in range(2, min(len(truth.schema), 6) + 1):
        yield from draw_sets(truth, width, SETS)


def _large_cells(people: Population, names: Sequence[str]) -> NDArray[np.bool_]:
    """Who is in each cell that is not small, and in the largest: a column each."""
    shape = tuple(people.schema[name].size for name in names)
    keys = np.ravel_multi_index([people.codes[name] for name in names], shape)
    cells, counts = np.unique(keys, return_counts=True)
    large = cells[counts >= min(LEAST_CELL * len(keys), counts.max())]
    return np.asarray(keys[:, None] == large)


def show(result: dict[str, Any]) -> str:
    rows = []
    for case in result["cases"]:
        rounds = case["rounds"]
        line = [case["data"], f"{case['design']}, {case['first']:.0%}", f"{case['people']:,}"]
        line += [f"{case['epsilon']:g}", str(len(rounds)), str(sum(r["kept"] for r in rounds))]
        line += [f"{np.mean([r['share'] for r in rounds]):.2f}"]
        for what in ("promised", "pairs", "largest"):
            each = 100.0 * np.array([r[what] for r in rounds])
            error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else float("nan")
            line.append(f"{each.mean():+.1f} ± {error:.1f}")
        rows.append(line)
    titles = ["data", "first design, stage", "n", "epsilon", "first stages", "design kept", "share"]
    table = grid([*titles, "promised", "pairs", "largest"], rows, words=2)
    return "\n\n".join([table, *result.get("missing", ())])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.next_stages", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--data", choices=populations.names(), default="survey")
    parser.add_argument("--people", type=int, default=10_000, help="respondents in all stages")
    parser.add_argument("--epsilon", type=float, default=4.0, help="what a respondent spends")
    parser.add_argument("--design", default="cover", help="of the first stage")
    parser.add_argument("--first", type=float, default=0.1, help="the share of the first stage")
    parser.add_argument("--repeats", type=int, default=4, help="first stages")
    parser.add_argument("--known", action="store_true", help="plan from the population itself")
    given = parser.parse_args(arguments)
    case = Case(given.data, given.people, given.epsilon, given.design, given.first)
    if given.known:
        for what, pairs, largest in measure_known(case):
            print(f"planned for {what}: pairs {pairs:+.1%}, largest {largest:+.1%}")
        return 0
    print(show({"cases": [measure(case, range(given.repeats))]}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
