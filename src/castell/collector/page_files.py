"""What a [page] table names, read and checked: ready to be served."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from castell.collector.colours import accent_styles
from castell.collector.page_words import OwnWords, load_words
from castell.errors import OptionError
from castell.study.page import Page

# It is loaded after the questions; at 50 kB a second this takes four seconds.
LARGEST_LOGO = 200_000
_KINDS = {
    ".svg": ("image/svg+xml", (b"<svg", b"<?xml", b"<!--", b"<!DOCTYPE", b"\xef\xbb\xbf<")),
    ".png": ("image/png", (b"\x89PNG\r\n\x1a\n",)),
    ".jpg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".jpeg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".webp": ("image/webp", (b"RIFF",)),
}

KIOSK = (
    "kiosk mode: one device sends for many people, so nothing keeps a person from answering again. "
    "Each time draws anew and reveals more, and everybody in the hall can send many reports: give "
    "each person an invitation (castell invite), or stand beside the device"
)


@dataclass(frozen=True)
class Logo:
    body: bytes = field(repr=False)
    media_type: str
    alt: str


@dataclass(frozen=True)
class Look:
    """How the survey page is shown. `styles` are CSS that comes last."""

    logo: Logo | None = None
    styles: str = ""
    kiosk: bool = False
    words: tuple[OwnWords, ...] = ()
    preview: bool = False

    def document(self) -> dict[str, Any]:
        """What the page's script is told."""
        logo = {} if self.logo is None else {"logo": self.logo.alt}
        return {**logo, "kiosk": self.kiosk, "preview": self.preview}


def load_look(study: Path, *, kiosk: bool = False, preview: bool = False) -> Look:
    """The look that a study file asks for, with the files it names."""
    page = Page.load(study)
    folder = study.parent
    return Look(
        logo=_logo(folder / page.logo, page.logo_alt) if page.logo else None,
        styles=accent_styles(page.accent),
        kiosk=page.kiosk or kiosk,
        words=tuple(load_words(folder / name) for name in page.words),
        preview=preview,
    )


def look_warnings(look: Look) -> list[str]:
    """What `castell check` says of it, each with its remedy."""
    found = [KIOSK] if look.kiosk else []
    if look.logo is not None and not look.logo.alt:
        found.append(
            "the logo says nothing to people who do not see it: add logo_alt, the name it shows"
        )
    return found + [_incomplete(one) for one in look.words if one.missing]


def _incomplete(own: OwnWords) -> str:
    return (
        f"the page's own words in {own.language!r} are not complete and not used "
        f"({', '.join(own.missing)}): translate them; until then the page speaks English around "
        "the study's texts"
    )


def _logo(path: Path, alt: str) -> Logo:
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise OptionError(f"the logo {path.name} is no picture", f"take {', '.join(_KINDS)}")
    try:
        body = path.read_bytes()
    except OSError as error:
        raise OptionError(
            f"the logo {path} cannot be read ({error.strerror})", "name it from the study's folder"
        ) from None
    if len(body) > LARGEST_LOGO:
        raise OptionError(
            f"the logo has {len(body):,} bytes", f"make it smaller than {LARGEST_LOGO:,}"
        )
    media_type, beginnings = kind
    if not body.lstrip().startswith(beginnings):
        raise OptionError(
            f"the logo {path.name} is no {media_type}", "save it in the format its name says"
        )
    return Logo(body, media_type, alt)
