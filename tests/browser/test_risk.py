"""The risk of the person who is asked, on the page: what `castell check` says, to the digit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.study.design import lens_on
from castell.study.odds_text import factor, often, out_of, share, spread
from tests.browser.test_access import with_study
from tests.coarse_studies import coarse_studies
from tests.populations import drawn_studies, rectangular, schema, studies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.collecting import Collector


def questions(sizes: tuple[int, ...]) -> Schema:
    return Schema(
        [
            Attribute(f"q{i}", [f"{k}" for k in range(size)], f"Question {i}?")
            for i, size in enumerate(sizes)
        ]
    )


EPSILONS = [0.1, 1.0, 4.0, 8.0, 20.0]
STUDIES: dict[str, Study] = {
    **studies(),
    **{f"drawn {name}": study for name, study in drawn_studies().items()},
    "rectangular": rectangular(),
    "twelve": Study(questions((2,) * 12), 6.0, "singles"),
    "wide circles": Study(schema((16, 7, 14, 6, 5, 2, 41)), 1.0, "cover"),
    **{f"coarse: {n}": study for n, study in coarse_studies(questions((2, 3, 4))).items()},
    **{f"independent {e}": Study(questions((2, 3, 16)), e) for e in EPSILONS},
    **{f"cover {e}": Study(questions((2, 3, 16, 4, 5)), e, "cover") for e in EPSILONS},
    **{f"pairs {e}": Study(questions((2, 3, 16, 4)), e, "pairs") for e in EPSILONS},
}


@pytest.fixture(scope="module")
def module_page(browser: Browser, surveyed: Collector) -> Any:
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    page.goto(surveyed.url)
    yield page
    context.close()


@pytest.mark.parametrize("name", STUDIES)
def test_python_and_the_browser_compute_the_same_bits(module_page: Page, name: str) -> None:
    study = STUDIES[name]
    found = module_page.evaluate(
        """async (text) => {
          const { parseStudy } = await import("/static/client/study.js");
          const { statementOf } = await import("/static/client/exposure.js");
          return statementOf(await parseStudy(text));
        }""",
        study.to_json(),
    )
    stated = study.statement().to_dict()
    for here, there in {
        "tellingBlock": "telling_block",
        "allGuessedIfDrawn": "all_guessed_if_drawn",
        "allByChanceIfDrawn": "all_by_chance_if_drawn",
        "allGuessed": "all_guessed",
        "allByChance": "all_by_chance",
    }.items():
        assert found[here] == stated[there], here
    for one, entry in zip(found["attributes"], stated["attributes"], strict=True):
        assert one["name"] == entry["name"]
        assert one["chance"] == entry["by_chance"]
        assert one["bestGuess"] == entry["best_guess"] == entry["best_guess_if_drawn"]
        assert one["leastGuess"] == entry["least_guess_if_drawn"]
        assert one["bestGuessOverDraw"] == entry["best_guess_over_draw"]
        assert one["worstGuess"] == entry["worst_guess"]
        assert one["holders"] / one["draws"] == entry["chance_drawn"]


def shown(browser: Browser, surveyed: Collector, study: Study) -> tuple[Page, list[str]]:
    """The page of a study, its numbers open, and the attributes that it asks."""
    context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with_study(page, study.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    asked = page.locator(".asked").all_inner_texts()
    by_question = {attribute.question: attribute.name for attribute in study.schema}
    page.locator("summary").click()
    if len(study.design.blocks) > 1 and study.design.draw:  # a draw of one block is none
        page.wait_for_selector(".later table")
    return page, [by_question[question] for question in asked]


def rows(page: Page, place: int) -> list[list[str]]:
    lines = page.locator("details table").nth(place).locator("tbody tr").all()
    return [line.locator("th, td > span:last-child").all_inner_texts() for line in lines]


def of100(chance: float) -> str:
    """As `castell check` writes it, in the page's words."""
    return hundred(share(chance)) + " of 100"


