"""A respondent without a browser: makes a report on the device and sends it, as two steps.

A device sends one report for a study. The first that is handed over stands until the study's end:
whatever is answered later, `make` returns that report, and once the collector has it `send` sends
nothing. So a program that reports every day reveals no more than one that reported once, and its
owner is counted once. client/ does the same in a browser, and vectors/ holds both to it.

    client = Client("https://collector.example/")
    report = client.make({"smokes": "now", "health": "good"})
    client.send(report)
    print(report.body())  # exactly what left: whoever looks before and stops biases the results
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from castell.device.device_file import Keep
from castell.device.ledger import Entry, ledger
from castell.device.report import Report
from castell.device.respondent import Respondent
from castell.device.transport import (
    base_address,
    check_invitation,
    check_open,
    fetch_study,
    send_report,
)
from castell.errors import OptionError, SendError, StudyChangedError
from castell.study.corrections import corrected_words
from castell.study.study import Study


class Client:
    """One device and one collector.

    `folder` keeps what stands for each study. A study that changed since this device first saw it
    is refused unless `accept` is true. `limit` is the most this device may spend on a study.
    `digest` is one that somebody told its owner: only that study is answered, or a stage of it.

    How a later stage asks depends on earlier reports. One whose words, values and promise are those
    this device has seen, and that costs no more than was promised, is the same study; whoever has
    reported goes on with the stage of that report.
    """

    def __init__(
        self,
        url: str,
        *,
        folder: str | Path | None = None,
        accept: bool = False,
        limit: float | None = None,
        digest: str | None = None,
        allow_http: bool = False,
    ) -> None:
        self.url = base_address(url, allow_http=allow_http)
        if limit is not None and not limit > 0:
            raise OptionError(f"the limit is {limit:g}", "give a number above 0")
        self.keep = Keep(folder)
        self.study = fetch_study(f"{self.url}study.json")
        told = None if digest is None else self._stage(digest)
        stands = Respondent(self.study, self.keep).entry
        if stands is not None:
            self.study = self._stage(stands.digest)
        self.respondent = Respondent(self.study, self.keep, limit)
        first = None
        if told is not None:
            first = told.wordings[told.digests.index(str(digest))]
        seen = self._remember(accept, first)
        wording, known = self.study.wordings[-1], self.study.wordings[:-1]
        if seen != wording and seen in known:
            earlier = known.index(seen)
            raise StudyChangedError(
                f"words of the study at {self.url} were corrected since this device first saw it "
                f"({'; '.join(map(str, corrected_words(self.study.content, earlier)))})",
                "read it again, then accept it (castell send --accept)",
            )
        if seen != wording:
            raise StudyChangedError(
                f"the study at {self.url} is not the one this device first saw there",
                "read it again, then accept it (castell send --accept)",
            )

    def _stage(self, digest: str) -> Study:
        """The stage of the study here that has, or had, this digest."""
        if digest in self.study.digests:
            return self.study
        if self.study.promise is not None:
            earlier = fetch_study(f"{self.url}studies/{digest}.json")
            if digest in earlier.digests and earlier.identity == self.study.identity:
                return earlier
        raise StudyChangedError(
            f"the study at {self.url} is no stage of {digest[:12]}",
            "do not answer; ask whoever runs the study",
        )

    def _remember(self, accept: bool, first: str | None) -> str:
        """What the study was known by that was first seen here, or accepted since.

        Who has sent a report is asked nothing, whatever words were corrected since.
        """
        *known, now = self.study.wordings
        sent = self.entry is not None

        def change(seen: str | None) -> str:
            seen = seen or first or now
            return now if accept or (sent and seen in known) else seen

        return str(self.keep.update(f"seen:{self.url}", change))

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes this device reports, each once."""
        return self.respondent.asked

    @property
    def entry(self) -> Entry | None:
        """The report this device has handed over for the study, if it has: it stands."""
        return self.respondent.entry

    def make(self, answers: Mapping[str, object], invitation: str | None = None) -> Report:
        """A report, or the one that stands. Nothing is sent."""
        return self.respondent.make(answers, invitation)

    def send(self, report: Report, *, pause: Callable[[float], None] = time.sleep) -> bool:
        """Hand the report over and send it until it has arrived. False if it had already."""
        if report.study not in self.study.digests:
            raise StudyChangedError("the report is of another study", "make it again")
        # A report that was handed over may have arrived, and used its invitation up; before, ask.
        if self.entry is None:
            self.check_open(invited=report.invitation is not None)
        if self.entry is None and report.invitation is not None:
            check_invitation(report.invitation, f"{self.url}invitations")
        if self.respondent.hand_over(report).state == "arrived":
            return False
        try:
            send_report(report, f"{self.url}reports", pause=pause)
        except SendError as error:
            if error.final:
                self.respondent.mark_refused(report)
            raise
        self.respondent.mark_arrived(report)
        return True

    def check_open(self, *, invited: bool = True) -> None:
        """An error while the collector takes no reports, or none without an invitation.

        Better before anybody is asked.
        """
        check_open(f"{self.url}collector.json", invited=invited)

    def waiting(self) -> Report | None:
        """The report if it was handed over but never acknowledged: it may have arrived."""
        entry = self.entry
        return entry.report if entry is not None and entry.state == "waiting" else None

    def ledger(self) -> list[Entry]:
        """What this device has spent, study by study."""
        return ledger(self.keep)
