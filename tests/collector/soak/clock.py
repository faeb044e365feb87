"""`python -m tests.collector.soak.clock FILE serve ...`: `castell serve` with a clock that jumps.

The file holds the seconds by which its clock is off, and may be changed while it runs. All that a
collector asks the time of day by is `time.time`; what waits goes by another clock.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

_true = time.time


def set_clock(file: Path) -> None:
    def now() -> float:
        return _true() + float(file.read_text(encoding="ascii") or 0)

    time.time = now


if __name__ == "__main__":
    set_clock(Path(sys.argv.pop(1)))
    from castell.cli.app import main

    main()
