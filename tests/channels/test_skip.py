"""Questions that may be skipped: what a report shows, what it costs, and what can be estimated."""

from __future__ import annotations

import json
from math import log
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, KaryResponse, MatrixResponse, Schema, Study, mechanism
from castell.channels import CyclicResponse, SkipResponse, channel_of
from castell.channels.difference_sets import singer
from castell.device.report import make_report
from castell.errors import ChannelError, SchemaError, StudyError
from castell.planning.shuffled import delta_at

YES = ["no", "yes"]
INNER = [
    KaryResponse(3, 5, 2),
    MatrixResponse([[8, 2], [3, 7]]),
    MatrixResponse([[6, 3, 1], [1, 2, 7]]),
]


@pytest.mark.parametrize("inner", INNER)
def test_who_answers_is_hidden_and_who_skips_is_seen(inner: Any) -> None:
    """Every number that may be drawn, for every answer."""
    channel = SkipResponse(inner)
    numbers = np.arange(channel.total, dtype=np.uint64)
    for answer, weights in enumerate(inner.weights()):
        reports = channel.respond(np.full(channel.total, answer), numbers)
        assert np.bincount(reports, minlength=channel.outputs).tolist() == [*weights, 0]
    skipped = channel.respond(np.full(channel.total, inner.inputs), numbers)
    assert set(skipped.tolist()) == {inner.outputs}
    assert channel.exact_epsilon == inner.exact_epsilon
    assert (channel.best_guess, channel.worst_guess) == (inner.best_guess, inner.worst_guess)
    assert channel.draws == inner.draws == 1
    assert channel_of(channel.document()) == channel
    # The inverse is that of the channel inside, and skipping is taken as it is.
    back = channel.inverse.dense()
    assert np.allclose(back[:-1, :-1], inner.inverse.dense())
    assert np.allclose(back[-1], np.eye(channel.outputs)[-1])


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "skip"},
        {"kind": "skip", "channel": 3},
        {"kind": "skip", "channel": {"kind": "bloom"}},
        {"kind": "skip", "channel": {"kind": "skip", "channel": KaryResponse(2, 3, 1).document()}},
        {"kind": "skip", "channel": KaryResponse(2, 3, 1).document(), "more": 1},
        {"kind": "skip", "channel": {"kind": "matrix", "weights": [[1, 0], [0, 1]]}},
    ],
)
def test_broken_documents_are_refused(document: Any) -> None:
    with pytest.raises(ChannelError):
        channel_of(document)


def test_only_small_matrices_are_inside() -> None:
    with pytest.raises(ChannelError, match="k-ary response, a matrix or a mechanism"):
        SkipResponse(CyclicResponse(12, 13, singer(3, 3), 3, 1))  # type: ignore[arg-type]


def _study() -> Study:
    asked = [
        Attribute("a", YES, missing="skip"),
        Attribute("b", ["x", "y", "z"], also=["none"], missing="skip"),
        Attribute("c", ["u", "v"]),
        Attribute("age", bins=[30, 50], range=[18, 90], missing="skip"),
    ]
    return Study(asked, shares={"a": 1.0, "b": 2.0, "c": 1.0, "age": 2.0})


def test_the_study_has_one_more_value_that_is_reported_as_it_is() -> None:
    study = _study()
    assert study.schema["a"].values == ("no", "yes", "no answer")
    assert study.schema["b"].values == ("x", "y", "z", "none", "no answer")
    assert study.epsilon == pytest.approx(6.0, abs=1e-8)
    sizes = [block.channel.inputs for block in study.design.blocks]
    assert sizes == [3, 5, 2, 4]
    assert Study.from_json(study.to_json()) == study
    drawn = Study([study.schema["a"], study.schema["c"]], 1.0, "singles")
    assert drawn.epsilon == pytest.approx(1.0, abs=1e-8)


def test_a_file_says_it_beside_a_mechanism() -> None:
    text = """
    [[attribute]]
    name = "a"
    values = ["no", "yes"]
    missing = "skip"
    mechanism = "warner"
    p = 0.75
    """
    study = Study.from_toml(text)
    assert study.epsilon == pytest.approx(log(3))
    said = castell.import_reports(study, {"a": ["yes", None, "No", "", "no answer"]})
    assert said.columns[0].tolist() == [1, 2, 0, 2, 2]
    assert castell.fit(said, "castell").answered("a").values == ("no", "yes")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda a, c: Study([a, c], 2.0, "joint"), "may be skipped and is randomised with others"),
        (lambda a, c: Study([a, c], 2.0, "pairs"), "may be skipped and is randomised with others"),
        (lambda a, c: Study([a, c], 2.0, [["a", "c"]]), "randomised with others"),
        (lambda a, c: Study([a, c], 2.0, "bloom"), "Bloom filters know no skipping"),
        (
            lambda a, c: Study([a, c], 2.0, channels={"a": [[0.8, 0.1, 0.1]] * 3}),
            "singular|3 rows for 2 values",
        ),
        (
            lambda _a, c: Study([c], channels={"c": SkipResponse(KaryResponse(2, 3, 1))}),
            "3 rows for 2 values",
        ),
        (
            lambda _a, _c: Study(
                [Attribute("d", ["u", "v", "w"])],
                channels={"d": SkipResponse(KaryResponse(2, 3, 1))},
            ),
            "differ on skipping",
        ),
    ],
)
def test_what_cannot_be_skipped_is_told(make: Any, words: str) -> None:
    with pytest.raises((StudyError, ChannelError), match=words):
        make(Attribute("a", YES, missing="skip"), Attribute("c", ["u", "v"]))


