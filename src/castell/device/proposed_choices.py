"""Whether a column lists what each person chose of several options, as questionnaires store it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from castell.study.choices import SEPARATORS

# More options than that, and it is no list to choose from.
_MOST = 30


def choices_in(written: Collection[str]) -> list[str]:
    """The options in alphabetical order, if texts are lists of them; else none.

    Some text lists several, and no text one twice. What is parted by commas may be prose or a name:
    there each option must stand in two different texts.

    >>> choices_in(["run;ski", "run", "swim"])
    ['run', 'ski', 'swim']
    >>> choices_in(["Smith, John", "Miller, Jane"])
    []
    """
    for separator in SEPARATORS:
        texts, several = Counter[str](), False
        for text in written:
            parts = [part.strip() for part in text.split(separator)]
            if len(set(parts)) < len(parts) or not all(parts):
                break
            several = several or len(parts) > 1
            texts.update(parts)
        else:
            least = 2 if separator == "," else 1
            if several and 2 <= len(texts) <= _MOST and min(texts.values()) >= least:
                return sorted(texts)
    return []
