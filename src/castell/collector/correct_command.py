"""The command line's verb that corrects words of a study while its reports stay: correct.

The owner edits the study file, this compares it with the study in the store. The store is changed
first, the file after it: if that fails, the same command once more writes the file.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from castell.collector.store import open_store
from castell.collector.store.store import Store
from castell.errors import StudyError
from castell.study.atomic_write import write_whole
from castell.study.corrections import Change, changes
from castell.study.later_stages import with_words
from castell.study.study import Study
from castell.study.toml_file import correction_section, read_toml


def correct_words(store: Store, words: Study) -> tuple[Study, list[Change]]:
    """The study in a store with the words of another, and what changes by that: perhaps nothing."""
    stored = store.stages[0]  # what a study file describes; its words are those of all stages
    found = list(changes(stored.content, words.content))
    if not found and words.digest == _without_corrections(stored).digest:
        return stored, []
    return stored.corrected(words, time.strftime("%Y-%m-%d", time.gmtime())), found


def read_words(path: Path) -> Study:
    """The study in a file without its corrections: they do not fit words that are changed again."""
    if path.suffix == ".json":
        return _without_corrections(Study.load(path))
    try:
        return Study(**{**read_toml(path.read_text(encoding="utf-8")), "corrections": ()})
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read {path} ({error!s:.80})", "give a study file") from None


def _without_corrections(study: Study) -> Study:
    """A study with its present words, as if they had always been there."""
    return Study(
        study.schema,
        design=study.design,
        name=study.name,
        text=study.text,
        staged=study.promise or False,
    )


def _present(store: Store, first: Study) -> Study:
    """The present stage with the words that the first one has got."""
    if len(store.stages) == 1:
        return first
    return with_words(store.study, first, first.corrections[-1].on)


def file_with_corrections(path: Path, study: Study) -> str:
    """The text of a study file with the corrections at its end. What a person wrote stays."""
    if path.suffix == ".json":
        return study.to_json()
    text = path.read_text(encoding="utf-8")
    known = len(read_toml(text)["corrections"])
    added = "".join(map(correction_section, study.corrections[known:]))
    text = f"{text.rstrip()}\n{added}" if added else text
    with contextlib.suppress(StudyError):
        if Study.from_toml(text) == study:
            return text
    raise StudyError(
        f"the corrections in {path} are not those of the store",
        "take its [[correction]] sections out, then correct again",
    )


def correct(
    path: Path, place: str, agree: Callable[[list[Change]], bool], spool: Path | None = None
) -> tuple[Study, list[Change]]:
    """Correct the study of a store as its file says, if whoever sees the changes agrees."""
    words = read_words(path)
    with contextlib.closing(open_store(place, spool=spool)) as store:
        made, found = correct_words(store, words)
        text = file_with_corrections(path, made)
        if found:
            if not agree(found):
                return store.study, []
            store.correct(_present(store, made))
    write_whole(path, text, path.stat().st_mode & 0o777)
    return made, found
