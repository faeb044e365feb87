"""Models in a file: the studies, how often each report came, the method, and what was fitted.

A file is a ZIP of JSON, Parquet and NumPy arrays. Nothing in it is a program, so a file from
somebody else can do no more than be wrong. The reports and the method are what counts: a model is
fitted anew where what was fitted was kept by another version of castell. Else it answers at once,
and as before to the last bit.
"""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from castell.channels import Kinds
from castell.counting import Counts, Tally, join_stages, stages_of, tally_of
from castell.errors import CastellError, ReportError
from castell.estimators import fit_counts, resume_counts
from castell.inference.method import Fitted
from castell.results.plain_values import NotPlainError, Writer, read
from castell.study.atomic_write import whole_file
from castell.study.study import Study

FORMAT = 1
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a model is made of: reports, a method with its options, and what it learned."""

    tallies: tuple[Tally, ...]
    method: Any
    options: Mapping[str, Any]
    backend: str | None
    learned: Any = None
    arrays: tuple[NDArray[Any], ...] = ()

    @classmethod
    def of(cls, fitted: Fitted, method: Any, options: Mapping[str, Any]) -> SavedModel:
        counts = fitted.counts
        tallies = tuple(tally_of(part) for part in stages_of(counts))
        writer, learned = Writer(counts), None
        if fitted.learned is not None:
            try:
                learned = writer.write(fitted.learned())
            except NotPlainError as error:
                _LOG.warning("what %s fitted is not kept: %s", method, error)
                writer = Writer()
        return cls(tallies, method, dict(options), counts.backend, learned, tuple(writer.arrays))

    def restore(self) -> Fitted:
        """The model again: as it was fitted, or fitted anew."""
        tallies = [Tally(t.study, t.columns, t.times, t.secure, self.backend) for t in self.tallies]
        counts: Counts = join_stages(tallies)
        if self.learned is None:
            return fit_counts(counts, self.method, dict(self.options))
        try:
            learned = read(self.learned, list(self.arrays), counts)
            return resume_counts(counts, self.method, dict(self.options), learned)
        except (NotPlainError, KeyError, IndexError, TypeError, AttributeError) as error:
            _LOG.warning("fitting %s anew: what was kept does not suit (%s)", self.method, error)
            return fit_counts(counts, self.method, dict(self.options))


def write_model(path: str | Path, model: SavedModel, version: str) -> None:
    """Write a file, which appears under its name only when it is whole."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ReportError(f"there is no folder {target.parent}", "make it first")
    if target.is_dir():
        raise ReportError(f"{target} is a folder", "give the name of a file in it")
    if not isinstance(model.method, str):
        raise ReportError(
            "a method of your own has no name that a file could say", "pickle the model instead"
        )
    options = Writer()
    try:
        written = options.write(dict(model.options))
        if options.arrays:
            raise NotPlainError("an array")
    except NotPlainError as error:
        raise ReportError(f"an option of the method is {error}", "use plain values") from None
    document = {
        "castell": version,
        "format": FORMAT,
        "kind": "model",
        "method": model.method,
        "options": written,
        "digests": [tally.study.digest for tally in model.tallies],
        "n": [tally.n for tally in model.tallies],
        "secure": all(tally.secure for tally in model.tallies),
        "backend": model.backend,
        "learned": model.learned,
        "arrays": len(model.arrays),
    }
    with whole_file(target) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(document))
        for i, tally in enumerate(model.tallies):
            file.writestr(f"study-{i}.json", tally.study.to_json())
            file.writestr(f"reports-{i}.parquet", _parquet(tally), zipfile.ZIP_STORED)
        for i, array in enumerate(model.arrays):
            with file.open(f"array-{i}.npy", "w") as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_model(path: str | Path, version: str, kinds: Kinds | None) -> SavedModel:
    """What a file holds, checked. Reports of another study than its own are refused."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read_model(file, version, kinds)
    except FileNotFoundError:
        raise ReportError(f"there is no file {path}", "model.save writes one") from None
    except IsADirectoryError:
        raise ReportError(f"{path} is a folder", "give a file that model.save wrote") from None
    except CastellError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError) as error:
        first = str(error).split("\n")[0][:100]
        raise ReportError(f"{path} holds no model ({first})", "model.save writes one") from None


def _read_model(file: zipfile.ZipFile, version: str, kinds: Kinds | None) -> SavedModel:
    document = json.loads(file.read("model.json"))
    if document["kind"] != "model" or document["format"] != FORMAT:
        raise ReportError(
            f"the file is a {document['kind']} of format {document['format']}, which this version "
            "does not read",
            f"use castell {document['castell']}",
        )
    tallies = []
    for i, (digest, n) in enumerate(zip(document["digests"], document["n"], strict=True)):
        study = Study.from_json(file.read(f"study-{i}.json").decode(), kinds)
        tally = _tally(file.read(f"reports-{i}.parquet"), study)
        if (study.digest, tally.n) != (digest, n):
            raise ReportError("the file's study and reports do not belong together", "take it anew")
        tallies.append(tally)
    arrays: Sequence[NDArray[Any]] = ()
    learned = document["learned"] if document["castell"] == version else None
    if learned is None and document["learned"] is not None:
        _LOG.warning("fitted anew: castell %s wrote the file", document["castell"])
    if learned is not None:
        arrays = [_array(file, f"array-{i}.npy") for i in range(document["arrays"])]
    return SavedModel(
        tuple(tallies),
        document["method"],
        read(document["options"], []),
        document["backend"],
        learned,
        tuple(arrays),
    )


def _array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    stream: BinaryIO = io.BytesIO(file.read(name))
    found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return found


def _parquet(tally: Tally) -> bytes:
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(tally.to_arrow(), stream, compression="zstd")
    return stream.getvalue()


def _tally(content: bytes, study: Study) -> Tally:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(str(error)) from None
    return Tally.from_arrow(table, study, "the file")
