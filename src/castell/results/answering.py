"""What analyses ask a model for, and the reasons that every answer of one comes with.

`Model` offers the analyses, which live in files of their own. They ask for this much of it, so that
those files need not import it back; its questions of one kind are a part of it, in a file each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Protocol

from castell.counting import Counts
from castell.errors import MethodError
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


class Questions(ABC):
    """A part of a model, by what it is asked."""

    fitted: Fitted

    @property
    def counts(self) -> Counts:
        return self.fitted.counts

    @property
    def study(self) -> Study:
        return self.counts.study

    @property
    @abstractmethod
    def source(self) -> Source: ...

    def support(self, names: Iterable[str] | str) -> Support:
        """How many reports stand behind a question about some attributes."""
        return self.fitted.support(tuple(a.name for a in self.study.schema.select(names)))


def refuse_weighted(fitted: Fitted, what: str) -> None:
    """What is worked out as if all reports weighed the same is refused where they do not."""
    if fitted.sampling is not None:
        raise MethodError(
            f"{what} is not worked out from weighted reports",
            "compare shares of groups, or take model.scores(...) to survey software",
        )


def reasons_of(counts: Counts, made: Sequence[Reason], behind: Support) -> tuple[Reason, ...]:
    """Why an answer is as it is: what speaks against it first, what stands behind it last."""
    told = reason(Code.REPORTS, *behind.names, together=behind.together, n=behind.n)
    return (*contradictions(counts, behind.names), *made, told)
