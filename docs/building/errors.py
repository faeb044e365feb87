"""The errors and remedies that the library states, read from its source as it is."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import castell
from castell import errors as kinds

SOURCE = Path(castell.__file__).parent


def _words(node: ast.expr) -> str | None:
    """A text of the source, with what is filled in shown by its name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    return None


def _part(node: ast.expr) -> str:
    """A part of a text, or in angle brackets the name of what is filled in, if it has one."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    filled = node.value if isinstance(node, ast.FormattedValue) else node
    name = filled.attr if isinstance(filled, ast.Attribute) else getattr(filled, "id", "")
    return f"<{name.strip('_').replace('_', ' ').lower()}>" if len(name) > 1 else "..."


def raised() -> dict[str, list[tuple[str, str]]]:
    """By kind of error: every problem and remedy that is written where it is raised."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    names = {name for name, kind in vars(kinds).items() if inspect.isclass(kind)}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in names
            ):
                told = [_words(argument) for argument in node.args[:2]]
                if len(told) == 2 and told[0] and told[1]:
                    found[node.func.id].add((told[0], told[1]))
    return {name: sorted(found[name], key=lambda pair: pair[0].lower()) for name in found}


def _code(text: str) -> str:
    return (
        text.replace("|", "\\|")
        .replace("\n", " ")
        .replace("<", "&lt;")
        .replace("*", "\\*")
        .replace("_", "\\_")
        .replace("`", "\\`")
        .replace("[", "\\[")
        .replace("$", "\\$")
    )


def errors() -> str:
    """Markdown: a section for each kind of error, and a row for each problem."""
    told = raised()
    lines: list[str] = []
    for name, kind in vars(kinds).items():
        if not inspect.isclass(kind) or kind is kinds.CastellError:
            continue
        said = (inspect.getdoc(kind) or "").partition("\n\n>>>")[0]
        lines += [f"## {name}", "", said, ""]
        if told.get(name):
            lines += ["| problem | remedy |", "|---|---|"]
            lines += [f"| {_code(problem)} | {_code(remedy)} |" for problem, remedy in told[name]]
            lines.append("")
    return "\n".join(lines)
