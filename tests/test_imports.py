"""Imports point one way, and `import castell` loads little."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import castell
from tests.import_graph import child, graph, imports, in_circles, inside, modules, packages

# Parts of a package in order: each may import those before it, and itself. At the top that is the
# order the data travels; `__init__`, the public names, is for what comes after `results`: a room
# before it would import itself.
ORDER = {
    "castell": [
        "version",
        "errors",
        "plugins",
        "numbers",
        "display",
        "linear",
        "channels",
        "study",
        "population",
        "reports",
        "device",
        "counting",
        "inference",
        "evaluation",
        "estimators",
        "results",
        "planning",
        "auditing",
        "extend",
        "__init__",
        "collector",
        "cli",
        "__main__",
    ],
    # What is kept, what comes in, what stands before it, what is shown, and who runs it all.
    "castell.collector": [
        "__init__",
        "store",
        "wire",
        "opening_hours",
        "responses",
        "colours",
        "page_words",
        "page_files",
        "settings",
        "browser_channels",
        "metrics",
        "security",
        "store_file",
        "background",
        "writer",
        "health",
        "intake",
        "invitation_check",
        "results",
        "stage_planning",
        "stage_watch",
        "page_bundle",
        "answer_schemas",
        "openapi",
        "operator_routes",
        "survey_page",
        "routes",
        "publish_changes",
        "app",
        "several_studies",
        "server",
        "preview",
        "store_copies",
        "correct_command",
        "store_places",
        "served_studies",
        "startup_message",
        "invitation_cards",
        "commands",
        "owner_commands",
        "invite_commands",
        "page_commands",
    ],
}

# Imports that look forward, inside functions or for types, and what each is for.
FORWARD = {
    ("castell.study.schema", "castell.device.proposal"): "Schema.from_frame(frame)",
    ("castell.study.study", "castell.device.randomize"): "study.randomize(answers)",
    ("castell.study.study", "castell.reports.reports"): "what study.randomize returns",
}

# What is loaded only when it is asked for.
HEAVY = [
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "altair",
    "xarray",
    "rich",
    "typer",
    "scipy",
    "jax",
]


def _graph() -> dict[str, set[str]]:
    return {
        module: {other for other in others if (module, other) not in FORWARD}
        for module, others in graph().items()
    }


@pytest.mark.parametrize("package", sorted(ORDER))
def test_a_part_imports_only_what_comes_before_it(package: str) -> None:
    order = ORDER[package]
    parts = inside(package, _graph())
    unknown = sorted(set(parts) - set(order))
    assert not unknown, (
        f"{', '.join(unknown)}: new in {package}; put it in a sub-package, or in ORDER in "
        "tests/test_imports.py, after all that it imports and before all that may import it"
    )
    assert sorted(set(order) - set(parts)) == [], "no longer there: take it out of ORDER"
    for part, others in parts.items():
        later = sorted(other for other in others if order.index(other) > order.index(part))
        assert not later, f"{package}.{part} imports what comes after it: {', '.join(later)}"


@pytest.mark.parametrize("package", packages())
def test_nothing_imports_itself_by_way_of_others(package: str) -> None:
    """Modules or packages in a circle can only be read all at once."""
    assert in_circles(inside(package, _graph())) == []


def test_methods_import_no_other_method() -> None:
    """A method can be taken out without another noticing; what they share starts with a _."""
    for method, others in inside("castell.estimators", graph()).items():
        if method != "__init__":
            wrong = sorted(other for other in others if not other.startswith("_"))
            wrong += ["__init__"] * ("__init__" in others)
            assert not wrong, f"{method} imports {', '.join(wrong)}; share it in inference/"


def test_forward_imports_are_few_and_needed() -> None:
    whole = graph()
    for module, other in FORWARD:
        assert other in whole[module], f"{module} no longer imports {other}: take it out of FORWARD"


@pytest.mark.parametrize("package", packages())
def test_every_package_says_what_it_is_for_and_what_it_imports(package: str) -> None:
    text = ast.get_docstring(ast.parse(modules()[package].read_text(encoding="utf-8"))) or ""
    assert text.splitlines()[:1], f"{package}: say in a sentence what it is for"
    assert "Imports " in text, f"{package}: say what it may import, in a sentence 'Imports ...'"


def test_the_check_sees_what_it_should() -> None:
    code = """
from typing import TYPE_CHECKING
import numpy
from castell.errors import StudyError
if TYPE_CHECKING:
    from castell.reports.reports import Reports
def late():
    import castell.collector.wire
    from castell import cli, Study
class A:
    async def b(self):
        from castell.collector import store_copies
"""
    assert imports(code, modules()) == {
        "castell",
        "castell.cli",
        "castell.collector.store_copies",
        "castell.collector.wire",
        "castell.errors",
        "castell.reports.reports",
    }
    made = {"castell.a.x": {"castell.b.y"}, "castell.b.z": {"castell.a.w"}, "castell.c": set[str]()}
    assert in_circles(inside("castell", made)) == ["a", "b"]
    assert child("castell.b", "castell.c") is None


def test_import_castell_loads_little() -> None:
    code = f"import sys, castell; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_dir_shows_the_public_names_only() -> None:
    assert sorted(castell.__all__) == castell.__all__
    assert dir(castell) == castell.__all__
    for name in castell.__all__:
        assert getattr(castell, name) is not None
