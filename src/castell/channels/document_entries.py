"""Reading a channel as it was published: every entry it has, and no other."""

from __future__ import annotations

from typing import Any

from castell.errors import ChannelError


def entries(document: dict[str, Any], *names: str) -> list[Any]:
    """What a published channel holds under some names, in this order, its kind left out.

    >>> entries({"kind": "coin", "same": 3, "other": 1}, "same", "other")
    [3, 1]
    """
    if set(document) != {"kind", *names}:
        raise ChannelError(
            f"a channel of kind {document.get('kind')!r} has other entries than {', '.join(names)}",
            "take the study as it was published",
        )
    return [document[name] for name in names]
