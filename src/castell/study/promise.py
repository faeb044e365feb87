"""What a study with stages promises of all of them, and what stays the same from one to the next.

How later respondents are asked may depend on earlier reports (`castell.plan_next`). So whoever runs
a study publishes other channels while it runs, and a device must not have to trust them. A study
with stages publishes, in its digest, the epsilon that no stage may exceed. A device works the exact
epsilon of any stage out from its integer weights, and refuses one that is above.

All stages of a study are the same but for their blocks and the draw. The digest of what they have
in common, their *identity*, tells whether two studies are stages of one: words, attributes, values,
declared zeros and the promise itself are in it. A device that has seen one stage needs nobody's
word for the next.

These functions work on what is published, as plain JSON values; client/promise.js does the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any

from castell.channels.budget import MAX_EPSILON, as_decimal
from castell.errors import StudyError
from castell.study.canonical import digest_of
from castell.study.corrections import before
from castell.study.design import Design
from castell.study.schema import Schema

# A store marks the stage of a report with one byte.
MOST_STAGES = 50
# One way to write each number: no zeros at its ends.
_EPSILON = re.compile(r"(0|[1-9][0-9]?)(\.[0-9]{0,23}[1-9])?", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_STEP = Decimal("1e-9")


@dataclass(frozen=True)
class Promise:
    """No stage costs more than `epsilon`. `after` are the digests of the stages before this one."""

    epsilon: Decimal
    after: tuple[str, ...] = ()

    @property
    def stage(self) -> int:
        """Which stage this is, from 1 up."""
        return len(self.after) + 1

    def document(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"epsilon": f"{self.epsilon:f}"}
        return {**plain, "after": list(self.after)} if self.after else plain

    def next(self, digest: str) -> Promise:
        """The promise of the stage after the one with this digest: the same."""
        if self.stage >= MOST_STAGES:
            raise StudyError(
                f"the study has {self.stage} stages", "go on with this one, or make a new study"
            )
        return replace(self, after=(*self.after, digest))

    def check(self, exact_epsilon: Decimal) -> None:
        """Refuse a stage that costs more than was promised."""
        if exact_epsilon > self.epsilon:
            raise StudyError(
                f"this stage costs epsilon {exact_epsilon:.12g}, above the {self.epsilon} that the "
                "study promises of every stage",
                "do not answer; tell whoever runs the study",
            )


def check_staged(staged: object, schema: Schema, design: Design) -> None:
    """Refuse stages of a first study for which no later one could be planned."""
    if not isinstance(staged, (bool, Promise)):
        raise StudyError(
            f"staged is {staged!r}",
            "write staged=True; when stages end is for the study file: stages = [0.1, 1.0]",
        )
    if staged is not True:
        return
    if skipped := [attribute.name for attribute in schema if attribute.may_skip]:
        raise StudyError(
            f"a study with stages has a question that may be skipped, {skipped[0]!r}",
            'later stages ask several questions as one: write missing = "category", or leave out '
            "the stages",
        )
    if not all(block.channel.has_matrix for block in design.blocks):
        raise StudyError(
            "a study with stages reports Bloom filters",
            "no stage is planned from these: use another design, or leave out the stages",
        )


def promise_for(epsilon: object, exact_epsilon: Decimal) -> Promise:
    """The promise of a first stage: the epsilon that was asked for, else what its channels cost.

    >>> promise_for(None, Decimal("1.99999999999")).document()
    {'epsilon': '2'}
    """
    if epsilon is not None:
        return _check_promise(as_decimal(epsilon))
    return _check_promise(exact_epsilon.quantize(_STEP, rounding=ROUND_CEILING))


def promise_of(given: object) -> Promise:
    """The promise of a published study."""
    if not isinstance(given, dict) or not {"epsilon"} <= set(given) <= {"epsilon", "after"}:
        raise _damage_error()
    written, after = given["epsilon"], given.get("after", [])
    if not isinstance(written, str) or not _EPSILON.fullmatch(written):
        raise _damage_error()
    listed = isinstance(after, list) and all(
        isinstance(one, str) and _DIGEST.fullmatch(one) for one in after
    )
    if not listed or len(set(after)) < len(after) or ("after" in given and not after):
        raise _damage_error()
    if len(after) >= MOST_STAGES:
        raise _damage_error()
    return _check_promise(Decimal(written), tuple(after))


def _check_promise(epsilon: Decimal, after: tuple[str, ...] = ()) -> Promise:
    made = Promise(Decimal(f"{epsilon.normalize():f}"), after)
    if not 0 < epsilon <= MAX_EPSILON or not _EPSILON.fullmatch(made.document()["epsilon"]):
        raise StudyError(
            f"the study promises epsilon {epsilon} of its stages",
            f"give a number up to {MAX_EPSILON} with at most 24 decimals",
        )
    return made


def wordings(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The digests of what all stages have in common: one more with each correction of words."""
    found, earlier = [], dict(content)
    while True:
        found.append(digest_of(_in_common(earlier)))
        if "corrections" not in earlier:
            return tuple(reversed(found))
        earlier = before(earlier)


def _in_common(content: Mapping[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in content.items() if k not in ("blocks", "draw", "corrections")}
    return {**rest, "stages": {"epsilon": content["stages"]["epsilon"]}}


def _damage_error() -> StudyError:
    return StudyError("what the study says of its stages is broken", "take the study again")
