"""A study: what is asked and how it is hidden, frozen, with a digest.

A person writes TOML. What is published is canonical JSON that holds the exact integer weights, and
its SHA-256 digest: every report names it, so reports of different studies never mix.

>>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0, name="tiny")
>>> round(study.epsilon, 6)
1.0
>>> Study.from_json(study.to_json()) == study
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from castell.channels import Kinds, channel_of
from castell.display.notebook import heading
from castell.display.one_line import one_line
from castell.errors import CastellError, StudyError
from castell.study.block_channels import Channels
from castell.study.build_design import build_design
from castell.study.canonical import canonical, digest_of
from castell.study.corrections import Correction, before, correction, corrections_of
from castell.study.design import Block, Design, check_fit, check_hides_answers
from castell.study.notebook_table import attribute_table
from castell.study.promise import Promise, check_staged, promise_for, promise_of, wordings
from castell.study.schema import Attribute, Schema
from castell.study.study_json import save
from castell.study.texts import StudyText
from castell.study.toml_file import TEXTS, read_toml

if TYPE_CHECKING:
    from castell.reports.reports import Reports
    from castell.study.statement import Statement

FORMAT = 1
NO_TEXT = StudyText()


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Schema and design. `epsilon` asks for a total; `study.epsilon` is the exact one, never above.

    `shares` gives attributes their own part of the total; `channels` gives attributes, or blocks by
    the tuple of their names, a matrix or any other channel. In the designs 'singles', 'pairs' and
    'cover', with `sample` = k and with `draw` = True and clusters, each respondent reports one set
    of attributes, drawn at random, with the whole budget. `text` is a title and more for the pages
    that respondents see. `corrections` are what was corrected in its words; `corrected` makes them.
    A `staged` study promises that no later stage of it costs more (`castell.plan_next`).
    """

    schema: Schema
    design: Design
    name: str
    text: StudyText
    corrections: tuple[Correction, ...]
    promise: Promise | None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        schema: Schema | Iterable[Attribute],
        epsilon: float | Decimal | None = None,
        design: str | Sequence[Sequence[str]] | Design = "independent",
        *,
        shares: Mapping[str, Any] | None = None,
        channels: Channels | None = None,
        draw: bool = False,
        sample: int | None = None,
        name: str = "study",
        text: StudyText | None = None,
        corrections: Sequence[Correction] = (),
        staged: bool | Promise = False,
    ) -> None:
        if not isinstance(schema, Schema):
            schema = Schema(schema)
        if not isinstance(design, Design):
            design = build_design(schema, epsilon, design, shares, channels, draw, sample)
        elif epsilon is not None or shares or channels or draw or sample is not None:
            raise StudyError(
                "there is a finished design and a budget beside it",
                "the design's channels say what it costs; leave epsilon, shares and channels out",
            )
        check_fit(schema, design)
        if staged is not False:
            check_staged(staged, schema, design)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "names", schema.names)
        object.__setattr__(self, "design", design)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "text", text or NO_TEXT)
        object.__setattr__(self, "corrections", tuple(corrections))
        promise = promise_for(epsilon, design.exact_epsilon) if staged is True else staged or None
        object.__setattr__(self, "promise", promise)
        if promise:
            promise.check(design.exact_epsilon)
        if self.corrections:
            _check_corrections(self)

    @property
    def epsilon(self) -> float:
        """What one respondent spends in all, from the integer weights."""
        return self.design.epsilon

    @property
    def stage(self) -> int:
        """Which of its stages this is, from 1 up."""
        return 1 if self.promise is None else self.promise.stage

    # -- as files ------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path, kinds: Kinds | None = None) -> Study:
        """A study from a TOML file, or from its published JSON.

        `kinds` names channels that neither castell nor an installed package has: for each kind a
        class with `from_document`, or a function of the document.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise StudyError(
                f"cannot read {path}: {error.strerror}",
                "give the path of a study file; castell init writes a first one",
            ) from None
        except UnicodeDecodeError:
            raise StudyError(f"{path} is not text in UTF-8", "save it as UTF-8") from None
        try:
            read = cls.from_json if path.suffix == ".json" else cls.from_toml
            return read(text, kinds)
        except CastellError as error:
            error.problem = f"{path}: {error.problem}"
            raise

    @classmethod
    def from_toml(cls, text: str, kinds: Kinds | None = None) -> Study:
        """A study as a person writes it."""
        return cls(**read_toml(text, kinds))

    @cached_property
    def content(self) -> dict[str, Any]:
        """All that a device needs to know, and all the digest covers."""
        content: dict[str, Any] = {
            "castell": FORMAT,
            "name": self.name,
            "attributes": [attribute.document() for attribute in self.schema],
            **self.design.document(),
            **self.text.document(),
        }
        if self.schema.impossible.rules:
            content["impossible"] = self.schema.impossible.document()
        if self.promise:
            content["stages"] = self.promise.document()
        if self.corrections:
            content["corrections"] = [correction.document() for correction in self.corrections]
        return content

    @cached_property
    def digest(self) -> str:
        return digest_of(self.content)

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests this study has had, the first one first: one more with each correction."""
        return (*(correction.of for correction in self.corrections), self.digest)

    @property
    def origin(self) -> str:
        """The digest before any correction: what stays the same as long as the channels do."""
        return self.digests[0]

    @cached_property
    def wordings(self) -> tuple[str, ...]:
        """By what a device knows the study again, the first one first: one more with each
        correction. Of a study with stages it is the digest of what all of them have in common."""
        return wordings(self.content) if self.promise else self.digests

    @property
    def identity(self) -> str:
        """What stays the same through corrections and stages. Everybody reports once for it."""
        return self.wordings[0]

    def corrected(self, other: Study, on: str) -> Study:
        """This study with the words of another, which must be the same in all else.

        `on` is the day, as in "2026-11-16". The words that were there stay in the published study.
        """
        made = correction(self.content, other.content, on)
        return Study(
            other.schema,
            design=self.design,
            name=self.name,
            text=other.text,
            corrections=(*self.corrections, made),
            staged=self.promise or False,
        )

    def to_dict(self) -> dict[str, Any]:
        """The study as published, as plain JSON values: what `to_json` writes."""
        return json.loads(self.to_json())  # type: ignore[no-any-return]

    def to_json(self) -> str:
        """The study as published: canonical JSON with its digest."""
        check_hides_answers(self.design)
        return canonical({**self.content, "digest": self.digest})

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the published JSON to a .json file, whole or not at all.

        `Study.load` gives the same study back, with the same digest. Another study or file in its
        place is kept unless `overwrite`.
        """
        save(self.to_json(), Path(path), overwrite)

    @classmethod
    def from_json(cls, text: str, kinds: Kinds | None = None) -> Study:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"not valid JSON ({error})", "take the published file") from None
        wanted = {"castell", "name", "attributes", "blocks", "digest"}
        if (
            not isinstance(document, dict)
            or set(document) - TEXTS - {"draw", "impossible", "corrections", "stages"} != wanted
        ):
            raise StudyError(
                "this is not a published study", "take what castell check --publish wrote"
            )
        if document["castell"] != FORMAT:
            raise StudyError(
                f"the study has format {document['castell']!r}, this castell knows {FORMAT}",
                "use the castell that wrote it",
            )
        try:
            schema = _schema_of(document)
            listed = [(tuple(b["attributes"]), b["channel"]) for b in document["blocks"]]
        except (KeyError, TypeError, AttributeError, IndexError):
            raise StudyError("the published study is broken", "take it again") from None
        blocks = []
        for names, published in listed:
            sizes = tuple(a.size for a in schema.select(names))
            blocks.append(Block(names, sizes, channel_of(published, kinds)))
        design = Design(tuple(blocks), "draw" in document, _draw_weights(document.get("draw")))
        shown = StudyText.of(document)
        made = corrections_of(document["corrections"]) if "corrections" in document else ()
        study = cls(
            schema,
            design=design,
            name=document["name"],
            text=shown,
            corrections=made,
            staged=promise_of(document["stages"]) if "stages" in document else False,
        )
        # Nothing may stand in the document that the study does not hold.
        if canonical({**study.content, "digest": document["digest"]}) != canonical(document):
            raise StudyError("the published study has entries of its own", "take it again")
        if study.digest != document["digest"]:
            raise StudyError(
                "the digest does not fit the study", "it was changed after it was published"
            )
        return study

    def facts(self) -> list[str]:
        """The study in a few words."""
        many = f"{len(self.schema)} attribute{'s' * (len(self.schema) != 1)}"
        return [many, f"epsilon {self.epsilon:.4g}", f"digest {self.digest[:12]}"]

    def __repr__(self) -> str:
        return one_line("Study", repr(self.name), self.facts())

    def _repr_html_(self) -> str:
        return attribute_table(heading(self.text.title or self.name, *self.facts()), self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def statement(self) -> Statement:
        """What taking part costs a respondent, in numbers and in words."""
        from castell.study.statement import state

        return state(self)

    # -- use -------------------------------------------------------------------------------------

    def randomize(self, answers: Any, *, seed: int | None = None) -> Reports:
        """Reports of a frame of answers: pandas, Polars, Arrow, or a mapping of columns.

        Randomness comes from the operating system. A `seed` makes the reports repeatable and
        therefore not private: they are marked insecure, and so is every estimate made from them.
        """
        from castell.device.randomize import randomize_frame

        return randomize_frame(self, answers, seed)


def _draw_weights(draw: Any) -> tuple[int, ...]:
    return tuple(draw) if isinstance(draw, list) else ()


def _schema_of(document: Mapping[str, Any]) -> Schema:
    asked = [Attribute.published(entry) for entry in document["attributes"]]
    values = {attribute.name: attribute.values for attribute in asked}
    # Published by codes; a schema is told values.
    rules = [
        {name: [values[name][code] for code in codes] for name, codes in rule.items()}
        for rule in document.get("impossible", [])
    ]
    return Schema(asked, rules)


def _check_corrections(study: Study) -> None:
    """Put the words before the last correction back, and see by the digest that it is all it did.

    That makes the study before, which looks at the correction before, and so on to the first.
    """
    last, content = study.corrections[-1], before(study.content)
    earlier = Study(
        _schema_of(content),
        design=study.design,
        name=study.name,
        text=StudyText.of(content),
        corrections=study.corrections[:-1],
        staged=study.promise or False,
    )
    if earlier.digest != last.of:
        raise StudyError(
            "the corrections do not fit the study",
            "if its words were changed once more: castell correct; else take the study again",
        )
    if correction(earlier.content, study.content, last.on).was != last.was:
        raise StudyError("a correction lists what it did not change", "take the study again")
