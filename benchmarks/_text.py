"""Tables for people: aligned columns of plain text."""

from __future__ import annotations

from collections.abc import Sequence


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Rows under their titles; the first `words` columns are words, the others numbers.

    >>> print(grid(["", "best s"], [["castell", "0.1"]]))
             best s
    ---------------
    castell     0.1
    """
    widths = [max(len(line[k]) for line in [titles, *rows]) for k in range(len(titles))]
    lines = [
        "  ".join(
            cell.ljust(width) if k < words else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [titles, *rows]
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
