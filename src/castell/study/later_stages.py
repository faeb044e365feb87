"""Later stages of a study: other blocks under the same words and the same promise.

Words may be corrected in any stage, and hold for all of them then. So a stage has the corrections
of its study as its own: its words were those of the study from the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castell.errors import StudyError
from castell.study.canonical import canonical
from castell.study.corrections import before
from castell.study.design import Design
from castell.study.study import Study


def next_stage(study: Study, design: Design) -> Study:
    """The stage after this one, which asks with another design.

    >>> from castell import Attribute, Schema
    >>> attribute = Attribute("smokes", ["no", "yes"])
    >>> first = Study(Schema([attribute]), 2.0, staged=True)
    >>> then = next_stage(first, Study(Schema([attribute]), 1.0).design)
    >>> then.identity == first.identity, then.promise.stage
    (True, 2)
    """
    if study.promise is None:
        raise StudyError(
            f"{study.name!r} promises no stages",
            "write stages = true into its file before it is collected, or collect with a new study",
        )
    first, *later = versions(study)
    made = Study(
        first.schema,
        design=design,
        name=first.name,
        text=first.text,
        staged=study.promise.next(study.origin),
    )
    for version in later:
        made = with_words(made, version, version.corrections[-1].on)
    return made


def with_words(stage: Study, words: Study, on: str) -> Study:
    """A stage with the words of another study, as a correction made on some day."""
    other = Study(
        words.schema,
        design=stage.design,
        name=words.name,
        text=words.text,
        staged=stage.promise or False,
    )
    return stage.corrected(other, on)


def versions(study: Study) -> list[Study]:
    """A study as it was published from the first, the present words last."""
    found = [study]
    while found[0].corrections:
        content: dict[str, Any] = before(found[0].content)
        digest = found[0].corrections[-1].of
        found.insert(0, Study.from_json(canonical({**content, "digest": digest})))
    return found


def check_stages(stages: Sequence[Study]) -> None:
    """Refuse studies that are not the stages of one, in their order."""
    for place, stage in enumerate(stages):
        told = () if stage.promise is None else stage.promise.after
        known = tuple(each.origin for each in stages[:place])
        if told != known or stage.wordings != stages[0].wordings:
            raise StudyError("these are not the stages of one study", "take those of one store")
