"""What is planned for whom: every design compared, and n or epsilon solved for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, partial
from math import ceil, floor, inf, isfinite
from typing import Any

from castell.channels.budget import as_decimal
from castell.errors import CastellError, OptionError
from castell.planning.coarser_domains import Coarser, Merged, coarser
from castell.planning.designs import DesignKind, build_all, design_kinds
from castell.planning.forecast import Forecast, Outlook
from castell.planning.plan_facts import Nearest, PlannedDesign, Tradeoff
from castell.planning.plan_text import points
from castell.planning.population import Population
from castell.planning.smallest_n_or_epsilon import MOST, MOST_EPSILON, smallest_epsilon, smallest_n
from castell.planning.targets import TableTarget, Target, usual_tables
from castell.study.study import Study

Progress = Callable[[float], None]

# Epsilons of the trade-off and of the picture.
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
# Where solving starts.
FIRST_N, FIRST_EPSILON = 10_000, 4.0
# Designs this near the best are as good: the simplest of them is recommended.
AS_GOOD = 1.02
# With more sets of attributes to draw from it is not tried what fewer values would gain.
MOST_SETS = 400
# 1 % of the reports are forged.
FORGED = 0.01


@dataclass(frozen=True, eq=False)
class Task:
    """What is planned for whom; everything but n and epsilon."""

    study: Study
    population: Population
    targets: tuple[Target, ...]
    method: str
    careless: float
    response: float
    _outlooks: dict[str, Outlook] = field(default_factory=dict)
    _kinds: dict[Decimal, Any] = field(default_factory=dict)

    def reports(self, n: int) -> int:
        return max(1, floor(n * self.response + 1e-9))

    def kinds(
        self, budget: Decimal
    ) -> tuple[list[tuple[DesignKind | None, Study]], Mapping[str, str]]:
        """The designs that can be had, the present one among them, and why others cannot."""
        if budget not in self._kinds:
            schema = self.study.schema
            every = design_kinds(schema, self.population, float(budget), self.targets)
            found: list[tuple[DesignKind | None, Study]]
            found, refused = build_all(every, schema, budget, self.study)  # type: ignore[assignment]
            if not found:
                raise OptionError(
                    f"no design can be had at epsilon {float(budget):g}", "give a larger epsilon"
                )
            same = {study.digest for _, study in found}
            own = abs(self.study.design.exact_epsilon - budget) < Decimal("1e-6")
            if own and self.study.digest not in same and _readable(self.study):
                found.append((None, self.study))
            self._kinds[budget] = found, refused
        return self._kinds[budget]  # type: ignore[no-any-return]

    def outlook(self, study: Study) -> Outlook:
        if study.digest not in self._outlooks:
            made = Outlook(study, self.population, self.method, self.careless)
            self._outlooks[study.digest] = made
        return self._outlooks[study.digest]

    @cached_property
    def _few(self) -> tuple[Target, ...]:
        schema = self.study.schema
        return self.targets or usual_tables(schema, min(2, len(schema)))

    @property
    def questions(self) -> Mapping[str, Sequence[Target]]:
        """What designs are compared by: each question that is asked for, or all usual tables."""
        return {t.label: [t] for t in self.targets} or {"usual": self._few}

    def error(self, forecast: Forecast) -> float:
        """The largest of what is asked for; of usual tables the mean."""
        found = [t.half_width(forecast) for t in self._few]
        return max(found) if self.targets else sum(found) / len(found)

    def _error_at(self, study: Study, n: int) -> float:
        if not self._is_identified(study):
            return inf
        return self.error(self.outlook(study).at(self.reports(n)))

    def _is_identified(self, study: Study) -> bool:
        """Whether some respondents report the attributes of every question, two by two.

        Otherwise intervals are bounds that no number of reports narrows.
        """
        sets = [set(names) for names in study.design.asked_together]
        pairs = {(a, b) for t in self._few for a in t.names for b in t.names if a < b}
        return all(any({a, b} <= together for together in sets) for a, b in pairs)

    # -- what is missing -------------------------------------------------------------------------

    def people_for(self, error: float, budget: Decimal, cautious: float = 1.0) -> int:
        """The smallest n that reaches an error, with the design that needs least."""
        needed = self._fewest(error, budget, cautious)
        if needed is None:
            nearest = min(self._error_at(study, MOST) for _, study in self.kinds(budget)[0])
            epsilon = self._least_epsilon(error / cautious, MOST)
            or_else = f", or {points(error)} at epsilon {epsilon:g}" if epsilon else ""
            raise OptionError(
                f"no number of respondents reaches {points(error)} at epsilon {float(budget):g}",
                f"the nearest is {points(nearest * cautious)}, with {MOST:,} people{or_else}",
            )
        return needed

    def _fewest(self, error: float, budget: Decimal, cautious: float = 1.0) -> int | None:
        """The smallest n, or none.

        The design that is best at one n is solved for; if another is better at what it needs, that
        one is. `cautious` is how much longer intervals are taken to be than predicted.
        """
        found = [study for _, study in self.kinds(budget)[0]]
        best, tried, needed = self._best(found, FIRST_N), set[str](), None
        while best is not None and best.digest not in tried:
            tried.add(best.digest)
            n = smallest_n(partial(self._scaled_error, best, cautious), error)
            if n is not None:
                n = self._number_invited(n)
                needed = n if needed is None else min(n, needed)
            best = self._best(found, needed or MOST)
        return needed

    def _number_invited(self, reports: int) -> int:
        """How many are invited for so many reports."""
        return ceil(reports / self.response - 1e-9)

    def _scaled_error(self, study: Study, cautious: float, reports: int) -> float:
        if not self._is_identified(study):
            return inf
        return cautious * self.error(self.outlook(study).at(reports))

    def _best(self, studies: Sequence[Study], n: int) -> Study | None:
        errors = [self._error_at(study, n) for study in studies]
        least = min(errors)
        return studies[errors.index(least)] if isfinite(least) else None

    def epsilon_for(self, error: float, n: int, cautious: float = 1.0) -> Decimal:
        """The smallest epsilon with which n people reach an error, with the best design there."""
        needed = self._least_epsilon(error / cautious, n)
        if needed is None:
            most = as_decimal(MOST_EPSILON)
            nearest = min(self._error_at(study, n) for _, study in self.kinds(most)[0])
            people = self._fewest(error, as_decimal(8.0), cautious)
            or_else = f", or {people:,} people at epsilon 8" if people else ""
            raise OptionError(
                f"no epsilon reaches {points(error)} with {n:,} people",
                f"sampling alone leaves {points(nearest * cautious)}; the nearest is that{or_else}",
            )
        return as_decimal(needed)

    def _least_epsilon(self, error: float, n: int) -> float | None:
        needed: float | None = None
        at, tried = as_decimal(FIRST_EPSILON), set[DesignKind]()
        for _ in range(4):
            found = [(kind, study) for kind, study in self.kinds(at)[0] if kind is not None]
            best = self._best([study for _, study in found], n)
            kind = next((k for k, study in found if study is best), None)
            if kind is None or kind in tried:
                break
            tried.add(kind)
            epsilon = smallest_epsilon(partial(self._error_with, kind, n), error)
            if epsilon is not None and (needed is None or epsilon < needed):
                needed = epsilon
            at = as_decimal(needed or MOST_EPSILON)
        return needed

    def _error_with(self, kind: DesignKind, n: int, epsilon: float) -> float:
        try:
            study = kind.study(self.study.schema, as_decimal(round(epsilon, 4)), self.study.name)
        except CastellError:
            return inf
        return self._error_at(study, n)

    def nearest(self, error: float, budget: Decimal, n: int) -> Nearest:
        """The fewest people and the least epsilon that would reach an error, each by itself."""
        return Nearest(self._fewest(error, budget), self._least_epsilon(error, n))

    def tradeoff(self, error: float, budget: Decimal, n: int, cautious: float = 1.0) -> Tradeoff:
        """The people that an error takes, at several epsilons; n at the budget."""
        found: list[tuple[float, int | None]] = []
        for epsilon in sorted({*EPSILONS, float(budget)}):
            if epsilon == float(budget):
                found.append((epsilon, n))
                continue
            found.append((epsilon, self._fewest(error, as_decimal(epsilon), cautious)))
        return Tradeoff(error, tuple(found))

    # -- what is there ---------------------------------------------------------------------------

    def compare(
        self,
        n: int,
        budget: Decimal,
        wanted: float | None = None,
        tell: Progress = lambda _share: None,
    ) -> list[PlannedDesign]:
        """All designs, the recommended one first, the others by their error.

        One that is simpler than the best is as good only if it reaches what is `wanted` too.
        """
        found, _ = self.kinds(budget)
        made = []
        for i, (kind, study) in enumerate(found):
            made.append(self._plan_design(kind, study, n))
            tell((i + 1) / len(found))
        made = _best_shares(made)
        order = {id(row): i for i, row in enumerate(made)}
        ranked = sorted(made, key=lambda row: (not row.tells_associations, row.error))
        first = ranked[0]
        most = AS_GOOD * first.error
        if wanted is not None and first.error <= wanted:
            most = min(most, wanted)
        near = [
            row
            for row in made
            if row.error <= most and row.tells_associations == first.tells_associations
        ]
        best = min(near, key=lambda row: order[id(row)])
        return [best, *(row for row in ranked if row is not best)]

    def _plan_design(self, kind: DesignKind | None, study: Study, n: int) -> PlannedDesign:
        forecast = self.outlook(study).at(self.reports(n))
        widths = {}
        for width in (1, 2, 3):
            tables = usual_tables(study.schema, width)
            if tables:
                each = [table.half_width(forecast) for table in tables]
                widths[width] = sum(each) / len(each)
        asked = {target.label: target.half_width(forecast) for target in self.targets}
        usual = widths[min(2, len(study.schema))]
        exposures = study.statement().exposures
        named = {name for target in self.targets for name in target.names} or set(study.names)
        forged = max((e.influence for e in exposures if e.name in named), default=1.0)
        return PlannedDesign(
            kind,
            study,
            widths,
            asked,
            max(asked.values()) if asked else usual,
            self._is_identified(study),
            max(e.best_guess for e in exposures),
            min(1.0, FORGED * forged),
        )

    def coarser(self, best: PlannedDesign, n: int, budget: Decimal) -> tuple[Coarser, ...]:
        """What fewer values would gain, with the recommended design."""
        kind = best.kind
        if kind is None or len(best.study.design.blocks) > MOST_SETS:
            return ()
        tables = [t for t in self._few if isinstance(t, TableTarget)]
        hidden = best.study.schema.hidden.names
        names = [name for name in hidden if any(name in t.names for t in tables)]
        forecast = self.outlook(best.study).at(self.reports(n))
        widths = {t: t.half_width(forecast) for t in tables}

        def mean(name: str, told: Mapping[Any, float]) -> float:
            involved = [told[t] for t in tables if name in t.names]
            return sum(involved) / len(involved)

        def after(population: Merged) -> float:
            study = kind.study(population.schema, budget, self.study.name)
            seen = Outlook(study, population, self.method, self.careless).at(self.reports(n))
            involved = {t: t.half_width(seen) for t in tables if population.name in t.names}
            return mean(population.name, involved)

        before = {name: mean(name, widths) for name in names}
        return coarser(self.population, names, before, after)

    def curve(
        self, best: PlannedDesign, n: int, budget: Decimal, times: float = 1.0
    ) -> Iterator[dict[str, float]]:
        """Half-widths of the recommended design by n and epsilon, so many times the predicted."""
        kind = best.kind
        epsilons = sorted({*EPSILONS, float(budget)}) if kind else [float(budget)]
        people = sorted({n, *(round(n * 10 ** (k / 2)) for k in range(-2, 3))})
        for epsilon in epsilons:
            study = best.study
            if kind is not None and epsilon != float(budget):
                study = kind.study(self.study.schema, as_decimal(epsilon), self.study.name)
            for many in people:
                found = times * self.error(self.outlook(study).at(self.reports(max(many, 1))))
                if isfinite(found):
                    yield {"n": many, "epsilon": epsilon, "half_width": found}


def _best_shares(made: Sequence[PlannedDesign]) -> list[PlannedDesign]:
    """Of the splits of the budget that were tried for a design, the best, if it is worth it."""
    found = []
    for row in made:
        if row.kind is None or not row.kind.weights:
            found.append(row)
            continue
        rivals = [other for other in made if _same_blocks(row, other)]
        equal = min((r.error for r in rivals if not r.kind.weights), default=inf)  # type: ignore[union-attr]
        least = min(rivals, key=lambda r: r.error)
        if row is least and AS_GOOD * row.error < equal:
            found.append(row)
    return found


def _same_blocks(one: PlannedDesign, two: PlannedDesign) -> bool:
    if one.kind is None or two.kind is None:
        return False
    return (one.kind.name, one.kind.clusters) == (two.kind.name, two.kind.clusters)


def _readable(study: Study) -> bool:
    """Whether its reports are inverted: not those of Bloom filters, nor of groups of answers."""
    return all(b.channel.has_matrix and b.tells(b.names) for b in study.design.blocks)
