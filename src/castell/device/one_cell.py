"""Questions asked as many attributes that answers hold in one column, as questionnaires store them.

"run;ski" in a column `sports` is what one person chose of "sports: run", "sports: swim" and
"sports: ski"; "mail=1.5; chat=3" in `hours` is what one has of "hours: mail" and "hours: chat". An
empty text chose nothing, or has none; a missing cell did not answer. Whose columns stand for
themselves are read as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from castell.device.answer_columns import texts
from castell.device.bad_answers import BadAnswers
from castell.errors import AnswerError
from castell.study.attribute import Attribute
from castell.study.choices import (
    CHOSEN,
    NOT_CHOSEN,
    SEPARATORS,
    option_name,
    picks_of,
    questions_before,
)
from castell.study.key_values import pairs_of
from castell.study.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class OneCell:
    """A column that holds several attributes."""

    name: str
    attributes: tuple[Attribute, ...]

    @classmethod
    def all_of(cls, schema: Schema, columns: Collection[str]) -> list[OneCell]:
        """The questions of a schema that answers with these columns hold in one of them."""
        held: dict[str, list[Attribute]] = {}
        for attribute in schema:
            if attribute.name not in columns:
                name = next(one for one in questions_before(attribute.name) if one in columns)
                held.setdefault(name, []).append(attribute)
        return [cls(name, tuple(attributes)) for name, attributes in held.items()]

    def __post_init__(self) -> None:
        for one in self.attributes:
            if not one.may_have_none and not {NOT_CHOSEN, CHOSEN} <= set(one.values):
                raise AnswerError(
                    f"the answers have no column {one.name!r}",
                    f"give it one; {self.name!r} can hold what was chosen, or pairs key=number",
                )

    @property
    def options(self) -> list[str]:
        return [one.name[len(option_name(self.name, "")) :] for one in self.attributes]

    def split(
        self, column: pa.ChunkedArray, first_row: int, bad: BadAnswers
    ) -> tuple[dict[str, pa.ChunkedArray], Any]:
        """A column for each attribute, and which rows say nothing that can be read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            column = pc.binary_join(column.cast(pa.list_(pa.string())), SEPARATORS[0])
        written = texts(column).combine_chunks()
        different = pc.unique(written)
        place = pc.index_in(written, different).to_numpy(zero_copy_only=False)
        said = [self._said(text) for text in different.to_pylist()]
        wrong = np.array([one is None for one in said], dtype=bool)[place]
        for row in np.flatnonzero(wrong).tolist():
            bad.add(self._whole(), written[row].as_py(), first_row + row)
        found = {}
        for k, attribute in enumerate(self.attributes):
            # What cannot be read is told above, once; here it is any value.
            each = pa.array([attribute.values[0] if o is None else o[k] for o in said], pa.string())
            found[attribute.name] = pa.chunked_array([each.take(pa.array(place))])
        return found, wrong

    def _said(self, text: str | None) -> list[str | None] | None:
        """The text of each attribute; none if it cannot be read."""
        if text is None:
            refused = any(one.missing_code < 0 for one in self.attributes)
            return None if refused else [None] * len(self.attributes)
        options, first = self.options, self.attributes[0]
        if text.strip() in first.values[len(first.answers) + first.may_have_none :]:
            return [text.strip()] * len(options)  # a way not to answer
        try:
            if first.may_have_none:
                pairs = pairs_of(text)
                if not set(pairs) <= set(options):
                    return None
                nothing = [one.values[len(one.answers)] for one in self.attributes]
                return [pairs.get(key, none) for key, none in zip(options, nothing, strict=True)]
        except AnswerError:
            return None
        picked = picks_of(text, options)
        if picked is None:
            return None
        return [CHOSEN if option in picked else NOT_CHOSEN for option in options]

    def _whole(self) -> Attribute:
        """The question as its column has it, to say what is wrong with a cell."""
        options = self.options
        if self.attributes[0].may_have_none:
            options = [f"{key}=number" for key in options]
        return Attribute(self.name, options if len(options) > 1 else [*options, "nothing of it"])
