"""The survey page's scripts and styles as one file each: on a slow line every file costs a wait.

Nothing is rewritten but the lines that import and export; comments, what only tells a type, and the
space that lines begin with are left out. Each module becomes a function that gives what it exports,
in the order they need each other; the modules themselves are served as well. So what runs can still
be read, and compared with what is published, line by line: the same modules always make the same
file.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath

from starlette.requests import Request
from starlette.responses import Response

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
# Whole lines; what stands in a text is left as it is.
_COMMENT = re.compile(r"^\s*(//.*|/\*(?:[^*]|\*(?!/))*\*/)\n|^\n", re.MULTILINE)
# Behind code: no quotation mark follows, so it is in no text.
_REMARK = re.compile(r"(?<=[;,{(]) // [^\"'`\n]*$", re.MULTILINE)
_INDENT = re.compile(r"^ +", re.MULTILINE)
# A type told in the middle of a line, for who checks the scripts.
_TYPE = re.compile(r"/\*\* @type (?:[^*]|\*(?!/))*\*/ ?")
_STYLE_COMMENT = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
_LEFT = re.compile(r"^(import|export)\b.*", re.MULTILINE)


def one_script(entry: str, folders: Mapping[str, Path]) -> str:
    """A module and all it imports. The first part of a path names one of the folders."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        folder, _, path = name.partition("/")
        text = (folders[folder] / path).read_text(encoding="utf-8")

        def local(match: re.Match[str]) -> str:
            needed = normpath(join(dirname(name), match[3]))
            add(needed)
            names = match[1] or "{" + match[2].replace(" as ", ": ") + "}"
            return f"const {names} = {_variable(needed)};\n"

        body = _IMPORT.sub(local, text)
        exported = _EXPORT.findall(body)
        body = _EXPORT.sub("", body)
        if left := _LEFT.search(body):
            raise ValueError(f"{name} has a line that cannot be joined: {left[0]}")
        if any(line.count("`") % 2 for line in body.splitlines()):
            raise ValueError(f"{name} has a text of several lines, whose spaces would be lost")
        gives = ", ".join(exported)
        head = f"const {_variable(name)} = (() => {{\n"
        body = _INDENT.sub("", _TYPE.sub("", _REMARK.sub("", _COMMENT.sub("", body))))
        done[name] = f"{head}{body}return {{ {gives} }};\n}})();\n"

    add(entry)
    return "\n".join(done.values())


def one_style(texts: Iterable[str]) -> str:
    """Style sheets, the last of which has the last word."""
    return _INDENT.sub("", _STYLE_COMMENT.sub("", "\n".join(texts)))


def _variable(name: str) -> str:
    """What a module is called in the joined script; no name in a module begins like this."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


@dataclass(frozen=True)
class OneFile:
    """A text that is served whole, compressed for who takes that, and asked about each time."""

    body: bytes
    packed: bytes
    tag: str
    media_type: str

    @classmethod
    def of(cls, text: str, media_type: str) -> OneFile:
        body = text.encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        return cls(body, gzip.compress(body, 9, mtime=0), tag, media_type)

    async def answer(self, request: Request) -> Response:
        headers = {"etag": self.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        taken = re.split(r"[,;\s]+", request.headers.get("accept-encoding", ""))
        if "gzip" in taken:
            headers["content-encoding"] = "gzip"
        body = self.packed if "gzip" in taken else self.body
        return Response(body, headers=headers, media_type=self.media_type)
