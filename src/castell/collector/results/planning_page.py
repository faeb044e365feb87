"""The planner page's numbers: a plan of the study for so many people at an epsilon.

They do not depend on any report, and are worked out by `castell.plan`, in the models' process. An
earlier estimate may say what the answers are likely to be; it is not kept, nor what is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import msgspec

from castell.channels.budget import MAX_EPSILON
from castell.collector.wire import RefusedError
from castell.errors import OptionError
from castell.planning.likely_estimate import EstimateDocument, LikelyTable, likely_table
from castell.planning.plan import Plan
from castell.planning.plan_picture import HEIGHT, NARROW, WIDTH, picture
from castell.planning.plan_text import facts, notes, table_rows
from castell.planning.planner import USUAL_PEOPLE, plan
from castell.study.schema import suggest
from castell.study.study import Study

PARAMETERS = ("n", "epsilon")
FEWEST, MOST = 10, 10_000_000
LEAST_EPSILON = Decimal("0.05")
# A finer epsilon changes no number that is shown, and the same plan is worked out once.
DIGITS = 2
# An estimate of some ten thousand cells, with all that is printed beside its shares.
LONGEST_ESTIMATE = 4 << 20
SHORTER = "give an estimate of fewer attributes"
_ESTIMATE = "give what `castell estimate --json` prints for a table"


@dataclass(frozen=True)
class PlanQuestion:
    """How many people, and what each spends; None is what the study has them spend."""

    n: int = USUAL_PEOPLE
    epsilon: Decimal | None = None


def parse_plan(asked: Mapping[str, Sequence[str]]) -> PlanQuestion:
    """From the parameters of a request."""
    for name, values in asked.items():
        if name not in PARAMETERS:
            raise OptionError(f"there is no parameter {name!r}", suggest(name, PARAMETERS))
        if len(values) > 1:
            raise OptionError(f"{name} is given twice", "give it once")
    return PlanQuestion(
        _people(asked["n"][0]) if "n" in asked else USUAL_PEOPLE,
        _epsilon(asked["epsilon"][0]) if "epsilon" in asked else None,
    )


def _people(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 12 and FEWEST <= int(text) <= MOST:
        return int(text)
    raise OptionError(f"n is {text[:20]!r}", f"give a whole number from {FEWEST} to {MOST:,}")


def _epsilon(text: str) -> Decimal:
    try:
        value = Decimal(text[:20])
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or not LEAST_EPSILON <= value <= MAX_EPSILON:
        raise OptionError(
            f"epsilon is {text[:20]!r}", f"give a number from {LEAST_EPSILON} to {MAX_EPSILON}"
        )
    return round(value, DIGITS).normalize()


class SentEstimate(msgspec.Struct):
    """What is read of an estimate in a request, as the API describes it."""

    attributes: Annotated[list[str], msgspec.Meta(min_length=1, max_length=64)]
    values: Annotated[list[list[str]], msgspec.Meta(min_length=1, max_length=64)]
    probabilities: Annotated[list[Any], msgspec.Meta(min_length=1)]


def parse_likely(study: Study, body: bytes) -> LikelyTable:
    """The earlier estimate in the body of a request."""
    try:
        sent = msgspec.json.decode(body, type=SentEstimate)
    except msgspec.ValidationError as error:
        raise RefusedError(422, f"this is no estimate: {error}", _ESTIMATE) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise RefusedError(400, "this is not JSON", _ESTIMATE) from None
    try:
        document = EstimateDocument(sent.attributes, sent.values, sent.probabilities)
        return likely_table(study.schema, document)
    except OptionError as error:
        raise RefusedError(409, error.problem, error.remedy) from None


def plan_document(study: Study, question: PlanQuestion, like: LikelyTable | None = None) -> bytes:
    """The plan for the page: as `castell plan --json` has it, and in words and pictures."""
    made = plan(study, question.n, epsilon=question.epsilon, like=like)
    pictures, problem = _pictures(made)
    told = {
        "title": study.text.title or study.name,
        "own_epsilon": plan_epsilon(study),
        "plan": made.to_dict(),
        "facts": facts(made),
        "table": table_rows(made),
        "notes": notes(made),
        "pictures": pictures,
        "chart_problem": problem,
    }
    return msgspec.json.encode(told)


def plan_epsilon(study: Study) -> float:
    """What a respondent spends, as it was written."""
    return float(round(study.epsilon, 6))


def _pictures(made: Plan) -> tuple[list[dict[str, Any]], str | None]:
    """For a wide page and for a phone."""
    try:
        return [
            {"room": 520, "spec": picture(made, width=WIDTH, height=HEIGHT).to_dict()},
            {"room": 0, "spec": picture(made, width=NARROW, height=HEIGHT).to_dict()},
        ], None
    except ImportError as error:
        return [], str(error)
