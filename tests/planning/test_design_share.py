"""How many are asked as planned: a plan that is wrong for the population does little harm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from castell import Attribute, Study
from castell.inference.latent.model import learn
from castell.planning import candidates, next_stage_planner
from castell.planning.bootstrap_models import (
    asked_so_far,
    average_models,
    likely_truths,
    models_for,
    most_steps,
)
from castell.planning.design_share import (
    SHARES,
    TOTAL,
    Reckoned,
    Tried,
    choose_share,
    information,
    mix_designs,
    relative_errors,
    shares_for,
)
from castell.planning.estimands import Wanted
from castell.planning.uncertainty import uncertainty
from castell.results.model import counts_of
from castell.study.design import Design
from tests.populations import Population, collect, population

PEOPLE = population((8, 6, 5, 2), seed=8, sharpness=6.0)
PAIRS = Study(PEOPLE.schema, 1.0, "pairs", name="first")
SINGLES = Study(PEOPLE.schema, 1.0, "singles", name="first")


class Truth:
    """A population whose table is known, to be drawn from as a model is."""

    def __init__(self, people: Population) -> None:
        self.people = people

    def sample(self, many: int, generator: np.random.Generator) -> list[NDArray[np.intp]]:
        table = self.people.table
        drawn = generator.choice(table.size, many, p=table.ravel())
        return [codes.astype(np.intp) for codes in np.unravel_index(drawn, table.shape)]


def relative(planned: Design, n: int, shares: Sequence[float] = SHARES) -> NDArray[np.float64]:
    """The errors of a plan in the population as it is."""
    wanted = Wanted.of(PEOPLE.schema, None, None)
    asked = [(PAIRS, 1500)]
    return relative_errors(
        Truth(PEOPLE),  # type: ignore[arg-type]
        asked,
        PAIRS.design,
        planned,
        n,
        wanted,
        shares,
        [1],
    )


def test_a_draw_of_two_draws() -> None:
    made = mix_designs(PAIRS.design, SINGLES.design, 0.25)
    chances = dict(zip(made.blocks, np.array(made.weights) / sum(made.weights), strict=True))
    for block in PAIRS.design.blocks:
        assert chances[block] == pytest.approx(0.75 / 6, abs=2 / TOTAL)
    for block in SINGLES.design.blocks:
        assert chances[block] == pytest.approx(0.25 / 4, abs=2 / TOTAL)
    assert made.exact_epsilon <= PAIRS.design.exact_epsilon
    assert mix_designs(PAIRS.design, SINGLES.design, 1.0) is SINGLES.design
    # What both ask is asked once, and mixing again and again keeps weights small.
    again = made
    for _ in range(20):
        again = mix_designs(again, SINGLES.design, 0.5)
    assert len(again.blocks) == len(made.blocks)
    assert sum(again.weights) < 2 * TOTAL


def test_nothing_is_drawn_beside_what_everybody_reports() -> None:
    assert shares_for(PAIRS.design) == SHARES
    assert shares_for(Study(PEOPLE.schema, 1.0).design) == (1.0,)


def test_two_draws_beside_what_is_public() -> None:
    names = [Attribute("p", ["x", "y"], public=True), *PEOPLE.schema]
    pairs, singles = (Study(names, 1.0, kind).design for kind in ("pairs", "singles"))
    assert shares_for(pairs) == SHARES
    assert shares_for(Study(names, 1.0).design) == (1.0,)
    made = mix_designs(pairs, singles, 0.25)
    assert made.public == pairs.public
    assert set(made.hidden) == {*pairs.hidden, *singles.hidden}
    assert len(made.weights) == len(made.hidden)


def test_the_same_design_is_as_good() -> None:
    np.testing.assert_allclose(relative(PAIRS.design, 5000), 0.0, atol=1e-9)


def test_errors_are_those_of_the_reports_together() -> None:
    """As the uncertainty after both stages says, worked out the long way."""
    found = relative(SINGLES.design, 5000, (0.5,))[0]
    people = Truth(PEOPLE).sample(4000, np.random.default_rng([1, 4]))
    before = uncertainty(people, PEOPLE.schema.sizes, None)
    old, new = (information(s.design, PEOPLE.schema.names, before) for s in (PAIRS, SINGLES))
    now = before.after(6500 * old).expected_loss
    then = before.after(4000 * old + 2500 * new).expected_loss
    assert found == pytest.approx((then / now) ** 0.5 - 1.0)
    # Nobody reports two attributes: what all tables of two lose is seen.
    assert found > 0.0


def test_simulations_count_as_they_are_precise() -> None:
    reckoned = Reckoned(0.5, -0.08)
    clear = Tried(reckoned, ((0.1, 0.11), (0.1, 0.1101), (0.1, 0.1099)))
    assert clear.gain == pytest.approx((0.08 / 0.05**2 - 0.1 / 0.02**2) / (400 + 2500))
    assert clear.errors == pytest.approx((0.1, 0.11))
    noisy = Tried(reckoned, ((0.1, 0.2), (0.1, 0.02), (0.1, 0.11)))
    assert noisy.gain == pytest.approx(0.08, abs=0.01)
    once = Tried(reckoned, ((0.1, 0.2),))
    assert once.gain == pytest.approx(0.08)
    assert Tried(reckoned, ((0.0, 0.0), (0.1, 0.1))).gain == 0.0


def test_wide_studies_get_fewer_models_and_steps() -> None:
    assert models_for(8) > models_for(68) > 1
    assert most_steps(28) == 200
    assert most_steps(1446) < 50
    assert most_steps(10**6) == most_steps(10**7) == 20


def test_a_plan_that_is_wrong_for_the_population_does_little_harm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few reports with much noise: a plan from what they seem to say would do worse."""
    monkeypatch.setattr(next_stage_planner, "PEOPLE", 2000)
    monkeypatch.setattr(candidates, "TREES", 60)
    wanted, n = Wanted.of(PEOPLE.schema, None, None), 8500
    reports = collect(PAIRS, PEOPLE.table, 1500, np.random.default_rng(0))
    fitted = learn(counts_of(reports), None, None, 3)
    believed, *_ = next_stage_planner._plan(
        fitted.counts, fitted.answers, wanted, n, np.random.default_rng(0)
    )
    assert relative(believed, n, (1.0,))[0] > 0.02
    planned, *_ = next_stage_planner._plan(
        fitted.counts, average_models(fitted, 0), wanted, n, np.random.default_rng(0)
    )
    truths, asked = likely_truths(fitted, 0), asked_so_far(fitted.counts)
    chosen = choose_share(truths, asked, PAIRS.design, planned, n, wanted, 0)
    assert relative(planned, n, (chosen.share,))[0] < 0.005
