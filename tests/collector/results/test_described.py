"""The description of the API lists every parameter that the routes read, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from castell.collector.openapi import openapi
from castell.collector.results import planning_page
from castell.collector.results.question import CHARTS, PARAMETERS, SEVERAL
from tests.collector.results.stores import (
    STUDY,
    ask,
    fill_store,
    query,
    reports_of,
    spread,
    state_of,
)

PATHS = {
    "overview": set(),
    "estimate": set(PARAMETERS),
    "progress": set(PARAMETERS),
    "download": {*PARAMETERS, "format"},
    "plan": set(planning_page.PARAMETERS),
}  # fmt: skip


def _described(name: str) -> dict[str, dict[str, Any]]:
    document = openapi(STUDY, invited=False, most=10)
    listed = document["paths"][f"/results/api/{name}"]["get"]["parameters"]
    assert len({one["name"] for one in listed}) == len(listed)
    return {one["name"]: one["schema"] for one in listed}


@pytest.mark.parametrize("name", PATHS)
def test_every_parameter_is_described_and_every_described_one_is_read(
    tmp_path: Path, name: str
) -> None:
    described = _described(name)
    assert set(described) == PATHS[name]
    state = state_of(fill_store(tmp_path / "s.sqlite", reports_of(500), spread(500, 1)))
    usual = query(("age", "smokes")) if "attributes" in described else ""
    if name == "download":
        usual += "&format=json"
    asked = {
        each: f"/results/api/{name}?{usual}&{each}=nonsense"
        for each in [*PARAMETERS, *planning_page.PARAMETERS, "format", "other"]
    }
    answers = dict(zip(asked, ask(state, *asked.values()), strict=True))
    for each, answer in answers.items():
        assert answer.status_code == 400
        unknown = f"there is no parameter {each!r}" in answer.json()["error"]
        assert unknown == (each not in described), answer.json()


def test_several_values_and_choices_are_described_as_they_are_read() -> None:
    described = _described("estimate")
    assert {name for name, schema in described.items() if schema.get("type") == "array"} == set(
        SEVERAL
    )
    assert described["chart"]["enum"] == list(CHARTS)
    values = [f"{a.name}={value}" for a in STUDY.schema for value in a.values]
    assert described["given"]["items"]["enum"] == described["merge"]["items"]["enum"] == values
    assert described["within"]["enum"] == list(STUDY.names)
