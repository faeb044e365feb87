"""What is asked: attributes and their values, in order.

>>> schema = Schema([Attribute("sex", ["Female", "Male"]), Attribute("smokes", ["no", "yes"])])
>>> schema.names, schema.sizes
(('sex', 'smokes'), (2, 2))
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from castell.errors import QueryError, SchemaError
from castell.study.structural_zeros import StructuralZeros, structural_zeros
from castell.study.texts import Translation, translations_of


@dataclass(frozen=True)
class Attribute:
    """One question with a closed list of answers.

    Values are texts. Numbers and truth values are taken as the text a data frame would show.
    `translations` are for pages: `{"de": {"question": ..., "values": [...]}}`, values in order.

    >>> Attribute("age", [20, 30, 40]).values
    ('20', '30', '40')
    """

    name: str
    values: tuple[str, ...]
    question: str = ""
    translations: tuple[Translation, ...] = ()

    def __init__(
        self,
        name: str,
        values: Iterable[object],
        question: str = "",
        translations: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        if not _is_name(name):
            raise SchemaError(
                f"{name!r} is not a name for an attribute",
                "give it a text without spaces at its ends",
            )
        if isinstance(values, (str, bytes)):
            raise SchemaError(
                f"attribute {name!r} has one text for its values", "give a list of values"
            )
        if not isinstance(values, Iterable):
            raise SchemaError(f"attribute {name!r} has no list of values", "give a list of values")
        texts = tuple(text_of(name, value) for value in values)
        for text in (name, question, *texts):
            _check_unicode(name, str(text))
        if len(texts) < 2:
            raise SchemaError(
                f"attribute {name!r} has {len(texts)} value{'s' * (len(texts) != 1)}",
                "there is nothing to hide or learn with fewer than two; add a value or drop it",
            )
        if len(set(texts)) < len(texts):
            twice = next(text for i, text in enumerate(texts) if text in texts[:i])
            raise SchemaError(
                f"attribute {name!r} lists the value {twice!r} twice", "list every value once"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", texts)
        object.__setattr__(self, "question", str(question))
        object.__setattr__(self, "translations", translations_of(name, len(texts), translations))

    @property
    def size(self) -> int:
        return len(self.values)

    def document(self) -> dict[str, Any]:
        """The attribute as published."""
        plain = {"name": self.name, "question": self.question, "values": list(self.values)}
        if not self.translations:
            return plain
        return {**plain, "translations": {t.language: t.document() for t in self.translations}}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.values)}

    def code(self, value: object) -> int:
        """The position of a value; an unknown one is an error that names near ones."""
        try:
            code = self._codes.get(text_of(self.name, value))
        except SchemaError:
            code = None
        if code is None:
            raise QueryError(
                f"{value!r} is not a value of {self.name!r}",
                suggest(str(value), self.values),
            )
        return code


def text_of(name: str, value: object) -> str:
    """A value as people write it: 1.0 is '1', True is 'true'."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating, Decimal)):
        # As text first: a short float of a frame is the number its digits say.
        number = float(str(value))
        value = int(number) if number.is_integer() else number
    text = str(value)
    if value is None or not text.strip():
        raise SchemaError(
            f"attribute {name!r} has an empty value", "write it out, for example 'no answer'"
        )
    return text


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


@dataclass(frozen=True)
class Schema:
    """The attributes of a study, in order, and combinations of their values that cannot occur.

    `impossible` is a list of rules, each with values of two or more attributes that nobody has
    together: a value, a list of values, or "!value" for all but that one.

    >>> asked = [Attribute("smokes", ["never", "now"]), Attribute("brand", ["not asked", "A", "B"])]
    >>> schema = Schema(asked, impossible=[{"smokes": "never", "brand": "!not asked"}])
    >>> schema.impossible.document()
    [{'brand': [1, 2], 'smokes': [0]}]
    """

    attributes: tuple[Attribute, ...]
    impossible: StructuralZeros

    def __init__(
        self, attributes: Iterable[Attribute], impossible: Iterable[Mapping[str, object]] = ()
    ) -> None:
        attributes = tuple(attributes)
        for attribute in attributes:
            if not isinstance(attribute, Attribute):
                raise SchemaError(f"{attribute!r} is no attribute", "use castell.Attribute(...)")
        if not attributes:
            raise SchemaError("there are no attributes", "ask at least one question")
        names = [attribute.name for attribute in attributes]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise SchemaError(
                    f"there are two attributes named {name!r}", "give each its own name"
                )
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "impossible", structural_zeros(impossible, self.__getitem__))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise QueryError(f"there is no attribute {name!r}", suggest(str(name), self.names))

    def select(self, names: Iterable[str]) -> tuple[Attribute, ...]:
        """Attributes by name, in the order asked; none twice, none unknown, at least one.

        >>> schema = Schema([Attribute("a", "xy".split() + ["z"]), Attribute("b", [0, 1])])
        >>> schema.select(["b"])[0].values
        ('0', '1')
        """
        if isinstance(names, str):
            names = [names]
        names = list(names)
        if not names:
            raise QueryError("no attribute was asked for", f"name some of {', '.join(self.names)}")
        chosen = tuple(self[name] for name in names)
        if len(set(names)) < len(names):
            raise QueryError("an attribute was asked for twice", "name each once")
        return chosen
