"""A collector's watch over its stages: when one is full, the next is planned.

Collecting goes on meanwhile, and whatever becomes of the plan. One that fails is tried again later.
What is logged and counted names the size of the stage, never how many reports there are.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from itertools import pairwise

from castell.collector.background import to_its_end
from castell.collector.metrics import Tally
from castell.collector.settings import Staging
from castell.collector.stage_planning import PlanningError, PlanningProcess
from castell.collector.store.store import Store, StoreError

# Seconds between two looks at the number of reports, and the share of the time they may take.
LOOK_EVERY, SHARE = 1.0, 0.02
# Seconds until a plan that failed is tried again: twice as long each time.
FIRST_WAIT, LONGEST_WAIT = 60.0, 3600.0

_LOG = logging.getLogger("castell")


class StageWatch:
    """Has each stage planned that is due. `failing`: the last plan could not be made."""

    def __init__(
        self,
        store: Store,
        staging: Staging,
        tally: Tally,
        planner: PlanningProcess | None = None,
    ) -> None:
        self._store, self._staging, self._tally = store, staging, tally
        self._planner = planner or PlanningProcess()
        self.failing = False

    async def keep(self) -> None:
        """Plan stage after stage; until cancelled, or all are planned."""
        for end, then in pairwise(self._staging.ends):
            await self._until_full(end)
            wait = FIRST_WAIT
            while not await self._make_plan(end, then - end):
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)

    def close(self) -> None:
        self._planner.close()

    async def _until_full(self, end: int) -> None:
        rest = 0.0
        while True:
            await asyncio.sleep(rest)
            start = time.monotonic()
            with suppress(StoreError):  # away for a moment: it is looked at again
                if await to_its_end(lambda: self._is_due(end)):
                    return
            rest = max(LOOK_EVERY, (time.monotonic() - start) / SHARE)

    def _is_due(self, end: int) -> bool:
        return end in self._store.plans() or self._store.count() >= end

    async def _make_plan(self, end: int, n: int) -> bool:
        """Whether the plan due at so many reports is made, now or before."""
        try:
            if await to_its_end(lambda: end in self._store.plans()):
                self.failing = False
                return True
            self._tally.gauges["planning"] = 1
            became = await asyncio.to_thread(self._planner.plan, self._staging, n, end)
        except (PlanningError, StoreError) as error:
            self.failing = True
            self._tally.plans["failed"] += 1
            _LOG.error(
                "castell: the stage after %s reports could not be planned, and is tried again "
                "later; collecting goes on with the present one: %s",
                f"{end:,}",
                error,
            )
            return False
        finally:
            self._tally.gauges["planning"] = 0
        self.failing = False
        self._tally.plans[became] += 1
        words = "is published" if became == "published" else "would do no better: it is not changed"
        _LOG.warning("castell: %s reports are in, and the next stage %s", f"{end:,}", words)
        return True
