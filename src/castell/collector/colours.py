"""The owner's colour on the survey page: legible in light and in dark, or refused.

Contrast is that of WCAG 2.2 (1.4.3): 4.5 for text, which is more than what is drawn needs. The
owner gives one colour. It must be legible on the light page as it is; for the dark page it is made
lighter until it is.

>>> round(contrast("#000000", "#ffffff"))
21
"""

from __future__ import annotations

from castell.errors import OptionError

TEXT = 4.5

# As in pages/survey/base.css; a test compares. What the accent stands on, and what stands on it.
LIGHT = {"paper": "#f3f5f6", "card": "#ffffff"}
DARK = {"paper": "#11171b", "card": "#1a2228"}
WHITE, BLACK = "#ffffff", "#101010"
# A second colour beside the accent in pictures: the one that is further from it.
SECONDS = {"light": ("#c2570c", "#1d5fa6"), "dark": ("#f2a065", "#8fc1f5")}


def accent_styles(accent: str) -> str:
    """CSS that puts the owner's colour in place of castell's; nothing for no colour."""
    if not accent:
        return ""
    light = legible_on_light(accent)
    dark = _towards(WHITE, light, DARK)
    tints = _mix(light, LIGHT["card"], 0.1), _mix(dark, DARK["card"], 0.15)
    day, night = _rules(light, tints[0], "light"), _rules(dark, tints[1], "dark")
    return f":root {{\n{day}}}\n@media (prefers-color-scheme: dark) {{\n:root {{\n{night}}}\n}}\n"


def legible_on_light(accent: str) -> str:
    """The colour itself, refused with one that is legible if it is not."""
    accent = accent.lower()
    if _fits(accent, LIGHT):
        return accent
    low = min(contrast(accent, ground) for ground in LIGHT.values())
    raise OptionError(
        f"the page's accent {accent} is hard to read: its contrast on the page is {low:.1f}, "
        f"and text needs {TEXT}",
        f"take a darker colour; {_towards(BLACK, accent, LIGHT)} is the nearest of its kind",
    )


def contrast(one: str, other: str) -> float:
    """Between 1 and 21, as WCAG defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _rules(accent: str, tint: str, scheme: str) -> str:
    ink = max((WHITE, BLACK), key=lambda colour: contrast(colour, accent))
    second = max(SECONDS[scheme], key=lambda colour: _distance(colour, accent))
    values = {"accent": accent, "accent-ink": ink, "tint": tint, "more": second}
    return "".join(f"--{name}: {value};\n" for name, value in values.items())


def _fits(accent: str, grounds: dict[str, str]) -> bool:
    return all(contrast(accent, ground) >= TEXT for ground in grounds.values())


def _towards(end: str, accent: str, grounds: dict[str, str]) -> str:
    """The first colour on the way from the accent to white or black that is legible."""
    steps = (_mix(end, accent, step / 100) for step in range(101))
    return next(colour for colour in steps if _fits(colour, grounds))


def _mix(one: str, other: str, share: float) -> str:
    """So much of one, the rest of the other."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    red, green, blue = map(linear, _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _distance(one: str, other: str) -> float:
    pairs = zip(_channels(one), _channels(other), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs))
