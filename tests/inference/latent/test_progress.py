"""A fit tells what it is doing, to a listener and to the log."""

from __future__ import annotations

import logging

import pytest

from castell import Study, fit
from castell.inference.latent.em import begin, listening
from castell.population import SCHEMA, health_survey


def test_a_fit_tells_its_choices_and_its_fits(caplog: pytest.LogCaptureFixture) -> None:
    reports = Study(SCHEMA, 20.0, "pairs").randomize(health_survey(4000, seed=1), seed=1)
    heard: list[tuple[str, float]] = []
    with listening(lambda what, done: heard.append((what, done))), caplog.at_level(logging.INFO):
        fit(reports, "latent", starts=2)
    told = list(dict.fromkeys(what for what, _ in heard))
    assert told[0].startswith("cross-validation, 5 folds: ")
    assert told[0].endswith("(1 of 3)")
    assert told[-1].startswith("2 fits at once, ")
    for what in told:
        shares = [done for other, done in heard if other == what]
        assert shares[0] == 0.0
        assert shares == sorted(shares)
        assert shares[-1] <= 1.0
        assert what in caplog.messages
    assert heard[-1][1] == 1.0
    many = len(heard)
    fit(reports, "latent", classes=2, steps=2, starts=1)
    assert len(heard) == many  # nobody listens


def test_listeners_go_when_they_are_done() -> None:
    heard: list[str] = []
    with listening(lambda what, _: heard.append(what)):
        begin("one")(0.5)
    begin("two")(0.5)
    assert heard == ["one", "one"]
