"""What a collector says of itself when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castell.collector.opening_hours import Opening, Phase
from castell.collector.results.release import Schedule, schedule_of
from castell.collector.served_studies import Plan
from castell.collector.settings import State
from castell.collector.store.store import hour_text, this_hour
from castell.collector.store_places import without_password
from castell.study.collection_table import OpeningHours


def startup_document(plan: Plan, address: str, token: str | None) -> dict[str, Any]:
    """For programs."""
    made = {} if token is None else {"token": token}
    studies = {
        name: {"store": without_password(one.place), "study": one.study.digest}
        for name, one in plan.studies.items()
    }
    if plan.is_one:
        return {"address": address, **studies[""], **made}
    return {
        "address": address,
        "studies": [{"address": f"{address}/{name}", **about} for name, about in studies.items()],
        **made,
    }


def announcement(
    plan: Plan, states: Mapping[str, State], address: str, token: str | None
) -> list[str]:
    """For people, line by line. A token that was given is not shown."""
    shown = f"token    {token or '(the one given)'}"
    lines = [] if plan.is_one else [shown]
    for name, one in plan.studies.items():
        place = f"{address}/{name}" if name else address
        lines += ["", f"study    {one.study.name}"] if name else []
        released = _next_release(schedule_of(states[name].settings))
        lines += [f"survey   {place}/", f"results  {place}/results{released}"]
        lines += [shown] if plan.is_one else []
        store = states[name].store
        lines.append(f"store    {without_password(one.place)}, {store.count():,} reports")
        rules = store.rules()
        if rules.invited:
            lines.append("invited  each report needs an invitation (castell invite)")
        lines += _hours(Opening(one.hours).phase(paused=rules.paused), one.hours)
    return lines


def _hours(phase: Phase, hours: OpeningHours) -> list[str]:
    words = {
        Phase.NOT_OPEN_YET: [f"opens    {hours.opens}"],
        Phase.PAUSED: ["paused   no reports are taken (castell resume)"],
        Phase.CLOSED: [f"closed   {hours.closes}: no reports are taken"],
        Phase.OPEN: [f"closes   {hours.closes}"] if hours.closes else [],
    }
    return words[phase]


def _next_release(schedule: Schedule | None) -> str:
    if schedule is None:
        return ""
    due = schedule.next(this_hour())
    if due is None:
        return ", which change no more"
    return f", every {schedule.hours} hours: next {hour_text(due)}"
