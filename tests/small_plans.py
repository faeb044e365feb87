"""Plans of a next stage from little: for tests in which what is planned means nothing."""

from __future__ import annotations

import pytest

from castell.planning import bootstrap_models, candidates, design_share, next_stage_planner


def plan_from_little(patch: pytest.MonkeyPatch) -> None:
    """Plans as always, from fewer synthetic people, models and trees: seconds instead of many."""
    patch.setattr(next_stage_planner, "PEOPLE", 1000)
    patch.setattr(design_share, "PEOPLE", 1000)
    patch.setattr(bootstrap_models, "MODELS", 2)
    patch.setattr(next_stage_planner, "MOST_REPEATS", 2)
    patch.setattr(candidates, "TREES", 20)
