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

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from castell.channels import (
    MAX_TOTAL,
    CyclicResponse,
    KaryResponse,
    MatrixResponse,
    channel_of,
)
from castell.errors import CastellError, StudyError
from castell.study.design import Block, Design, build
from castell.study.schema import Attribute, Schema, suggest
from castell.study.texts import StudyText

if TYPE_CHECKING:
    from castell.reports.reports import Reports
    from castell.study.statement import Statement

FORMAT = 1

# What pages show beside the questions: published, and in the digest, only where there is any.
TEXTS = {"title", "description", "language", "translations"}


@dataclass(frozen=True, eq=False)
class Study:
    """Schema and design. `epsilon` asks for a total; `study.epsilon` is the exact one, never above.

    `shares` gives attributes their own part of the total, `channels` their own matrix. In the
    designs 'singles', 'pairs' and 'cover', with `sample` = k and with `draw` = True and clusters,
    each respondent reports one set of attributes, drawn at random, with the whole budget. `text` is
    a title and more for the pages that respondents see.
    """

    schema: Schema
    design: Design
    name: str
    text: StudyText

    def __init__(
        self,
        schema: Schema | Iterable[Attribute],
        epsilon: float | Decimal | None = None,
        design: str | Sequence[Sequence[str]] | Design = "independent",
        *,
        shares: Mapping[str, Any] | None = None,
        channels: Mapping[str, Any] | None = None,
        draw: bool = False,
        sample: int | None = None,
        name: str = "study",
        text: StudyText | None = None,
    ) -> None:
        if not isinstance(schema, Schema):
            schema = Schema(schema)
        if not isinstance(design, Design):
            design = build(schema, epsilon, design, shares, channels, draw, sample)
        elif epsilon is not None or shares or channels or draw or sample is not None:
            raise StudyError(
                "there is a finished design and a budget beside it",
                "the design's channels say what it costs; leave epsilon, shares and channels out",
            )
        _check_fit(schema, design)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "design", design)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "text", text or StudyText())

    @property
    def epsilon(self) -> float:
        """What one respondent spends in all, from the integer weights."""
        return self.design.epsilon

    @property
    def names(self) -> tuple[str, ...]:
        return self.schema.names

    # -- as files ------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """A study from a TOML file, or from its published JSON."""
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
            return cls.from_json(text) if path.suffix == ".json" else cls.from_toml(text)
        except CastellError as error:
            error.problem = f"{path}: {error.problem}"
            raise

    @classmethod
    def from_toml(cls, text: str) -> Study:
        try:
            # Decimals, so that what a person writes as 0.1 is 0.1.
            content = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"not valid TOML ({error})", "correct the file") from None
        known = {"name", "epsilon", "design", "clusters", "draw", "sample", "attribute"}
        _only(content, known | TEXTS, "the study")
        tables = content.get("attribute")
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise StudyError(
                "the study has no attributes", "add a [[attribute]] section for each question"
            )
        attributes, shares, channels = [], {}, {}
        for table in tables:
            known = {"name", "values", "question", "epsilon", "matrix", "weights", "translations"}
            _only(table, known, "attribute")
            for key in ("name", "values"):
                if key not in table:
                    raise StudyError(f"an attribute has no {key}", f"add {key} = ... to it")
            attribute = Attribute(
                table["name"],
                table["values"],
                table.get("question", ""),
                table.get("translations"),
            )
            attributes.append(attribute)
            if "matrix" in table and "weights" in table:
                raise StudyError(f"{attribute.name!r} has a matrix and weights", "give one of them")
            if "epsilon" in table:
                shares[attribute.name] = table["epsilon"]
            if "matrix" in table:
                channels[attribute.name] = table["matrix"]
            if "weights" in table:
                channels[attribute.name] = MatrixResponse(table["weights"])
        clusters = content.get("clusters")
        if clusters is not None and content.get("design", "clusters") != "clusters":
            raise StudyError("there are clusters and another design", "leave one of them out")
        if clusters is None and content.get("design") == "clusters":
            raise StudyError("design is 'clusters'", 'add clusters = [["a", "b"], ["c"]]')
        return cls(
            Schema(attributes),
            content.get("epsilon"),
            content.get("design", "independent") if clusters is None else clusters,
            shares=shares,
            channels=channels,
            draw=_boolean(content.get("draw", False)),
            sample=content.get("sample"),
            name=content.get("name", "study"),
            text=StudyText.of(content),
        )

    @cached_property
    def content(self) -> dict[str, Any]:
        """All that a device needs to know, and all the digest covers."""
        content: dict[str, Any] = {
            "castell": FORMAT,
            "name": self.name,
            "attributes": [attribute.document() for attribute in self.schema],
            "blocks": [
                {"attributes": list(b.names), "channel": b.channel.document()}
                for b in self.design.blocks
            ],
            **self.text.document(),
        }
        if self.design.draw:
            # How many of the blocks one respondent reports.
            content["draw"] = 1
        return content

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(_canonical(self.content).encode()).hexdigest()

    def to_json(self) -> str:
        """The study as published: canonical JSON with its digest."""
        return _canonical({**self.content, "digest": self.digest})

    @classmethod
    def from_json(cls, text: str) -> Study:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"not valid JSON ({error})", "take the published file") from None
        wanted = {"castell", "name", "attributes", "blocks", "digest"}
        if not isinstance(document, dict) or set(document) - TEXTS - {"draw"} != wanted:
            raise StudyError(
                "this is not a published study", "take what castell check --publish wrote"
            )
        if document["castell"] != FORMAT:
            raise StudyError(
                f"the study has format {document['castell']!r}, this castell knows {FORMAT}",
                "use the castell that wrote it",
            )
        try:
            schema = Schema(
                Attribute(a["name"], a["values"], a["question"], a.get("translations"))
                for a in document["attributes"]
            )
            listed = [(tuple(b["attributes"]), b["channel"]) for b in document["blocks"]]
        except (KeyError, TypeError, AttributeError):
            raise StudyError("the published study is broken", "take it again") from None
        blocks = []
        for names, published in listed:
            sizes = tuple(a.size for a in schema.select(names))
            blocks.append(Block(names, sizes, channel_of(published)))
        design = Design(tuple(blocks), draw="draw" in document)
        shown = StudyText.of(document)
        study = cls(schema, design=design, name=document["name"], text=shown)
        # Nothing may stand in the document that the study does not hold.
        if _canonical({**study.content, "digest": document["digest"]}) != _canonical(document):
            raise StudyError("the published study has entries of its own", "take it again")
        if study.digest != document["digest"]:
            raise StudyError(
                "the digest does not fit the study", "it was changed after it was published"
            )
        return study

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


