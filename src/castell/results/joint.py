"""The result: a labelled joint table with its errors, frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.one_line import one_line
from castell.errors import MissingExtraError, QueryError
from castell.inference.goodness_of_fit import Misfit, Verdict
from castell.inference.intervals import Spread, SpreadOf, quantile
from castell.inference.reasons import Reason
from castell.inference.support import Checked, Support
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.notebook_table import joint_html
from castell.results.provenance import Source
from castell.results.questions import reasons_of_part
from castell.results.summary import summarize
from castell.study.schema import Attribute, name_list, suggest
from castell.study.study import Study

NUMBERS = ("probability", "standard_error", "lower", "upper")


@dataclass(frozen=True, eq=False, repr=False)
class JointEstimate:
    """An estimated joint distribution: one axis for each attribute, in the order asked.

    `probabilities` is what `post` made of `unprocessed`, the estimate itself, which the standard
    errors and intervals belong to.
    """

    attributes: tuple[Attribute, ...]
    probabilities: Floats
    unprocessed: Floats
    spread: SpreadOf
    method: str
    post: str
    study: Study
    n: int
    secure: bool
    # How many reports stand behind a question about some of the attributes.
    support: Callable[[tuple[str, ...]], Support]
    # Tests the table, as far as it concerns some attributes; None where there is no model to test.
    test: Callable[[tuple[str, ...]], Misfit | None] = lambda _: None
    # Makes the reasons, when they are first asked for.
    why: Callable[[], tuple[Reason, ...]] = tuple
    backend: str | None = None
    # Studies of the same attributes whose reports were read too.
    earlier: tuple[Study, ...] = ()

    def __post_init__(self) -> None:
        for name in ("probabilities", "unprocessed"):
            table = getattr(self, name).view()
            table.flags.writeable = False
            object.__setattr__(self, name, table)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def source(self) -> Source:
        return Source(self.study, self.method, self.n, self.secure, self.earlier)

    @cached_property
    def checked(self) -> Checked:
        """By what the table can be checked."""
        return self.support(self.names).checked

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the table is as it is: what was chosen, what could not be checked, what is behind."""
        return self.why()

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in words."""
        return tuple(str(each) for each in self.reasons)

    @cached_property
    def misfit(self) -> Misfit | None:
        """How a model's table compares with the unbiased one of the same reports.

        None for a table that is the unbiased one; worked out when first asked for.
        """
        return self.test(self.names)

    @property
    def verdict(self) -> Verdict:
        """Whether the table fits the reports it was made from, or cannot be compared with them."""
        return Verdict.FITS if self.misfit is None else self.misfit.verdict

    @property
    def epsilon(self) -> float:
        """What a respondent spends in all, at most."""
        return self.source.epsilon

    @property
    def spent(self) -> float:
        """What a respondent spends on these attributes, at most."""
        return max(study.design.spent_on(self.names) for study in self.source.studies)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """The cells that the study declares impossible, or that follow from what it declares."""
        return self.study.schema.impossible_cells(self.names)

    @cached_property
    def standard_errors(self) -> Floats:
        """The standard error of every cell; worked out when first asked for."""
        errors = self._spread.errors
        errors.flags.writeable = False
        return errors

    @cached_property
    def _spread(self) -> Spread:
        return self.spread(self.names)

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every cell, inside [0, 1].

        They belong to the estimate before post-processing. Where a table was post-processed they
        always hold the number shown.
        """
        quantile(level)
        low, high = self._spread.interval(self.unprocessed, level)
        if self.post == "raw":
            return low, high
        return np.minimum(low, self.probabilities), np.maximum(high, self.probabilities)

    def unbounded(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of intervals that do not know that shares lie in [0, 1].

        An unbiased cell far below 0 speaks against the reports; these show how far.
        """
        quantile(level)
        return self._spread.plain(self.unprocessed, level)

    def probability(self, **values: Any) -> float:
        """One cell, by its values."""
        if set(values) != set(self.names):
            raise QueryError("a cell has one value for each attribute", f"give {self.names}")
        return float(self.probabilities[tuple(a.code(values[a.name]) for a in self.attributes)])

    def project(self, names: Iterable[str] | str) -> JointEstimate:
        """The table of some of the attributes: this one, summed over the others."""
        wanted = name_list(names)
        for name in wanted:
            if name not in self.names:
                raise QueryError(f"the table has no {name!r}", suggest(name, self.names))
        if not wanted or len(set(wanted)) < len(wanted):
            raise QueryError("name each attribute once, at least one", f"of {self.names}")
        gone = tuple(i for i, name in enumerate(self.names) if name not in wanted)
        kept = [name for name in self.names if name in wanted]
        order = [kept.index(name) for name in wanted]
        return replace(
            self,
            why=partial(self._reasons_of_part, tuple(wanted)),
            attributes=tuple(self.attributes[self.names.index(name)] for name in wanted),
            probabilities=self.probabilities.sum(axis=gone).transpose(order),
            unprocessed=self.unprocessed.sum(axis=gone).transpose(order),
        )

    def _reasons_of_part(self, names: tuple[str, ...]) -> tuple[Reason, ...]:
        return reasons_of_part(self.reasons, self.support(names))

    def careless(self, share: float, says: Mapping[str, str] | None = None) -> JointEstimate:
        """This table if a share of the respondents had answered without regard to the truth.

        They report at random, or always what they `say` for an attribute: {"doped": "no"}. A raw
        table only; `castell.careless` estimates the share where something tells it.
        """
        from castell.results.careless_table import without_careless

        return without_careless(self, share, says or {})

    # -- to look at and to take elsewhere --------------------------------------------------------

    @property
    def _labels(self) -> list[str]:
        """The attributes' names, told apart from the columns that hold numbers."""
        labels: list[str] = []
        for name in self.names:
            taken = (*NUMBERS, *labels, *(other for other in self.names if other != name))
            label = name
            while label in taken:
                label += " (attribute)"
            labels.append(label)
        return labels

    def columns(self, level: float = 0.95, rows: NDArray[np.intp] | None = None) -> dict[str, Any]:
        """A row for each cell, or for some: its values, estimate, standard error and interval."""
        chosen = np.arange(self.probabilities.size) if rows is None else rows
        digits = np.unravel_index(chosen, self.shape)
        result: dict[str, Any] = {
            label: np.array(a.values, dtype=object)[digit]
            for label, a, digit in zip(self._labels, self.attributes, digits, strict=True)
        }
        low, high = self.conf_int(level)
        tables = (self.probabilities, self.standard_errors, low, high)
        return result | {name: table[digits] for name, table in zip(NUMBERS, tables, strict=True)}

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame of the kind the answers came in, or 'pandas', 'polars', 'pyarrow'."""
        named = zip(self._labels, self.attributes, strict=True)
        orders = {label: a.values for label, a in named if a.ordered}
        return frame_of(self.columns(level), backend or self.backend, orders)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate for programs: plain JSON values, lists nested like the table.

        docs/results.md has the layout.
        """
        low, high = self.conf_int(level)
        return {
            "kind": "joint_estimate",
            **self.source.to_dict(),
            "post": self.post,
            "epsilon_of_these": plain(self.spent),
            "attributes": list(self.names),
            "values": [list(attribute.values) for attribute in self.attributes],
            "probabilities": plain(self.probabilities),
            "standard_errors": plain(self.standard_errors),
            "lower": plain(low),
            "upper": plain(high),
            "level": level,
            "checked": self.checked.value,
            "verdict": self.verdict.value,
            "reasons": [each.to_dict() for each in self.reasons],
            "notes": list(self.notes),
        }

    def to_xarray(self, *, level: float = 0.95) -> Any:
        """An xarray Dataset with the attributes as dimensions (extra `xarray`)."""
        try:
            import xarray as xr
        except ImportError:
            raise MissingExtraError(
                "xarray is not installed", "pip install 'castell[xarray]'"
            ) from None
        low, high = self.conf_int(level)
        tables = dict(
            zip(NUMBERS, (self.probabilities, self.standard_errors, low, high), strict=True)
        )
        return xr.Dataset(
            {name: (self._labels, table) for name, table in tables.items()},
            coords={
                label: list(a.values)
                for label, a in zip(self._labels, self.attributes, strict=True)
            },
            attrs={
                "method": self.method,
                "post": self.post,
                "n": self.n,
                "epsilon": self.epsilon,
                "secure": int(self.secure),
            },
        )

    def summary(self, level: float = 0.95, most: int = 30) -> str:
        """The estimate as a text for a report."""
        return summarize(self, level, most)

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.probabilities, dtype, copy)

    def __repr__(self) -> str:
        facts = [f"{self.probabilities.size:,} cells", f"post {self.post!r}", *self.source.facts()]
        return one_line("JointEstimate", " x ".join(self.names), facts)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return joint_html(self)

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """A picture (extra `plot`): bars for one attribute, a heat map for two, panels for three.

        An Altair chart: shows itself in a notebook, `.save("file.png")` writes PNG, SVG or HTML.
        """
        from castell.results.plots import plot

        return plot(self, level, title)
