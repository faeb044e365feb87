"""The ledger: what left this device, study by study.

The ledger counts reports and keeps no trace of what was answered. A note by which it could tell a
changed answer from a repeated one would tell it to others as well, so what was spent is two
numbers: with one set of answers throughout, and at the most.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from castell.channels.budget import rounded_up
from castell.device.keep import Keep
from castell.errors import OptionError, SendError
from castell.study.study import Study


@dataclass(frozen=True)
class Entry:
    """What left this device for one study. `waiting` is a report that may not have arrived."""

    digest: str
    name: str
    drawn: bool
    blocks: tuple[tuple[float, int], ...]  # epsilon and number of answers of each
    reports: int = 0
    waiting: dict[str, Any] | None = None

    @classmethod
    def of(cls, study: Study) -> Entry:
        channels = [block.channel for block in study.design.blocks]
        return cls(
            study.digest,
            study.text.title or study.name,
            study.design.draw,
            tuple((rounded_up(c.exact_epsilon), c.inputs) for c in channels),
        )

    @classmethod
    def read(cls, document: dict[str, Any]) -> Entry:
        blocks = tuple((float(epsilon), int(inputs)) for epsilon, inputs in document["blocks"])
        return cls(**{**document, "blocks": blocks})

    @property
    def spent_if_same(self) -> float:
        """What the reports cost if the answers were always the same."""
        return self._whole([epsilon * min(self.reports, 1) for epsilon, _ in self.blocks])

    @property
    def spent_at_most(self) -> float:
        """What the reports can have cost: a block no more than all its answers told apart."""
        return self._whole([epsilon * min(self.reports, n) for epsilon, n in self.blocks])

    def _whole(self, losses: list[float]) -> float:
        return max(losses) if self.drawn else sum(losses)


def ledger(keep: Keep) -> list[Entry]:
    """Every study this device has sent reports for."""
    return [Entry.read(document) for document in keep.all("ledger:")]


def spend(keep: Keep, study: Study, report: dict[str, Any], limit: float | None = None) -> Entry:
    """Write a report down as spent: before it leaves, because after that nobody can take it back.

    Writing the same report down again changes nothing.
    """

    def change(document: dict[str, Any] | None) -> dict[str, Any]:
        entry = Entry.of(study) if document is None else Entry.read(document)
        if entry.waiting and entry.waiting["id"] == report["id"]:
            return asdict(entry)
        if entry.waiting:
            raise SendError(
                "an earlier report is still waiting", "send that one first", final=False
            )
        after = replace(entry, reports=entry.reports + 1, waiting=report)
        if limit is not None and after.spent_at_most > limit:
            raise OptionError(
                f"sending this may spend {after.spent_at_most:.6g}, the limit is {limit:.6g}, so "
                "it was not sent",
                "leave it at that, or raise the limit",
            )
        return asdict(after)

    return Entry.read(keep.update(f"ledger:{study.digest}", change))


def settle(keep: Keep, study: Study) -> None:
    """The report has arrived, or was refused for good: nothing waits any more."""
    keep.update(f"ledger:{study.digest}", lambda entry: entry and {**entry, "waiting": None})
