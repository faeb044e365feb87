"""Formulas as statisticians write them: `affair ~ marriage + age + marriage:age`.

A small reader of its own. Packages that read formulas build design matrices from frames of
answers; here nobody has any answers, only the combinations that they may be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from castell.errors import QueryError

_WORDS = re.compile(
    r"\s*(?:(?P<quoted>`[^`]+`)|(?P<name>[^\W\d][\w.]*)|(?P<sign>[-+*:~()])|(?P<digit>[01]))"
)
_REMEDY = "write it like 'affair ~ marriage + age + marriage:age', `names with blanks` in backticks"


@dataclass(frozen=True)
class Factor:
    """An attribute in a term; `coding` is '' for the usual one, 'C' for a column for each value
    but the first, 'score' for 0, 1, 2, ... in the order of the values."""

    name: str
    coding: str = ""


Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Formula:
    """An outcome and the terms that explain it; a term of several factors is their interaction."""

    outcome: str
    terms: tuple[Term, ...]
    intercept: bool = True

    @property
    def covariates(self) -> tuple[str, ...]:
        """The attributes of the terms, in the order they come."""
        return tuple(dict.fromkeys(factor.name for term in self.terms for factor in term))


def parse(text: str) -> Formula:
    """A formula from its text.

    >>> parse("y ~ a*b - 1")
    Formula(outcome='y', terms=((Factor(name='a', coding=''),), (Factor(name='b', coding=''),),
    (Factor(name='a', coding=''), Factor(name='b', coding=''))), intercept=False)
    """
    if not isinstance(text, str):
        raise QueryError(f"the formula is {text!r}", _REMEDY)
    words = _split_words(text)
    if words.count("~") != 1 or words.index("~") != 1 or len(words) < 3:
        raise QueryError(f"the formula is {text!r}, not outcome ~ covariates", _REMEDY)
    outcome, rest = _name(words[0], text), words[2:]
    terms: list[Term] = []
    intercept = True
    for sign, piece in _parts(rest, text):
        if piece in (["0"], ["1"]):
            intercept = (piece == ["1"]) == (sign == "+")
            continue
        if sign == "-":
            raise QueryError(
                f"the formula {text!r} takes away a term", "only the intercept is taken away: - 1"
            )
        terms += [term for term in _terms(piece, text) if not _among(term, terms)]
    if not terms and not intercept:
        raise QueryError(f"the formula {text!r} has nothing to estimate", "name a covariate")
    for term in terms:
        for factor in term:
            if factor.name == outcome:
                raise QueryError(f"{outcome!r} is on both sides of {text!r}", "leave one out")
    return Formula(outcome, tuple(terms), intercept)


def _split_words(text: str) -> list[str]:
    words, at = [], 0
    stripped = text.strip()
    while at < len(stripped):
        found = _WORDS.match(stripped, at)
        if found is None:
            raise QueryError(
                f"the formula {text!r} cannot be read at {stripped[at : at + 10]!r}", _REMEDY
            )
        words.append(found.group().strip())
        at = found.end()
    return words


def _name(word: str, text: str) -> str:
    if word.startswith("`"):
        return word.strip("`")
    if not word or not (word[0].isalpha() or word[0] == "_"):
        raise QueryError(f"the formula {text!r} has {word!r} where a name should be", _REMEDY)
    return word


def _parts(words: list[str], text: str) -> list[tuple[str, list[str]]]:
    """What stands between plus and minus signs."""
    parts: list[tuple[str, list[str]]] = []
    sign, piece = "+", list[str]()
    start = 1 if words[0] in "+-" else 0
    sign = words[0] if start else "+"
    for word in [*words[start:], "+"]:
        if word in ("+", "-"):
            if not piece:
                raise QueryError(f"the formula {text!r} has an empty term", _REMEDY)
            parts.append((sign, piece))
            sign, piece = word, []
        else:
            piece.append(word)
    return parts


def _terms(piece: list[str], text: str) -> list[Term]:
    """A term, or all terms that a product with * stands for."""
    factors, signs = _factors(piece, text)
    if "*" not in signs:
        return [tuple(factors)]
    if ":" in signs or len(factors) > 2:
        raise QueryError(f"the formula {text!r} multiplies more than two", "write the terms out")
    return [(factors[0],), (factors[1],), tuple(factors)]


def _factors(piece: list[str], text: str) -> tuple[list[Factor], list[str]]:
    factors, signs = [], []
    rest = list(piece)
    while rest:
        word = rest.pop(0)
        if word in ("C", "score") and rest[:1] == ["("]:
            if len(rest) < 3 or rest[2] != ")":
                raise QueryError(f"the formula {text!r} has an open bracket", _REMEDY)
            factors.append(Factor(_name(rest[1], text), word))
            rest = rest[3:]
        else:
            factors.append(Factor(_name(word, text)))
        if rest:
            if rest[0] not in (":", "*") or len(rest) < 2:
                raise QueryError(f"the formula {text!r} cannot be read at {rest[0]!r}", _REMEDY)
            signs.append(rest.pop(0))
    if len({factor.name for factor in factors}) < len(factors):
        raise QueryError(f"a term of {text!r} names an attribute twice", "name it once")
    return factors, signs


def _among(term: Term, terms: list[Term]) -> bool:
    return any(set(term) == set(other) for other in terms)
