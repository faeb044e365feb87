"""Pictures of estimates, as Vega-Lite: one description for notebooks, files and pages."""

from __future__ import annotations

from typing import Any

from castell.errors import QueryError
from castell.linear.operators import Floats
from castell.results.bars import bars
from castell.results.canvas import USUAL_ROOM, Canvas, load_altair, paint
from castell.results.chart_data import ChartData
from castell.results.heat_map import heat_map
from castell.results.joint_protocol import LabelledTable


def plot(joint: LabelledTable, level: float, title: str | None, truth: Floats | None = None) -> Any:
    """Bars for one attribute, a heat map for two, a heat map for each value of the first of three.

    Where values are too many or too long for a heat map, bars of the largest cells. `truth`, where
    somebody has it, is marked on bars.
    """
    load_altair()
    if len(joint.names) > 3:
        raise QueryError(
            f"a picture of {len(joint.names)} attributes is no longer one",
            "project() the table on three or fewer first",
        )
    heading = title or f"Estimated distribution of {' x '.join(joint.names)}"
    data = ChartData.of(joint, level)
    return paint(usual_canvas(data, USUAL_ROOM, truth), data, heading)


def usual_canvas(data: ChartData, room: float, truth: Floats | None = None) -> Canvas:
    """A heat map where two or three attributes can be read as one, else bars."""
    found = heat_map(data, room) if len(data.labels) in (2, 3) else None
    return found or bars(data, room, truth)


def plot_against(joint: LabelledTable, truth: Floats, *, level: float = 0.95, title: str) -> Any:
    """Every cell's estimate and interval next to the true share: how well it went."""
    data = ChartData.of(joint, level)
    return paint(bars(data, USUAL_ROOM, truth), data, title)