def _check_fit(schema: Schema, design: Design) -> None:
    """A design for these attributes and no others, in blocks that fit their values."""
    held = [name for block in design.blocks for name in block.names]
    once = sorted(set(held)) if design.draw else sorted(held)
    if once != sorted(schema.names) or any(len(set(b.names)) < len(b.names) for b in design.blocks):
        raise StudyError(
            "the blocks do not hold each attribute once", "take a design made for this schema"
        )
    if design.draw and design.widths[0] > MAX_TOTAL:
        raise StudyError("a report has more than 2^53 codes", "draw from fewer or smaller sets")
    for block in design.blocks:
        sizes = tuple(schema[name].size for name in block.names)
        channel = block.channel
        # The reports of several attributes are combinations of their values, seen one by one,
        # except where a respondent reports nothing but this block.
        alone = design.draw or len(design.blocks) == 1
        kinds = (KaryResponse, CyclicResponse) if alone else KaryResponse
        whole = len(block.names) == 1 or isinstance(channel, kinds)
        if block.sizes != sizes or channel.inputs != math.prod(sizes) or not whole:
            raise StudyError(
                f"the channel of {' x '.join(block.names)} does not fit its values",
                "give one row per value; several attributes at once take k-ary response",
            )


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise StudyError(f"draw is {value!r}", "write draw = true or leave it out")
    return value


def _canonical(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _only(table: dict[str, Any], known: set[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise StudyError(f"{what} has an unknown entry {key!r}", suggest(key, sorted(known)))
