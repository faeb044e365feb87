"""Latent classes: one model of all attributes that answers any set of any width.

A mixture of products, fitted by EM to the likelihood of drawn blocks, or to the composite
likelihood of all pairs where everybody reports everything: the time it takes does not depend on how
many answered. Where there are not too many of them the reports are then gone through one by one,
as long as that gains. Every fit starts near independence and is stopped early, by cross-validation;
several are averaged. Respondents who reported only some attributes count for those.
docs/methods.md has the model and what is chosen how.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from castell.counting import Counts
from castell.errors import OptionError
from castell.inference.latent.model import Latent, learn, require_reports_of_each
from castell.inference.latent.settings import SETTINGS
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.queries import Query, names_of
from castell.inference.shares import Shares

READS = Reads(drawn=True, across=True, sets=True, whole=True, coarse=True)


def fit(
    counts: Counts,
    *,
    classes: int | None = None,
    steps: int | None = None,
    starts: int = SETTINGS.starts,
) -> Fitted:
    """`classes` of each mixture, `steps` of each fit: chosen by cross-validation if None.
    `starts` is how many fits are averaged."""
    for name, value in (("classes", classes), ("steps", steps), ("starts", starts)):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if value is not None and not whole:
            raise OptionError(f"{name} is {value!r}", "give a whole number from 1 up")
    return _as_fitted(learn(counts, classes, steps, starts))


def resume(counts: Counts, learned: dict[str, Any], **_: Any) -> Fitted:  # noqa: ARG001
    """The same from what was kept."""
    return _as_fitted(Latent.restore(learned))


def _as_fitted(latent: Latent) -> Fitted:
    return Fitted(
        latent.counts,
        partial(_joint, latent),
        partial(_shares, latent),
        sample=latent.sample,
        learned=latent.to_keep,
        prefixes=latent.prefixes,
    )


def _joint(fitted: Latent, names: tuple[str, ...], max_cells: int | None) -> Solution:
    fitted.counts.study.schema.check_cells(names, max_cells)
    require_reports_of_each(fitted.counts, names)
    table = fitted.table(names)
    return Solution(table, partial(fitted.spread, names, table), partial(fitted.reasons, names))


def _shares(fitted: Latent, queries: Sequence[Query]) -> Shares:
    names = names_of(queries)
    require_reports_of_each(fitted.counts, names)
    return fitted.intervals.shares(queries, fitted.share).because(*fitted.reasons(names))
