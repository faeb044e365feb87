"""One question with a closed list of answers: what its values are, and the code of each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from castell.errors import QueryError, SchemaError
from castell.study.number_texts import number_of
from castell.study.scales import Bins, Period, Points, Scale, scale_of
from castell.study.texts import Translation, translations_of
from castell.study.value_texts import codes_by_text, one_text, text_of
from castell.study.written_scale import Written

# What becomes of a missing answer, and the value it is where a study names none.
MISSING = ("refuse", "category", "skip", "none")
NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Attribute:
    """One question with a closed list of answers.

    Values are texts. Numbers and truth values are taken as the text a data frame would show.
    `translations` are for pages: `{"de": {"question": ..., "values": [...]}}`, values in order.

    Numbers are cut: `bins` are where each bin begins, `range` closes the ends or, without bins,
    gives a value to each whole number; `rounding="unbiased"` rounds to the bins' ends instead, so
    that means are exact. Days are taken by `period`. `type` is "boolean", "integer" or "number"
    where it is not clear. `ordered` values have an order. `also` are last values that stand beside
    it, such as "prefer not to say". With `missing="category"` a missing answer is the first of
    them; with `missing="skip"` it is one more value, reported as it is: a report then shows who
    did not answer; with `missing="none"` it is `none`. Else it is refused. A `public` attribute is
    known anyway: it is reported as it is, outside epsilon.

    `none` makes a number a key-value pair: it is what those answer who have none of what is asked
    about, and means and quantiles are of those who have some.

    >>> Attribute("age", [20, 30, 40]).values
    ('20', '30', '40')
    >>> Attribute("age", bins=[18, 30], unit="years", also=["prefer not to say"]).values
    ('under 18', '18 to 29', '30 and over', 'prefer not to say')
    """

    name: str
    values: tuple[str, ...]
    question: str = ""
    translations: tuple[Translation, ...] = ()
    ordered: bool = False
    scale: Scale | None = None
    beside: int = 0  # how many of the last values stand beside the order
    missing: str = "refuse"
    public: bool = False
    may_have_none: bool = False  # whether the first of those beside the order is `none`

    def __init__(
        self,
        name: str,
        values: Iterable[object] = (),
        question: str = "",
        translations: Mapping[str, Mapping[str, object]] | None = None,
        *,
        bins: Iterable[object] | None = None,
        range: Sequence[object] | None = None,
        unit: str = "",
        type: str = "",
        period: str = "",
        rounding: str = "",
        ordered: bool = False,
        also: Iterable[object] = (),
        missing: str = "refuse",
        public: bool = False,
        none: str | None = None,
    ) -> None:
        _check_name(name)
        listed = _value_list(name, values)
        beside = _value_list(name, also)
        try:
            written = Written(bins, range, unit, type, period, rounding)
            listed, scale, in_order = written.read(listed)
        except SchemaError as error:
            error.problem = f"attribute {name!r}: {error.problem}"
            raise
        if (missing == "category" and not beside) or missing == "skip":
            beside = (*beside, NO_ANSWER)
        if none is not None:
            _check_numbers(name, listed, scale, none)
            beside = (*_value_list(name, [none]), *beside)
        self._fill(
            name,
            listed + beside,
            question,
            translations,
            ordered=bool(ordered) or in_order,
            scale=scale,
            beside=len(beside),
            missing=missing,
            public=public,
            may_have_none=none is not None,
        )

    def _fill(
        self, name: str, texts: tuple[str, ...], question: object, translations: Any, **more: Any
    ) -> None:
        for text in (name, question, *texts):
            _check_unicode(name, str(text))
        own = len(texts) - more["beside"]
        if own < 2:
            raise SchemaError(
                f"attribute {name!r} has {own} value{'s' * (own != 1)}",
                "there is nothing to hide or learn with fewer than two; add a value or drop it",
            )
        if len(set(texts)) < len(texts):
            twice = next(text for i, text in enumerate(texts) if text in texts[:i])
            raise SchemaError(
                f"attribute {name!r} lists the value {twice!r} twice", "list every value once"
            )
        if isinstance(more["scale"], (Bins, Points)):
            _check_labels(name, texts, more["scale"])
        _check_missing(name, more["missing"], more["may_have_none"], more["beside"])
        if not isinstance(more["public"], bool):
            raise SchemaError(
                f"attribute {name!r}: public is {more['public']!r}",
                "write public = true, or leave it out",
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", texts)
        object.__setattr__(self, "question", str(question))
        object.__setattr__(self, "translations", translations_of(name, len(texts), translations))
        for key, value in more.items():
            object.__setattr__(self, key, value)

    @classmethod
    def published(cls, document: Mapping[str, Any]) -> Attribute:
        """An attribute from its published form."""
        name, beside = document["name"], document.get("also", 0)
        _check_name(name)
        texts = _value_list(name, document["values"])
        scale = None
        if type(beside) is not int or not 0 <= beside < len(texts):
            raise SchemaError(f"attribute {name!r} is broken", "take the published study again")
        on_it = texts[: len(texts) - beside]
        if "scale" in document:
            scale = scale_of(document["scale"], on_it)
            if scale.size != len(on_it):
                raise SchemaError(
                    f"attribute {name!r} has {len(on_it)} values on a scale of {scale.size}",
                    "take the published study again",
                )
        made = object.__new__(cls)
        made._fill(
            name,
            texts,
            document["question"],
            document.get("translations"),
            ordered=scale is not None or document.get("ordered") is True,
            scale=scale,
            beside=beside,
            missing=document.get("missing", "refuse"),
            public=document.get("public", False),
            may_have_none=document.get("none", False),
        )
        return made

    @cached_property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def may_skip(self) -> bool:
        """Whether the last value is reported as it is: it shows who did not answer."""
        return self.missing == "skip"

    @property
    def missing_code(self) -> int:
        """The code of a missing answer; -1 where it is refused."""
        category = self.size - self.beside + self.may_have_none
        codes = {"category": category, "skip": self.size - 1, "none": self.none_code}
        return codes.get(self.missing, -1)

    @property
    def none_code(self) -> int:
        """The code of having none of what is asked about; -1 where that is no answer."""
        return self.size - self.beside if self.may_have_none else -1

    @property
    def answers(self) -> tuple[str, ...]:
        """The values without those that stand beside the order."""
        return self.values[: self.size - self.beside]

    def document(self) -> dict[str, Any]:
        """The attribute as published; what is as usual is not written."""
        plain = {"name": self.name, "question": self.question, "values": list(self.values)}
        more = {
            "ordered": self.ordered and self.scale is None,
            "scale": self.scale.document() if self.scale else None,
            "also": self.beside,
            "none": self.may_have_none,
            "public": self.public,
            "missing": self.missing if self.missing != "refuse" else "",
            "translations": {t.language: t.document() for t in self.translations},
        }
        return {**plain, **{key: value for key, value in more.items() if value}}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.values)}

    @cached_property
    def codes_by_text(self) -> dict[str, int]:
        """Codes by the one way to write each value, for what is not written as in the study."""
        return codes_by_text(self.values)

    def code(self, value: object) -> int:
        """The position of a value; an unknown one is an error that names near ones.

        A number is in its bin, a day in its period.
        """
        try:
            text = text_of(self.name, value)
        except SchemaError:
            if self.missing_code >= 0:
                return self.missing_code
            text = ""
        code = self._codes.get(text, self.codes_by_text.get(one_text(text)))
        if code is None and isinstance(self.scale, Period):
            code = self._codes.get(self.scale.text(text))
        if code is None and isinstance(self.scale, Bins):
            found = int(self.scale.codes(np.array([number_of(text)]))[0])
            code = None if found < 0 else found
        if code is None:
            raise QueryError(
                f"{value!r} is not a value of {self.name!r}",
                suggest(str(value), self.values),
            )
        return code


def _check_name(name: object) -> None:
    if not _is_name(name):
        raise SchemaError(
            f"{name!r} is not a name for an attribute",
            "give it a text without spaces at its ends",
        )


def _check_missing(name: str, missing: object, may_have_none: object, beside: int) -> None:
    """A missing answer needs a value that it becomes, unless it is refused."""
    if not isinstance(may_have_none, bool) or beside < may_have_none:
        raise SchemaError(
            f"attribute {name!r} is broken: none is {may_have_none!r}",
            "take the published study again",
        )
    if missing == "none" and not may_have_none:
        raise SchemaError(
            f"attribute {name!r}: missing is 'none', and there is no such answer",
            'add none = "none", or write missing = "category"',
        )
    left = beside - may_have_none
    if missing not in MISSING or (missing in ("category", "skip") and not left):
        raise SchemaError(
            f"attribute {name!r}: missing is {missing!r}", f"write {' or '.join(MISSING)}"
        )


def _check_numbers(name: str, values: Sequence[str], scale: Scale | None, none: object) -> None:
    """Whoever does not have any has some otherwise: so many, or so much."""
    if not isinstance(none, str):
        raise SchemaError(
            f"attribute {name!r}: none is {none!r}", 'write the answer of who has none: "none"'
        )
    numbers = all(number_of(text) == number_of(text) for text in values)
    if isinstance(scale, Period) or (scale is None and not numbers):
        raise SchemaError(
            f"attribute {name!r} has none = ... and values that are no numbers",
            "list it among the values, or give bins = [...] or a range",
        )


def _check_labels(name: str, texts: Sequence[str], scale: Bins | Points) -> None:
    """A bin that is called by a number would be taken for the bin of that number."""
    numbers = np.array([number_of(text) for text in texts])
    meant = scale.codes(numbers) if isinstance(scale, Bins) else scale.codes(numbers, 0 * numbers)
    for place, (text, number, code) in enumerate(zip(texts, numbers, meant, strict=True)):
        if number == number and code != place:
            raise SchemaError(
                f"attribute {name!r} calls a bin {text!r}, a number that is not in it",
                "name it in words, or leave values out",
            )


def _value_list(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, (str, bytes)):
        raise SchemaError(
            f"attribute {name!r} has one text for its values", "give a list of values"
        )
    if not isinstance(values, Iterable):
        raise SchemaError(f"attribute {name!r} has no list of values", "give a list of values")
    return tuple(text_of(name, value) for value in values)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name) and name == name.strip()


def _check_unicode(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SchemaError(
            f"attribute {name!r} holds half a character ({text!r})", "write it in valid Unicode"
        ) from None


def suggest(word: str, known: Iterable[str]) -> str:
    """The remedy for a word that is not among the known ones.

    >>> suggest("Femal", ["Female", "Male"])
    "did you mean 'Female'? Known are Female, Male"
    """
    known = list(known)
    listed = ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
    folded = [text for text in known if text.casefold() == word.strip().casefold()]
    near = folded or difflib.get_close_matches(word.strip(), known, 1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"Known are {listed}"
