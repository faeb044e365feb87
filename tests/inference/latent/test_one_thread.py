"""One thread for small products, and as before after that."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from castell import Study
from castell.counting import MemoryCounts
from castell.inference.latent import model as latent
from castell.linear.one_thread import one_thread
from castell.population import SCHEMA, health_survey


def threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_one_inside_and_as_before_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}
        with pytest.raises(ValueError, match="no"), one_thread():
            raise ValueError("no")
        assert threads() == {2}


def test_mixtures_are_fitted_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(*given: object) -> object:
        seen.append(threads())
        return made(*given)  # type: ignore[arg-type]

    made = latent.fit_starts
    monkeypatch.setattr(latent, "fit_starts", spy)
    reports = Study(SCHEMA, 20.0).randomize(health_survey(500), seed=1)
    with threadpool_limits(2, user_api="blas"):
        latent.learn(MemoryCounts(reports), 2, 2, 3)
        assert threads() == {2}
    assert len(seen) == 1
    assert set.union(*seen) == {1}
