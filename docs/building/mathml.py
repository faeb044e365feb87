"""Equations as MathML, which browsers draw themselves: no script and no font is loaded for them."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def _inline(self: Any, node: Any) -> None:
    self.body.append(convert(node.astext()))
    _skip()


def _block(self: Any, node: Any) -> None:
    equation = convert(node.astext(), display="block")
    # What is wider than the page is scrolled to, from the keyboard too.
    self.body.append(
        f'<div class="math" tabindex="0" role="group" aria-label="equation">{equation}</div>'
    )
    _skip()


def _skip() -> None:
    from docutils.nodes import SkipNode

    raise SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
