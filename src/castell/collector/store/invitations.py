"""Invitations: codes that let one report in, each once.

The store keeps a hash of every code that is not used yet. A used one is deleted, together with many
others and at another moment than its report is filed (see `filing`), so no row, time or order says
which code brought which report. Whoever has the list of codes can tell which of them were used.
"""

from __future__ import annotations

import hashlib
import secrets

from castell.study.study import Study

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
LENGTH = 20  # of 5 bits each: 100 bits cannot be guessed


def new_invitation() -> str:
    """
    >>> len(new_invitation())
    20
    """
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def invitation_key(study: Study, code: str) -> bytes:
    """What the store keeps of a code: a hash bound to the study, corrected or not."""
    text = f"castell invitation {study.identity} {code}"
    return hashlib.sha256(text.encode()).digest()[:16]
