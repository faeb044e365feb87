"""Every sentence of a statement is true, at every epsilon: read back, held to counted numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import exp, log, prod

import pytest

from castell import Attribute, Schema, Study
from castell.study.design import Block
from tests.coarse_studies import coarse_studies
from tests.guessing import best_guess, worst_guess
from tests.populations import ASYMMETRIC, schema
from tests.staged_studies import FIRST, SECOND

ASKED = schema((2, 3, 4, 2))
DESIGNS: dict[str, Callable[[float], Study]] = {
    "one": lambda e: Study(schema((2,)), e),
    "independent": lambda e: Study(ASKED, e),
    "joint": lambda e: Study(ASKED, e, "joint"),
    "clusters": lambda e: Study(ASKED, e, [["a", "c"]]),
    "singles": lambda e: Study(ASKED, e, "singles"),
    "pairs": lambda e: Study(ASKED, e, "pairs"),
    "cover": lambda e: Study(ASKED, e, "cover"),
    "cover of more": lambda e: Study(schema((2, 3, 4, 5, 3)), e, "cover"),
    "three": lambda e: Study(ASKED, e, sample=3),
    "in every draw": lambda e: Study(ASKED, e, [["a", "b"], ["c", "a"], ["a", "d"]], draw=True),
    "asymmetric": lambda e: Study(
        ASKED, shares={"a": e / 3, "c": e / 3, "d": e / 3}, channels={"b": ASYMMETRIC}
    ),
}
COARSE = coarse_studies(schema((2, 3, 4)))
EPSILONS = [0.1, 1.0, 3.9, 4.0, 8.0, 20.0]


def fits(said: str, chance: float) -> bool:
    """Whether a chance is what was said of it."""
    share = re.fullmatch(r"(over |under )?(\d+\.\d)%(?: of the time)?", said)
    if share and share[1]:
        return (chance > 0.999) if share[1] == "over " else (chance < 0.001)
    if share:
        near = abs(100 * chance - float(share[2])) <= 0.05 + 1e-9
        return near and 0.0 < float(share[2]) < 100.0
    once = re.fullmatch(r"(less than )?once in ([\d,]+)", said)
    assert once, said
    times = int(once[2].replace(",", ""))
    return chance < 1 / times if once[1] else abs(1 / chance - times) <= 0.5 + 1e-6 * times


class Truth:
    """The numbers of a study, by counting."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.drawn = study.design.draw and len(study.design.blocks) > 1
        self.weights = study.design.weights
        self.held = {
            name: [block for block in study.design.blocks if name in block.names]
            for name in study.names
        }

    def asked(self, name: str) -> list[float]:
        return [best_guess(block, name) for block in self.held[name]]

    def worst(self, name: str) -> float:
        return max(worst_guess(block, name) for block in self.held[name])

    def over_draw(self, name: str) -> float:
        blocks = self.study.design.blocks if self.drawn else self.held[name]
        chance = 1 / self.study.schema[name].size
        each = [best_guess(b, name) if name in b.names else chance for b in blocks]
        return self.mean(each)

    def mean(self, each: list[float]) -> float:
        """Over the draw."""
        total = sum(weight * x for weight, x in zip(self.weights, each, strict=True))
        return total / sum(self.weights)

    def chance_asked(self, name: str) -> float:
        return self.mean([float(name in block.names) for block in self.study.design.blocks])

    def everything(self) -> float:
        blocks, sizes = self.study.design.blocks, self.study.schema.sizes
        if not self.drawn:
            return prod(best_guess(block) for block in blocks)
        return self.mean([best_guess(b) * prod(b.sizes) / prod(sizes) for b in blocks])

    def blocks(self, names: set[str]) -> list[Block]:
        return [block for block in self.study.design.blocks if set(block.names) == names]

    def is_coarse(self, name: str) -> bool:
        return any(block.is_coarse for block in self.held[name])


def easiest(true: Truth, found: re.Match[str]) -> None:
    name = found["name"] or found["only"]
    guesses = {each: max(true.asked(each)) for each in true.study.names}
    assert guesses[name] == pytest.approx(max(guesses.values()))
    assert fits(found["right"], guesses[name])
    assert fits(found["chance"], 1 / true.study.schema[name].size)
    assert bool(found["asked"]) == true.drawn
    low, high = min(true.asked(name)), max(true.asked(name))
    assert bool(found["low"]) == (f"{low:.3f}" != f"{high:.3f}")
    if found["low"]:
        assert bool(found["coarse"]) == true.is_coarse(name)
        assert fits(found["low"], low)
        assert fits(found["high"], high)


def drawn(true: Truth, found: re.Match[str]) -> None:
    guesses = {name: max(true.asked(name)) for name in true.study.names}
    name = max(guesses, key=lambda each: guesses[each])
    share = true.chance_asked(name)
    if found["everybody"]:
        assert share == 1.0
        assert bool(found["coarse"]) == true.is_coarse(name)
    else:
        assert share == pytest.approx(int(found["some"]) / int(found["of"]))
    assert fits(found["over"], true.over_draw(name))