def test_a_published_study_cannot_call_skipping_hidden_or_hide_that_it_shows() -> None:
    study = Study([Attribute("a", YES, missing="skip")], 1.0)
    document = json.loads(study.to_json())
    document["blocks"][0]["channel"] = KaryResponse(3, 3, 1).document()
    with pytest.raises(StudyError, match="differ on skipping"):
        Study.from_json(json.dumps(document))
    document = json.loads(study.to_json())
    del document["attributes"][0]["missing"]
    with pytest.raises(StudyError, match="differ on skipping"):
        Study.from_json(json.dumps(document))
    del document["attributes"][0]["also"]
    document["attributes"][0]["missing"] = "skip"
    with pytest.raises(SchemaError, match="missing is 'skip'"):
        Study.from_json(json.dumps(document))


def test_frames_and_persons_skip_alike() -> None:
    study = _study()
    answers: dict[str, list[Any]] = {
        "a": ["yes", None, "no"],
        "b": [None, "none", "x"],
        "c": ["u", "v", "u"],
        "age": [None, 30, 77],
    }
    reports = study.randomize(answers, seed=1)
    skipped = [
        np.flatnonzero(c == b.channel.outputs - 1).tolist()
        for c, b in zip(reports.columns, study.design.blocks, strict=True)
    ]
    assert [skipped[0], skipped[1], skipped[3]] == [[1], [0], [0]]
    person = {name: column[0] for name, column in answers.items()}
    report = make_report(study, person, b"k" * 32)
    assert (report.codes[1], report.codes[3]) == (4, 3)
    assert report.codes[0] in (0, 1)


def test_the_statement_says_that_skipping_shows() -> None:
    study = _study()
    told = " ".join(study.statement().words())
    assert "Whoever does not answer 'a', 'b', 'age' is seen not to" in told
    one = study.statement().exposures[0]
    assert (one.size, one.chance) == (2, 0.5)
    plain = Study([Attribute("a", YES)], 1.0).statement()
    assert one.best_guess == pytest.approx(plain.exposures[0].best_guess)
    assert "seen not to" not in " ".join(plain.words())
    # Nobody knows how many stand beside one's own report: shuffling promises nothing more.
    assert castell.shuffled(study, 10_000).epsilon == study.epsilon
    assert delta_at(study, 10_000, 0.1) == 1.0


@pytest.mark.parametrize("method", ["castell", "em", "independent", "auto"])
def test_estimates_of_those_who_answered_and_of_everybody(method: str) -> None:
    """Those who have it skip more often: what is left open for everybody holds the truth."""
    study = Study([Attribute("a", YES, missing="skip"), Attribute("c", ["u", "v"])], 4.0)
    generator = np.random.default_rng(3)
    n = 40_000
    has = generator.random(n) < 0.3
    skips = generator.random(n) < np.where(has, 0.4, 0.1)
    said = np.where(has, "yes", "no").astype(object)
    said[skips] = None
    c = np.where(generator.random(n) < np.where(skips, 0.9, 0.2), "v", "u")
    model = castell.fit(study.randomize({"a": said, "c": c}, seed=2), method)
    truth = has[~skips].mean()
    found = model.answered("a")
    low, high = found.conf_int(1 - 1e-7)
    assert low[1] <= truth <= high[1]
    least, most = found.bounds(1 - 1e-7)
    assert least[1] <= has.mean() <= most[1]
    # Wide as the share of those who skipped, and hardly more.
    assert skips.mean() < most[1] - least[1] < skips.mean() + 0.1
    if method != "independent":
        table = model.estimate(["a", "c"])
        assert table.probabilities[2, 1] == pytest.approx((skips & (c == "v")).mean(), abs=0.03)
    if method == "castell":
        # Whoever skips is counted, not estimated.
        assert table.project("a").probabilities[2] == pytest.approx(skips.mean(), abs=1e-12)


def test_careless_people_answer_and_do_not_skip() -> None:
    channel = mechanism("warner", p="3/4")
    study = Study([Attribute("a", YES, missing="skip")], channels={"a": channel})
    reports = castell.Reports(study, [np.repeat([0, 1, 2], [500, 300, 200])], secure=True)
    table = castell.estimate(reports, "a", "castell")
    found = table.careless(0.2)
    assert found.probabilities[2] == pytest.approx(0.2 / 0.8)
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_missing_is_one_of_three() -> None:
    with pytest.raises(SchemaError, match="refuse or category or skip"):
        Attribute("a", YES, missing="skipp")
    with pytest.raises(SchemaError, match="lists the value 'no answer' twice"):
        Attribute("a", [*YES, "no answer"], missing="skip")
    assert Schema([Attribute("a", YES, missing="skip")])["a"].missing_code == 2
