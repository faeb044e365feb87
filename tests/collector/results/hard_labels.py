"""A study that is hard to draw: long labels, compound words, two directions, 30 values."""

from __future__ import annotations

import numpy as np

from castell import Attribute, Reports, Schema, Study
from castell.cli.study_file import to_toml

WORK = (
    "Bundesversicherungsanstaltsangestellte",
    "Donaudampfschifffahrtsgesellschaftskapitänin",
    "Kraftfahrzeughaftpflichtversicherungssachbearbeiter",
    "Landwirtschaft, Forstwirtschaft, Fischerei und verwandte Berufe",
    "IT",
)
JOBS = (*WORK, *(f"Berufsgruppe {k} nach der Klassifikation" for k in range(6, 31)))
AGREE = (
    "I agree completely, and I would say so to anybody who asked me",
    "I rather agree, but would not say so to people I do not know",
    "I neither agree nor disagree, or have not thought about it yet",
    "I rather disagree, although I see that others think otherwise",
    "I disagree completely, and would say so to anybody who asked",
)
# Arabic and Hebrew are written from the right.
TONGUES = ("العربية الفصحى", "עברית", "Deutsch", "日本語で話します")
DISTRICTS = tuple(f"District {k}" for k in range(1, 31))
LONG = (
    "Thinking of the last twelve months, and of everything that you have heard or read about it: "
    "how far do you agree that the health service treats everybody alike?"
)

SCHEMA = Schema(
    [
        Attribute("vote", ["yes", "no"], question="Did you vote?"),
        Attribute("agree", AGREE, question=LONG),
        Attribute("job", JOBS, question="Welche Berufsbezeichnung trifft zu?"),
        Attribute("district", DISTRICTS, question="Where do you live?"),
        Attribute("tongue", TONGUES, question="ما هي لغتك الأم؟"),
        Attribute("work", WORK, question="Arbeitsunfähigkeitsbescheinigungsverfahren: Berufsfeld"),
    ]
)
TEXT = 'title = "Hard to draw"\n' + to_toml(SCHEMA, name="hard", epsilon=24.0)
# One of each: two values, long ones, thirty, thirty long ones, two and three attributes.
TABLES = (
    ("vote",),
    ("agree",),
    ("job",),
    ("vote", "tongue"),
    ("agree", "work"),
    ("vote", "district"),
    ("job", "tongue"),
    ("district", "job"),
    ("vote", "tongue", "agree"),
    ("tongue", "work", "vote"),
    ("vote", "agree", "job"),
)


def hard_reports(people: int = 20_000, seed: int = 7) -> Reports:
    """Reports of people whose answers go together a little."""
    rng = np.random.default_rng(seed)
    mood = rng.random(people)
    answers = {}
    for a in SCHEMA:
        weights = rng.dirichlet(np.full(a.size, 2.0))
        drawn = rng.choice(a.size, people, p=weights)
        codes = np.where(rng.random(people) < 0.35, (mood * a.size).astype(int), drawn)
        answers[a.name] = np.array(a.values, dtype=object)[codes]
    return Study.from_toml(TEXT).randomize(answers, seed=seed)
