"""llms.txt and llms-full.txt: the site for programs that read, one as a list, one as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

_FULL: dict[str, str] = {}


def _first_sentence(document: Any) -> str:
    for paragraph in document.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            return text.partition(". ")[0].rstrip(".:") + "."
    return ""


def _keep(app: Any, document: Any, docname: str) -> None:
    from sphinx.writers.text import TextTranslator

    translator: Any = TextTranslator(document.deepcopy(), app.builder)
    translator.unknown_visit = translator.unknown_departure = lambda _node: None
    translator.document.walkabout(translator)
    _FULL[docname] = translator.body
    app.env.metadata[docname]["said"] = _first_sentence(document)


def _write(app: Any, exception: Exception | None) -> None:
    if exception is not None:
        return
    out, env = Path(app.outdir), app.env
    order = list(env.toctree_includes.get("index", []))
    for name in order:
        order += [inner for inner in env.toctree_includes.get(name, []) if inner not in order]
    for name in ["index", *order]:
        if name not in _FULL:
            # Not built anew, since nothing changed in it: resolving it comes past `_keep`.
            env.get_and_resolve_doctree(name, app.builder)
    lines = [
        f"# {app.config.project}",
        "",
        f"> {env.metadata['index'].get('said', '')}",
        "",
        "## Pages",
        "",
    ]
    for name in order:
        said = env.metadata[name].get("said", "")
        lines.append(f"- [{env.titles[name].astext()}]({name}.html): {said}")
    (out / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "llms-full.txt").write_text(
        "\n\n".join(_FULL[name] for name in ["index", *order]), encoding="utf-8"
    )


def setup(app: Any) -> None:
    app.connect("doctree-resolved", _keep)
    app.connect("build-finished", _write)
