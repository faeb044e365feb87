"""Reports: small integers, and the study they belong to.

A column for each block, named by the block's attributes, or a single one where each respondent
reports a block that was drawn. At rest they are Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.errors import ReportError
from castell.reports.arrow_metadata import check_study, is_secure, marked_schema, metadata_of
from castell.reports.codes import check_codes, column_names, column_types, join_parts
from castell.reports.parquet import ROW_GROUP, ReportFile, ReportWriter
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Reports:
    """What the server holds: for each block a column of codes. Frozen and checked."""

    study: Study
    columns: tuple[NDArray[Any], ...]
    secure: bool
    backend: str | None

    def __init__(
        self,
        study: Study,
        columns: Sequence[NDArray[Any]],
        *,
        secure: bool,
        backend: str | None = None,
    ) -> None:
        names, widths = column_names(study), study.design.widths
        if len(columns) != len(widths):
            raise ReportError(
                f"there are {len(columns)} columns for {len(widths)} blocks",
                "give one for each block of the study, or one in all if blocks are drawn",
            )
        checked = []
        for name, width, codes in zip(names, widths, columns, strict=True):
            # A copy: whoever made the array could change it after it was checked.
            column = check_codes(name, width, codes).copy()
            column.flags.writeable = False
            checked.append(column)
        if len({len(column) for column in checked}) > 1:
            raise ReportError("the columns differ in length", "a report holds every block")
        object.__setattr__(self, "study", study)
        object.__setattr__(self, "columns", tuple(checked))
        object.__setattr__(self, "secure", bool(secure))
        object.__setattr__(self, "backend", backend)

    def __len__(self) -> int:
        return len(self.columns[0])

    def _facts(self) -> list[str]:
        found = [f"n = {len(self):,}", f"epsilon {self.study.epsilon:.4g}"]
        return found if self.secure else [*found, "INSECURE (seeded)"]

    def __repr__(self) -> str:
        return one_line("Reports", f"of {self.study.name!r}", self._facts())

    def _repr_html_(self) -> str:
        design = self.study.design
        each: list[int] = []
        for column, codes in zip(design.layout, self.columns, strict=True):
            each += np.bincount(column.places_of(codes), minlength=len(column.blocks)).tolist()
        rows = []
        for block, n in zip(design.blocks, each, strict=True):
            channel = block.channel
            loss = "public" if block.is_public else f"{channel.exact_epsilon:.4g}"
            numbers = [f"{channel.outputs:,}", loss, f"{n:,}"]
            rows.append([" x ".join(block.names), *numbers])
        caption = heading(f"Reports of {self.study.name!r}", *self._facts())
        return html_table(caption, ["reported", "codes", "epsilon", "reports"], rows)

    def to_dict(self) -> dict[str, Any]:
        """The reports for programs, as plain JSON values: the codes of every column.

        docs/results.md has the layout. Many reports are better kept as Parquet: `save`.
        """
        columns = zip(column_names(self.study), self.columns, strict=True)
        return {
            "kind": "reports",
            "study": self.study.name,
            "digest": self.study.digest,
            "n": len(self),
            "epsilon": plain(self.study.epsilon),
            "secure": self.secure,
            "columns": [{"name": name, "codes": codes.tolist()} for name, codes in columns],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The randomised labels as a frame of the kind the answers came in, or Arrow."""
        from castell.reports.frames import frame_of

        columns: dict[str, Any] = {}
        if len(self.columns) < len(self.study.design.blocks):
            raise ReportError(
                "each respondent reported one of several blocks, so there is no frame of labels",
                "use reports.columns, the codes",
            )
        for block, codes in zip(self.study.design.blocks, self.columns, strict=True):
            if not block.reports_answers:
                raise ReportError(
                    f"the reports of {' x '.join(block.names)!r} are no answers and have no labels",
                    "use reports.columns, the codes",
                )
            digits = np.unravel_index(codes.astype(np.intp), block.sizes)
            for name, digit in zip(block.names, digits, strict=True):
                columns[name] = np.array(self.study.schema[name].values, dtype=object)[digit]
        ordered = {name: columns[name] for name in self.study.names}
        frame = frame_of(ordered, backend or self.backend)
        if hasattr(frame, "replace_schema_metadata"):
            return frame.replace_schema_metadata(metadata_of(self.study.digest, secure=self.secure))
        return frame

    @classmethod
    def concat(cls, parts: Iterable[Reports]) -> Reports:
        """The reports of several collections of one study, in order; secure only if all are."""
        every = list(parts)
        if not every:
            raise ReportError("there are no reports to put together", "give at least one part")
        first = every[0]
        for part in every:
            if not isinstance(part, Reports):
                raise ReportError(
                    f"a {type(part).__name__} is no collection of reports", "give castell.Reports"
                )
            if part.study != first.study:
                raise ReportError(
                    f"reports of {part.study.name!r} ({part.study.digest[:12]}) and of "
                    f"{first.study.name!r} ({first.study.digest[:12]}) are of two studies",
                    "put reports of one study together",
                )
        same = all(part.backend == first.backend for part in every)
        return cls(
            first.study,
            join_parts(first.study, [part.columns for part in every]),
            secure=all(part.secure for part in every),
            backend=first.backend if same else None,
        )

    def to_arrow(self) -> pa.Table:
        """The codes as an Arrow table that says of which study they are, and if they are secure."""
        import pyarrow as pa

        types = column_types(self.study)
        schema = marked_schema(types, self.study.digest, secure=self.secure)
        return pa.Table.from_arrays([pa.array(column) for column in self.columns], schema=schema)

    @classmethod
    def from_arrow(cls, table: pa.Table, study: Study) -> Reports:
        """Reports from an Arrow table of codes, as `to_arrow` makes it."""
        names = column_names(study)
        check_study("the table", table.schema, study.digests, names)
        for name in names:
            if table.column(name).null_count:
                raise ReportError(f"{name!r} has missing reports", "take the table again")
        columns = [table.column(name).to_numpy() for name in names]
        return cls(study, columns, secure=is_secure(table.schema))

    def sorted(self) -> Reports:
        """The same reports in the order of their codes, which says nothing of when they came."""
        order = np.lexsort(self.columns[::-1])
        columns = [column[order] for column in self.columns]
        return Reports(self.study, columns, secure=self.secure, backend=self.backend)

    def save(self, path: str | Path) -> None:
        with ReportWriter(self.study, path, secure=self.secure) as writer:
            for start in range(0, len(self), ROW_GROUP):
                writer.write([column[start : start + ROW_GROUP] for column in self.columns])

    @classmethod
    def load(cls, path: str | Path, study: Study) -> Reports:
        """All reports of a Parquet file in memory. `scan_reports` reads larger ones."""
        with ReportFile(path, study) as file:
            parts = file.batches(range(len(study.design.widths)))
            return cls(study, join_parts(study, parts), secure=file.secure)
