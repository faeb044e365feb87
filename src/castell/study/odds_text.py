"""Chances as people read them. The survey page writes them by the same rules, to the digit."""

from __future__ import annotations

from math import ceil, exp, floor, gcd, log, log10

# Rarer than this is said as less than it.
RAREST = 1_000_000_000_000


def share(chance: float) -> str:
    """A chance to a tenth of a percent, which is never all or nothing if the chance is not.

    >>> share(1 / 16), share(0.99753), share(0.99966), share(0.0002)
    ('6.3%', '99.8%', 'over 99.9%', 'under 0.1%')
    """
    tenths = floor(1000.0 * chance + 0.5)
    if tenths >= 1000 and chance < 1.0:
        return "over 99.9%"
    if tenths == 0 and chance > 0.0:
        return "under 0.1%"
    return f"{tenths // 10}.{tenths % 10}%"


def spread(least: float, most: float) -> str:
    """Two chances, or one if they read the same.

    >>> spread(0.58, 0.8123), spread(0.5, 0.50001)
    ('58.0% to 81.2%', '50.0%')
    """
    ends = dict.fromkeys([share(least), share(most)])
    return " to ".join(ends)


def often(chance: float) -> str:
    """How often something happens, be it rare or not.

    >>> often(0.25), often(1 / 1814400)
    ('25.0% of the time', 'once in 1,814,400')
    """
    if chance >= 0.01:
        return f"{share(chance)} of the time"
    if chance < 1.0 / RAREST:
        return f"less than once in {RAREST:,}"
    return f"once in {floor(1.0 / chance + 0.5):,}"


def out_of(some: int, all_: int) -> str:
    """
    >>> out_of(5, 15)
    '1 in 3'
    """
    common = gcd(some, all_)
    return f"{some // common} in {all_ // common}"


def less_than_once_in(chance: float) -> int:
    """The largest number, up to a million, that a chance is less than one in.

    >>> less_than_once_in(0.018), less_than_once_in(1e-14)
    (55, 1000000)
    """
    # The margin is for a chance that is what is left of 1, and so known to 2^-53 only.
    return 1_000_000 if chance < 1e-6 else floor(1.0 / chance * (1.0 - 1e-9))


def of_two(epsilon: float) -> float:
    """How often a guess between two is right if the report moves the odds from even by e^epsilon.

    >>> round(of_two(1.0), 3), of_two(900.0) < 1.0
    (0.731, True)
    """
    return min(1.0 / (1.0 + exp(-epsilon)), 1.0 - 2.0**-53)


def factor(epsilon: float) -> str:
    """e^epsilon in three digits or so, upwards: what is stated as "at most" must be.

    >>> factor(1.5), factor(6.0), factor(20.0), factor(700.0)
    ('4.49', '404', '486,000,000', '10^305')
    """
    if epsilon > 32.0:
        return f"10^{ceil(epsilon / log(10.0))}"
    value = exp(epsilon)
    if value < 100.0:
        # Epsilon is itself rounded up in its last bits, which must not show as another hundredth.
        return f"{ceil(100.0 * value - 1e-6) / 100.0:.2f}"
    unit = 10 ** (floor(log10(value)) - 2)
    return f"{ceil(value / unit - 1e-6) * unit:,}"