def hundred(text: str) -> str:
    return text.replace("%", "").replace("over", "more than").replace("under", "less than")


def often_here(chance: float) -> str:
    return re.sub(r"(.*)% of the time", lambda m: f"in {hundred(m[1])} of 100 cases", often(chance))


PAGES = [
    "twelve",
    *(f"coarse: {name}" for name in ("boxes", "three to one", "all kinds")),
    *(f"{design} {e}" for design in ("independent", "cover", "pairs") for e in EPSILONS),
]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_what_check_says(browser: Browser, surveyed: Collector, name: str) -> None:
    study = STUDIES[name]
    page, asked = shown(browser, surveyed, study)
    statement = study.statement()
    exposures = {e.name: e for e in statement.exposures}
    design = study.design
    blocks = [b for b in design.blocks if not design.draw or set(b.names) == set(asked)]
    own = {attribute: lens_on(block, [attribute]) for block in blocks for attribute in block.names}
    told = page.locator(".protect").inner_text()

    # The headline is the likeliest guess at what this person is asked, in whole people and then
    # exactly.
    likeliest = max(asked, key=lambda each: own[each].best_guess)
    question = study.schema[likeliest].question
    right, chance = (share(x) for x in (own[likeliest].best_guess, exposures[likeliest].chance))
    assert (
        f"guesses your answer to “{question}” right in {hundred(right)} of 100 cases. "
        f"Without it, a blind guess is right in {hundred(chance)} of 100." in told
    )
    doubt = 1 - own[likeliest].best_guess
    if doubt >= 0.01:
        assert "of 100 people who send the same" in told.lower()
        assert f"the true answer of {int(100 * doubt + 1e-9)} is another one." in told
    assert ("No other answer of yours" in told) == (len(asked) > 1)
    worst = max(own[each].worst_guess for each in asked)
    assert ("This is weak protection" in told) == (worst > 0.9)
    assert ("Nobody can know for sure" in told) == (worst <= 0.9)
    assert "deny" not in told
    assert f"by a factor of at most {factor(study.epsilon)}, whatever" in told
    for each in asked:
        exposure = exposures[each]
        assert own[each].best_guess in exposure.guesses
        assert exposure.least_guess <= own[each].best_guess <= exposure.best_guess

    numbers = {row[0]: row[1:] for row in rows(page, 0)}
    assert len(numbers) == len(asked)
    for each in asked:
        row = numbers[study.schema[each].question]
        assert (row[0], row[-1]) == (of100(own[each].best_guess), of100(exposures[each].chance))
        assert len(row) == 2 or row[1] == of100(own[each].worst_guess)
    if design.draw and len(design.blocks) > 1:
        (block,) = blocks
        assert len(asked) == 1 or (
            f"Your {len(asked)} answers at once are guessed right "
            f"{often_here(block.channel.best_guess)}; by luck, "
            f"{often_here(1 / block.channel.inputs)}." in told
        )
        everybody = rows(page, 1)
        for row, e in zip(everybody, statement.exposures, strict=True):
            ends = spread(e.least_guess, e.best_guess)
            assert row == [
                study.schema[e.name].question,
                hundred(ends),
                hundred(share(e.best_guess_over_draw)),
                hundred(share(e.chance)),
                out_of(e.asked, e.draws),
            ]
        every = f"All {len(everybody)} answers of this survey, asked or not, are"
    else:
        every = f"Your {len(asked)} answers at once are"
    assert (
        f"{every} guessed right {often_here(statement.all_guessed)}; by luck, "
        f"{often_here(statement.all_by_chance)}." in told
    )
    page.context.close()


WHOLE = [(0.424, 42, 100), (0.5, 50, 100), (0.01, 1, 100), (0.0099, 9, 1000), (0.9999, 99, 100),
         (1.0, 100, 100), (0.0, 0, 100), (2e-6, 2, 1_000_000), (1e-15, 1, 10**12)]  # fmt: skip


