"""Put a planned design into a study file, and leave the rest of the file as it is."""

from __future__ import annotations

import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from castell.channels.budget import as_decimal
from castell.errors import CastellError, StudyError
from castell.planning.plan import Plan
from castell.study.study import Study

# What says how answers are randomised, before the first section of a file.
KEYS = ("epsilon", "design", "clusters", "draw", "sample")
REASON = "# planned: "


def write_design(path: Path, plan: Plan) -> None:
    """Change a study file to the recommended design. A file that cannot be is left as it is."""
    if path.suffix == ".json":
        raise StudyError(f"{path} is published", "--write changes the TOML file it was made from")
    if plan.best.kind is None:
        return
    old = path.read_text(encoding="utf-8")
    text = with_design(old, plan)
    if not _has_design(text, plan):
        raise StudyError(
            f"{path} has channels of its own",
            "take its [[channel]] sections, matrices and mechanisms out, or write the design by "
            "hand",
        )
    path.write_text(text, encoding="utf-8")


def _has_design(text: str, plan: Plan) -> bool:
    """Whether a study file's text means what is planned: channels of its own may not fit it."""
    try:
        return Study.from_toml(text).design == plan.study.design
    except CastellError:
        return False


def with_design(text: str, plan: Plan) -> str:
    """The text of a study file with another design, and the reason for it as a comment."""
    if plan.best.kind is None:
        return text
    top, shares = plan.best.kind.toml(plan.study.schema, as_decimal(plan.epsilon))
    head, sections = _split_sections(text)
    kept = [line for line in _without(head, KEYS) if not line.startswith(REASON)]
    while kept and not kept[-1].strip():
        kept.pop()
    kept += [f"{REASON}{plan.reason}", *(f"{key} = {_value(value)}" for key, value in top.items())]
    lines = [*kept, ""]
    for section in sections:
        if section[0].strip() == "[[attribute]]":
            section = _with_share(section, shares)
        lines += section
    return "\n".join(lines).rstrip("\n") + "\n"


def _split_sections(text: str) -> tuple[list[str], list[list[str]]]:
    """The lines before the first section, and those of each section."""
    head: list[str] = []
    sections: list[list[str]] = []
    depth = 0
    for line in text.splitlines():
        if depth == 0 and re.match(r"\s*\[{1,2}[A-Za-z0-9_.\"'-]+\]{1,2}\s*(#.*)?$", line):
            sections.append([line])
        elif sections:
            sections[-1].append(line)
        else:
            head.append(line)
        if "=" in line or depth:
            depth = max(0, depth + _open(line))
    return head, sections


def _open(line: str) -> int:
    """How many brackets a line opens, less those it closes; not those in texts or comments."""
    bare = re.sub(r'"(\\.|[^"\\])*"|\'[^\']*\'', "", line).split("#")[0]
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")


def _without(lines: list[str], keys: tuple[str, ...]) -> list[str]:
    """Lines without some entries, which may go over several."""
    kept, depth, dropping = [], 0, False
    for line in lines:
        if depth == 0:
            match = re.match(r"\s*([A-Za-z0-9_-]+)\s*=", line)
            dropping = bool(match and match.group(1) in keys)
        if "=" in line or depth:
            depth = max(0, depth + _open(line))
        if not dropping:
            kept.append(line)
        if depth == 0 and dropping:
            dropping = False
    return kept


def _with_share(section: list[str], shares: dict[str, Decimal]) -> list[str]:
    """An attribute's section with its share of the total, or without one."""
    kept = _without(section, ("epsilon",))
    for i, line in enumerate(kept):
        match = re.match(r"\s*name\s*=\s*(.+)$", line)
        if match and shares:
            name = _parse_text(match.group(1))
            return [*kept[: i + 1], f"epsilon = {shares[name]}", *kept[i + 1 :]]
    return kept


def _parse_text(text: str) -> str:
    found: str = tomllib.loads(f"x = {text}")["x"]
    return found


def _value(value: Any) -> str:
    if isinstance(value, Decimal):
        number = format(value, "f")
        return number if "." in number else f"{number}.0"
    return json.dumps(value, ensure_ascii=False)
