"""One person on one device and one study: what is asked, the report, and what stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from castell.device.device_file import Keep
from castell.device.ledger import Entry, kept_for, settle, spend
from castell.device.report import (
    Report,
    answer_codes,
    blocks_asked,
    blocks_reported,
    make_report,
)
from castell.errors import StudyChangedError
from castell.study.study import Study


@dataclass(frozen=True)
class Respondent:
    """Everything but the network. `limit` is the most that may be spent on the study."""

    study: Study
    keep: Keep
    limit: float | None = None

    @property
    def entry(self) -> Entry | None:
        """The report that this device has handed over for the study, if it has."""
        kept = kept_for(self.keep, self.study)
        return kept if isinstance(kept, Entry) else None

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes this device reports, each once."""
        kept, blocks = kept_for(self.keep, self.study), self.study.design.blocks
        if isinstance(kept, Entry):
            indices = blocks_reported(self.study, kept.codes)
        else:
            indices = blocks_asked(self.study, kept.secret)
        return tuple(dict.fromkeys(name for index in indices for name in blocks[index].names))

    def make(self, answers: Mapping[str, object], invitation: str | None = None) -> Report:
        """The report of some answers, or, once one was handed over, the one that stands."""
        kept = kept_for(self.keep, self.study)
        if not isinstance(kept, Entry):
            return replace(make_report(self.study, answers, kept.secret), invitation=invitation)
        if kept.digest not in self.study.digests:
            raise StudyChangedError(
                "this device has just reported for another stage of the study",
                "begin again: that report stands",
            )
        # Answers that are none are refused now as well: a typing error should not go unnoticed.
        answer_codes(self.study, answers, blocks_reported(self.study, kept.codes))
        return replace(kept.report, invitation=invitation or kept.invitation)

    def hand_over(self, report: Report) -> Entry:
        """Write the report down as spent. From here on it stands."""
        return spend(self.keep, self.study, report, self.limit)

    def mark_arrived(self, report: Report) -> None:
        settle(self.keep, self.study, report, "arrived")

    def mark_refused(self, report: Report) -> None:
        """For good. Its codes were seen all the same, so they stand."""
        settle(self.keep, self.study, report, "refused")
