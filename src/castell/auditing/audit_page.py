"""An audit as a page to hand over."""

from __future__ import annotations

from html import escape

from castell.auditing.verdict import Audit
from castell.display.record_page import record_page, record_table

# What it means, for whoever reads the page alone.
MEANING = (
    "Devices were asked for reports of two sets of answers. The event that tells the two apart "
    "best was chosen on some of the reports and counted in others. How much likelier it is under "
    "the one than under the other is a lower bound of epsilon that assumes nothing of the device.",
    "A lower bound above the stated epsilon proves that the device gives away more than it should. "
    "A bound below it proves nothing, so reports were also compared with the published weights, "
    "with those of other devices, and with what the same device says when it is asked again.",
    "Reports were made and looked at here. None was sent.",
)


def audit_page(audit: Audit, software: str = "") -> str:
    """The whole page."""
    study = audit.study
    title = escape(study.text.title or study.name)
    facts = [
        ("study", study.name),
        ("digest", study.digest),
        ("device", audit.device),
        ("devices asked", f"{audit.n:,}"),
        ("epsilon, stated", f"{audit.epsilon:.6g}"),
        ("epsilon, at least", f"{audit.lower:.6g}, whatever the device does"),
        ("confidence", f"{audit.confidence:g}, for all bounds at once"),
        ("software", software or "castell"),
    ]
    if audit.whole is not None:
        told = f"{audit.lower_if_independent:.6g}, if the parts of a report are independent"
        facts.insert(6, ("epsilon, at least", told))
    checks = [(c.name, "ok" if c.passed else "FAIL", c.told) for c in audit.checks]
    parts = [
        f"<h1>{title}</h1>",
        '<p class="muted">Audit: whether a device gives away what the study states, and no '
        "more</p>",
        f'<p class="cost">{escape(audit.verdict())}</p>',
        *(f"<p>Also: {escape(text)}.</p>" for text in audit.failures[1:]),
        "<h2>What was measured</h2>",
        record_table(
            ["part of a report", "epsilon, stated", "at least, measured", "if the device is right"],
            audit.rows(),
        ),
        "<h2>What was checked</h2>",
        record_table(["check", "result", "seen"], checks),
        "<h2>The record</h2>",
        record_table([], facts),
        "<h2>How to read it</h2>",
        *(f"<p>{escape(text)}</p>" for text in MEANING),
    ]
    return record_page(f"{study.text.title or study.name}: audit", parts)
