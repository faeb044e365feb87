"""The cores of this machine that a process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """How many: fewer than there are where a container or a scheduler says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
