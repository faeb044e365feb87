"""What a study declares impossible, in plain words."""

from __future__ import annotations

from castell.study.schema import Attribute, Schema
from castell.study.structural_zeros import Rule

# Of a long list of values the first few are named.
MOST = 6


def rule_text(schema: Schema, rule: Rule) -> str:
    """The combination that nobody has.

    >>> asked = [Attribute("smokes", ["never", "now"]), Attribute("brand", ["none", "A", "B", "C"])]
    >>> schema = Schema(asked, impossible=[{"smokes": "never", "brand": "!none"}])
    >>> rule_text(schema, schema.impossible.rules[0])
    "smokes = 'never' and brand other than 'none'"
    """
    codes = dict(rule.codes)
    return " and ".join(_values(schema[n], codes[n]) for n in schema.names if n in codes)


def _values(attribute: Attribute, codes: tuple[int, ...]) -> str:
    rest = [value for code, value in enumerate(attribute.values) if code not in codes]
    if len(rest) == 1 and len(codes) > 2:
        return f"{attribute.name} other than {rest[0]!r}"
    named = [repr(attribute.values[code]) for code in codes]
    more = len(named) - MOST
    if more > 0:
        named = [*named[:MOST], f"{more} more"]
    return f"{attribute.name} = {' or '.join(named)}"


def rules_told(schema: Schema) -> list[str]:
    """All rules, and what they cost: sentences for people."""
    rules = [rule_text(schema, rule) for rule in schema.impossible]
    if not rules:
        return []
    return [
        "The study declares combinations of answers that cannot occur: "
        + "; ".join(f"nobody has {rule}" for rule in rules)
        + ".",
        "This costs no privacy: a device reports as it would without these rules, whatever is "
        "answered. They are used where tables are estimated. Whoever knows them can rule answers "
        "out, with a report or without.",
    ]
