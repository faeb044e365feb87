"""castell send, against a real collector."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from castell.cli.answers_at_terminal import answers_from_text
from castell.errors import OptionError
from tests.collecting import GOOD, TELEMETRY, collecting, scripted

PROGRAM = str(Path(sys.executable).with_name("castell"))
MAC = "os=mac\ncrashes=none\n"


def castell(*arguments: str, home: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "send", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CASTELL_HOME": str(home)},
    )


def test_castell_send(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with collecting(TELEMETRY, tmp_path) as running:
        told = castell(running.url, "--dry-run", home=home)
        assert told.returncode == 0, told.stderr
        assert told.stdout.startswith("this device is asked for os, crashes\n")
        assert "would cost epsilon 2; nothing was asked, drawn or sent" in told.stdout
        assert "codes" not in told.stdout
        assert running.codes() == []
        plain = castell(running.url, home=home, given=MAC)
        assert plain.returncode == 0, plain.stderr
        assert "stored. Spent on this study: 2\n" in plain.stdout
        (codes,) = running.codes()
        assert plain.stdout.startswith("left this device: {")
        assert f'"codes":[{codes[0]},{codes[1]}]' in plain.stdout
        # Other answers later: the first report stands, and nothing leaves.
        for answers in (MAC, '{"os": "linux", "crashes": "many"}'):
            again = castell(running.url, "--json", home=home, given=answers)
            assert again.returncode == 0, again.stderr
            printed = json.loads(again.stdout)
            assert tuple(printed["report"]["codes"]) == codes
            assert (printed["sent"], printed["first_stands"]) == (False, True)
            assert printed["spent"] == printed["spent_on_all_studies"] == running.study.epsilon
        looked = castell(running.url, "--dry-run", "--json", home=home)
        assert json.loads(looked.stdout)["cost"] == 0.0
        said = castell(running.url, home=home, given=MAC)
        assert "it stands until the study's end, whatever would be answered now" in said.stdout
        assert "nothing was sent. Spent on this study: 2\n" in said.stdout
        assert "left this device" not in said.stdout
        assert running.codes() == [codes]


def test_a_report_that_was_refused_is_the_one_that_is_sent_again(tmp_path: Path) -> None:
    refusal = (403, {"error": "each report needs an invitation"})
    with scripted(refusal, GOOD) as collector:
        first = castell(collector.url, home=tmp_path, given=MAC)
        assert "each report needs an invitation" in first.stderr
        # Nothing is asked: another answer would change nothing.
        again = castell(collector.url, "--invitation", "a" * 20, home=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "stored. Spent on this study: 2\n" in again.stdout
    one, two = (json.loads(body) for body in collector.bodies)
    assert two == {**one, "invitation": "a" * 20}


def test_what_did_not_arrive_is_not_shown(tmp_path: Path) -> None:
    """Who sees a report that can still be sent could decide by it."""
    with scripted((403, {"error": "each report needs an invitation"})) as collector:
        ran = castell(collector.url, home=tmp_path, given=MAC)
    (body,) = collector.bodies
    assert ran.returncode == 1
    assert json.loads(body)["id"] not in ran.stdout + ran.stderr


def at_a_terminal(url: str, home: Path, typed: bytes) -> tuple[int, str]:
    person, terminal = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, "send", url],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CASTELL_HOME": str(home)},
    ) as process:
        os.write(person, typed)
        out, _ = process.communicate()
    os.close(person)
    os.close(terminal)
    return process.returncode, out


def test_a_study_may_show_reports_before_they_are_sent(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        collector.study = type(collector.study).from_toml('review = "before"\n' + TELEMETRY)
        code, out = at_a_terminal(collector.url, tmp_path / "one", b"mac\nnone\nn\n")
        assert (code, collector.bodies) == (1, [])
        assert "would leave this device: {" in out
        assert out.endswith("nothing was sent\n")
        code, out = at_a_terminal(collector.url, tmp_path / "two", b"mac\nnone\ny\n")
    (body,) = collector.bodies
    assert code == 0
    assert f"would leave this device: {body}\n" in out


def test_consent_is_asked_for_and_thanks_are_said(tmp_path: Path) -> None:
    words = 'consent = "I take part."\nthanks = "Thank you."\n'
    with scripted(GOOD) as collector:
        collector.study = type(collector.study).from_toml(words + TELEMETRY)
        code, _ = at_a_terminal(collector.url, tmp_path / "one", b"n\n")
        assert (code, collector.bodies) == (1, [])
        code, out = at_a_terminal(collector.url, tmp_path / "two", b"y\nmac\nnone\n")
    assert code == 0
    assert "\nThank you.\n" in out
    assert len(collector.bodies) == 1


def test_a_program_sends_nothing_without_consent(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        collector.study = type(collector.study).from_toml('consent = "I take part."\n' + TELEMETRY)
        looked = castell(collector.url, "--dry-run", home=tmp_path)
        assert "it asks for consent: I take part.\n" in looked.stdout
        refused = castell(collector.url, home=tmp_path, given=MAC)
        assert (refused.returncode, collector.bodies) == (1, [])
        assert refused.stderr == (
            "castell: this study asks for your consent (I take part.): add --agree if you do; "
            "nothing was sent\n"
        )
        agreed = castell(collector.url, "--agree", home=tmp_path, given=MAC)
    assert agreed.returncode == 0, agreed.stderr
    assert len(collector.bodies) == 1


def test_of_very_many_values_the_first_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from castell import Attribute, Schema, Study
    from castell.cli import answers_at_terminal

    study = Study(Schema([Attribute("n", range(1000))]), 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.prompt", lambda *_, **__: "999")
        assert answers_at_terminal.ask(study, ["n"]) == {"n": "999"}
    assert capsys.readouterr().err.endswith("| 28 | 29 | and 970 more]\n")


def test_what_several_studies_cost_adds_up(tmp_path: Path) -> None:
    with scripted(GOOD) as one, scripted(GOOD) as two:
        two.study = type(two.study).from_toml(TELEMETRY.replace("2.0", "3.0"))
        assert castell(one.url, home=tmp_path, given=MAC).returncode == 0
        told = castell(two.url, home=tmp_path, given=MAC)
    assert "Spent on this study: 3, on all studies of this device: 5" in told.stdout


def test_a_person_at_a_terminal_is_asked(tmp_path: Path) -> None:
    """The questions go to the error stream, so that JSON for programs stays clean."""
    person, terminal = pty.openpty()
    env = {**os.environ, "CASTELL_HOME": str(tmp_path)}
    with (
        scripted(GOOD) as collector,
        subprocess.Popen(
            [PROGRAM, "send", collector.url, "--json"],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        ) as process,
    ):
        os.write(person, b"mcc\nmac\nnone\n")
        out, err = process.communicate()
    os.close(person)
    os.close(terminal)
    assert process.returncode == 0, err
    assert "os  [linux | mac | windows]" in err
    assert "'mcc' is not a value of 'os': did you mean 'mac'?" in err
    assert "crashes  [none | some | many]" in err
    assert json.loads(out)["sent"]
    assert len(collector.bodies) == 1


def test_answers_on_the_command_line_are_refused_and_not_repeated(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        ran = castell(collector.url, "os=mac", "crashes=none", home=tmp_path, given=MAC)
    assert ran.returncode == 1
    assert "the shell's history: give the address alone and answer when asked" in ran.stderr
    assert "mac" not in ran.stderr
    assert collector.bodies == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ("", [], "this device is asked for os=..., crashes=..."),
        ("os\n", [], "'os' is not name=value"),
        ("os=mac\nos=mac", [], "'os' is answered twice"),
        ("os=macc\ncrashes=none", [], "did you mean 'mac'"),
        ('{"os": "macc", "crashes": "none"}', [], "did you mean 'mac'"),
        ('{"os": ', [], "not valid JSON"),
        (MAC, ["--limit", "1"], "the limit is 1, so it was not sent"),
        (MAC, ["--limit", "nan"], "give a number above 0"),
        (MAC, ["--invitation", "abc"], "'abc' is no invitation"),
    ],
)
def test_castell_send_refuses_in_one_line(
    given: str, options: list[str], message: str, tmp_path: Path
) -> None:
    with scripted(GOOD) as collector:
        ran = castell(collector.url, *options, home=tmp_path, given=given)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert collector.bodies == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=mac", "not name=value"),
        ("os=", "not name=value"),
        ('{"os": "mac", "os": "linux"}', "'os' is answered twice"),
        ('{"os": ["mac"]}', "the answer to 'os' is no value"),
        ('{"os": null}', "the answer to 'os' is no value"),
        ('{"os": "mac"} {"os": "mac"}', "not valid JSON"),
    ],
)
def test_answers_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        answers_from_text(text)


def test_answers_as_lines_and_as_json() -> None:
    assert answers_from_text("os = mac\n\n crashes=a=b\n") == {"os": "mac", "crashes": "a=b"}
    assert answers_from_text(' {"age": 60, "os": "mac"}\n') == {"age": 60, "os": "mac"}
    assert answers_from_text("\n") == {}
