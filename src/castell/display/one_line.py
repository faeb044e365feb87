"""A `repr` in one short line: what it is, whose it is, and a few facts; never the numbers."""

from __future__ import annotations

from collections.abc import Iterable

# No line is longer, whatever attributes, values and studies are called.
MOST = 200


def one_line(noun: str, what: str, facts: Iterable[str]) -> str:
    """`what` holds names that people chose, so it is cut where the line would get too long.

    >>> one_line("Reports", "of 'health'", ["n = 5,000", "epsilon 6"])
    "<Reports of 'health': n = 5,000, epsilon 6>"
    """
    rest = ", ".join(facts)
    return f"<{noun} {shorten(what, MOST - len(noun) - len(rest) - 5)}: {rest}>"


def shorten(text: str, most: int) -> str:
    """A text on one line, cut in its middle if it is longer than `most`.

    >>> shorten("a very long name", 9)
    'a ve...me'
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    tail = (most - 3) // 3
    return f"{text[: most - 3 - tail]}...{text[len(text) - tail :]}"
