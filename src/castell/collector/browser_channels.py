"""Which channels the survey page has: a file in `client/channels/` for each kind.

A study with another kind can be collected by programs, but not by the page, which refuses it.
"""

from __future__ import annotations

from castell.device.browser_client import CLIENT
from castell.study.study import Study

__all__ = ["CLIENT", "browser_kinds", "browser_warning"]


def browser_kinds() -> frozenset[str]:
    """The kinds of channels that a browser can randomise with."""
    return frozenset(path.stem for path in (CLIENT / "channels").glob("*.js"))


def browser_warning(study: Study) -> str | None:
    """What to say of a study before it is published, if the survey page cannot ask it."""
    kinds = {block.channel.kind for block in study.design.blocks} - browser_kinds()
    if not kinds:
        return None
    listed = " and ".join(repr(kind) for kind in sorted(kinds))
    return (
        f"the survey page has no channel of kind {listed} and will refuse this study: collect it "
        "with castell send, or add the channel to client/channels/"
    )
