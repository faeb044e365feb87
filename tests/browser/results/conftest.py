"""Collectors that hold results, and an analyst whose browser must not complain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from castell import Reports, Study
from castell.population import health_survey
from tests.browser.results.analyst import PEOPLE, TEXT, Analyst, serving
from tests.collecting import TOKEN, Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def health(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A health survey of three days."""
    reports = Study.from_toml(TEXT).randomize(health_survey(PEOPLE))
    with serving(tmp_path_factory.mktemp("health"), TEXT, reports) as collector:
        yield collector


@pytest.fixture(scope="session")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """The same, but a third of the reports are one report over and over, all on the last day."""
    study = Study.from_toml(TEXT)
    honest = study.randomize(health_survey(8000))
    columns = [np.concatenate([c, np.zeros(4000, c.dtype)]) for c in honest.columns]
    reports = Reports(study, columns, secure=True)
    with serving(tmp_path_factory.mktemp("forged"), TEXT, reports) as collector:
        yield collector


@pytest.fixture
def analyst(browser: Browser) -> Iterator[Analyst]:
    """Fails the test if the page complained, broke its policy, or asked anybody else."""
    made = Analyst(browser)
    yield made
    for page in made.pages:
        page.close()
    left = [c for c in made.complaints if not any(part in c for part in made.expected)]
    assert left == []
    elsewhere = {
        url for url in made.requests if not re.match(r"(http://127\.0\.0\.1:\d+/|blob:)", url)
    }
    assert elsewhere == set()
    assert {url for url in made.requests if TOKEN in url.split("#")[0]} == set()
