"""A study as a record of a deployment: what is collected, how it is hidden, and what that costs.

Its entries are those that public registries of differential privacy ask for (Dwork, Kohli and
Mulligan 2019): the unit of privacy, the kind and size of the loss, who is trusted, the mechanism,
its accounting, how long and with what software. Everything is read from the published study, so a
card can be made again from it by anybody; the digest says which study it is of.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from castell.channels.budget import rounded_up
from castell.display.one_line import one_line
from castell.planning.epsilon_guide import Deployment, near
from castell.planning.shuffled import DELTA, Shuffled, shuffled, up_to_digits
from castell.study.collection_table import ALWAYS, OpeningHours
from castell.study.design import check_hides_answers
from castell.study.odds_text import share
from castell.study.public_attributes import public_words
from castell.study.schema import Attribute
from castell.study.statement import Statement
from castell.study.study import Study

FORMAT = 1

UNIT = "a person: all that one respondent's device sends in this study, which is one report"
NEIGHBOURS = "any two sets of answers of one respondent"
TRUST = "nobody: answers are randomised on the respondent's device before anything is sent"
ACCOUNTING = {
    False: "exact, from integer weights; what a respondent reports adds up",
    True: "exact, from integer weights; one set of questions is drawn for each respondent, and the "
    "costliest counts",
}


@dataclass(frozen=True, repr=False)
class Card:
    """`shuffled` is there if it was said how many people take part."""

    study: Study
    statement: Statement
    hours: OpeningHours
    shuffled: Shuffled | None
    software: str

    @property
    def title(self) -> str:
        return self.study.text.title or self.study.name

    @property
    def compared(self) -> list[Deployment]:
        """Published local deployments around its epsilon."""
        return near(self.study.epsilon, "local")

    def mechanism(self) -> list[dict[str, Any]]:
        """Each block: what is reported together, how, and how often it is asked."""
        design = self.study.design
        drawn = [weight / design.total_weight for weight in design.block_weights]
        return [
            {
                "attributes": list(block.names),
                "kind": block.channel.kind,
                "name": block.channel.title,
                "answers": block.channel.inputs,
                "reports": block.channel.outputs,
                # Public attributes have none, and JSON has no infinity.
                "epsilon": None if block.is_public else rounded_up(block.channel.exact_epsilon),
                "chance_drawn": chance,
            }
            for block, chance in zip(design.blocks, drawn, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The card for programs, as plain JSON values."""
        study = self.study
        return {
            "kind": "deployment card",
            "card": FORMAT,
            "name": study.name,
            "title": self.title,
            "description": study.text.description,
            "digest": study.digest,
            "digests": list(study.digests),
            "collected": [
                {
                    "name": a.name,
                    "question": a.question,
                    "values": list(a.values),
                    "public": a.public,
                }
                for a in study.schema
            ],
            "unit_of_privacy": UNIT,
            "model": "local",
            "trusted": TRUST,
            "privacy_loss": {
                "flavor": "pure differential privacy",
                "epsilon": study.epsilon,
                "delta": 0.0,
                "neighbors": NEIGHBOURS,
            },
            "shuffled": None if self.shuffled is None else self.shuffled.to_dict(),
            "best_guesses": [
                {"name": e.name, "if_asked": e.best_guess, "by_chance": e.chance}
                for e in self.statement.exposures
            ],
            "mechanism": self.mechanism(),
            "accounting": ACCOUNTING[self.statement.drawn],
            "duration": {
                "opens": _moment(self.hours.opens),
                "closes": _moment(self.hours.closes),
                "reports_per_person": 1,
            },
            "software": self.software,
            "compared": [deployment.to_dict() for deployment in self.compared],
            "words": self.words(),
        }

    def cost(self) -> list[str]:
        """What taking part costs, in sentences."""
        lines = [
            f"One respondent spends epsilon = {self.study.epsilon:.6g} in all, against everyone "
            "who sees the report, the collector included.",
            *self.statement.words()[:1],
            *public_words(self.study.schema.public),
        ]
        if self.shuffled is not None:
            lines.append(self.shuffled.sentence())
        return lines

    def words(self) -> list[str]:
        """The same, next to what others have chosen."""
        return [*self.cost(), *(f"Compare: {other.words()}." for other in self.compared)]

    def rows(self) -> list[tuple[str, str]]:
        """What the card states, line by line: a name and a text."""
        study, loss = self.study, self.shuffled
        kinds = dict.fromkeys(entry["name"] for entry in self.mechanism())
        blocks = len(study.design.hidden)
        asked = (
            f"one of {blocks} sets of questions, drawn" if self.statement.drawn else "everything"
        )
        opens, closes = _moment(self.hours.opens), _moment(self.hours.closes)
        lasts = f"{opens or 'from the start'} to {closes or 'no end set'}"
        central = "not stated: it depends on how many take part (-n)"
        if loss is not None:
            central = (
                f"{up_to_digits(loss.epsilon)} with delta {loss.delta:g}, if {loss.n:,} take part "
                "and only all reports together are seen, without order or time"
            )
        return [
            ("study", study.name),
            ("digest", study.digest),
            ("collected", ", ".join(_name_and_size(a) for a in study.schema)),
            ("unit of privacy", UNIT),
            ("trusted", TRUST),
            ("epsilon, local", f"{study.epsilon:.6g}, against everyone"),
            ("epsilon, shuffled", central),
            ("mechanism", "; ".join(kinds)),
            ("each is asked", asked),
            ("accounting", ACCOUNTING[self.statement.drawn]),
            ("duration", f"{lasts if opens or closes else 'no dates set'}; one report a person"),
            ("software", self.software or "castell"),
        ]

    def guesses(self) -> list[tuple[str, str, str]]:
        """For each attribute how often the best guess is right, with the report and without."""
        return [
            (e.name, ("" if e.exact else "at most ") + share(e.best_guess), share(e.chance))
            for e in self.statement.exposures
        ]

    def __repr__(self) -> str:
        return one_line("Card", f"of {self.study.name!r}", self.study.facts())

    def __str__(self) -> str:
        wide = max(len(name) for name, _ in self.rows())
        table = [f"{name:<{wide}}  {text}" for name, text in self.rows()]
        return "\n".join([*table, "", *self.words()])


def card(
    study: Study,
    n: int | None = None,
    *,
    delta: float = DELTA,
    hours: OpeningHours = ALWAYS,
    software: str = "",
) -> Card:
    """The record of a study; with `n` people, what they spend after shuffling as well.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("smokes", ["no", "yes"])]), epsilon=1.0, name="tiny")
    >>> card(study).to_dict()["privacy_loss"]["flavor"]
    'pure differential privacy'
    """
    check_hides_answers(study.design)
    loss = None if n is None else shuffled(study, n, delta)
    return Card(study, study.statement(), hours, loss, software)


def _name_and_size(attribute: Attribute) -> str:
    return f"{attribute.name} ({attribute.size}{', public' * attribute.public})"


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
