"""A likely population from a file: answers as people gave them, earlier reports, an estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from castell.device.answer_file import AnswerFile
from castell.errors import CastellError, OptionError
from castell.study.study import Study

_REMEDY = "give answers (.csv, .parquet), earlier reports, or an estimate (.json)"


def read_likely(path: Path, study: Study) -> Any:
    """An estimate as JSON, reports of the study where the file holds some, else its answers."""
    if not path.exists():
        raise OptionError(f"there is no file {path}", _REMEDY)
    if path.suffix == ".json":
        from castell.planning.likely_estimate import decode_estimate, likely_table

        try:
            document = decode_estimate(path.read_bytes())
        except OptionError as error:
            raise OptionError(
                f"{path} is no estimate: {error.problem}", "write one: castell estimate ... --json"
            ) from None
        return likely_table(study.schema, document)
    if path.suffix == ".toml":
        raise OptionError(f"{path} is a study file and holds no answers", _REMEDY)
    if path.suffix == ".parquet" or path.suffix not in (".csv", ".tsv", ".txt"):
        from castell.counting import scan_reports

        try:
            return scan_reports(str(path), study)
        except CastellError:
            if path.suffix != ".parquet":
                raise
    return _answers(path, study, partly=True)


def read_answers(path: Path, study: Study) -> Any:
    """Answers as people gave them."""
    if not path.exists():
        raise OptionError(f"there is no file {path}", "give a CSV or Parquet file of answers")
    return _answers(path, study, partly=False)


def _answers(path: Path, study: Study, partly: bool) -> Any:
    """The answers to all questions of a study, or to those that a file has."""
    import pyarrow as pa

    parts = list(AnswerFile(path, None if partly else study.names))
    if partly and parts:
        present = [name for name in study.names if name in parts[0].column_names]
        # None of them is an error, which reading by name words.
        parts = [part.select(present) for part in parts] if present else parts
    if not parts:
        raise OptionError(f"{path} holds no answers", "give a file with at least one row")
    return pa.concat_tables(parts)
