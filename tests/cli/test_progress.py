"""The progress bar waits, draws on a terminal only, and never on standard output."""

from __future__ import annotations

import pytest

from castell.cli import progress


def _work(capsys: pytest.CaptureFixture[str], *, quiet: bool = False) -> tuple[str, str]:
    with progress.progress_bar("counting", quiet=quiet) as tell:
        for step in range(11):
            tell(step / 10)
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_quick_work_and_pipes_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert _work(capsys) == ("", "")


def test_long_work_on_a_terminal_shows_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    out, err = _work(capsys)
    assert out == ""
    assert "counting" in err
    assert _work(capsys, quiet=True) == ("", "")
