"""What `auto` works from: the latent class model, fitted once, and its cross-fitted tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from castell.counting import Counts, folds_of
from castell.inference.inversion import Observed, observe
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.model import Latent, learn
from castell.inference.latent.settings import SETTINGS
from castell.inference.model_averaging import HeldOutFold
from castell.inference.reasons import Reason
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The latent class model of some reports, and what it says without each fold."""

    counts: Counts

    @cached_property
    def latent(self) -> Latent:
        return learn(self.counts, None, None, SETTINGS.starts)

    def models(self, mixture: Mixture, names: Sequence[str]) -> tuple[Floats, ...]:
        """The models of a table to average: the latent class model, and independence."""
        places = self.latent.places(names)
        if len(names) == 1 or not self.latent.associated:
            return (mixture.table(places),)
        return mixture.table(places), mixture.independent_table(places)

    def folds(self, whole: Observed) -> list[tuple[HeldOutFold, ...]]:
        """For each model: most reports, those held out, and what it says without these."""
        found = []
        # Where there is no model to cross-fit there are no models without a fold.
        for fold, trained in zip(folds_of(self.counts), self.latent.fold_models, strict=False):
            if 0 < fold.held_out.n < self.counts.n:
                unseen = observe(fold.held_out, whole.names)
                seen = whole.replace(whole.table - unseen.table)
                found.append(HeldOutFold.each(seen, unseen, self.models(trained, whole.names)))
        return list(zip(*found, strict=True))


@dataclass(frozen=True, eq=False)
class Combined:
    """A table, and why it was made so."""

    table: Floats
    reasons: tuple[Reason, ...]


def by_model(cross_fit: CrossFit, names: tuple[str, ...], why: Reason) -> Combined:
    return Combined(cross_fit.latent.table(names), (why, *cross_fit.latent.reasons(names)))
