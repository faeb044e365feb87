"""What is asked: attributes and their values, in order.

>>> schema = Schema([Attribute("sex", ["Female", "Male"]), Attribute("smokes", ["no", "yes"])])
>>> schema.names, schema.sizes
(('sex', 'smokes'), (2, 2))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from castell.errors import QueryError, SchemaError, TableTooLargeError
from castell.study.attribute import Attribute, suggest
from castell.study.structural_zeros import Mask, StructuralZeros, structural_zeros

__all__ = ["Attribute", "Schema", "suggest"]


def name_list(names: object) -> list[str]:
    """The names of attributes that were asked for: one, or several.

    >>> name_list("a"), name_list(("a", "b"))
    (['a'], ['a', 'b'])
    """
    several = isinstance(names, Iterable) and not isinstance(names, str)
    found = list(names) if isinstance(names, Iterable) and several else [names]
    if not all(isinstance(name, str) for name in found):
        raise QueryError(f"{names!r} names no attributes", "give a name, or a list of names")
    return [str(name) for name in found]


# Half a gigabyte of float64 for each array of a table.
MAX_CELLS = 1 << 26


def check_cells(what: str, sizes: Sequence[int], limit: int | None) -> int:
    """How many cells a table has, refused before anything is allocated if it is too large."""
    cells, limit = prod(int(size) for size in sizes), MAX_CELLS if limit is None else limit
    if cells > limit:
        raise TableTooLargeError(
            f"the table of {what} has {cells:,} cells, the limit is {limit:,}",
            "ask for fewer attributes, for the largest cells (model.top(...), or --top 20 on the "
            "command line), for single cells (model.probability(...), or --where), or raise "
            "max_cells / --max-cells "
            f"(it takes {8 * cells / 2**30:,.1f} GiB for each array)",
        )
    return cells


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
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

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
        object.__setattr__(self, "names", tuple(names))
        nothing = isinstance(impossible, tuple) and not impossible
        zeros = StructuralZeros() if nothing else structural_zeros(impossible, self.__getitem__)
        object.__setattr__(self, "impossible", zeros)

    @classmethod
    def from_frame(
        cls, frame: Any, columns: Sequence[str] | None = None, *, decline: str = "prefer not to say"
    ) -> Schema:
        """Attributes proposed from a frame of a pilot or of public data, for a person to finish.

        Numbers are cut into bins at round numbers near their quantiles, texts are listed, days
        taken by period; columns that cannot be asked are left out. Each question offers `decline`
        beside its values, unless that is empty. `castell init` says what it did with each column.
        """
        from castell.device.proposal import propose_schema

        return propose_schema(frame, columns, decline)

    @property
    def public(self) -> tuple[str, ...]:
        """The attributes that are reported as they are, outside epsilon."""
        return tuple(attribute.name for attribute in self.attributes if attribute.public)

    @property
    def hidden(self) -> Schema:
        """The attributes that are randomised; rules of impossible combinations stay behind."""
        if not self.public:
            return self
        if len(self.public) == len(self):
            raise SchemaError(
                "all attributes are public, so there is nothing to hide",
                "castell is for answers that are randomised; ask for one, or use any other tool",
            )
        return Schema(attribute for attribute in self.attributes if not attribute.public)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    def check_cells(self, names: Sequence[str], limit: int | None) -> int:
        """How many cells the table of some attributes has; refused if too many to hold."""
        return check_cells(" x ".join(names), [self[name].size for name in names], limit)

    def impossible_cells(self, names: Sequence[str]) -> Mask:
        """Which cells of the table of some attributes nobody can be in, as far as is declared."""
        shape = [self[name].size for name in names]
        if not self.impossible.rules:
            return np.zeros(shape, dtype=np.bool_)
        return self.impossible.impossible_cells(names, shape)

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
        names = name_list(names)
        if not names:
            raise QueryError("no attribute was asked for", f"name some of {', '.join(self.names)}")
        chosen = tuple(self[name] for name in names)
        if len(set(names)) < len(names):
            raise QueryError("an attribute was asked for twice", "name each once")
        return chosen
