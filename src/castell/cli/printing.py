"""Results for people on a terminal, and for programs as plain documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from castell.cli.estimate_options import columns_of
from castell.reports.frames import frame_of
from castell.results.provenance import Source

if TYPE_CHECKING:
    from castell.cli.demo import Demo


TABLES = (".csv", ".parquet", ".xlsx", ".md", ".tex")
FORMATS = {".csv": "csv", ".xlsx": "excel", ".md": "md", ".tex": "latex"}


def _console() -> Console:
    console = Console(soft_wrap=True)
    # A file or a pipe has no width to fit: no line is broken there.
    return console if console.is_terminal else Console(soft_wrap=True, width=1000)


def _table(*titles: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i < left else "right")
    return table


def write_table(found: Any, path: Path, level: float) -> None:
    """A result as a file that other programs read."""
    frame = (
        found.to_frame("pyarrow", level=level)
        if hasattr(found, "to_frame")
        else frame_of(columns_of(found, level), "pyarrow")
    )
    write_columns(frame, found.source, path)


def write_columns(frame: Any, source: Source, path: Path) -> None:
    """An Arrow table as a file, with where it comes from."""
    import pyarrow.parquet as pq

    from castell.results.table_file import table_bytes

    if path.suffix in FORMATS:
        # Whoever opens it in a spreadsheet did not write the study.
        columns = {name: frame[name].to_pylist() for name in frame.column_names}
        path.write_bytes(table_bytes(columns, FORMATS[path.suffix]))
        return
    about = {"method": source.method, "n": str(source.n), "secure": str(source.secure).lower()}
    pq.write_table(
        frame.replace_schema_metadata({f"castell.{k}": v for k, v in about.items()}), path
    )


def demo_document(demo: Demo) -> dict[str, Any]:
    return {
        **demo.joint.to_dict(0.95),
        "truth": demo.truth.tolist(),
        "cells_covered": demo.cells_covered(),
        "files": [str(path) for path in demo.files],
        "picture": str(demo.picture) if demo.picture else None,
    }


def print_demo(demo: Demo) -> None:
    console, joint = _console(), demo.joint
    low, high = joint.conf_int()
    console.print(
        f"{joint.n:,} generated people answered {len(demo.study.names)} questions. Each randomised "
        f"their answers;\nthe server saw the reports only (epsilon {joint.epsilon:.3g} in all, "
        f"{joint.spent:.3g} on these two).\n"
    )
    table = _table(*joint.names, "estimate", "std. err.", "95% interval", "truth", "", left=2)
    digits = [(i, j) for i in range(joint.shape[0]) for j in range(joint.shape[1])]
    for i, j in digits:
        inside = low[i, j] <= demo.truth[i, j] <= high[i, j]
        table.add_row(
            joint.attributes[0].values[i],
            joint.attributes[1].values[j],
            f"{joint.probabilities[i, j]:.4f}",
            f"{joint.standard_errors[i, j]:.4f}",
            f"{low[i, j]:.4f} to {high[i, j]:.4f}",
            f"{demo.truth[i, j]:.4f}",
            "inside" if inside else "OUTSIDE",
        )
    console.print(table)
    console.print(
        f"\n{demo.cells_covered()} of {len(digits)} intervals hold the truth; 95 % are meant to.\n"
    )
    study, answers, reports = demo.files
    console.print("The same by hand:", markup=False)
    for line in (
        f"castell check {study}",
        f"castell randomize {study} {answers} {reports} --force",
        f"castell estimate {study} {reports} {' '.join(joint.names)}",
    ):
        console.print(f"  {line}", markup=False)
    if demo.picture:
        console.print(f"\nPicture: {demo.picture}", markup=False)
    else:
        console.print("\nA picture needs an extra: pip install 'castell\\[plot]'")
