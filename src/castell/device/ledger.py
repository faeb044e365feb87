"""What this device keeps of each study: first a key, then the one report that it handed over.

The first report that is handed over for sending stands until the study's end, whatever is answered
later. So all that a device ever sends for a study is one report, and what it spends is the study's
epsilon, once, however often it is asked and whoever can link what it sends.

Until then there is a secret key that fixes a report for every possible answer, and so tells none.
With the report the key would tell which answers fit it. So the step that writes the report down
deletes the key: there is never both. Codes, id and state are kept; an answer never is.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from castell.device.device_file import Keep
from castell.device.report import Report
from castell.errors import OptionError, SendError
from castell.study.study import Study


@dataclass(frozen=True)
class Key:
    """The random choices of this device for a study for which nothing was handed over so far."""

    secret: bytes = field(repr=False)


@dataclass(frozen=True)
class Entry:
    """The report that stands for one study. `invitation` is kept while it may be needed again."""

    digest: str
    name: str
    epsilon: float  # what it cost, in all
    id: str
    codes: tuple[int, ...]
    state: Literal["waiting", "arrived", "refused"]
    invitation: str | None = None

    @property
    def report(self) -> Report:
        return Report(self.id, self.digest, self.codes, self.invitation)


def kept_for(keep: Keep, study: Study) -> Key | Entry:
    """The report that stands for a study or, before there is one, the key to draw it with."""
    drawn = os.urandom(32).hex()
    # Another process may have been quicker: the first key stands, and so does the first report.
    document = keep.update(_place(study), lambda kept: kept or {"key": drawn})
    return _entry(document) or Key(bytes.fromhex(document["key"]))


def ledger(keep: Keep) -> list[Entry]:
    """Every study this device has handed a report over for. What they cost adds up."""
    entries = [_entry(document) for document in keep.all("study:")]
    return [entry for entry in entries if entry is not None]


def spend(keep: Keep, study: Study, report: Report, limit: float | None = None) -> Entry:
    """Write a report down as handed over: before it leaves, as nobody can take it back after that.

    The first stands. Writing it down again changes nothing but the invitation it goes with, and
    any other report is refused.
    """
    new = Entry(
        digest=report.study,
        name=study.text.title or study.name,
        epsilon=study.epsilon,
        id=report.id,
        codes=report.codes,
        state="waiting",
        invitation=report.invitation,
    )

    def change(document: dict[str, Any] | None) -> dict[str, Any]:
        stands = _entry(document)
        if stands is None:
            _check_limit(new.epsilon, limit)
            return _write_entry(new)  # in the place of the key
        if (stands.id, stands.codes) != (new.id, new.codes):
            raise SendError(
                "this device has handed over another report for this study, and the first stands",
                "make the report again: it is then the one that stands",
                final=True,
            )
        if stands.state == "arrived":
            return _write_entry(stands)
        return _write_entry(replace(stands, state="waiting", invitation=new.invitation))

    return _read_entry(keep.update(_place(study), change)["sent"])


def _check_limit(epsilon: float, limit: float | None) -> None:
    if limit is not None and epsilon > limit:
        raise OptionError(
            f"sending this spends {epsilon:.6g}, the limit is {limit:.6g}, so it was not sent",
            "leave it at that, or raise the limit",
        )


def settle(keep: Keep, study: Study, report: Report, state: Literal["arrived", "refused"]) -> None:
    """A report has arrived, or was refused for good. Any other that stands is left as it is."""

    def change(document: dict[str, Any] | None) -> dict[str, Any] | None:
        stands = _entry(document)
        # What has arrived has arrived, whatever is said of another copy of it.
        if stands is None or stands.id != report.id or stands.state == "arrived":
            return document
        return _write_entry(replace(stands, state=state, invitation=None))

    keep.update(_place(study), change)


def _place(study: Study) -> str:
    # Corrected words and later stages are the same study: what was sent before stands.
    return f"study:{study.identity}"


def _write_entry(entry: Entry) -> dict[str, Any]:
    return {"sent": {**asdict(entry), "codes": list(entry.codes)}}


def _entry(document: dict[str, Any] | None) -> Entry | None:
    return None if document is None or "sent" not in document else _read_entry(document["sent"])


def _read_entry(sent: dict[str, Any]) -> Entry:
    return Entry(**{**sent, "codes": tuple(sent["codes"])})
