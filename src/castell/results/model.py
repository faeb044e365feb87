"""Models: what people ask. Frozen; any set of attributes, any group of values.

`fit` makes one from reports; `estimate` fits and asks for one table in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from castell.channels import Kinds
from castell.counting import Counts, MemoryCounts, join_stages, samples_of, studies_of
from castell.counting.counts import missing_of
from castell.display.notebook import heading
from castell.display.one_line import one_line
from castell.errors import MethodError, ReportError
from castell.estimators import Method, fit_sampled, name_of, reads
from castell.inference.goodness_of_fit import Misfit, misfit
from castell.inference.method import Fitted, Solution
from castell.inference.postprocess import step
from castell.inference.reasons import Reason
from castell.inference.support import Support
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.reports.reports import Reports
from castell.results.comparison_questions import ComparisonQuestions
from castell.results.every_table import JointEstimates
from castell.results.joint import JointEstimate
from castell.results.number_questions import NumberQuestions
from castell.results.provenance import Source
from castell.results.questions import reasons_of
from castell.results.saved_model import SavedModel, read_model, write_model
from castell.results.score_questions import ScoreQuestions
from castell.results.share_questions import ShareQuestions
from castell.results.synthetic_people import sample_codes
from castell.results.top_cells import BEAM, TopCells, top_cells
from castell.study.notebook_table import attribute_table
from castell.study.study import Study
from castell.version import VERSION


@dataclass(frozen=True, eq=False)
class Model(ShareQuestions, NumberQuestions, ComparisonQuestions, ScoreQuestions):
    """What a method fitted to the reports of a study; `method` is the name of the estimator."""

    fitted: Fitted
    method: str
    # How to make it again: the method as it was given, and its options.
    estimator: Method | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        return self.fitted.counts

    @property
    def study(self) -> Study:
        return self.counts.study

    @property
    def earlier(self) -> tuple[Study, ...]:
        """Studies of the same attributes whose reports were read too."""
        return studies_of(self.counts)[:-1]

    @property
    def source(self) -> Source:
        return Source(self.study, self.method, self.counts.n, self.counts.secure, self.earlier)

    def support(self, names: Iterable[str] | str) -> Support:
        """How many reports stand behind a question about some attributes."""
        return self.fitted.support(tuple(a.name for a in self.study.schema.select(names)))

    def to_dict(self) -> dict[str, Any]:
        """What was fitted to what, as plain JSON values; what it says is in its answers."""
        return {
            "kind": "model",
            **self.source.to_dict(),
            "attributes": list(self.study.names),
            "values": [list(attribute.values) for attribute in self.study.schema],
        }

    def __repr__(self) -> str:
        return one_line("Model", f"of {self.study.name!r}", self.source.facts())

    def _repr_html_(self) -> str:
        caption = heading(f"Model of {self.study.name!r}", *self.source.facts())
        return attribute_table(caption, self.study.schema)

    def save(self, path: str | Path) -> None:
        """Write a file that `castell.load_model` reads, with all that it takes to answer.

        It holds the studies, how often each report came, and what was fitted; no answer, and
        nothing that could be run. What it says stays the same to the last bit.
        """
        write_model(path, self._to_saved(), VERSION)

    def _to_saved(self) -> SavedModel:
        if self.fitted.sampling is not None:
            raise MethodError(
                "a weighted model is not saved: its weights belong to reports in their order",
                "save the reports and the columns, and fit again",
            )
        made = self.method if self.estimator is None else self.estimator
        return SavedModel.of(self.fitted, made, self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._to_saved(), self.method)

    def estimate(
        self, names: Iterable[str] | str, *, post: str = "raw", max_cells: int | None = None
    ) -> JointEstimate:
        """The joint table of some attributes, one axis for each in the order asked."""
        finish = None if post == "raw" else step(post)  # refused before the work
        attributes = self.study.schema.select(names)
        order = tuple(a.name for a in attributes)
        solution = self.fitted.joint(order, max_cells)
        table = solution.probabilities
        return JointEstimate(
            attributes=attributes,
            probabilities=finish(table) if finish else table,
            unprocessed=table,
            spread=solution.spread,
            method=self.method,
            post=post,
            study=self.study,
            n=self.counts.n,
            secure=self.counts.secure,
            support=self.support,
            test=partial(self._test, order, table),
            why=partial(self._reasons, solution, order),
            backend=self.counts.backend,
            earlier=self.earlier,
        )

    def estimate_all(self, width: int = 2, *, post: str = "raw") -> JointEstimates:
        """Every table of so many attributes: a mapping from each tuple of names to its estimate.

        All of them are counted in one pass over the reports. Sets that no report holds together are
        left out where the method cannot tell about them.
        """
        step(post)
        return JointEstimates(
            self.counts, width, partial(self.estimate, post=post), self._answers_about
        )

    def top(self, names: Iterable[str] | str, k: int = 20, *, beam: int = BEAM) -> TopCells:
        """The k largest cells of a table of any width, with intervals that hold for all its cells.

        A table that is too large to build is searched: at each step the `beam` largest combinations
        of the first attributes are taken together with the values of the next.
        """
        return top_cells(self, self.estimate, names, k, beam)

    def _answers_about(self, names: tuple[str, ...]) -> bool:
        made = self.method if self.estimator is None else self.estimator
        across = reads(made).across or len(samples_of(self.counts)) == 1
        return across or bool(self.support(names).together)

    def _reasons(self, solution: Solution, names: tuple[str, ...]) -> tuple[Reason, ...]:
        return reasons_of(self.counts, solution.reasons, self.support(names))

    def _test(self, names: tuple[str, ...], table: Floats, kept: tuple[str, ...]) -> Misfit | None:
        if self.fitted.unbiased:
            return None
        if self.fitted.sampling is not None:
            return Misfit()  # the test is for reports that all weigh the same
        return misfit(self.counts, names, table, kept)

    def sample(
        self,
        n: int,
        names: Iterable[str] | str | None = None,
        *,
        seed: int | None = None,
        backend: str | None = None,
    ) -> Any:
        """Synthetic respondents sampled from the model: a frame with a row for each, in labels.

        All attributes, or those named, in a frame of the kind the answers came in, or 'pandas',
        'polars', 'pyarrow'. `latent` and `auto` sample from their latent-class model of all
        attributes (a table of `auto` also heeds what its own reports say, so it may differ a
        little), `locop` and `lopub` from their synthetic rows, `independent` from the margins;
        any number of attributes. Other methods sample from the estimated table of the attributes
        asked for, made a distribution by post="simplex".

        The sample is made from the reports alone: it costs no respondent any more privacy. It has
        the errors of the model it comes from. Its own sampling variation comes on top of them,
        so what is counted in it has no honest interval: ask the model for that.
        """
        attributes = self.study.schema.select(self.study.names if names is None else names)
        order = tuple(attribute.name for attribute in attributes)
        codes = sample_codes(self.fitted, self.method, order, n, seed)
        columns = {
            a.name: np.array(a.values, dtype=object)[column]
            for a, column in zip(attributes, codes, strict=True)
        }
        orders = {a.name: a.values for a in attributes if a.ordered}
        return frame_of(columns, backend or self.counts.backend, orders)


DEFAULT_METHOD = "auto"


# Reports in memory, or what `scan_reports` opened.
Collected = Reports | Counts


def _unpickle(saved: SavedModel, name: str) -> Model:
    return Model(saved.restore(), name, saved.method, saved.options)


def load_model(path: str | Path, *, kinds: Kinds | None = None) -> Model:
    """A model that `model.save` wrote. Nothing in the file is run.

    `kinds` are the channels of your own that its study uses, as in `Study.load`.
    """
    saved = read_model(path, VERSION, kinds)
    return Model(saved.restore(), saved.method, saved.method, saved.options)


def fit(
    reports: Collected | Sequence[Collected], method: Method = DEFAULT_METHOD, **options: Any
) -> Model:
    """Fit a method to reports in memory, or to a file opened by `scan_reports`.

    A list holds reports of several studies with the same attributes and values, stages or waves:
    they are estimated together, the latest last. `castell.methods_for(study)` names the methods
    that read a study's reports, `methods_for(one, two)` those that read both; others are refused.
    A method of one's own is given as it is: a function `fit(counts, **options) -> Fitted`, or what
    `castell.extend.table_method` makes of a function that gives tables.

    `weights`, `strata` and `clusters` say how respondents were sampled, each by the name of a
    public attribute or as a column with an entry for each report; `rake` has known margins of
    public attributes. Estimates are then weighted and errors by design, by the methods 'auto',
    'castell' and 'independent'.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=4.0)
    >>> reports = study.randomize({"sex": ["Male", "Female"] * 500})
    >>> fit(reports).estimate("sex").probabilities.shape
    (2,)
    """
    fitted = fit_sampled(counts_of(reports), method, options)
    return Model(fitted, name_of(method), method, dict(options))


def counts_of(reports: Any) -> Counts:
    """Reports as a method reads them; a list of them together, as stages of one collection."""
    if isinstance(reports, (list, tuple)):
        if len(set(map(id, reports))) < len(reports):
            raise ReportError(
                "the same reports are given twice",
                "give each once: their people would count as twice as many",
            )
        return join_stages([counts_of(each) for each in reports])
    if isinstance(reports, Reports):
        return MemoryCounts(reports)
    if missing_of(reports):
        raise ReportError(
            f"a {type(reports).__name__} holds no reports",
            "give what study.randomize returned, or scan_reports('reports.parquet', study)",
        )
    found: Counts = reports
    return found


def estimate(
    reports: Collected | Sequence[Collected],
    names: Iterable[str] | str,
    method: Method = DEFAULT_METHOD,
    *,
    post: str = "raw",
    max_cells: int | None = None,
    **options: Any,
) -> JointEstimate:
    """Fit and ask for one table, in one step."""
    return fit(reports, method, **options).estimate(names, post=post, max_cells=max_cells)
