"""Asking a model how strongly two attributes are associated."""

from __future__ import annotations

from castell.errors import QueryError
from castell.inference.association import independence, is_testable, margins_of, trend
from castell.inference.misfit import detectable
from castell.inference.reasons import Code, Reason, reason
from castell.inference.scores import Scores, refuse_other_scores, scores_of
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.results.association import Association, TrendTest, association_error, cramers_v
from castell.results.questions import Answering, reasons_of


def association_of(model: Answering, one: str, two: str) -> Association:
    """Cramer's V and the test of independence."""
    names = _pair(model, one, two)
    behind = model.support(names)
    test = independence(model.counts, names) if is_testable(model.counts, names) else None
    reasons: tuple[Reason, ...] = ()
    if test is None:
        value, limit, checked = cramers_v(_table(model, names)), 1.0, Checked.NOTHING
        reasons = (reason(Code.ASSOCIATION_UNCHECKED, *names),)
    else:
        value, checked = test.v, behind.checked
        limit = detectable(model.counts, names, margins_of(model.counts, names))
    return Association(
        value=value,
        standard_error=association_error(test),
        source=model.source,
        checked=checked,
        reasons=reasons_of(model.counts, reasons, behind),
        names=names,
        detectable=limit,
        test=test,
    )


def trend_of(model: Answering, one: str, two: str, scores: Scores | None) -> TrendTest:
    """The correlation of scores, and the test that there is none."""
    names = _pair(model, one, two)
    if not is_testable(model.counts, names):
        raise QueryError(
            f"no report tells {one} and {two} together",
            "ask for two attributes that some block of the design holds",
        )
    given = scores or {}
    refuse_other_scores(given, names)
    numbers = [scores_of(model.study.schema[name], given.get(name)) for name in names]
    found = trend(model.counts, names, numbers)
    if found is None:
        raise QueryError(
            f"all answers to {one} or to {two} have one score", "give values different scores"
        )
    return TrendTest(
        value=found.correlation,
        standard_error=found.error,
        source=model.source,
        checked=Checked.WHOLE,
        reasons=reasons_of(model.counts, (), model.support(names)),
        names=names,
        scores=(tuple(numbers[0].tolist()), tuple(numbers[1].tolist())),
        test=found,
    )


def _pair(model: Answering, one: str, two: str) -> tuple[str, str]:
    if one == two:
        raise QueryError(f"{one!r} is asked for twice", "name two attributes")
    first, second = model.study.schema.select([one, two])
    return first.name, second.name


def _table(model: Answering, names: tuple[str, str]) -> Floats:
    return model.fitted.joint(names, None).probabilities
