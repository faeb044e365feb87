"""What a model is asked of groups and of pairs: comparisons, associations, trends."""

from __future__ import annotations

from collections.abc import Iterable

from castell.errors import QueryError
from castell.inference.association import detectable_association, independence, is_testable
from castell.inference.category_scores import Scores, refuse_other_scores, scores_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.support import Checked
from castell.inference.trend import trend
from castell.inference.weighted_association import (
    WeightedPair,
    detectable_weighted_association,
    weighted_independence,
    weighted_trend,
)
from castell.linear.operators import Floats
from castell.results.association import Association, TrendTest, association_error, cramers_v
from castell.results.compare import compare_groups
from castell.results.comparison import Comparison, Contrast
from castell.results.every_association import (
    Associations,
    associate,
    left_out,
    tested_cases,
)
from castell.results.questions import Answering, Questions, Values, reasons_of


class ComparisonQuestions(Questions):
    """The part of a model that answers them."""

    def compare(self, asked: Values, *, given: Values, versus: Values) -> Comparison:
        """An answer in two groups: its share in each, difference, relative risk and odds ratio.

        `compare({"health": "poor"}, given={"smokes": "now"}, versus={"smokes": "never"})`. Two
        waves or studies are compared by `castell.compare`.
        """
        return compare_groups(self, asked, given, versus)

    def odds_ratio(self, asked: Values, *, given: Values, versus: Values) -> Contrast:
        """The odds of an answer in one group over those in another."""
        return self.compare(asked, given=given, versus=versus).odds_ratio

    def relative_risk(self, asked: Values, *, given: Values, versus: Values) -> Contrast:
        """The share of an answer in one group over that in another."""
        return self.compare(asked, given=given, versus=versus).relative_risk

    def association(self, one: str, two: str, *, with_declined: bool = False) -> Association:
        """Cramer's V of two attributes with its interval, and the test of their independence.

        It is of those who answered both: "prefer not to say" and the like are left out, as missing
        values are. `with_declined=True` takes them for values like any other.
        """
        return _association(self, one, two, with_declined)

    def associations(
        self, names: Iterable[str] | None = None, *, with_declined: bool = False
    ) -> Associations:
        """Cramer's V of every two attributes, as `association` has it, and tests with control of
        false discoveries.

        It is worked out from the unbiased tables of pairs, whatever the method, each of those who
        answered both; `with_declined=True` takes a way not to answer for a value.
        """
        chosen = self.study.schema.select(self.study.names if names is None else names)
        names = tuple(a.name for a in chosen)
        sample = self.fitted.sampling
        return associate(
            self.counts, names, self.source, with_declined=with_declined, sample=sample
        )

    def trend(self, one: str, two: str, *, scores: Scores | None = None) -> TrendTest:
        """Whether one ordered attribute rises or falls with another: the correlation of scores.

        Scores are 0, 1, 2, ... in the order of the values, or as given: `scores={"age": [24, 37,
        52, 70]}`.
        """
        return _trend(self, one, two, scores)


def _association(model: Answering, one: str, two: str, with_declined: bool) -> Association:
    """Cramer's V and the test of independence."""
    names = _pair(model, one, two)
    cases = tested_cases(model.study.schema, names, with_declined=with_declined)
    behind = model.support(names)
    testable = is_testable(model.counts, names)
    weighted = _weighted_pair(model, names, cases) if testable else None
    if weighted is not None:
        test = weighted_independence(weighted)
    else:
        test = independence(model.counts, names, cases) if testable else None
    reasons = _of_design(model)
    if test is None:
        table = cases.part(_table(model, names))
        value, limit, checked = cramers_v(table), 1.0, Checked.NOTHING
        code = Code.TOO_FEW_FOR_TEST if testable else Code.ASSOCIATION_UNCHECKED
        reasons = (*reasons, reason(code, *names))
    else:
        value, checked = test.v, behind.checked
        limit = (
            detectable_association(model.counts, names, cases)
            if weighted is None
            else detectable_weighted_association(weighted)
        )
    return Association(
        value=value,
        standard_error=association_error(test),
        source=model.source,
        checked=checked,
        reasons=reasons_of(model.counts, reasons, behind),
        names=names,
        left_out=left_out(model.study.schema, names, cases),
        detectable=limit,
        test=test,
    )


def _trend(model: Answering, one: str, two: str, scores: Scores | None) -> TrendTest:
    """The correlation of scores, and the test that there is none."""
    names = _pair(model, one, two)
    if not is_testable(model.counts, names):
        raise QueryError(
            f"no report tells {one} and {two} together",
            "ask for two attributes that some block of the design holds",
        )
    given = scores or {}
    refuse_other_scores(given, names)
    # Of those who answered both: who declined has no place in an order.
    answers = CompleteCases.of(model.study.schema, names)
    numbers = [
        scores_of(model.study.schema[name], codes, given.get(name))
        for name, codes in zip(names, answers.codes, strict=True)
    ]
    weighted = _weighted_pair(model, names, answers)
    found = (
        trend(model.counts, names, numbers, answers)
        if weighted is None
        else weighted_trend(weighted, numbers)
    )
    if found is None:
        raise QueryError(
            f"all answers to {one} or to {two} have one score", "give values different scores"
        )
    return TrendTest(
        value=found.correlation,
        standard_error=found.error,
        source=model.source,
        checked=Checked.WHOLE,
        reasons=reasons_of(model.counts, _of_design(model), model.support(names)),
        names=names,
        scores=(tuple(numbers[0].tolist()), tuple(numbers[1].tolist())),
        test=found,
    )


def _weighted_pair(
    model: Answering, names: tuple[str, str], cases: CompleteCases
) -> WeightedPair | None:
    """What a sampling design says of two attributes, where there is one."""
    sample = model.fitted.sampling
    if sample is None:
        return None
    return WeightedPair.of(model.counts, sample, names, cases)


def _of_design(model: Answering) -> tuple[Reason, ...]:
    sample = model.fitted.sampling
    return () if sample is None else (sample.design_reason(),)


def _pair(model: Answering, one: str, two: str) -> tuple[str, str]:
    if one == two:
        raise QueryError(f"{one!r} is asked for twice", "name two attributes")
    first, second = model.study.schema.select([one, two])
    return first.name, second.name


def _table(model: Answering, names: tuple[str, str]) -> Floats:
    return model.fitted.joint(names, None).probabilities
