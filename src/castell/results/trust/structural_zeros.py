"""Whether the reports contradict what the study declares impossible."""

from __future__ import annotations

from castell.counting import Counts
from castell.inference.chisquare import p_text
from castell.inference.constants import ALARM
from castell.inference.declared_zeros import RuleTest, rule_tests
from castell.results.trust.signal import Signal, unknown_signal
from castell.study.structural_zeros_text import rule_text

TITLE = "Combinations declared impossible"


def declared_rules(counts: Counts) -> Signal:
    """What the reports say of the rules of a study: unbiased shares, tested one-sided against 0."""
    every = rule_tests(counts)
    tests = [one for one in every if one.share is not None]
    if not tests:
        return unknown_signal(
            "impossible", TITLE, "No respondent reported the attributes of a rule together."
        )
    wrong = [one for one in tests if one.contradicted]
    worst = min(tests, key=lambda one: (one.p, -(one.share or 0.0)))
    text = "The reports contradict none of the declared rules."
    if wrong:
        said = "; ".join(
            _rule_sentence(counts, one) for one in sorted(wrong, key=lambda one: one.p)
        )
        text = (
            f"The reports contradict {_many(len(wrong))}: {said}. Methods that use the rules are "
            "wrong if a rule is. Take it out of the study file, or look at how the question was "
            "understood; the method castell does not use them."
        )
    if len(tests) < len(every):
        text += f" Nobody reported the attributes of {_many(len(every) - len(tests))} together."
    return Signal(
        "impossible",
        TITLE,
        "look" if wrong else "fine",
        f"{len(wrong):,} of {len(tests):,} contradicted" if wrong else f"p {p_text(worst.p)}",
        text,
        f"one-sided test of the unbiased share of each rule, level {ALARM:g} over {len(tests)} "
        f"rules (Bonferroni), the least p {p_text(worst.p)}",
        {
            "p": worst.p,
            "share": worst.share or 0.0,
            "error": worst.error or 0.0,
            "tests": len(tests),
            "contradicted": len(wrong),
        },
    )


def _many(rules: int) -> str:
    return f"{rules:,} of the declared rules" if rules > 1 else "one of the declared rules"


def _rule_sentence(counts: Counts, one: RuleTest) -> str:
    rule = rule_text(counts.study.schema, one.rule)
    return f"{rule} is {one.share:.2%} of respondents (std. err. {one.error:.2%})"
