"""What the theme's pages lack for who does not see them or has no mouse, put right afterwards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# What is found, and what stands there instead.
_PUT_RIGHT = [
    (r'role="heading">', 'role="heading" aria-level="2">'),
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    (r'<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="This page">'),
    # Code and tables scroll by themselves; who uses the keyboard must be able to reach them.
    (r"<pre>", '<pre tabindex="0">'),
    (
        r'<div class="table-wrapper ([^"]*)">',
        r'<div class="table-wrapper \1" tabindex="0" role="group" aria-label="table">',
    ),
    # So do pictures that are wider than a phone.
    (
        r"<p>(<img [^>]*>)</p>",
        r'<p class="picture" tabindex="0" role="group" aria-label="picture">\1</p>',
    ),
    # The page that is searched from has no heading of its own.
    (r'(<div id="search-results"></div>)', r"<h1>Search</h1>\1"),
    # A corner of a table that says nothing is no heading.
    (r'<th class="head( stub)?"><p></p></th>', "<td></td>"),
]


def put_right(page: str) -> str:
    """A page of HTML, accessible.

    >>> put_right("<pre>x</pre>")
    '<pre tabindex="0">x</pre>'
    """
    for found, instead in _PUT_RIGHT:
        page = re.sub(found, instead, page)
    return page


def _all(app: Any, exception: Exception | None) -> None:
    if exception is None:
        for path in Path(app.outdir).rglob("*.html"):
            path.write_text(put_right(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("build-finished", _all)
