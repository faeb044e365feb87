"""People who do not exist, with habits that hang together: for the demo and for trying things out.

A small health survey. Age drives education, smoking and health; smoking and exercise drive health;
so every pair of answers is associated, some strongly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.study.schema import Attribute, Schema

SCHEMA = Schema(
    [
        Attribute("age", ["18-29", "30-44", "45-59", "60+"], "How old are you?"),
        Attribute("region", ["north", "east", "south", "west"], "Where do you live?"),
        Attribute("education", ["school", "trade", "college", "university"], "Your education?"),
        Attribute("smokes", ["never", "before", "now"], "Do you smoke?"),
        Attribute("exercise", ["rarely", "weekly", "daily"], "How often do you exercise?"),
        Attribute("health", ["poor", "fair", "good", "excellent"], "How is your health?"),
    ]
)


def health_survey(people: int, seed: int = 1) -> dict[str, NDArray[Any]]:
    """The answers of some people, a column of labels for each attribute.

    >>> answers = health_survey(1000)
    >>> sorted(answers), len(answers["age"])
    (['age', 'education', 'exercise', 'health', 'region', 'smokes'], 1000)
    """
    rng = np.random.default_rng(seed)

    def choose(*scores: NDArray[Any]) -> NDArray[np.intp]:
        """A choice for each person, likelier the higher its score (a logit for each value)."""
        table = np.stack(np.broadcast_arrays(*scores), axis=1)
        return np.asarray((table + rng.gumbel(size=(people, len(scores)))).argmax(axis=1))

    none = np.zeros(people)
    age = choose(none - 0.1, none + 0.1, none + 0.1, none)
    region = choose(none, none + 0.3, none - 0.2, none + 0.1)
    city = 0.3 * (region == 1)
    education = choose(0.35 * age - 0.4, none + 0.2, 0.4 - 0.15 * age, 0.5 - 0.35 * age + city)
    smokes = choose(1.0 + 0.25 * education - 0.1 * age, 0.45 * age - 0.5, 0.3 - 0.35 * education)
    exercise = choose(0.3 * age + 0.8 * (smokes == 2), none + 0.6, 0.2 * education - 0.2 * age)
    wellness = 0.7 * exercise + 0.25 * education - 0.55 * age - 1.1 * (smokes == 2)
    health = choose(-0.6 - wellness, 0.6 - 0.4 * wellness, 0.9 + 0.4 * wellness, 0.1 + wellness)
    codes = {
        "age": age,
        "region": region,
        "education": education,
        "smokes": smokes,
        "exercise": exercise,
        "health": health,
    }
    return {a.name: np.array(a.values, dtype=object)[codes[a.name]] for a in SCHEMA}
