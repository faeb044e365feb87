"""How a claim of the paper is judged."""

from __future__ import annotations

from typing import Any

import pytest

from experiments import (
    catalogue,
    claims,
    claims_accuracy,
    claims_figures,
    claims_guarantees,
    page,
    store,
)
from experiments.fig_adw import STAND_IN
from experiments.verdict import HOLDS, MODEL, NOT, Verdict


@pytest.mark.parametrize(
    ("name", "printed", "width", "reached"),
    [
        ("adult", 4, 4, True),
        ("adult", 4, 5, True),
        ("adult", 4, 6, False),
        ("adult", 4, None, False),
        ("census1990", 8, 5, True),  # its first rows show fewer widths than all would
        ("census1990", 8, 10, False),
        (STAND_IN, 8, 10, True),  # and its stand-in more
        (STAND_IN, 8, 6, False),
    ],
)
def test_a_printed_width_is_met(name: str, printed: int, width: int | None, reached: bool) -> None:
    assert claims_figures._reached(name, printed, {name: width}) is reached


def test_lopubs_claim_is_judged_alike_first_and_then_by_the_printed_number() -> None:
    """The most generous reading sets errors at the caption's epsilon beside LoPub's printed one."""

    def judged(hybrid: float, lopub: float, by_reports: float = 0.3) -> str:
        means = {"truncated": 0.002, "hybrid": hybrid, "lopub, as published": lopub}
        means["hybrid, by the reports"] = by_reports
        records = [
            {"each": each, "scheme": scheme, "x": "mean", "mean": mean}
            for each in claims_accuracy.BUDGETS
            for scheme, mean in means.items()
        ]
        found = {"table_comp": {"real": {"records": records}}}
        return claims_accuracy.beside_lopub(found).verdict

    everywhere = "holds at epsilon 4 each, 1 each, 4 in all"
    assert judged(0.014, 0.4) == everywhere
    assert judged(0.014, 0.09, 0.002) == f"{everywhere} if hybrid decides by the reports"
    assert judged(0.014, 0.09) == "holds at epsilon 4 each beside the printed LoPub only"
    assert judged(0.3, 0.09) == "does not hold"


@pytest.fixture(scope="module")
def kept() -> dict[str, dict[str, Any]]:
    modules = {name: catalogue.experiment(name) for name in catalogue.names()}
    return {name: page.kept_results(store.ROOT / "docs", m) for name, m in modules.items()}


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda c: f"{c.where}: {c.said}"[:60])
def test_every_claim_has_a_verdict_and_a_number(
    claim: claims.Claim, kept: dict[str, dict[str, Any]]
) -> None:
    """Judged without anything caught: a slip in a judge is no claim that was not computed."""
    made = claim.judge(kept)
    assert any(word in made.verdict for word in (HOLDS, MODEL, NOT, "marks at", "follow"))
    assert any(c.isdigit() for c in made.number)
    assert claim.experiment in catalogue.names()
    assert claims.Claim("", "", "", claim.judge).verdict({}).verdict == claims.UNKNOWN or (
        claim.judge is claims_guarantees.unique_inverse  # computed here and now
    )


def test_the_claims_come_first_and_are_counted(kept: dict[str, dict[str, Any]]) -> None:
    written = claims.section(kept)
    assert written.count("\n| ") == len(claims.CLAIMS) + 2
    counted = written.split("Of ")[1].split(".")[0]
    numbers = [int(word) for word in counted.replace(",", "").split() if word.isdigit()]
    assert numbers[0] == len(claims.CLAIMS) == sum(numbers[1:])
    text = page.text(store.ROOT / "docs")
    assert text.index("## The paper's claims") < text.index("## How to read it")
    # What a claim is from can be gone to.
    for name in {claim.experiment for claim in claims.CLAIMS}:
        assert f"\n## {catalogue.heading(catalogue.experiment(name))}\n" in text


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("holds", 0),
        ("holds at epsilon 4 each, not at the others", 0),
        ("holds at epsilon 4 each: up to no fewer; at 1 each in the rounding model only", 0),
        ("storage holds; time does not hold", 1),
        ("7 of 10 marks at 4 each", 1),
        ("in the rounding model only, by MSE", 2),
        ("does not hold: these are means", 3),
        (claims.UNKNOWN, 4),
    ],
)
def test_a_claim_is_counted_by_its_verdict(verdict: str, kind: int) -> None:
    assert claims._kind(verdict) == claims.KINDS[kind]


def test_the_kindest_reading_decides_and_the_others_are_told(
    kept: dict[str, dict[str, Any]],
) -> None:
    """With castell worse than independent at 4 each too, a claim falls back to the model."""

    def judged(factor: float) -> list[Verdict]:
        result = kept["table_generous"]["real"]
        records = [
            {**r, "mean": r["mean"] * (factor if r["scheme"] == "castell" else 1.0)}
            for r in result["records"]
        ]
        found = {**kept, "table_generous": {"real": {**result, "records": records}}}
        return [
            judge(found)
            for judge in (
                claims_figures.crossovers,
                claims_figures.respondents,
                claims_figures.picture,
            )
        ]

    assert all(made.verdict.startswith(HOLDS) for made in judged(1e-3))
    assert all(made.verdict.startswith(MODEL) for made in judged(1e3))
    assert all("4 each" in made.number for made in judged(1.0))


def test_what_the_page_says_in_short_is_what_the_claims_say(
    kept: dict[str, dict[str, Any]],
) -> None:
    """Those words are written by hand."""
    for judge in (claims_accuracy.better_than_independent, claims_accuracy.beside_others):
        assert judge(kept).verdict == "holds at epsilon 4 each, not at the others"
    assert claims_accuracy.beside_lopub(kept).verdict.startswith("holds at epsilon 4 each")
    assert "epsilon 1 each" not in claims_accuracy.beside_lopub(kept).verdict
    real = claims_accuracy._means(kept, "real", 4.0)
    rivals = ("independent", "lopub", "lopub, as published", "locop", "dpfedwae")
    assert all(real[s] < real[r] for s in claims_accuracy.PROPOSED for r in rivals)
    together = ("RR-Joint", "RR-Clusters")
    assert all(real[s] > real[r] for s in claims_accuracy.PROPOSED for r in together)
