"""Invitations as people get them: links, a table for a mail merge, QR codes, a sheet of cards.

A code stands behind the `#` of its link, which browsers send to no server. QR codes are SVG: small,
and sharp at any size. Nothing in a file's name tells its code.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import urlsplit

from castell.errors import OptionError
from castell.study.study import Study

# What a card says, in the languages that the survey page has.
_CARD = {
    "de": ("Scannen oder öffnen Sie", "und geben Sie diesen Code ein", "Gilt für eine Teilnahme."),
    "en": ("Scan, or open", "and enter this code", "Good for taking part once."),
    "es": ("Escanee, o abra", "e introduzca este código", "Vale para participar una vez."),
    "fr": ("Scannez, ou ouvrez", "et saisissez ce code", "Valable pour une participation."),
}

_STYLE = """
@page { margin: 10mm; }
body { font: 10pt/1.35 system-ui, sans-serif; margin: 0; color: #000; background: #fff; }
main { display: grid; grid-template-columns: 1fr 1fr; }
article { display: grid; grid-template-columns: 34mm 1fr; gap: 4mm; align-items: center;
  padding: 5mm; border: 0.2mm dashed #888; break-inside: avoid; }
svg { width: 34mm; height: 34mm; }
h2 { font-size: 12pt; margin: 0 0 1.5mm; }
p { margin: 0 0 1mm; overflow-wrap: anywhere; }
code { font: 600 11pt/1.4 ui-monospace, monospace; }
small { color: #444; }
"""


def check_url(url: str) -> str:
    """Where the survey page is, to be followed by `#invitation=`: refused if it cannot be.

    >>> check_url("https://example.org/survey")
    'https://example.org/survey'
    """
    try:
        parts = urlsplit(url)
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        parts, local = urlsplit(""), False
    if not parts.hostname or parts.fragment or not url.isascii() or " " in url:
        raise OptionError(
            f"{url!r} is not a page's address", "write it as https://example.org/survey/"
        )
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise OptionError(
            f"{url!r} is not https", "the survey page works by https only; write https://"
        )
    return url


def link(url: str, code: str) -> str:
    """
    >>> link("https://example.org/", "abc")
    'https://example.org/#invitation=abc'
    """
    return f"{url}#invitation={code}"


def table(codes: Sequence[str], url: str | None) -> str:
    """CSV: a number, the code, and the link if there is an address."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", "code", *(["link"] if url else [])])
    for number, code in enumerate(codes, 1):
        writer.writerow([number, code, *([link(url, code)] if url else [])])
    return text.getvalue()


def qr_files(codes: Sequence[str], url: str) -> Iterator[tuple[str, str]]:
    """The name and the text of an SVG file for each code, numbered as in the table."""
    width = len(str(len(codes)))
    for number, code in enumerate(codes, 1):
        yield f"{number:0{width}}.svg", _svg(link(url, code))


def sheet(study: Study, codes: Sequence[str], url: str) -> str:
    """Cards to be printed and cut, as one HTML page that loads nothing."""
    language = (study.text.language or "en").split("-")[0]
    language = language if language in _CARD else "en"
    title = escape(study.text.title or study.name)
    cards = "\n".join(_card(title, code, url, language) for code in codes)
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{cards}\n</main>\n</body>\n</html>\n"
    )


def _card(title: str, code: str, url: str, language: str) -> str:
    opening, entering, once = _CARD[language]
    spaced = " ".join(code[at : at + 5] for at in range(0, len(code), 5))
    return (
        f'<article>{_svg(link(url, code), sized=False)}<div><h2 dir="auto">{title}</h2>'
        f"<p>{opening}<br>{escape(url)}<br>{entering}</p>"
        f"<p><code>{spaced}</code></p><p><small>{once}</small></p></div></article>"
    )


def _svg(text: str, *, sized: bool = True) -> str:
    import segno  # who wants no pictures does without

    file = io.BytesIO()
    code = segno.make(text, error="m", micro=False)
    # A white ground, so that it can be scanned from a dark screen too.
    ground = {"border": 4, "light": "white", "xmldecl": False}
    code.save(file, kind="svg", scale=4, omitsize=not sized, **ground)
    return file.getvalue().decode()
