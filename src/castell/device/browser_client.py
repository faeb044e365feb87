"""Where the browser's side of the device lies."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
# In the wheel the client lies with the collector that serves it, in a clone at the top.
_PLACES = (_PACKAGE / "collector" / "client", _PACKAGE.parents[1] / "client")
CLIENT = next((path for path in _PLACES if path.is_dir()), _PLACES[0])
