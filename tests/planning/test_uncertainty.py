"""What is open, and what a block would tell: next to numbers worked out by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.channels import KaryResponse, best_channel
from castell.linear.operators import Floats
from castell.planning.allocation import PORTIONS, allocate, gain
from castell.planning.uncertainty import (
    DEVIATION,
    Codes,
    Uncertainty,
    root_information,
    seen_codes,
    uncertainty,
)

SIZES = (2, 3)


def _people(n: int = 600, seed: int = 1) -> list[Codes]:
    generator = np.random.default_rng(seed)
    one = generator.choice(2, n, p=[0.3, 0.7])
    two = np.where(generator.random(n) < 0.5, one, generator.choice(3, n, p=[0.2, 0.3, 0.5]))
    return [one.astype(np.intp), two.astype(np.intp)]


def _tilted(scores: Floats, direction: Floats, codes: Codes, many: int) -> Floats:
    """The shares of codes where people count 1 + score in a direction."""
    weights = 1.0 + scores @ direction
    return np.asarray(np.bincount(codes, weights / weights.sum(), many), dtype=np.float64)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_information_is_that_of_the_reports(epsilon: float) -> None:
    people = _people()
    known = uncertainty(people, SIZES, None)
    codes = people[0] * 3 + people[1]
    channel = best_channel(6, epsilon)
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    root = root_information(known.scores, codes, 6, channel.forward)
    rng = np.random.default_rng(2)
    for _ in range(5):
        direction = rng.standard_normal(known.scores.shape[1])
        step = 1e-5
        up, down = (
            _tilted(known.scores, move, codes, 6) @ matrix
            for move in np.array([step * direction, -step * direction])
        )
        seen = np.bincount(codes, minlength=6) / len(codes) @ matrix
        fisher = (((up - down) / (2 * step)) ** 2 / seen).sum()
        assert float(((root @ direction) ** 2).sum()) == pytest.approx(fisher, rel=1e-4)


def test_what_is_public_is_told_beside_a_block() -> None:
    """As if one channel reported both: the one at random, the other as it is."""
    people = _people()
    known = uncertainty(people, SIZES, None)
    schema = Schema([Attribute("one", ["x", "y"], public=True), Attribute("two", ["u", "v", "w"])])
    design = Study(schema, 2.0).design
    (block,) = design.hidden
    answers = {"one": people[0], "two": people[1]}
    codes, many, forward = seen_codes(block, answers, design.public)
    assert many == 6
    np.testing.assert_array_equal(codes, people[1] * 2 + people[0])
    np.testing.assert_allclose(forward.dense(), np.kron(block.channel.forward.dense(), np.eye(2)))
    root = root_information(known.scores, codes, many, forward)
    after = known.after(5000 * root.T @ root)
    alone = root_information(known.scores, *seen_codes(block, answers))
    assert after.expected_loss < 0.7 * known.after(5000 * alone.T @ alone).expected_loss


def test_the_loss_before_is_that_of_the_prior() -> None:
    people = _people()
    known = uncertainty(people, SIZES, None)
    features = [(people[0] == v).astype(float) for v in range(2)]
    features += [(people[1] == v).astype(float) for v in range(3)]
    cells = [
        ((people[0] == a) & (people[1] == b)).astype(float) for a in range(2) for b in range(3)
    ]
    cells = [cell for cell in cells if cell.any()]
    centred = np.array([f - f.mean() for f in features + cells])
    wanted = np.array([c - c.mean() for c in cells])
    covariance = wanted @ centred.T / len(people[0])
    assert known.expected_loss == pytest.approx(DEVIATION**2 * (covariance**2).sum(), rel=1e-6)


def test_what_is_wanted_alone_counts() -> None:
    people = _people()
    known = uncertainty(people, SIZES, [people[0] == 0])
    useless = root_information(
        known.scores, np.zeros_like(people[0]), 2, KaryResponse(2, 3, 1).forward
    )
    asked = root_information(known.scores, people[0], 2, KaryResponse.with_epsilon(2, 3.0).forward)
    other = root_information(known.scores, people[1], 3, KaryResponse.with_epsilon(3, 3.0).forward)
    covariance = np.asarray(np.linalg.inv(known.precision), dtype=np.float64)
    gains = [gain(covariance, root, known.losses, 1000.0) for root in (useless, asked, other)]
    assert gains[0] == pytest.approx(0.0, abs=1e-12)
    assert gains[1] > gains[2] > 0.0


def test_more_reports_leave_less_open() -> None:
    people = _people()
    known = uncertainty(people, SIZES, None)
    root = root_information(
        known.scores, people[0] * 3 + people[1], 6, KaryResponse.with_epsilon(6, 2.0).forward
    )
    losses = [known.after(n * root.T @ root).expected_loss for n in (0, 100, 1000, 10_000)]
    assert losses == sorted(losses, reverse=True)
    covariance = np.asarray(np.linalg.inv(known.precision), dtype=np.float64)
    assert losses[0] - losses[2] == pytest.approx(gain(covariance, root, known.losses, 1000.0))


def _plainly(known: Uncertainty, roots: list[Floats], n: int) -> list[int]:
    """The same greedy choice, every gain computed every time."""
    portions, precision = [0] * len(roots), known.precision
    for _ in range(PORTIONS):
        losses = [
            float(known.losses @ np.diag(np.linalg.inv(precision + n / PORTIONS * r.T @ r)))
            for r in roots
        ]
        best = int(np.argmin(losses))
        portions[best] += 1
        precision = precision + n / PORTIONS * roots[best].T @ roots[best]
    return portions


def test_portions_go_where_they_gain_most() -> None:
    people = _people()
    known = uncertainty(people, SIZES, None)
    codes = {2: people[0], 3: people[1], 6: people[0] * 3 + people[1]}
    roots = [
        root_information(known.scores, codes[k], k, KaryResponse.with_epsilon(k, e).forward)
        for k, e in ((2, 3.0), (3, 3.0), (6, 3.0), (6, 1.0))
    ]
    portions = allocate(known, roots, 5000)
    assert sum(portions) == PORTIONS
    assert portions == _plainly(known, roots, 5000)
    assert portions[3] == 0  # the same question with less budget
