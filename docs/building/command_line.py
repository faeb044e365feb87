"""Every verb and option of the command line, from the parser itself."""

from __future__ import annotations

from typing import Any

import typer


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _default(option: Any) -> str:
    value = option.default
    if option.required:
        return "needed"
    if value is None or callable(value) or value is False or value in ([], (), ""):
        return ""
    return f"`{value}`"


def _row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    several = " Repeatable." if getattr(option, "multiple", False) else ""
    return f"| {names} | {_cell(option.help or '')}{several} | {_default(option)} |"


def _usage(name: str, arguments: list[Any]) -> str:
    words = [
        (a.name.upper() if a.required else f"[{a.name.upper()}]") + ("..." if a.nargs == -1 else "")
        for a in arguments
    ]
    return " ".join(["castell", name, *words, "[OPTIONS]"])


def _verb(name: str, verb: Any) -> list[str]:
    if inner := getattr(verb, "commands", None):
        told = [f"## `castell {name}`", "", *_paragraphs(verb.help or "")]
        return told + [line for part, one in inner.items() for line in _verb(f"{name} {part}", one)]
    shown = [p for p in verb.params if not getattr(p, "hidden", False)]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name == "option"]
    lines = [f"## `castell {name}`", "", *_paragraphs(verb.help or ""), "```text"]
    lines += [_usage(name, arguments), "```", ""]
    if arguments:
        lines += ["| argument | is | default |", "|---|---|---|"]
        for argument in arguments:
            needed = "needed" if argument.required else ""
            lines.append(f"| `{argument.name.upper()}` | {_cell(argument.help or '')} | {needed} |")
        lines.append("")
    if options:
        lines += ["| option | does | default |", "|---|---|---|", *map(_row, options), ""]
    return lines + _examples(verb.epilog or "")


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += [" ".join(paragraph.split()).replace("<", "&lt;"), ""]
    return lines


def _examples(epilog: str) -> list[str]:
    told = epilog.partition(":")[2]
    if not told.strip():
        return []
    # A bar between examples stands alone; `|` never occurs in one.
    return ["```console", *(f"$ {one.strip()}" for one in told.split(" | ")), "```", ""]


def command_line() -> str:
    """Markdown: a section for each verb, in the order of `castell --help`."""
    from castell.cli.app import app

    group: Any = typer.main.get_command(app)
    lines: list[str] = []
    for name, verb in group.commands.items():
        if not verb.hidden:
            lines += _verb(name, verb)
    return "\n".join(lines)