def test_people_are_whole_and_never_none_or_all_unless_they_are(module_page: Page) -> None:
    found = module_page.evaluate(
        """async (chances) => {
          const { people } = await import("/static/survey/chances.js");
          return chances.map((chance) => people({ number: String }, chance));
        }""",
        [chance for chance, _, _ in WHOLE],
    )
    assert found == [{"some": str(some), "all": str(every)} for _, some, every in WHOLE]


MEANT = ["rectangular", "wide circles", "cover 4.0", "independent 1.0", "coarse: all kinds"]


@pytest.mark.parametrize("name", [*MEANT, "coarse: boxes"])
def test_who_sends_a_code_and_means_otherwise(module_page: Page, name: str) -> None:
    """Of a uniform population, from the whole matrix: Python and the browser agree."""
    study = STUDIES[name]
    for place, block in enumerate(study.design.blocks[:3]):
        weights = np.array(block.channel.weights(), dtype=float)
        code = weights.shape[1] - 1
        column = weights[:, code]
        digits = np.array(np.unravel_index(np.arange(len(column)), block.sizes))
        fits = digits[:, column == column.max()]
        expected = [
            column[~np.isin(digits[i], fits[i])].sum() / column.sum()
            for i in range(len(block.sizes))
        ]
        found = module_page.evaluate(
            """async ([text, place, code]) => {
              const { parseStudy } = await import("/static/client/study.js");
              const { meantOtherwise, pieces } = await import("/static/survey/leaving.js");
              const block = (await parseStudy(text)).blocks[place];
              const all = pieces(block, code);
              return block.sizes.map((_, at) => meantOtherwise(all, at));
            }""",
            [study.to_json(), place, code],
        )
        assert found == pytest.approx(expected, abs=1e-12)


def test_a_person_who_drew_one_of_twelve_is_told_so(browser: Browser, surveyed: Collector) -> None:
    page, asked = shown(browser, surveyed, STUDIES["twelve"])
    told = page.locator(".protect").inner_text()
    assert len(asked) == 1
    assert "right in 99.8 of 100 cases" in told
    assert rows(page, 0)[0][1:] == ["99.8 of 100", "50.0 of 100"]
    assert all(row[1:] == ["99.8", "54.1", "50.0", "1 in 12"] for row in rows(page, 1))
    assert "less than once in 404 times" in told
    page.context.close()


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_other_languages_say_the_same_numbers(
    browser: Browser, surveyed: Collector, language: str
) -> None:
    context = browser.new_context(locale=language)
    page = context.new_page()
    attributes = [Attribute("q", ["a", "b"], "Q?"), Attribute("r", ["a", "b", "c"], "R?")]
    asked = Study(Schema(attributes), 8.0, "singles", text=_in(language))
    with_study(page, asked.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    page.locator("summary").click()
    page.wait_for_selector(".later table")
    told = page.locator(".protect").inner_text()
    assert re.search(r"\{|undefined", told) is None
    first, second = asked.statement().exposures
    over = [share(e.best_guess_over_draw).strip("%").replace(".", ",") for e in (first, second)]
    assert all(number in told for number in over)
    assert "99,9" in told  # more than, of 100, whichever question was drawn
    context.close()


def _in(language: str) -> Any:
    from castell.study.texts import StudyText

    return StudyText(language=language)


@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_numbers_fit_on_any_screen(
    browser: Browser, surveyed: Collector, width: int, language: str
) -> None:
    study = Study(questions((2, 3, 16, 4, 5)), 12.0, "pairs", text=_in(language))
    context = browser.new_context(locale=language, viewport={"width": width, "height": 700})
    page = context.new_page()
    with_study(page, study.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    page.locator("summary").click()
    page.wait_for_selector(".later table")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # No number leaves its cell.
    inside = "all => all.every(e => e.scrollWidth <= e.clientWidth)"
    assert page.eval_on_selector_all("details td", inside)
    context.close()
