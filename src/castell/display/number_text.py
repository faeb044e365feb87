"""Numbers of what people answered, as people write them: years, incomes, shares of a day."""

from __future__ import annotations


def number_text(value: float, digits: int = 4) -> str:
    """Some digits of a number; all that stand before the point, in groups of three.

    >>> number_text(41.4312), number_text(32795.4839), number_text(-1234567.0), number_text(0.00012)
    ('41.43', '32,795', '-1,234,567', '0.00012')
    >>> number_text(1801.64, 3), number_text(float("inf"))
    ('1,802', 'inf')
    """
    if 10.0**digits <= abs(value) + 0.5 < 1e15:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
