"""One way to write a document, and its digest: what is published is compared to the letter."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(document: dict[str, Any]) -> str:
    """
    >>> canonical({"b": 1, "a": "\u00e4"})
    '{"a":"\u00e4","b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()
