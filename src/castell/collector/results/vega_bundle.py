"""Vega, Vega-Lite and vega-embed as one script, out of the package that ships them.

Nothing of it is kept in this repository: vl-convert, which writes the library's pictures, holds the
same libraries. Making the script takes it two seconds in which no other Python runs, so it is made
by a process of its own, once.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import sys
from dataclasses import dataclass

from castell.errors import MissingExtraError

# An ES module's last words: what the page uses. With vega-embed comes an interpreter of Vega's
# expressions, so nothing needs 'unsafe-eval'.
SNIPPET = "window.vegaEmbed = vegaEmbed;"
_MAKE = (
    "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1])"
    ".encode())"
)


@dataclass(frozen=True)
class Script:
    """The script, and as it goes over the wire."""

    text: bytes
    packed: bytes
    tag: str


async def make() -> Script:
    """The script; an error that names the extra where its package is missing."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _MAKE,
        SNIPPET,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    text, _ = await process.communicate()
    if process.returncode or not text:
        raise MissingExtraError("charts need vl-convert", "pip install 'castell[plot]'")
    packed = await asyncio.get_running_loop().run_in_executor(None, gzip.compress, text, 6)
    return Script(text, packed, f'"{hashlib.sha256(text).hexdigest()[:32]}"')


class Bundle:
    """Made when it is first asked for, and never twice."""

    def __init__(self) -> None:
        self._made: asyncio.Task[Script] | None = None

    async def script(self) -> Script:
        if self._made is None:
            self._made = asyncio.create_task(make())
        try:
            return await asyncio.shield(self._made)
        except MissingExtraError:
            self._made = None
            raise
