"""A fitted regression: coefficients with their errors, as statisticians print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.counting import studies_of
from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.inference.calibration import Margins
from castell.inference.category_scores import Scores
from castell.inference.regression.complete_cases import regressed_codes
from castell.inference.regression.fitting import Family, Fit, fit_formula
from castell.inference.regression.formula import parse
from castell.inference.regression.score_error import ScoreError
from castell.inference.sampling_columns import sample_design
from castell.inference.student_t import student_quantile, student_tail
from castell.inference.support import support
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.interval_chart import IntervalRow, interval_chart
from castell.results.model import Collected, counts_of
from castell.results.provenance import FromReports, Source
from castell.results.questions import reasons_of
from castell.results.summary import align, percent, with_warning

NUMBERS = ("coef", "standard_error", "z", "p_value", "lower", "upper")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Regression(FromReports):
    """Coefficients of a regression on answers that nobody has seen.

    `params` and the other arrays are in the order of `names`; of a multinomial regression equation
    by equation, each value of the outcome against the first.
    """

    formula: str
    outcome: str
    equations: tuple[str, ...]
    fit: Fit

    @property
    def family(self) -> str:
        return self.fit.family.value

    @property
    def method(self) -> str:
        """'likelihood' or 'corrected'."""
        return self.fit.method.value

    @property
    def errors(self) -> str:
        """'sandwich' or 'information'."""
        return self.fit.errors.value

    @property
    def n(self) -> int:
        return self.source.n

    @property
    def converged(self) -> bool:
        return self.fit.converged

    @property
    def log_likelihood(self) -> float:
        """Of the reports, through the channels; not a number where nothing was maximised."""
        return self.fit.log_likelihood

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coefficients."""
        columns = self.fit.design.columns
        if len(self.equations) == 1:
            return columns
        return tuple(f"{equation}: {name}" for equation in self.equations for name in columns)

    @cached_property
    def _order(self) -> Any:
        """From equations to columns: the fit has a row for each column of the design."""
        shape = self.fit.coefficients.shape
        return np.arange(int(np.prod(shape))).reshape(shape).T.ravel()

    @cached_property
    def params(self) -> Floats:
        """The coefficients."""
        found: Floats = self.fit.coefficients.ravel()[self._order]
        found.flags.writeable = False
        return found

    @cached_property
    def _error(self) -> ScoreError:
        return self.fit.error.take(self._order)

    @cached_property
    def covariance(self) -> Floats:
        """How they err together."""
        found = self._error.covariance
        found.flags.writeable = False
        return found

    @cached_property
    def standard_errors(self) -> Floats:
        found = self._error.errors
        found.flags.writeable = False
        return found

    @property
    def zvalues(self) -> Floats:
        """Each coefficient over the standard error that it had if it were 0 (the score test). By
        likelihood, and without noise, that is its standard error."""
        return self._error.statistic(self.params)

    @property
    def pvalues(self) -> Floats:
        """Of the hypothesis that a coefficient is 0; two-sided, by the normal distribution, or by
        Student's t where clusters of a sampling design are counted."""
        of = self.fit.freedom
        return np.array([student_tail(z, of) if z == z else np.nan for z in self.zvalues.tolist()])

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every coefficient; infinite if not known."""
        return self._error.interval(self.params, student_quantile(level, self.fit.freedom))

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.conf_int(level)
        numbers = (self.params, self.standard_errors, self.zvalues, self.pvalues, low, high)
        named = {"name": np.array(self.names, dtype=object)}
        return named | dict(zip(NUMBERS, numbers, strict=True))

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame of the kind the answers came in, or 'pandas', 'polars', 'pyarrow'."""
        return frame_of(self.columns(level), backend or self.backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The regression for programs, as plain JSON values; docs/results.md has the layout."""
        low, high = self.conf_int(level)
        return {
            "kind": "regression",
            **self.source.to_dict(),
            "formula": self.formula,
            "family": self.family,
            "errors": self.errors,
            "outcome": self.outcome,
            "equations": list(self.equations),
            "names": list(self.names),
            "params": plain(self.params),
            "standard_errors": plain(self.standard_errors),
            "p_values": plain(self.pvalues),
            "lower": plain(low),
            "upper": plain(high),
            "level": level,
            "log_likelihood": plain(self.log_likelihood),
            "converged": self.converged,
            "checked": self.checked.value,
            "reasons": [each.to_dict() for each in self.reasons],
            "notes": list(self.notes),
        }

    @property
    def title(self) -> str:
        what = self.outcome if len(self.equations) > 1 else self.equations[0]
        return f"{self.family} regression of {what}"

    def _rows(self, level: float) -> list[list[str]]:
        low, high = self.conf_int(level)
        tails = (1.0 - level) / 2
        of = "z" if self.fit.freedom == inf else "t"
        head = ["coef", "std. err.", of, f"P>|{of}|", f"[{tails:.3g}", f"{1.0 - tails:.3g}]"]
        numbers = zip(
            self.names,
            self.params,
            self.standard_errors,
            self.zvalues,
            self.pvalues,
            low,
            high,
            strict=True,
        )
        rows = [["", *head]]
        for name, *values in numbers:
            digits = (4, 4, 2, 3, 4, 4)
            rows.append([name, *(_text(x, d) for x, d in zip(values, digits, strict=True))])
        return rows

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.params, dtype, copy)

    def summary(self, level: float = 0.95) -> str:
        """The coefficients as a text for a report."""
        table = align(self._rows(level))
        rule = "-" * max(len(line) for line in table)
        made = f"method    {self.method}, {self.errors} errors, {percent(level)} intervals"
        if self.log_likelihood == self.log_likelihood:
            made += f", log likelihood {self.log_likelihood:.2f}"
        lines = [
            self.title[0].upper() + self.title[1:],
            f"formula   {self.formula}",
            made,
            f"reports   n = {self.n:,}, epsilon {self.source.epsilon:.4g} in all",
            rule,
            table[0],
            rule,
            *table[1:],
            rule,
        ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """Coefficients and their intervals beside 0, without intercepts (extra `plot`)."""
        ends = zip(self.names, self.params, *self.conf_int(level), strict=True)
        rows = [
            IntervalRow(name, float(x), float(low), float(high))
            for name, x, low, high in ends
            if not name.endswith("Intercept")
        ]
        name = title or self.title[0].upper() + self.title[1:]
        return interval_chart(rows, name, self.source, null=0.0)

    def __repr__(self) -> str:
        facts = [f"{len(self.names)} coefficients", *self.source.facts()]
        return one_line("Regression", self.formula, facts)

    def _repr_html_(self) -> str:
        head, *rows = self._rows(0.95)
        return html_table(
            heading(self.title[0].upper() + self.title[1:], self.formula, *self.source.facts()),
            head,
            rows,
            notes=with_warning(self.secure, self.notes),
        )


def _text(value: float, digits: int) -> str:
    return "not known" if value != value or abs(value) == np.inf else f"{value:.{digits}f}"


def regress(
    formula: str,
    reports: Collected | Sequence[Collected],
    *,
    family: str | None = None,
    method: str | None = None,
    errors: str = "sandwich",
    scores: Scores | None = None,
    weights: Any = None,
    strata: Any = None,
    clusters: Any = None,
    rake: Margins | None = None,
) -> Regression:
    """A regression on randomised answers: `regress("affair ~ marriage + age", reports)`.

    The outcome, the covariates or both are randomised; the likelihood of the reports knows how. An
    attribute whose values are numbers is one column of them; any other has a column for each value
    but the first. `C(age)` makes categories of numbers, `score(health)` numbers 0, 1, 2, ... of
    ordered values, `scores={"health": [0, 1, 3, 7]}` any numbers; `a:b` is an interaction, `a*b` is
    `a + b + a:b`, `- 1` leaves the intercept out. Names with blanks stand in backticks.

    `family` is 'logistic' for an outcome of two values (the chance of the second), 'linear' for one
    of numbers, 'multinomial' for others (each value against the first). `method` is 'corrected'
    for the unbiased estimating equations, which estimate what a fit to the answers would give even
    where the formula is wrong, or 'likelihood', which supposes that it is right. Without it, a
    logit is 'corrected' where the equations have a solution and else 'likelihood'; linear
    regression is always corrected. `errors` are 'sandwich', or 'information' by likelihood. It is
    of those who answered all that the formula asks: values such as "prefer not to say" are left
    out.

    `weights`, `strata`, `clusters` and `rake` are those of `castell.fit`: the equations are then
    weighted, and errors are by the sampling design.

    >>> from castell import Attribute, Schema, Study
    >>> schema = Schema([Attribute("ill", ["no", "yes"]), Attribute("dose", [0, 1, 2])])
    >>> reports = Study(schema, epsilon=6.0).randomize(
    ...     {"ill": ["no", "no", "yes"] * 400, "dose": [0, 1, 2] * 300 + [2, 0, 1] * 100}
    ... )
    >>> regress("ill ~ dose", reports).names
    ('Intercept', 'dose')
    """
    counts = counts_of(reports)
    asked = parse(formula)
    schema = counts.study.schema
    names = tuple(a.name for a in schema.select([asked.outcome, *asked.covariates]))
    sampling = (weights, strata, clusters, rake)
    is_weighted = any(given is not None for given in sampling)
    sample = sample_design(counts, *sampling) if is_weighted else None
    fit = fit_formula(counts, asked, family, method, errors, scores, sample)
    outcome = schema[asked.outcome]
    values = [outcome.values[code] for code in regressed_codes(outcome)]
    linear = fit.family is Family.LINEAR
    behind = support(counts, names)
    studies = studies_of(counts)
    return Regression(
        formula=" ".join(formula.split()),
        outcome=asked.outcome,
        equations=(asked.outcome,)
        if linear
        else tuple(f"{asked.outcome} = {v}" for v in values[1:]),
        fit=fit,
        source=Source(counts.study, fit.method.value, counts.n, counts.secure, studies[:-1]),
        checked=behind.checked,
        reasons=reasons_of(counts, fit.reasons, behind),
        backend=counts.backend,
    )