def at_worst(true: Truth, found: re.Match[str]) -> None:
    worst = {name: true.worst(name) for name in true.study.names}
    assert worst[found["name"]] == pytest.approx(max(worst.values()))
    assert fits(found["right"], worst[found["name"]])


def one_block(true: Truth, found: re.Match[str]) -> None:
    ways = true.blocks(set(re.findall("'(.*?)'", found["names"])))
    assert bool(found["most"]) == (len(ways) > 1)
    block = max(ways, key=best_guess)
    assert best_guess(block) == pytest.approx(max(map(best_guess, true.study.design.blocks)))
    assert found["count"] == ("both" if len(block.names) == 2 else f"all {len(block.names)}")
    assert fits(found["right"], best_guess(block))
    assert fits(found["chance"], 1 / prod(block.sizes))


def everything(true: Truth, found: re.Match[str]) -> None:
    assert found["count"] == f"All {len(true.study.names)}"
    assert bool(found["asked"]) == true.drawn
    assert fits(found["right"], true.everything())
    assert fits(found["chance"], 1 / prod(true.study.schema.sizes))


def groups(true: Truth, found: re.Match[str]) -> None:
    """As many groups as there are different rows of weights."""
    blocks = true.study.design.blocks
    coarse = [block for block in blocks if block.is_coarse]
    rows = [len(set(map(tuple, block.channel.weights()))) for block in coarse]
    assert all(few < block.channel.inputs for few, block in zip(rows, coarse, strict=True))
    if found["some"]:
        assert (int(found["some"]), int(found["of"])) == (len(coarse), len(blocks))
    else:
        assert len(coarse) == len(blocks)
    assert [int(found["least"]), int(found["most"] or found["least"])] == [min(rows), max(rows)]


def odds(true: Truth, found: re.Match[str]) -> None:
    assert float(found["epsilon"]) == pytest.approx(true.study.epsilon, rel=1e-5)
    stated = float(found["factor"].replace(",", ""))
    factor = exp(true.study.epsilon)
    assert fits(found["two"], factor / (1 + factor))
    assert factor * (1 - 1e-9) <= stated <= factor * 1.02


def staged(true: Truth, found: re.Match[str]) -> None:
    promise = true.study.promise
    assert promise is not None
    assert int(found["stage"] or 1) == promise.stage
    assert true.study.epsilon <= float(found["bound"]) == float(promise.epsilon)


def weak(true: Truth, found: re.Match[str]) -> None:
    wrong = 1 - true.worst(found["name"])
    assert wrong < 0.1
    assert wrong < 1 / int(found["times"].replace(",", ""))


def forged(true: Truth, found: re.Match[str]) -> None:
    stated = {e.name: e.influence for e in true.study.statement().exposures}
    assert bool(found["groups"]) == all(b.is_coarse for b in true.held[found["name"]])
    assert float(found["count"]) == pytest.approx(max(stated.values()), abs=0.0501)
    assert stated[found["name"]] == max(stated.values())


def prior(true: Truth, found: re.Match[str]) -> None:
    del true, found  # no number


SHARE = r"(?:over |under )?[\d.]+%"
OFTEN = rf"(?:{SHARE} of the time|(?:less than )?once in [\d,]+)"
INSTEAD = r"instead of (?P<chance>OFTEN) without the report\."
WRITTEN = {
    easiest: r"""(?:The answer most easily guessed is '(?P<name>.+?)': )?
        (?P<asked>[Ii]f a respondent is asked about it, )?
        [Ww]hoever sees the report guesses (?:it|'(?P<only>.+?)') right (?P<right>SHARE)\x20
        of the time, instead of (?P<chance>SHARE) without the report\.
        (?: Depending on what is asked with it(?P<coarse> and how coarsely)?,\x20
        it is (?P<low>SHARE) to (?P<high>SHARE)\.)?""",
    drawn: r"""It is asked of (?:(?P<everybody>everybody)\. On average over what is asked with it
        (?P<coarse> and how coarsely)?,
        |(?P<some>\d+) in (?P<of>\d+) respondents\. Over all of them, asked or not,)\x20
        it is guessed right (?P<over>SHARE) of the time\.""",
    at_worst: r"""At worst, after the report that gives most away, '(?P<name>.+?)'\x20
        is guessed right (?P<right>SHARE) of the time\.""",
    one_block: r"""If (?P<names>.+) are asked, (?P<count>both|all \d+) answers at once\x20
        are guessed right (?P<most>up to )?(?P<right>OFTEN), INSTEAD\x20
        No other set of questions that may be drawn is guessed right more often\.""",
    everything: r"""(?P<count>All \d+) answers at once(?P<asked>, asked or not,)?\x20
        are guessed right (?P<right>OFTEN), INSTEAD""",
    groups: r"""(?:The questions are|(?P<some>\d+) of (?P<of>\d+) sets of questions (?:is|are))\x20
        asked coarsely: the report says, through chance, which of (?P<least>\d+)\x20
        (?:to (?P<most>\d+) )?groups of answers a respondent's are in\.\x20
        It does not tell the answers of one group apart\.""",
    prior: r"""Guesses are counted as if all answers were equally likely beforehand\.\x20
        Whoever knows more beforehand can guess better\.""",
    odds: r"""One respondent spends epsilon = (?P<epsilon>[\d.]+) in all: whatever is sent,\x20
        it changes the odds between any two possible sets of answers\x20
        by a factor of at most (?P<factor>[\d.,]+)\.\x20
        Of two that are equally likely beforehand, the right one is guessed\x20
        at worst (?P<two>SHARE) of the time\.""",
    staged: r"""(?:How later respondents are asked will depend on the reports so far
        |This is stage (?P<stage>\d+): how it asks depends on earlier reports),\x20
        which are randomised\. No stage costs a respondent more than\x20
        epsilon = (?P<bound>[\d.]+);\x20
        every device checks that by the published weights, and reports once whatever the stage\.""",
    weak: r"""This is weak protection: at worst the guess at '(?P<name>.+?)' is wrong\x20
        less than once in (?P<times>[\d,]+) times\.""",
    forged: r"""One forged report can count like (?P<count>[\d.]+) honest ones\x20
        in the table of (?P<groups>the groups that )?'(?P<name>.+?)'(?: is asked in)?(?:; .*)?\.""",
}


