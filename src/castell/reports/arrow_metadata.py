"""What a table of reports says of itself in Arrow and Parquet: its study, and whether it is secure.

Both stand in the schema's metadata. But Arrow keeps the metadata of the first table when several
are put together, so a seeded one could hide behind a secure one. The mark is therefore also in the
columns: those of secure reports are declared to hold a value in every row (`not null`), those of
seeded ones are not. `pa.concat_tables` refuses to mix the two, or, told to promote, gives columns
that are not, and what is not marked twice is not secure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from castell.errors import ReportError

if TYPE_CHECKING:
    import pyarrow as pa


def metadata_of(digest: str, *, secure: bool) -> dict[str, str]:
    return {"castell.digest": digest, "castell.secure": str(secure).lower()}


def marked_schema(columns: Mapping[str, np.dtype[Any]], digest: str, *, secure: bool) -> pa.Schema:
    """The schema of a table of reports.

    >>> from castell.reports.arrow_metadata import is_secure
    >>> schema = marked_schema({"a": np.dtype("u1")}, "ab", secure=True)
    >>> is_secure(schema), is_secure(marked_schema({"a": np.dtype("u1")}, "ab", secure=False))
    (True, False)
    """
    import pyarrow as pa

    fields = [
        pa.field(name, pa.from_numpy_dtype(kind), nullable=not secure)
        for name, kind in columns.items()
    ]
    return pa.schema(fields, metadata=metadata_of(digest, secure=secure))


def is_secure(schema: pa.Schema) -> bool:
    """Whether metadata and all columns say so."""
    told = (schema.metadata or {}).get(b"castell.secure") == b"true"
    return told and not any(field.nullable for field in schema)


def check_study(what: str, schema: pa.Schema, digests: Sequence[str], names: list[str]) -> None:
    """Refuse a table that names no study, another one, or has other columns than its reports.

    `digests` are those that the study has had, the last one last.
    """
    found = (schema.metadata or {}).get(b"castell.digest", b"").decode()
    if not found:
        raise ReportError(f"{what} names no study", "castell randomize writes reports")
    if found not in digests:
        raise ReportError(
            f"{what} belongs to another study ({found[:12]}, this is {digests[-1][:12]})",
            "use the study file they were made with; any change to it is another study",
        )
    if schema.names != names:
        raise ReportError(f"{what} lacks columns of the study", "the file is damaged")
