"""Reports of several studies with one schema: estimated together, digests kept apart."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import castell
from castell import CastellError, Design, Reports, Study, scan_reports
from castell.channels import PartitionResponse, best_channel
from castell.channels.protocol import predicted_variance
from castell.counting import (
    Counts,
    MemoryCounts,
    Stages,
    folds_of,
    join_stages,
    samples_of,
    studies_of,
)
from castell.errors import MethodError, OptionError, ReportError
from castell.inference.inversion import observe, parts_of
from castell.inference.pooled_table import one_report_variance, sources
from castell.study.design import Block
from tests.populations import ASYMMETRIC, collect, kronecker, population

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
STUDIES = {
    "independent": Study(PEOPLE.schema, 6.0, name="one"),
    "cover": Study(PEOPLE.schema, 4.0, "cover", name="two"),
    "joint": Study(PEOPLE.schema, 4.0, "joint", name="three"),
    "asymmetric": Study(
        PEOPLE.schema, shares={"a": 2.0, "c": 2.0}, channels={"b": ASYMMETRIC}, name="four"
    ),
}
ALL = ["a", "b", "c"]
METHODS = ("auto", "castell", "independent", "latent")


def _reports(n: int = 2000, seed: int = 0) -> list[Reports]:
    generator = np.random.default_rng(seed)
    return [collect(study, PEOPLE.table, n, generator) for study in STUDIES.values()]


def test_which_methods_read_them() -> None:
    one, two, three, four = STUDIES.values()
    assert castell.methods_for(one, two, three, four) == METHODS
    assert castell.methods_for(one, four) == METHODS
    with pytest.raises(MethodError, match=r"method 'em' reads every block .* use auto, castell"):
        castell.fit(_reports(), "em")
    with pytest.raises(OptionError, match="target is 'respondents', which means nothing"):
        castell.fit(_reports(), "castell", target="respondents")


def test_one_study_in_a_list_is_that_study() -> None:
    reports = _reports()[0]
    for method in ("castell", "auto", "em"):
        alone, listed = (castell.fit(r, method).estimate(ALL) for r in (reports, [reports]))
        np.testing.assert_array_equal(alone.probabilities, listed.probabilities)
        assert listed.to_dict() == alone.to_dict()


def test_castell_is_the_average_with_weights_that_no_answer_moves() -> None:
    reports = _reports()
    counts = join_stages([MemoryCounts(r) for r in reports])
    for names in (("a",), ("c", "a"), ("b", "a", "c")):
        expected, total = np.zeros([PEOPLE.schema[name].size for name in names]), 0.0
        for source in sources(counts, [names]):
            weight = source.weights[names]
            own = castell.fit(source.reports, "castell").estimate(names).probabilities
            expected, total = expected + weight * own, total + weight
        found = castell.fit(reports, "castell").estimate(names).probabilities
        assert total == pytest.approx(1.0)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    # The same numbers of reports have the same weights, whatever they say.
    other = join_stages([MemoryCounts(r) for r in _reports(seed=9)])
    held = [s.weights for s in sources(counts, [("a",)]) if len(s.reports.study.names) == 3]
    again = [s.weights for s in sources(other, [("a",)]) if len(s.reports.study.names) == 3]
    assert [w.keys() for w in held] == [w.keys() for w in again]


def test_the_variance_of_a_report_of_several_blocks_is_that_of_their_product() -> None:
    for study in (STUDIES["independent"], STUDIES["asymmetric"]):
        for names in (("a",), ("a", "b"), ("a", "b", "c")):
            inverses = [part.lens.inverse.dense() for part in parts_of(study, names)]
            whole = kronecker(inverses)
            expected = (whole**2).mean() - 1.0 / len(whole) ** 2
            assert one_report_variance(study, names) == pytest.approx(expected)
    lens = parts_of(STUDIES["joint"], ("a", "b", "c"))[0].lens
    assert predicted_variance(lens) == one_report_variance(STUDIES["joint"], ("a", "b", "c"))


@pytest.mark.parametrize("method", METHODS)
def test_what_every_method_promises(method: str) -> None:
    reports = _reports()
    model = castell.fit(reports, method)
    whole = model.estimate(["a", "b", "c"])
    assert whole.n == 8000
    low, _ = whole.conf_int()
    for order in permutations(range(3)):
        names = ["abc"[i] for i in order]
        other = model.estimate(names)
        np.testing.assert_allclose(other.probabilities, whole.probabilities.transpose(order), 1e-7)
        np.testing.assert_allclose(other.conf_int()[0], low.transpose(order), atol=1e-7)
    group = {"a": "a1", "b": ["b0", "b2"]}
    share = model.probability(group)
    pair = model.estimate(["a", "b"])
    assert share.value == pytest.approx(float(pair.probabilities[1, [0, 2]].sum()), abs=1e-9)
    assert share.conf_int()[0] < share.value < share.conf_int()[1]
    # Neither the order of the studies nor what holds the reports makes a difference.
    again = castell.fit(reports[::-1], method).estimate(["a", "b", "c"])
    np.testing.assert_allclose(again.probabilities, whole.probabilities, atol=1e-6)


def test_certainty_gives_the_people_back() -> None:
    sure = [Study(PEOPLE.schema, 90.0, name="one"), Study(PEOPLE.schema, 30.0, "joint")]
    generator = np.random.default_rng(3)
    reports = [collect(study, PEOPLE.table, 500, generator) for study in sure]
    tables = [castell.fit(r, "castell").estimate(ALL).probabilities for r in reports]
    for method in ("castell", "auto", "latent"):
        found = castell.fit(reports, method).estimate(["a", "b", "c"]).probabilities
        close = 1e-6 if method == "castell" else 0.05
        weights = [
            w for s in sources(_join(reports), [("a", "b", "c")]) for w in s.weights.values()
        ]
        np.testing.assert_allclose(found, np.average(tables, 0, weights), atol=close)


def _join(reports: list[Reports]) -> Stages:
    found = join_stages([MemoryCounts(r) for r in reports])
    assert isinstance(found, Stages)
    return found


@pytest.mark.parametrize(("method", "least"), [("castell", 0.93), ("auto", 0.92)])
def test_intervals_hold_the_truth(method: str, least: float) -> None:
    """Cells, a group, a conditional share: 120 collections of four studies."""
    generator, held, asked = np.random.default_rng(8), 0, 0
    truth = PEOPLE.margin(["a", "c"])
    for _ in range(120):
        reports = [collect(s, PEOPLE.table, 600, generator) for s in STUDIES.values()]
        model = castell.fit(reports, method)
        low, high = model.estimate(["a", "c"]).conf_int()
        held, asked = held + int(((low <= truth) & (truth <= high)).sum()), asked + truth.size
        least_share, most_share = model.probability(a="a0", c=["c1", "c2"]).conf_int()
        held += least_share <= truth[0, 1:3].sum() <= most_share
        asked += 1
        lows, highs = model.conditional("a", given={"c": "c3"}).conf_int()
        share = truth[:, 3] / truth[:, 3].sum()
        held += int(((lows <= share) & (share <= highs)).sum())
        asked += len(share)
    # Ten intervals of a collection err together: about as many as three apart.
    noise = 5 * np.sqrt(0.05 * 0.95 / (120 * 3))
    assert least - noise < held / asked
    assert method != "castell" or held / asked < 0.97 + noise


def test_together_they_tell_more_than_any_of_them() -> None:
    reports = _reports(5000)
    for method in ("castell", "auto"):
        fitted = [castell.fit(reports, method), *(castell.fit(r, method) for r in reports)]
        ends = [model.estimate(ALL).conf_int() for model in fitted]
        widths = [float(np.median(high - low)) for low, high in ends]
        assert widths[0] < 0.95 * min(widths[1:])


def test_digests_are_kept_apart_and_listed() -> None:
    reports = _reports()
    model = castell.fit(reports)
    digests = [study.digest for study in STUDIES.values()]
    for told in (
        model.to_dict(),
        model.estimate("a").to_dict(),
        model.probability(a="a0").to_dict(),
        model.conditional("a", given={"b": "b0"}).to_dict(),
    ):
        assert told["digests"] == digests
        assert told["digest"] == digests[-1]
        assert told["epsilon"] == max(study.epsilon for study in STUDIES.values())
    assert "4 studies" in repr(model)
    assert "digests" not in castell.fit(reports[0]).to_dict()
    joint = model.estimate(["a", "b"])
    assert joint.spent == max(s.design.spent_on(["a", "b"]) for s in STUDIES.values())


def test_some_in_files_some_in_memory(tmp_path: Path) -> None:
    reports = _reports()
    reports[0].save(tmp_path / "one.parquet")
    mixed: list[Reports | Counts] = [
        scan_reports(tmp_path / "one.parquet", STUDIES["independent"]),
        *reports[1:],
    ]
    for method in ("castell", "auto"):
        one, two = castell.fit(reports, method), castell.fit(mixed, method)
        np.testing.assert_array_equal(
            one.estimate(ALL).probabilities, two.estimate(ALL).probabilities
        )


def test_folds_are_those_of_each_study() -> None:
    counts = _join(_reports(300))
    folds = folds_of(counts)
    assert sum(fold.held_out.n for fold in folds) == counts.n
    for fold in folds:
        assert fold.held_out.n + fold.training.n == counts.n
        assert studies_of(fold.held_out) == tuple(STUDIES.values())
        alone = [folds_of(part)[folds.index(fold)].held_out.n for part in counts.parts]
        assert [part.n for part in _of(fold.held_out)] == alone
    assert len(samples_of(counts)) == 3 + len(STUDIES["cover"].design.blocks)


def _of(counts: Counts) -> tuple[Counts, ...]:
    assert isinstance(counts, Stages)
    return counts.parts


def test_what_is_refused() -> None:
    reports = _reports(50)
    with pytest.raises(ReportError, match="there are no reports: give those of at least one"):
        castell.fit([])
    with pytest.raises(ReportError, match="a int holds no reports"):
        castell.fit([reports[0], 3])  # type: ignore[list-item]
    with pytest.raises(ReportError, match="the same reports are given twice"):
        castell.fit([reports[0], reports[1], reports[0]])
    other = Study(list(PEOPLE.schema)[:2], 2.0, name="less")
    few = collect(other, PEOPLE.table.sum(axis=2), 50, np.random.default_rng(0))
    with pytest.raises(ReportError, match="'less' and 'one' ask for different answers"):
        castell.fit([reports[0], few])
    with pytest.raises(ReportError, match="no table in common"):
        observe(_join(reports), ["a"])


def test_seeded_reports_mark_the_whole() -> None:
    reports = _reports(50)
    seeded = STUDIES["cover"].randomize(
        {name: [PEOPLE.schema[name].values[0]] * 9 for name in "abc"}, seed=1
    )
    assert castell.fit([reports[0], seeded]).source.secure is False


@pytest.mark.parametrize("design", ["independent", "cover", "joint"])
def test_reports_of_one_study_are_put_together_wherever_they_are(design: str) -> None:
    study = STUDIES[design]
    generator = np.random.default_rng(8)
    parts = [collect(study, PEOPLE.table, n, generator) for n in (300, 700)]
    whole = Reports.concat(parts)
    for method in ("castell", "latent"):
        apart = castell.fit(parts, method).estimate(ALL[:2])
        once = castell.fit(whole, method).estimate(ALL[:2])
        np.testing.assert_allclose(apart.probabilities, once.probabilities, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(apart.conf_int(), once.conf_int(), rtol=1e-7, atol=1e-9)
        assert apart.n == 1000
        assert "digests" not in apart.to_dict()


def test_parts_of_a_study_are_one_stage_among_others() -> None:
    generator = np.random.default_rng(9)
    first, second = (collect(STUDIES["cover"], PEOPLE.table, 200, generator) for _ in range(2))
    other = collect(STUDIES["joint"], PEOPLE.table, 300, generator)
    joined = join_stages([MemoryCounts(each) for each in (first, other, second)])
    assert isinstance(joined, Stages)
    assert [part.n for part in joined.parts] == [400, 300]
    assert studies_of(joined) == (STUDIES["cover"], STUDIES["joint"])


def test_coarse_blocks_alone_are_refused_with_a_remedy() -> None:
    boxes = tuple(PartitionResponse.grid((2, 3, 4), ([[0], [1]], [[0], [1, 2]], [[0, 1], [2, 3]])))
    channel = PartitionResponse((2, 3, 4), boxes, best_channel(8, 2.0))
    design = Design((Block(("a", "b", "c"), (2, 3, 4), channel),))
    reports = collect(
        Study(PEOPLE.schema, design=design), PEOPLE.table, 500, np.random.default_rng(1)
    )
    for method in ("auto", "latent"):
        model = castell.fit(reports, method)
        with pytest.raises(CastellError, match="only blocks that ask coarsely hold a"):
            model.estimate(["a"])
        first = collect(STUDIES["cover"], PEOPLE.table, 500, np.random.default_rng(2))
        assert castell.fit([first, reports], method).estimate(["a", "b"]).n == 1000
    with pytest.raises(MethodError):
        castell.fit(reports, "castell")
