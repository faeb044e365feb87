"""The cells of a table as the records a chart is made from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.results.joint import JointEstimate


def records_of(joint: JointEstimate, level: float, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
    """A record for each of some cells: its values v0, v1, ..., its numbers and its name."""
    columns = joint.columns(level, rows)
    labels = list(columns)[: len(joint.names)]
    records = []
    for i in range(len(rows)):
        values = [str(columns[name][i]) for name in labels]
        record: dict[str, Any] = {f"v{k}": value for k, value in enumerate(values)}
        for name in ("probability", "standard_error", "lower", "upper"):
            record[name] = float(columns[name][i])
        record["cell"] = " / ".join(values)
        records.append(record)
    return records


def tooltip(alt: Any, joint: JointEstimate) -> list[Any]:
    names = [alt.Tooltip(f"v{k}:N", title=a.name) for k, a in enumerate(joint.attributes)]
    numbers = (("probability", "share"), ("lower", "from"), ("upper", "to"))
    return [*names, *(alt.Tooltip(f"{key}:Q", title=text, format=".2%") for key, text in numbers)]
