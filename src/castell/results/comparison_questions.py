"""What a model is asked of groups and of pairs: comparisons, associations, trends."""

from __future__ import annotations

from collections.abc import Iterable

from castell.inference.scores import Scores
from castell.results.association import Association, TrendTest
from castell.results.associations import association_of, trend_of
from castell.results.compare import compare_groups
from castell.results.contrast import Comparison, Contrast
from castell.results.every_association import Associations, associate
from castell.results.questions import Questions, Values, refuse_weighted


class ComparisonQuestions(Questions):
    """The part of a model that answers them."""

    def compare(self, asked: Values, *, given: Values, versus: Values) -> Comparison:
        """An answer in two groups: its share in each, difference, relative risk and odds ratio.

        `compare({"health": "poor"}, given={"smokes": "now"}, versus={"smokes": "never"})`. Two
        waves or studies are compared by `castell.compare`.
        """
        return compare_groups(self, asked, given, versus)

    def odds_ratio(self, asked: Values, *, given: Values, versus: Values) -> Contrast:
        """The odds of an answer in one group over those in another."""
        return self.compare(asked, given=given, versus=versus).odds_ratio

    def relative_risk(self, asked: Values, *, given: Values, versus: Values) -> Contrast:
        """The share of an answer in one group over that in another."""
        return self.compare(asked, given=given, versus=versus).relative_risk

    def association(self, one: str, two: str) -> Association:
        """Cramer's V of two attributes with its interval, and the test of their independence."""
        refuse_weighted(self.fitted, "an association")
        return association_of(self, one, two)

    def associations(self, names: Iterable[str] | None = None) -> Associations:
        """Cramer's V of every two attributes, as `association` has it, and tests with control of
        false discoveries.

        It is worked out from the unbiased tables of pairs, whatever the method.
        """
        refuse_weighted(self.fitted, "an association")
        chosen = self.study.schema.select(self.study.names if names is None else names)
        return associate(self.counts, tuple(a.name for a in chosen), self.source)

    def trend(self, one: str, two: str, *, scores: Scores | None = None) -> TrendTest:
        """Whether one ordered attribute rises or falls with another: the correlation of scores.

        Scores are 0, 1, 2, ... in the order of the values, or as given: `scores={"age": [24, 37,
        52, 70]}`.
        """
        refuse_weighted(self.fitted, "a trend")
        return trend_of(self, one, two, scores)