def pattern(written: str) -> str:
    for name, text in {"INSTEAD": INSTEAD, "OFTEN": OFTEN, "SHARE": SHARE}.items():
        written = written.replace(name, text)
    return re.sub(r"\n *", "", written)


PATTERNS = {pattern(written): check for check, written in WRITTEN.items()}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_sentence_is_true(design: str, epsilon: float) -> None:
    told = check_sentences(DESIGNS[design](epsilon))
    assert "groups" not in told


@pytest.mark.parametrize("study", [FIRST, SECOND], ids=["first", "second"])
def test_every_sentence_is_true_of_stages(study: Study) -> None:
    assert "staged" in check_sentences(study)


@pytest.mark.parametrize("name", COARSE)
def test_every_sentence_is_true_of_coarse_blocks_and_unequal_draws(name: str) -> None:
    told = check_sentences(COARSE[name])
    assert ("groups" in told) == any(block.is_coarse for block in COARSE[name].design.blocks)


def check_sentences(study: Study) -> set[str]:
    """Hold every sentence to counted numbers; which kinds there were."""
    true, said = Truth(study), study.statement().words()
    told = set()
    for sentence in said:
        matches = [(re.fullmatch(text, sentence), check) for text, check in PATTERNS.items()]
        ((found, check),) = [(found, check) for found, check in matches if found]
        check(true, found)
        told.add(check.__name__)
    assert said[0].startswith(("The answer most", "Whoever sees"))  # the risk of who is asked first
    worst = {name: true.worst(name) for name in study.names}
    assert ("weak" in told) == (max(worst.values()) > 0.9)
    assert ("drawn" in told) == true.drawn
    assert ("everything" in told) == (len(study.names) > 1)
    most = max(max(true.asked(name)) for name in study.names)
    assert ("at_worst" in told) >= (max(worst.values()) > most + 0.001)
    assert {"easiest", "prior", "odds", "forged"} <= told
    return told


def test_the_likeliest_guess_comes_first_not_the_largest_gain() -> None:
    # b gains more over chance, but a is guessed right more often.
    asked = Schema([Attribute("a", ["x", "y"]), Attribute("b", [str(i) for i in range(9)])])
    study = Study(asked, shares={"a": log(9), "b": log(24)})
    a, b = study.statement().exposures
    assert b.best_guess - b.chance > a.best_guess - a.chance
    assert a.best_guess > b.best_guess
    assert "'a'" in study.statement().words()[0]


def test_a_draw_of_one_block_is_none() -> None:
    study = Study(schema((3, 4)), 4.0, "cover")
    assert (study.design.draw, len(study.design.blocks)) == (True, 1)
    said = str(study.statement())
    assert "asked" not in said
    assert "best guess" in said


def test_nothing_is_deniable_by_decree() -> None:
    """One yes or no at 3.9 is guessed 98 % right: no words may say otherwise."""
    said = " ".join(Study(schema((2,)), 3.9).statement().words())
    assert "98.0%" in said
    assert "weak protection" in said
    for epsilon in EPSILONS:
        assert "deny" not in " ".join(Study(ASKED, epsilon).statement().words())


def test_a_factor_beyond_all_floats_is_still_at_most() -> None:
    study = Study(schema((2,) * 30, [f"q{i}" for i in range(30)]), 900.0)
    assert "at most 10^391." in " ".join(study.statement().words())
    assert 390 < 900 / log(10) < 391
