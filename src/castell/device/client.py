"""A respondent without a browser: makes reports on the device and sends them, as two steps.

The same answer to the same question is always reported the same, so a program that reports every
day reveals no more than one that reported once. The words that randomise an answer are HMAC-SHA256
of (study digest, block, answer) under a secret key drawn once on this device; client/memo.js does
the same, and vectors/ holds both to it.

    client = Client("https://collector.example/")
    report = client.make({"smokes": "now", "health": "good"})
    print(report.body())  # exactly what will leave
    client.send(report)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from castell.device.keep import Keep
from castell.device.ledger import Entry, ledger, settle, spend
from castell.device.report import Report, blocks_asked, make_report
from castell.device.transport import base_address, fetch_study, send_report
from castell.errors import OptionError, SendError, StudyChangedError


class Client:
    """One device and one collector.

    `folder` keeps the secret key and the ledger. A study that changed since this device first saw
    it is refused unless `accept` is true. `limit` is the most this device may spend on a study.
    """

    def __init__(
        self,
        url: str,
        *,
        folder: str | Path | None = None,
        accept: bool = False,
        limit: float | None = None,
        allow_http: bool = False,
    ) -> None:
        self.url = base_address(url, allow_http=allow_http)
        if limit is not None and not limit > 0:
            raise OptionError(f"the limit is {limit:g}", "give a number above 0")
        self.keep = Keep(folder)
        self.limit = limit
        self.study = fetch_study(f"{self.url}study.json")
        digest = self.study.digest
        seen = self.keep.update(f"seen:{self.url}", lambda d: digest if accept else d or digest)
        if seen != digest:
            raise StudyChangedError(
                f"the study at {self.url} is not the one this device first saw there",
                "read it again, then accept it (castell send --accept)",
            )

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes this device reports, each once."""
        blocks = self.study.design.blocks
        names = [n for b in blocks_asked(self.study, self.keep.key()) for n in blocks[b].names]
        return tuple(dict.fromkeys(names))

    def make(self, answers: Mapping[str, object]) -> Report:
        """A report. Nothing is sent."""
        return make_report(self.study, answers, self.keep.key())

    def send(self, report: Report, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Send a report, after any earlier one that may not have arrived."""
        if report.study != self.study.digest:
            raise StudyChangedError("the report is of another study", "make it again")
        earlier = self.waiting()
        if earlier is not None and earlier.id != report.id:
            self._send(earlier, pause)
        spend(self.keep, self.study, report.document(), self.limit)
        self._send(report, pause)

    def _send(self, report: Report, pause: Callable[[float], None]) -> None:
        try:
            send_report(report, f"{self.url}reports", pause=pause)
        except SendError as error:
            # Only what may still arrive is kept for another try.
            if error.final:
                settle(self.keep, self.study)
            raise
        settle(self.keep, self.study)

    def waiting(self) -> Report | None:
        """A report that was handed over but never acknowledged."""
        kept = [entry.waiting for entry in self.ledger() if entry.digest == self.study.digest]
        if not kept or kept[0] is None:
            return None
        return Report(**{**kept[0], "codes": tuple(kept[0]["codes"])})

    def ledger(self) -> list[Entry]:
        """What this device has spent, study by study."""
        return ledger(self.keep)
