"""The two answers for those who run a collector: is it well, and how much of what there was."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from castell.collector.health import Health
from castell.collector.metrics import Now, Tally, prometheus
from castell.collector.responses import json_answer
from castell.collector.results.worker import ResultsWorker
from castell.collector.stage_watch import StageWatch
from castell.collector.store.store import Store, StoreError
from castell.collector.store_file import last_backup, store_bytes
from castell.collector.writer import Writer


@dataclass(frozen=True)
class Operations:
    store: Store
    writer: Writer
    results: ResultsWorker
    health: Health
    tally: Tally
    stages: StageWatch | None = None

    async def healthz(self, request: Request) -> Response:
        del request
        if await self.health.good():
            # Reports are taken all the same.
            failing = self.stages is not None and self.stages.failing
            more = {"stage": "the next stage could not be planned"} if failing else {}
            return json_answer({"status": "ok", **more})
        return json_answer({"status": "the store fails"}, 503)

    async def metrics(self, request: Request) -> Response:
        del request
        good = await self.health.good()
        # A database that does not answer is not asked for more.
        reports = await asyncio.to_thread(self._count) if good else None
        now = Now(
            queue=self.writer.queue,
            questions=self.results.waiting,
            good=good,
            reports=reports,
            stages=len(self.store.stages),
            store_bytes=store_bytes(self.store),
            last_backup=last_backup(self.store),
        )
        return PlainTextResponse(
            prometheus(self.tally, now), media_type="text/plain; version=0.0.4"
        )

    def _count(self) -> int | None:
        try:
            return self.store.count()
        except StoreError:
            return None
