#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""For those who run `nox`: the same as make, which sets up its own environment."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"


@nox.session
def check(session: nox.Session) -> None:
    """Format, lint and types."""
    session.run("make", "check", external=True)


@nox.session
def test(session: nox.Session) -> None:
    """Every check and every test."""
    session.run("make", "test", external=True)


if __name__ == "__main__":
    nox.main()
