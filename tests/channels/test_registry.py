"""The folder is the list of castell's channels: a file there is found by what its class says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import castell.channels
from castell.channels import ClassicResponse, KaryResponse, built_in, channel_of, mechanism
from castell.channels.registry import is_built_in
from castell.errors import ChannelError
from tests.foreign_channels import Neighbours

FOLDER = Path(castell.channels.__file__).parent


def _kinds(path: Path) -> list[str]:
    """The kinds that a file's classes say, read from its text."""
    return [
        line.value.value
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and line.target.id == "kind"
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    ]


def test_every_file_with_a_kind_is_found_and_no_two_have_one() -> None:
    written = [kind for path in sorted(FOLDER.glob("*.py")) for kind in _kinds(path)]
    assert len(written) >= 17  # none was overlooked by reading texts
    assert sorted(written) == sorted(built_in())


def test_castells_own_are_trusted_and_those_that_build_on_them_are_not() -> None:
    class Mine(KaryResponse):
        pass

    assert is_built_in(KaryResponse(2, 3, 1))
    assert is_built_in(mechanism("warner", p="5/6"))
    assert not is_built_in(Mine(2, 3, 1))
    assert not is_built_in(Neighbours(3, 4))


def test_a_classic_design_is_read_as_the_matrix_it_is_published_as() -> None:
    document = mechanism("warner", p="5/6").document()
    assert not isinstance(channel_of(document), ClassicResponse)


def test_the_kinds_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        built_in()["kary"] = Neighbours  # type: ignore[index]


def test_an_unknown_kind_is_told_which_there_are() -> None:
    with pytest.raises(ChannelError, match=", ".join(sorted(built_in()))):
        channel_of({"kind": "nothing"})
