"""The study of a store while it is collected: its words are corrected, its next stages published.

The present study is the row `study`; stages before it are the rows `stage 1` and so on. Each change
is one transaction that finds the present study as it was: of two who change it at once, one does.
`planned N` says what became of the plan that was made at N reports.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from castell.collector.store.administration import Administered
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.store import StoreError
from castell.errors import StudyError
from castell.study.later_stages import check_stages, with_words
from castell.study.study import Study

Link = TypeVar("Link")

STAGE, PLANNED = "stage ", "planned "  # and a number
_STUDY = "study"


class StagedStore(Administered[Link], Generic[Link]):
    """The part of a store that knows its study; what is abstract is what a database must do."""

    place: str
    stages: tuple[Study, ...]
    _packing: StageRows

    @property
    def study(self) -> Study:
        """The present stage."""
        return self.stages[-1]

    def publish(self, study: Study, at: int | None = None) -> None:
        check_stages([*self.stages, study])
        packing = StageRows([*self.stages, study])
        notes = {f"{STAGE}{len(self.stages)}": self.study.to_json()}
        if at is not None:
            notes[f"{PLANNED}{at}"] = "published"
        self._exchange(study, notes)
        self.stages, self._packing = (*self.stages, study), packing

    def keep_design(self, at: int) -> None:
        with self._changing() as link:
            self._write_note(link, f"{PLANNED}{at}", "kept")

    def plans(self) -> dict[int, str]:
        with self._reading() as link:
            return self._planned_stages(link)

    def correct(self, study: Study) -> None:
        if study.digests[:-1] != self.study.digests:
            raise StoreError(
                f"this is no correction of the study in {self.place}",
                "correct what the store holds: castell correct does",
            )
        on = study.corrections[-1].on
        earlier = [with_words(stage, study, on) for stage in self.stages[:-1]]
        check_stages([*earlier, study])
        self._exchange(study, {f"{STAGE}{i}": one.to_json() for i, one in enumerate(earlier, 1)})
        self.stages = (*earlier, study)

    def look_again(self) -> Study:
        if self._study_text() == self.study.to_json():
            return self.study
        with self._reading() as link:
            found = self._stages_at(link)
        if found != self.stages:  # the same study may be written in another way
            self._check_follows(found)
            self.stages, self._packing = found, StageRows(found)
        return self.study

    def _check_follows(self, found: Sequence[Study]) -> None:
        for was, now in zip(self.stages, found, strict=False):
            if now.digests[: len(was.digests)] != was.digests:
                break
        else:
            if len(found) >= len(self.stages):
                return
        raise StoreError(
            f"{self.place} holds another study than before", "start the collector again"
        )

    def _exchange(self, study: Study, notes: Mapping[str, str]) -> None:
        if not self._replace_study(self.study.to_json(), study.to_json(), notes):
            raise StoreError("the study was changed by somebody else", "look at it again")

    def _stages_at(self, link: Link) -> tuple[Study, ...]:
        """The stages as of a moment."""
        notes = self._notes(link, _STUDY)
        if notes[_STUDY] == self.study.to_json():
            return self.stages
        return stages_in({**notes, **self._notes(link, STAGE)})

    def _planned_stages(self, link: Link) -> dict[int, str]:
        notes = self._notes(link, PLANNED).items()
        return {int(name.removeprefix(PLANNED)): became for name, became in notes}

    # -- what a database does ------------------------------------------------------------------

    @abc.abstractmethod
    def _study_text(self) -> str:
        """The published study that stands in the database now."""

    @abc.abstractmethod
    def _replace_study(self, old: str, new: str, notes: Mapping[str, str]) -> bool:
        """Publish another study and write some rows, in one transaction.

        False, and nothing is done, if the old study is not there.
        """


def stages_in(about: Mapping[str, str]) -> tuple[Study, ...]:
    """The stages of a store, from its rows about itself."""
    texts: list[str] = []
    while (name := f"{STAGE}{len(texts) + 1}") in about:
        texts.append(about[name])
    found = tuple(map(Study.from_json, [*texts, about[_STUDY]]))
    if texts:
        try:
            check_stages(found)
        except StudyError as error:
            raise StoreError(error.problem, "restore a backup of the store") from None
    return found
