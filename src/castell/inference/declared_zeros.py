"""Whether the reports contradict what a study declares impossible.

A rule's share is 0 if it holds, and reports that hold its attributes together give an unbiased
estimate of it with a standard error. The test is one-sided: a share above 0 by more than noise
speaks against the rule, one below does not. The error is the estimated one, which is large where
the estimate is: with few reports of a rare kind the test is cautious. The p-values are for all
rules that can be tested together (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

from castell.counting import Counts, studies_of
from castell.counting.counts import once
from castell.inference.constants import ALARM
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import product_shares
from castell.inference.support import support
from castell.study.structural_zeros import Rule
from castell.study.structural_zeros_text import rule_text


@dataclass(frozen=True)
class RuleTest:
    """A rule, the share of respondents that break it by the reports, and how surely they do.

    Without a number where no report holds its attributes together.
    """

    rule: Rule
    share: float | None = None
    error: float | None = None
    p: float = 1.0

    @property
    def contradicted(self) -> bool:
        return self.p < ALARM


@once
def rule_tests(counts: Counts) -> tuple[RuleTest, ...]:
    """Every rule of a study, tested by its reports as far as they hold it."""
    blocks = [block for study in studies_of(counts) for block in study.design.blocks]
    readable = all(block.channel.has_matrix for block in blocks)
    found = [
        _test(counts, rule) if readable and support(counts, rule.names).together else RuleTest(rule)
        for rule in counts.study.schema.impossible
    ]
    tests = sum(one.share is not None for one in found)
    return tuple(RuleTest(one.rule, one.share, one.error, min(1.0, one.p * tests)) for one in found)


def _test(counts: Counts, rule: Rule) -> RuleTest:
    shares = product_shares(counts, [rule.query], [rule.names], "population")
    share, error = float(shares.values[0]), float(shares.spread.errors[0])
    if error <= 1e-7 * max(1.0, abs(share)):
        # Nothing varies, but for rounding: all reports are alike, which tells of nobody else.
        return RuleTest(rule, share, error)
    return RuleTest(rule, share, error, 0.5 * erfc(share / error / sqrt(2.0)))


def contradictions(counts: Counts, names: tuple[str, ...]) -> tuple[Reason, ...]:
    """The rules that matter for some attributes and that the reports contradict."""
    schema = counts.study.schema
    matter = schema.impossible.rules_about(names)
    return tuple(
        reason(
            Code.DECLARATION_CONTRADICTED,
            *one.rule.names,
            text=rule_text(schema, one.rule),
            share=one.share or 0.0,
            error=one.error or 0.0,
            p=one.p,
        )
        for one in rule_tests(counts)
        if one.contradicted and one.rule in matter
    )
