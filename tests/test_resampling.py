"""Reports drawn again from a mixture: as the mixture and the channels say, and as many."""

from __future__ import annotations

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import MemoryCounts
from castell.estimators import latent
from castell.evidence import BlockEvidence, Evidence, PairEvidence
from castell.gathering import evidence_of
from castell.mixture import Mixture
from castell.operators import Floats
from castell.resampling import redrawn
from tests.populations import collect, drawn_studies, population, rectangular, studies

PEOPLE = population((2, 3, 4), seed=4)
STUDIES = {**studies(), "rectangular": rectangular(), "pairs": drawn_studies()["pairs"]}
ROUNDS = 40


def _mixture() -> Mixture:
    generator = np.random.default_rng(6)
    parts = [generator.dirichlet(np.ones(size), 3) for size in (2, 3, 4)]
    return Mixture(np.array([0.5, 0.3, 0.2]), np.concatenate(parts, axis=1), (2, 3, 4))


def _counts(design: str, n: int = 800) -> MemoryCounts:
    return MemoryCounts(collect(STUDIES[design], PEOPLE.table, n, np.random.default_rng(0)))


def _chances(evidence: Evidence, model: Mixture) -> Floats:
    """How likely each counted cell is: an operator for each attribute, or one for the block."""
    if isinstance(evidence, BlockEvidence):
        return evidence.forward.dense() @ model.table(evidence.attributes).ravel()
    assert isinstance(evidence, PairEvidence)
    rows = [
        np.concatenate(
            [
                f.dense() @ model.table((i, k)) @ g.dense().T if i != k else np.zeros((f.rows,) * 2)
                for k, g in enumerate(evidence.forward)
            ],
            axis=1,
        )
        for i, f in enumerate(evidence.forward)
    ]
    # Attributes of one block never meet here.
    return np.concatenate(rows) * (evidence.counts > 0)


@pytest.mark.parametrize("people", [800, 200], ids=["all", "some"])
@pytest.mark.parametrize("design", STUDIES)
def test_they_are_what_the_mixture_would_report(design: str, people: int) -> None:
    counts, model = _counts(design), _mixture()
    evidence, generator = evidence_of(counts), np.random.default_rng(1)
    found = [redrawn(counts, evidence, model, people, generator) for _ in range(ROUNDS)]
    rounds = [tables for tables, _ in found]
    if design == "pairs":
        # Tables of blocks say all: nobody is simulated, and none counts for several.
        assert all(reports is None for _, reports in found)
        people = counts.n
    else:
        assert all(reports is not None and reports.n == people for _, reports in found)
    for which, real in enumerate(evidence):
        assert isinstance(real, (BlockEvidence, PairEvidence))
        drawn = []
        for again in rounds:
            one = again[which]
            assert type(one) is type(real)
            assert isinstance(one, (BlockEvidence, PairEvidence))
            # As many reports as there were, however few were simulated.
            assert one.counts.sum() == pytest.approx(real.counts.sum())
            drawn.append(one.counts)
        chances = _chances(real, model)
        each = real.counts.sum() / chances.sum()
        wanted = each * chances
        # Seven standard deviations, over fewer than a thousand cells in all.
        reach = 7.0 * np.sqrt(wanted * (each / (each * people / counts.n)) / ROUNDS) + 1e-9
        assert (np.abs(np.mean(drawn, axis=0) - wanted) <= reach + each / people).all()
        assert np.std(drawn, axis=0).max() > 0.0


def test_the_spread_does_not_hang_on_how_many_are_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = Study(PEOPLE.schema, 9.0)
    reports = collect(study, PEOPLE.table, 6000, np.random.default_rng(0))

    def errors() -> Floats:
        model = castell.fit(reports, "latent", classes=4, steps=10, starts=2)
        return model.estimate(["a", "c"]).standard_errors

    every = errors()
    monkeypatch.setattr(latent, "MOST_PEOPLE", 1500)
    some = errors()
    assert (some != every).any()
    ratio = np.sqrt((some**2).mean() / (every**2).mean())
    # Without the scaling it would be 2, with the scaling twice 1/2.
    assert 0.7 < ratio < 1.4
