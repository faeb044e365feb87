"""A correction (`castell correct`) or the next stage is published without a restart.

The collector looks into its store every second. What was changed there is published by one exchange
of all that is made from the study: the page, the published study, the description, the digests that
reports may name. No request sees some of it old and some of it new. Pages that are open with the
words or the stage before go on with them: their digest stays one of those that are taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.types import ASGIApp

from castell.collector.background import to_its_end
from castell.collector.intake import Intake
from castell.collector.store.store import Store, StoreError
from castell.collector.wire import Wire, wire_of

# Seconds between two looks. A look reads one row.
LOOK_EVERY = 1.0


async def keep_published(store: Store, intake: Intake, make: Callable[[Wire], ASGIApp]) -> None:
    """Publish each change of the store's study as it is found; until cancelled.

    `make` makes what answers all requests but reports.
    """
    while True:
        await asyncio.sleep(LOOK_EVERY)
        with suppress(StoreError):  # away for a moment: it is looked at again
            study = await to_its_end(store.look_again)
            if study.digest != intake.wire.study.digest:
                wire = wire_of(*store.stages, most=intake.wire.most)
                app = await asyncio.to_thread(make, wire)
                intake.publish(wire, app)
