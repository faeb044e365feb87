"""The shuffled guarantee against enumeration: never below the truth, next to it, and monotone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations_with_replacement, permutations, product
from math import comb, exp

import numpy as np
import pytest

import castell
from castell import Attribute, KaryResponse, MatrixResponse, Study
from castell.channels import CyclicResponse, PartitionResponse
from castell.errors import OptionError
from castell.linear.operators import Floats
from castell.planning import likelihoods, privacy_blanket, small_shuffles
from castell.planning.likelihoods import Likelihoods
from castell.planning.shuffled import delta_at, shuffled, shuffled_sentence, up_to_digits
from castell.study.design import Block, Design

OWN = [[0.7, 0.2, 0.1], [0.15, 0.8, 0.05], [0.3, 0.1, 0.6]]
TWO = [[0.9, 0.1], [0.35, 0.65]]
WIDE = [[5, 3, 1, 1], [1, 2, 4, 3]]
GRID = (0.0, 0.03, 0.1, 0.3, 0.7, 1.1, 1.9)


def _study(sizes: Sequence[int], epsilon: float | None, design: str = "independent") -> Study:
    return Study(_asked(sizes), epsilon, design)


def _asked(sizes: Sequence[int]) -> list[Attribute]:
    return [
        Attribute("abcdefghij"[i], [str(v) for v in range(size)]) for i, size in enumerate(sizes)
    ]


def _coarse() -> Design:
    leaves = (((0,), (0, 1)), ((1, 2), (0,)), ((1, 2), (1,)))
    channel = PartitionResponse((3, 2), leaves, KaryResponse(3, 5, 1))
    return Design((Block(("a", "b"), (3, 2), channel),))


def _sets() -> Design:
    return Design((Block(("a",), (4,), CyclicResponse(4, 7, (0, 1, 3), 5, 2)),))


def _drawn_unequally() -> Design:
    one, two = KaryResponse(2, 3, 1), MatrixResponse([[6, 1, 1], [1, 5, 2], [2, 2, 4]])
    blocks = (Block(("a",), (2,), one), Block(("b",), (3,), two))
    return Design(blocks, draw=True, weights=(3, 1))


def _own(rows: Sequence[Sequence[float]]) -> Design:
    return Study(_asked([len(rows)]), channels={"a": rows}).design


SMALL: dict[str, Design] = {
    "two": _study([2], 1.0).design,
    "two, weak": _study([2], 3.0).design,
    "three": _study([3], 1.0).design,
    "four": _study([4], 2.0).design,
    "own": _own(OWN),
    "own two": _own(TWO),
    "own wide": Design((Block(("a",), (2,), MatrixResponse(WIDE)),)),
    "product": _study([2, 2], 2.0).design,
    "unequal product": Study(_asked([2, 3]), shares={"a": 1.3, "b": 0.4}).design,
    "own product": Study(_asked([2, 2]), shares={"b": 0.7}, channels={"a": TWO}).design,
    "joint": _study([2, 2], 2.0, "joint").design,
    "drawn": _study([2, 3], 1.0, "singles").design,
    "drawn unequally": _drawn_unequally(),
    "coarse": _coarse(),
    "sets": _sets(),
}
KARY = ["two", "two, weak", "three", "four", "joint"]
# Of several blocks and of sets the blanket alone is further off; few enough are enumerated.
ENUMERATED = [*((name, 6) for name in KARY), ("product", 8), ("drawn", 4), ("sets", 4)]


def _rows(design: Design) -> list[list[float]]:
    """Chances of every report for every set of answers, without a look at the code under test."""
    names = sorted({name for block in design.blocks for name in block.names})
    sizes = {n: s for b in design.blocks for n, s in zip(b.names, b.sizes, strict=True)}
    rows = []
    for answers in product(*(range(sizes[name]) for name in names)):
        told = dict(zip(names, answers, strict=True))
        each = []
        for block in design.blocks:
            code = 0
            for name, size in zip(block.names, block.sizes, strict=True):
                code = code * size + told[name]
            each.append([w / block.channel.total for w in block.channel.weights()[code]])
        if design.draw:
            of = sum(design.weights)
            drawn = zip(design.weights, each, strict=True)
            rows.append([w / of * chance for w, row in drawn for chance in row])
        else:
            rows.append([float(np.prod(chances)) for chances in product(*each)])
    return sorted(map(list, {tuple(row) for row in rows}))


def _sets_of_reports(rows: Sequence[Sequence[float]]) -> dict[tuple[int, ...], float]:
    """The distribution of the set of reports, one report from each row."""
    found = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        grown: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, chance in found.items():
            for y, more in enumerate(row):
                grown[(*counts[:y], counts[y] + 1, *counts[y + 1 :])] += chance * more
        found = grown
    return found


def _brute(design: Design, n: int, grid: Sequence[float]) -> list[float]:
    """The largest delta at each epsilon over all neighbouring data sets of n people."""
    rows, worst = _rows(design), [0.0] * len(grid)
    for others in combinations_with_replacement(rows, n - 1):
        each = [_sets_of_reports([*others, row]) for row in rows]
        for one, two in permutations(each, 2):
            for i, epsilon in enumerate(grid):
                gap = sum(max(chance - exp(epsilon) * two[key], 0.0) for key, chance in one.items())
                worst[i] = max(worst[i], gap)
    return worst


@pytest.mark.parametrize("name", SMALL)
def test_never_below_what_enumeration_finds(name: str) -> None:
    design = SMALL[name]
    few = len(_rows(design)) * len(_rows(design)[0]) <= 12
    for n in (1, 2, 3, 5) if few else (1, 2, 3):
        truth = _brute(design, n, GRID)
        pairs = likelihoods.of_design(design)
        for epsilon, least in zip(GRID, truth, strict=True):
            assert delta_at(design, n, epsilon) >= least * (1 - 1e-9)
            # The blanket alone is a bound as well, without the enumeration that stands beside it.
            alone = max(privacy_blanket.delta_of(pair, n, epsilon) for pair in pairs)
            assert alone >= least * (1 - 1e-9) or epsilon >= design.epsilon


@pytest.mark.parametrize(("name", "most"), ENUMERATED)
@pytest.mark.parametrize("delta", [0.05, 1e-3])
def test_within_five_percent_of_enumeration(name: str, most: int, delta: float) -> None:
    design = SMALL[name]
    for n in range(2, most + 1, 2):
        found = shuffled(design, n, delta).epsilon
        above, below = _brute(design, n, [found, 0.95 * found])
        assert above <= delta
        assert below > delta or found == 0.0


@pytest.mark.parametrize("n", [150, 3000, 40_000])
def test_two_answers_within_five_percent_of_all_others_alike(n: int) -> None:
    found = shuffled(_study([2], 1.0), n)
    assert found.at_least <= found.epsilon <= 1.05 * found.at_least


def _closed_form(size: int, epsilon0: float, n: int, epsilon: float) -> float:
    """The blanket bound of k-ary response by sums over binomial numbers (Balle et al. 2019)."""
    channel = KaryResponse.with_epsilon(size, epsilon0)
    low = size * channel.other / channel.total
    high, by = low * channel.same / channel.other, exp(epsilon)
    total = 0.0
    for m in range(1, n + 1):
        background = comb(n - 1, m - 1) * low ** (m - 1) * (1 - low) ** (n - m)
        for c in range(m + 1):
            telling = comb(m, c) * (2 / size) ** c * (1 - 2 / size) ** (m - c)
            for a in range(c + 1):
                gap = a * (high - by * low) + (c - a) * (low - by * high)
                gap += (m - c) * low * (1 - by)
                total += background * telling * comb(c, a) * 0.5**c * max(gap, 0.0) / m
    return total


@pytest.mark.parametrize(("size", "epsilon0", "n"), [(2, 1.0, 7), (3, 2.0, 20), (10, 4.0, 30)])
def test_the_transform_is_the_closed_form(size: int, epsilon0: float, n: int) -> None:
    (pair,) = likelihoods.of_channel(KaryResponse.with_epsilon(size, epsilon0), agree=False)
    for epsilon in (0.0, 0.1, 0.37, 0.8 * epsilon0):
        exact = _closed_form(size, epsilon0, n, epsilon)
        found = privacy_blanket.delta_of(pair, n, epsilon)
        assert exact * (1 - 1e-10) <= found <= exact * 1.005 + 1e-12


def test_the_figure_of_the_literature() -> None:
    """k = 64, epsilon 4, n = 32,561, delta 1e-6: the bounds from above and below agree."""
    found = shuffled(_study([64], 4.0), 32_561, 1e-6)
    assert found.epsilon == pytest.approx(0.1440, abs=1e-4)
    assert found.at_least == pytest.approx(0.1440, abs=1e-4)
    assert found.delta_at(found.epsilon) <= 1e-6


MONOTONE = ["two", "three", "own", "own two", "unequal product", "drawn unequally", "sets"]


@pytest.mark.parametrize("name", [*MONOTONE, "wide", "bloom", "cover"])
def test_monotone(name: str) -> None:
    shares = {"a": 1.0, "b": 0.5, "c": 2.0, "d": 0.25}
    more = {
        "wide": Study(_asked([2, 3, 5, 7]), shares=shares).design,
        "bloom": _study([2, 3], 4.0, "bloom").design,
        "cover": _study([2, 3, 5, 7], 4.0, "cover").design,
    }
    design = {**SMALL, **more}[name]
    people = [1, 2, 3, 7, 12, 13, 30, 63, 64, 65, 66, 128, 129, 5000]
    found = [shuffled(design, n, 1e-4).epsilon for n in people]
    assert found == sorted(found, reverse=True)
    assert 0.0 < found[-1] < 0.2 * design.epsilon
    by_delta = [shuffled(design, 500, delta).epsilon for delta in (1e-9, 1e-6, 1e-3, 0.3)]
    assert by_delta == sorted(by_delta, reverse=True)
    deltas = [delta_at(design, 500, epsilon) for epsilon in (0.0, 0.01, 0.1, 0.3, 1.0, 30.0)]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] == 0.0


def test_a_coarser_lattice_for_many_never_costs_privacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy_blanket, "FINE_UP_TO", 1000)
    design = _study([5], 3.0).design
    found = [shuffled(design, n, 1e-6).epsilon for n in (990, 1000, 1001, 1010, 1300)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[1]


def _random_rows(seed: int, answers: int, reports: int) -> Floats:
    return np.random.default_rng(seed).integers(1, 9, (answers, reports)).astype(float)


def _outer(one: Likelihoods, two: Likelihoods) -> Likelihoods:
    def times(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.outer(a, b).ravel())

    chance = times(one.chance, two.chance)
    return Likelihoods(one.common * two.common, times(one.u, two.u), times(one.v, two.v), chance)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_to_be_worst_is_worst(seed: int) -> None:
    """One pair above all pairs of a channel, equal answers included, also beside another block."""
    rows = _random_rows(seed, 4, 5)
    rows[:, -1] += rows.sum(axis=1).max() - rows.sum(axis=1)
    pairs = likelihoods._of_weights(rows, agree=True)
    least = rows.min(axis=0)
    common, ratio = float(least.sum() / rows[0].sum()), float((rows.max(axis=0) / least).max())
    top = likelihoods.dominating(common, ratio)
    assert top.chance.sum() == pytest.approx(1.0)
    assert top.chance @ top.u == pytest.approx(1.0)
    (beside,) = likelihoods.of_channel(KaryResponse(3, 4, 1), agree=False)
    for epsilon in (0.0, 0.2, 0.9):
        alone = privacy_blanket.delta_of(top, 40, epsilon)
        product_ = privacy_blanket.delta_of(_outer(top, beside), 40, epsilon)
        for pair in pairs:
            assert privacy_blanket.delta_of(pair, 40, epsilon) <= alone * 1.001
            assert privacy_blanket.delta_of(_outer(pair, beside), 40, epsilon) <= product_ * 1.001


@pytest.mark.parametrize("channel", [KaryResponse(2, 3, 1), KaryResponse(9, 8, 1)])
def test_kary_response_is_the_worst_there_is(channel: KaryResponse) -> None:
    """So that what is above all pairs cannot be lower than it is."""
    (pair,) = likelihoods.of_channel(channel, agree=False)
    top = likelihoods.dominating(pair.common, channel.same / channel.other)
    for epsilon in (0.0, 0.2, 0.9):
        exact = privacy_blanket.delta_of(pair, 40, epsilon)
        assert privacy_blanket.delta_of(top, 40, epsilon) == pytest.approx(exact, rel=1e-9)


def test_answers_that_differ_everywhere_are_worst() -> None:
    """In k-ary and set-valued response; so `of_design` looks at no others."""
    for channel in (
        KaryResponse(2, 3, 1),
        KaryResponse(5, 9, 2),
        CyclicResponse(5, 7, (0, 1, 3), 3, 1),
    ):
        (differ,) = likelihoods.of_channel(channel, agree=False)
        agree = Likelihoods(differ.common, differ.u, differ.u, differ.chance)
        (beside,) = likelihoods.of_channel(KaryResponse(3, 4, 1), agree=False)
        for n, epsilon in product((1, 2, 30), (0.0, 0.1, 0.6)):
            worst = privacy_blanket.delta_of(_outer(differ, beside), n, epsilon)
            assert privacy_blanket.delta_of(_outer(agree, beside), n, epsilon) <= worst * 1.001


def test_the_lattice_of_products_errs_towards_privacy_and_little() -> None:
    channels = [KaryResponse.with_epsilon(2, 1.3), KaryResponse.with_epsilon(4, 0.37)]
    channels += [KaryResponse.with_epsilon(3, 0.9)]
    pairs = [likelihoods.of_channel(channel, agree=False)[0] for channel in channels]
    exact = _outer(_outer(pairs[0], pairs[1]), pairs[2])
    made = likelihoods.product(pairs)
    assert made.common == pytest.approx(exact.common)
    assert made.chance @ made.u == pytest.approx(1.0)
    for n, epsilon in product((2, 50, 2000), (0.0, 0.05, 0.3)):
        truth = privacy_blanket.delta_of(exact, n, epsilon)
        assert (
            truth * (1 - 1e-9) <= privacy_blanket.delta_of(made, n, epsilon) <= truth * 1.02 + 1e-12
        )


def test_many_blocks_alike_need_no_lattice() -> None:
    (pair,) = likelihoods.of_channel(KaryResponse(2, 3, 1), agree=False)
    made = likelihoods.product([pair] * 30)
    assert len(made.u) <= 31**2
    assert made.chance.sum() == pytest.approx(1.0)
    assert made.chance @ made.v == pytest.approx(1.0)


def test_a_matrix_of_many_answers_is_bounded_by_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    design = _own(OWN)
    each = shuffled(design, 300, 1e-4).epsilon
    monkeypatch.setattr(likelihoods, "MOST_PAIRS", 2)
    monkeypatch.setattr(small_shuffles, "MOST_ENUMERATED", 0)
    assert each <= shuffled(design, 300, 1e-4).epsilon < design.epsilon


def test_one_person_has_the_local_guarantee() -> None:
    study = _study([3], 1.0)
    alone = shuffled(study, 1)
    assert alone.local == study.epsilon
    assert 0.999 < alone.epsilon <= study.epsilon
    assert "if 1 person takes part and answers through their own device, " in alone.sentence()


def test_reports_that_tell_next_to_nothing() -> None:
    assert shuffled(_study([3], 0.001), 10**4, 1e-3).epsilon == 0.0


def test_the_sentence_and_the_document() -> None:
    study = _study([2, 3], 2.0)
    found = castell.shuffled(study, 3000)
    assert shuffled_sentence(study, 3000) == found.sentence() == str(found)
    assert "sees only all reports together, without order or time" in found.sentence()
    assert "3,000 people" in found.sentence()
    assert f"epsilon = {up_to_digits(found.epsilon)} with delta = 1e-06" in found.sentence()
    document = found.to_dict()
    assert document["n"] == 3000
    assert document["epsilon"] == found.epsilon >= document["epsilon_at_least"]
    assert len(document["assumes"]) == 3
    assert repr(found).startswith("<Shuffled n = 3,000: epsilon 0.")


def test_stated_digits_are_never_below() -> None:
    for value in [*np.random.default_rng(1).uniform(0, 30, 200), 1e-7, 0.5, 9.999, 0.0999999]:
        assert value <= float(up_to_digits(value)) <= 1.011 * value


@pytest.mark.parametrize("n", [0, -3, 2.5, True, "many"])
def test_no_number_of_people(n: object) -> None:
    with pytest.raises(OptionError, match="give the number of people"):
        shuffled(_study([2], 1.0), n)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, float("nan"), "small"])
def test_no_delta(delta: object) -> None:
    with pytest.raises(OptionError, match="small chance above 0"):
        shuffled(_study([2], 1.0), 10, delta)  # type: ignore[arg-type]


def test_no_epsilon() -> None:
    with pytest.raises(OptionError, match="give a number from 0 up"):
        delta_at(_study([2], 1.0), 10, -0.1)
