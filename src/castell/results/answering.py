"""What analyses ask a model for, and the reasons that every answer of one comes with.

`Model` offers the analyses, which live in files of their own. They ask for this much of it, so that
those files need not import it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from castell.counting import Counts
from castell.inference.declared_zeros import contradictions
from castell.inference.method import Fitted
from castell.inference.reasons import Code, Reason, reason
from castell.inference.support import Support
from castell.results.provenance import Source
from castell.study.study import Study


class Answering(Protocol):
    """A fitted model."""

    @property
    def fitted(self) -> Fitted: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def study(self) -> Study: ...
    @property
    def source(self) -> Source: ...

    def support(self, names: Iterable[str] | str) -> Support: ...


def reasons_of(counts: Counts, made: Sequence[Reason], behind: Support) -> tuple[Reason, ...]:
    """Why an answer is as it is: what speaks against it first, what stands behind it last."""
    told = reason(Code.REPORTS, *behind.names, together=behind.together, n=behind.n)
    return (*contradictions(counts, behind.names), *made, told)
