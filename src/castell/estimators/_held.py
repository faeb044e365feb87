"""What `auto` works from: the model, fitted once, and the reports it is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from castell.counting import Counts, HistogramCounts, drawn_blocks
from castell.counting.folds import dealt
from castell.estimators.latent import STARTS, Latent, learn
from castell.inference.inversion import Observed, observe
from castell.inference.latent.mixture import Mixture
from castell.inference.model_averaging import Deal
from castell.inference.reasons import Reason
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Held:
    """The model, fitted once, and the reports it was judged by."""

    counts: Counts

    @cached_property
    def latent(self) -> Latent:
        return learn(self.counts, None, None, STARTS)

    @cached_property
    def blocks(self) -> tuple[HistogramCounts, ...]:
        return drawn_blocks(self.counts)

    def models(self, mixture: Mixture, names: Sequence[str]) -> tuple[Floats, ...]:
        """What there is to believe of a table: the model, and independence if that is another."""
        places = self.latent.places(names)
        if len(names) == 1 or not self.latent.recipe.steps:
            return (mixture.table(places),)
        return mixture.table(places), mixture.apart(places)

    def deals(self, whole: Observed) -> list[tuple[Deal, ...]]:
        """For each model: most reports, those held out, and what it says without these."""
        found = []
        for fold, trained in enumerate(self.latent.trained):
            _, test = dealt(self.counts, fold)
            if 0 < test.n < self.counts.n:
                unseen = observe(test, whole.names)
                seen = whole.replace(whole.table - unseen.table)
                found.append(Deal.each(seen, unseen, self.models(trained, whole.names)))
        return list(zip(*found, strict=True))


@dataclass(frozen=True, eq=False)
class Blend:
    """A table, and why it was made so."""

    table: Floats
    reasons: tuple[Reason, ...]


def by_model(held: Held, names: tuple[str, ...], why: Reason) -> Blend:
    return Blend(held.latent.table(names), (why, *held.latent.reasons(names)))
