"""Files of the project's own folder as pages of the site, and links to what lies outside docs/."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent

# Files beside docs/ that have a page here, which takes their text in.
PAGES = {
    "README.md": "project/readme",
    "CHANGELOG.md": "project/changelog",
    "CONTRIBUTING.md": "project/contributing",
    "SECURITY.md": "project/security",
}
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def project_file(name: str) -> str:
    """The text of a file beside docs/, its links told from docs/project/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    # The page that takes it in stands two folders below what its links start from.
    return _LINK.sub(lambda link: f"](../../{link[1]}{link[2] or ''})", text)


def within_the_site(text: str, page: str) -> str:
    """The text with its links out of docs/ led to where the site has it, or taken off.

    >>> within_the_site("[how](../CONTRIBUTING.md#habits)", "collecting")
    '[how](project/contributing.md#habits)'
    >>> within_the_site("[`deploy/`](../deploy)", "running")
    '`deploy/`'
    """
    folder = (DOCS / page).parent
    back = "../" * (len(PurePosixPath(page).parts) - 1)

    def led(link: re.Match[str]) -> str:
        target = (folder / link["to"]).resolve()
        if not link["to"].startswith(".."):
            return link[0]
        if target.is_relative_to(DOCS):
            inside = target.relative_to(DOCS).as_posix()
            return f"[{link['words']}]({back}{inside}{link['at'] or ''})"
        outside = target.relative_to(ROOT).as_posix()
        if outside in PAGES:
            return f"[{link['words']}]({back}{PAGES[outside]}.md{link['at'] or ''})"
        # A file is taken into the site as it is; a folder is not.
        return link[0] if target.is_file() else link["words"]

    pattern = r"\[(?P<words>[^\]]*)\]\((?P<to>[^)#\s:]+)(?P<at>#[^)\s]*)?\)"
    return re.sub(pattern, led, text)
