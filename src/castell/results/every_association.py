"""All pairs of attributes: how strongly each goes together, as a table, a frame and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from castell.counting import Counts
from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.errors import QueryError
from castell.inference.association import Independence, independence, is_testable
from castell.inference.chisquare import false_discovery, p_text
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.sampling_design import SampleDesign
from castell.inference.support import support
from castell.inference.weighted_association import WeightedPair, weighted_independence
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.canvas import BLUE, FONT, INK, load_altair
from castell.results.every_table import count_tables
from castell.results.provenance import Labels, Source
from castell.results.summary import number, percent, with_warning
from castell.study.declining import answered_codes
from castell.study.schema import Schema

# The share of false discoveries among those that are called associated, at most.
RATE = 0.05


@dataclass(frozen=True)
class PairAssociation:
    """Cramer's V of two attributes; NaN, with an interval from 0 to 1, where nothing is known."""

    names: tuple[str, str]
    n: int
    test: Independence | None

    @property
    def known(self) -> bool:
        return self.test is not None

    @property
    def value(self) -> float:
        """Cramer's V."""
        return float("nan") if self.test is None else self.test.v

    @property
    def statistic(self) -> float:
        return 0.0 if self.test is None else self.test.statistic

    @property
    def freedom(self) -> float:
        return 0 if self.test is None else self.test.freedom

    @property
    def p(self) -> float:
        return 1.0 if self.test is None else self.test.p

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval for V."""
        return (0.0, 1.0) if self.test is None else self.test.interval(level)


@dataclass(frozen=True, eq=False, repr=False)
class Associations:
    """Cramer's V of every pair of some attributes, with intervals and tests."""

    names: tuple[str, ...]
    pairs: tuple[PairAssociation, ...]
    source: Source
    backend: str | None = None

    @cached_property
    def rates(self) -> Floats:
        """For each pair the false discovery rate at which it would just be called associated."""
        known = [i for i, pair in enumerate(self.pairs) if pair.known]
        found = np.ones(len(self.pairs))
        found[known] = false_discovery([self.pairs[i].p for i in known])
        return found

    @cached_property
    def matrix(self) -> Floats:
        """Cramer's V, a row and a column for each attribute; 1 with itself, NaN if not known."""
        place = {name: i for i, name in enumerate(self.names)}
        found = np.eye(len(self.names))
        for pair in self.pairs:
            one, two = (place[name] for name in pair.names)
            found[one, two] = found[two, one] = pair.value
        found.flags.writeable = False
        return found

    def __getitem__(self, names: tuple[str, str]) -> PairAssociation:
        """The association of two attributes."""
        for pair in self.pairs:
            if set(pair.names) == set(names):
                return pair
        raise KeyError(names)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[PairAssociation]:
        return iter(self.pairs)

    def _strongest(self) -> list[int]:
        """The strongest pairs first, those not known last."""
        return sorted(
            range(len(self.pairs)),
            key=lambda i: (not self.pairs[i].known, -np.nan_to_num(self.pairs[i].value)),
        )

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """A row for each pair."""
        ends = [pair.conf_int(level) for pair in self.pairs]
        return {
            "attribute_1": [pair.names[0] for pair in self.pairs],
            "attribute_2": [pair.names[1] for pair in self.pairs],
            "cramers_v": [pair.value for pair in self.pairs],
            "lower": [low for low, _ in ends],
            "upper": [high for _, high in ends],
            "statistic": [pair.statistic for pair in self.pairs],
            "freedom": [pair.freedom for pair in self.pairs],
            "p": [pair.p for pair in self.pairs],
            "false_discovery_rate": self.rates.tolist(),
            "associated": [bool(rate <= RATE) for rate in self.rates],
            "n": [pair.n for pair in self.pairs],
        }

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame of the kind the answers came in, or 'pandas', 'polars', 'pyarrow'."""
        return frame_of(self.columns(level), backend or self.backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """For programs, as plain JSON values."""
        columns = self.columns(level)
        rows = zip(*columns.values(), strict=True)
        pairs = [dict(zip(columns, row, strict=True)) for row in rows]
        for pair in pairs:
            pair["cramers_v"] = plain(pair["cramers_v"])
        return {
            "kind": "associations",
            **self.source.to_dict(),
            "attributes": list(self.names),
            "level": level,
            "false_discovery_rate": RATE,
            "pairs": pairs,
        }

    def _facts(self) -> list[str]:
        found = int((self.rates <= RATE).sum())
        source = [fact for fact in self.source.facts() if not fact.startswith("method")]
        return [f"{len(self.pairs):,} pairs", f"{found:,} associated", *source]

    def __repr__(self) -> str:
        return one_line("Associations", f"of {self.source.study.name!r}", self._facts())

    def summary(self, level: float = 0.95, most: int = 30) -> str:
        """The strongest pairs as a text for a report."""
        rows = self._rows(level, most)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            f"Associations of {len(self.names)} attributes: Cramer's V without the noise, "
            f"n = {self.source.n:,}"
        ]
        for row in rows:
            words = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
            words += [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join(words).rstrip())
        found, left = int((self.rates <= RATE).sum()), len(self.pairs) - (len(rows) - 1)
        if left > 0:
            lines.append(f"... and {left:,} more pairs")
        lines.append(
            f"{found:,} of {len(self.pairs):,} pairs are called associated; at most "
            f"{percent(RATE)} of these are expected to be false discoveries."
        )
        return "\n".join([*lines, *with_warning(self.source.secure, ())])

    def _rows(self, level: float, most: int) -> list[list[str]]:
        rows = [["", "", "V", f"{percent(level)} interval", "p", "associated"]]
        for i in self._strongest()[:most]:
            pair = self.pairs[i]
            low, high = pair.conf_int(level)
            told = "not known" if not pair.known else "yes" if self.rates[i] <= RATE else "no"
            p = p_text(pair.p).removeprefix("= ") if pair.known else ""
            ends = f"[{number(low)}, {number(high)}]"
            rows.append([*pair.names, number(pair.value), ends, p, told])
        return rows

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        titles, *rows = self._rows(0.95, 30)
        caption = heading(f"Associations of {self.source.study.name!r}", *self._facts())
        return html_table(caption, ["one", "other", *titles[2:]], rows, labels=2)

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """A matrix (extra `plot`): the darker, the stronger; faint where it may be nothing."""
        alt = load_altair()
        rows = []
        for pair, rate in zip(self.pairs, self.rates.tolist(), strict=True):
            low, high = pair.conf_int(level)
            for one, two in (pair.names, pair.names[::-1]):
                told = {"p": pair.p, "V": None if not pair.known else round(pair.value, 4)}
                ends = {"lower": round(low, 4), "upper": round(high, 4)}
                rows.append({"one": one, "other": two, **told, **ends, "sure": rate <= RATE})
        side = 34 if len(self.names) <= 24 else 12
        order = list(self.names)
        axis = {"sort": order, "title": None}
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X("other:N", axis=alt.Axis(labelAngle=-45, labelLimit=200), **axis),
            y=alt.Y("one:N", axis=alt.Axis(labelLimit=200), **axis),
        )
        top = max([0.01, *(pair.value for pair in self.pairs if pair.known)])
        scale = alt.Scale(domain=[0, top], range=["#ffffff", BLUE])
        boxes = base.mark_rect(stroke="#dfe4e9").encode(
            color=alt.condition(
                "isValid(datum.V)",
                alt.Color("V:Q", scale=scale, title="Cramer's V"),
                alt.value("#eeeeee"),
            ),
            tooltip=[f"{name}:{kind}" for name, kind in TOLD],
        )
        layers = [boxes]
        if side > 20:
            words = base.mark_text(font=FONT, fontSize=11).encode(
                text=alt.Text("V:Q", format=".2f"),
                color=alt.condition(f"datum.V > {0.6 * top}", alt.value("white"), alt.value(INK)),
                opacity=alt.condition("datum.sure", alt.value(1.0), alt.value(0.35)),
            )
            layers.append(words)
        size = side * len(self.names)
        heading_text = title or f"Associations: Cramer's V, n = {self.source.n:,}"
        return alt.layer(*layers).properties(width=size, height=size, title=heading_text)


TOLD = (("one", "N"), ("other", "N"), ("V", "Q"), ("lower", "Q"), ("upper", "Q"), ("p", "Q"))


def associate(
    counts: Counts,
    names: Sequence[str],
    source: Source,
    *,
    with_declined: bool,
    sample: SampleDesign | None = None,
) -> Associations:
    """The associations of all pairs of some attributes, counted in one pass."""
    if len(names) < 2:
        raise QueryError("one attribute has no association", "name two or more")
    pairs = list(combinations(names, 2))
    if sample is None:
        count_tables(counts, pairs)  # type: ignore[arg-type]
    schema = counts.study.schema
    found = tuple(
        _associate(counts, pair, tested_cases(schema, pair, with_declined=with_declined), sample)
        for pair in pairs
    )
    return Associations(tuple(names), found, source, counts.backend)


def tested_cases(schema: Schema, names: Sequence[str], *, with_declined: bool) -> CompleteCases:
    """Whom an association is of: those who answered both, as far as two values of each are answers;
    or everybody."""
    asked = [schema[name] for name in names]
    if with_declined or any(len(answered_codes(each)) < 2 for each in asked):
        return CompleteCases.everybody([each.size for each in asked])
    return CompleteCases.of(schema, names)


def left_out(schema: Schema, names: Sequence[str], cases: CompleteCases) -> Labels:
    """The values of each attribute that are left out, if there are any."""
    found = {
        name: tuple(v for code, v in enumerate(schema[name].values) if code not in codes)
        for name, codes in zip(names, cases.codes, strict=True)
    }
    return {name: values for name, values in found.items() if values}


def _associate(
    counts: Counts,
    names: tuple[str, str],
    cases: CompleteCases | None = None,
    sample: SampleDesign | None = None,
) -> PairAssociation:
    test = None
    if is_testable(counts, names):
        test = (
            independence(counts, names, cases)
            if sample is None
            else weighted_independence(WeightedPair.of(counts, sample, names, cases))
        )
    return PairAssociation(names, support(counts, names).together, test)
