"""How a total is spent on attributes: shares that a person wrote, the rest in equal parts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from castell.channels import Channel
from castell.channels.budget import EXACT, as_decimal, total_of
from castell.errors import StudyError
from castell.study.schema import Schema, suggest


def spend(
    schema: Schema,
    epsilon: object | None,
    shares: Mapping[str, object],
    fixed: Mapping[tuple[str, ...], Channel],
) -> dict[tuple[str, ...], Decimal]:
    """Each attribute's share of the total: as given, the rest in equal parts.

    A channel of its own has the share of its block.
    """
    spent = {names: channel.exact_epsilon for names, channel in fixed.items()}
    stated = {name for names in fixed for name in names}
    for name, share in shares.items():
        if name not in schema.names:
            raise StudyError(f"there is a share for {name!r}", suggest(name, schema.names))
        if name in stated:
            raise StudyError(
                f"attribute {name!r} has a share and a channel",
                "the channel says what it costs; leave the share out",
            )
        spent[(name,)] = as_decimal(share, f"the share of {name!r}")
    stated |= set(shares)
    rest = [name for name in schema.names if name not in stated]
    given = total_of(spent.values())
    if epsilon is None:
        if rest:
            raise StudyError(
                f"there is no epsilon and no share for {', '.join(rest)}",
                "give epsilon, what one respondent spends in all, for example 4.0",
            )
        return spent
    total = as_decimal(epsilon)
    if given > total or (rest and given == total):
        raise StudyError(
            f"the shares sum to {given:.6g} of a total epsilon of {total:.6g}",
            "raise epsilon or lower the shares" + (f"; {rest[0]} needs one too" if rest else ""),
        )
    # A given channel costs what it costs, so only shares that people wrote can be expected to fit.
    if not rest and given < total and not fixed:
        raise StudyError(
            f"the shares sum to {given:.6g}, less than epsilon = {total:.6g}",
            "leave epsilon out, or leave one attribute without a share to take the rest",
        )
    for name in rest:
        spent[(name,)] = EXACT.divide(EXACT.subtract(total, given), Decimal(len(rest)))
    return spent
