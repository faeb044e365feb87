"""A page for an ethics board: what is asked, what taking part costs, and what it will tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from castell.display.notebook import html_table
from castell.planning.epsilon_guide import near
from castell.planning.plan_facts import PlanFacts
from castell.planning.plan_picture import HEIGHT, NARROW, WIDTH, picture
from castell.planning.plan_text import epsilon_words, facts, table_rows, what_is_learned

_STYLE = """
body { font: 16px/1.5 Helvetica, Arial, sans-serif; color: #22303c; max-width: 52rem;
  margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #dfe4e9; }
.facts { color: #5d6b78; margin-top: 0; }
dt { font-weight: 600; } dd { margin: 0 0 .6rem 0; color: #3b4650; }
table { font-size: .92rem; }
caption { max-width: calc(100vw - 2rem); }
li { overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 34rem) { .narrow { display: block; } .wide { display: none; } }
figcaption { color: #5d6b78; font-size: .9rem; }
@media print { body { margin: 0; } h2 { break-after: avoid; } table { break-inside: avoid; } }
"""

REFERENCES = (
    "S. L. Warner. Randomized response: a survey technique for eliminating evasive answer bias. "
    "Journal of the American Statistical Association 60, 1965.",
    "J. C. Duchi, M. I. Jordan, M. J. Wainwright. Minimax optimal procedures for locally private "
    "estimation. Journal of the American Statistical Association 113, 2018.",
    "P. Kairouz, K. Bonawitz, D. Ramage. Discrete distribution estimation under local privacy. "
    "International Conference on Machine Learning, 2016.",
    "E. B. Wilson. Probable inference, the law of succession, and statistical inference. Journal "
    "of the American Statistical Association 22, 1927.",
    "J. Cohen. Statistical power analysis for the behavioral sciences. Second edition, 1988.",
    "B. Balle, J. Bell, A. Gascón, K. Nissim. The privacy blanket of the shuffle model. CRYPTO, "
    "2019.",
    "V. Feldman, A. McMillan, K. Talwar. Stronger privacy amplification by shuffling for Rényi and "
    "approximate differential privacy. Symposium on Discrete Algorithms, 2023.",
)


def page(plan: PlanFacts) -> str:
    """The whole page, in one file without scripts."""
    study = plan.study
    statement = study.statement()
    title = study.text.title or study.name
    titles, *rows = table_rows(plan)
    body = [
        f"<h1>{escape(title)}: the plan of a survey</h1>",
        f'<p class="facts">{escape(", ".join(facts(plan)))}. Digest of the study '
        f"<code>{study.digest[:16]}</code>.</p>",
        "<h2>In short</h2>",
        _paragraphs(_short(plan)),
        "<h2>What is asked</h2>",
        _questions(plan),
        "<h2>How answers are protected</h2>",
        _paragraphs(
            [
                "Every answer is randomised on the respondent's own device before it is sent. "
                "Whoever runs the survey, and whoever takes its data, sees randomised reports "
                "only; no answer as it was given is stored or sent.",
                *statement.words(),
                *epsilon_words(plan),
                plan.shuffled.sentence(),
            ]
        ),
        "<h2>Risk for one respondent</h2>",
        html_table(
            "How often the best guess at an answer is right, if every value is as likely "
            "beforehand",
            ["question", "without the report", "with it", "at worst", "asked of"],
            [
                [
                    e.name,
                    f"{e.chance:.0%}",
                    f"{e.best_guess:.0%}",
                    f"{e.worst_guess:.0%}",
                    f"{e.chance_drawn:.0%}",
                ]
                for e in plan.exposures
            ],
        ),
        "<h2>What will be learned</h2>",
        html_table(
            "Half the length of 95 % intervals, in percentage points, by design",
            titles,
            rows,
            notes=what_is_learned(plan),
        ),
        _figure(plan),
        "<h2>References</h2>",
        "<ol>" + "".join(f"<li>{escape(text)}</li>" for text in _references(plan)) + "</ol>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: plan</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _references(plan: PlanFacts) -> list[str]:
    """Of the methods, and of the published epsilons that the page names."""
    return list(dict.fromkeys([*REFERENCES, *(each.source for each in near(plan.epsilon))]))


def _figure(plan: PlanFacts) -> str:
    """The picture, where what plots it is installed; the table says the same. A phone has one of
    its own: made smaller, the other's words could not be read."""
    try:
        import vl_convert
    except ImportError:
        return ""
    plotted = "".join(
        f'<div class="{name}">'
        + vl_convert.vegalite_to_svg(picture(plan, width=width, height=HEIGHT).to_dict())
        + "</div>"
        for name, width in (("wide", WIDTH), ("narrow", NARROW))
    )
    return (
        f'<figure role="img" aria-label="{escape(plan.reason, quote=True)}">{plotted}'
        "<figcaption>How long intervals are by the number of people, a line for each epsilon; the "
        "plan is the marked point.</figcaption></figure>"
    )


def _short(plan: PlanFacts) -> list[str]:
    asked = f"{plan.n:,} people are asked"
    if plan.response != 1.0:
        asked = f"{plan.n:,} people are invited, of whom {plan.reports:,} are expected to answer"
    found = [
        f"{asked}. Each spends epsilon = {plan.epsilon:g} in all, once, with the design "
        f"'{plan.design_name}'. It {plan.reason.removeprefix(plan.design_name).strip()}",
    ]
    return found + ([f"What was asked for: {'; '.join(plan.asked)}."] if plan.asked else [])


def _questions(plan: PlanFacts) -> str:
    items = "".join(
        f"<dt>{escape(a.question or a.name)}</dt><dd>{escape(_list_text(a.values))}</dd>"
        for a in plan.study.schema
    )
    return f"<dl>{items}</dl>"


def _list_text(values: Sequence[str]) -> str:
    return "; ".join(values)


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
