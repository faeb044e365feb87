"""The command line's verbs of collecting, as an operator types them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from castell.cli.app import app
from castell.collector.store import Submission, open_store
from castell.collector.store_places import has_password, resolve, without_password
from castell.errors import CastellError, OptionError
from tests.collector.process import Collector, collecting
from tests.collector.respondents import STUDY, pair, report


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    return tmp_path


@pytest.fixture
def filled(folder: Path) -> Path:
    path = folder / "study.sqlite"
    with closing(open_store(path, STUDY)) as store:
        store.add([Submission(tuple(pair() for _ in range(300)))])
    return path


def castell(*arguments: str | Path) -> str:
    ran = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def fails(*arguments: str | Path) -> str:
    with pytest.raises(CastellError) as caught:
        CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    return str(caught.value)


def call(url: str, document: Any = None, **headers: str) -> tuple[int, Any]:
    body = None if document is None else json.dumps(document).encode()
    asked = urllib.request.Request(url, body, {"content-type": "application/json", **headers})  # noqa: S310
    try:
        with urllib.request.urlopen(asked) as answer:  # noqa: S310
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_serve(folder: Path) -> None:
    with collecting(folder, "--port", "0") as made:
        address, token = made.told["address"], made.told["token"]
        assert made.told["study"] == STUDY.digest
        assert call(f"{address}/study.json") == (200, STUDY.to_json().encode())
        assert call(f"{address}/reports", report())[0] == 201
        assert call(f"{address}/metrics")[0] == 401
        assert call(f"{address}/metrics", authorization=f"Bearer {token}")[0] == 200
    # Beside the study, whole, with nothing left over; one report waits for others in the spool.
    kept = ["log", "study.json", "study.sqlite", "study.sqlite-spool"]
    assert sorted(p.name for p in folder.iterdir()) == kept
    with closing(open_store(folder / "study.sqlite")) as store:
        assert store.count() == 1
    assert (folder / "log").read_text(encoding="utf-8") == ""


def test_a_token_of_ones_own_is_not_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "my-own-token-0123456789"  # noqa: S105
    monkeypatch.setenv("CASTELL_TOKEN", token)
    with collecting(folder, "--port", "0") as made:
        assert "token" not in made.told
        url = f"{made.told['address']}/metrics"
        assert call(url, authorization=f"Bearer {token}")[0] == 200
        assert call(url)[0] == 401


def test_serve_from_postgresql(folder: Path, database: str) -> None:
    with collecting(folder, "--port", "0", "--store", database) as made:
        assert call(f"{made.told['address']}/reports", report())[0] == 201
        assert "castell:" not in json.dumps(made.told)
    assert castell("export", database, folder / "r.parquet") == (
        f"wrote {folder / 'r.parquet'}: 1 reports\n"
    )
    shown = json.loads(castell("estimate", folder / "study.json", database, "health", "--json"))
    assert shown["n"] == 1


def test_what_keeps_a_collector_from_starting(folder: Path) -> None:
    study = folder / "study.json"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = fails("serve", study, "--port", str(taken.getsockname()[1]))
        assert "take another port" in said
    assert "the token is short" in fails("serve", study, "--token", "short")
    assert "is not an origin" in fails("serve", study, "--origin", "*")
    assert "not a proxy's address" in fails("serve", study, "--proxy", "nginx")
    said = fails("serve", study, "--store", "mysql://me:secret@127.0.0.1/db")
    assert "write postgresql://" in said
    assert "secret" not in said
    (folder / "study.sqlite").write_text("dear diary", encoding="utf-8")
    assert "is no store" in fails("serve", study, "--port", "0")
    assert "there is no folder" in fails("serve", study, "--store", folder / "no" / "s.sqlite")
    with pytest.raises(RuntimeError, match=r"castell: .* is no store"):
        Collector(folder, "--port", "0")


def test_estimate_reads_a_store(folder: Path, filled: Path) -> None:
    study = folder / "study.json"
    from_store = json.loads(castell("estimate", study, filled, "sex", "smokes", "--json"))
    castell("export", filled, folder / "r.parquet")
    from_file = json.loads(
        castell("estimate", study, folder / "r.parquet", "sex", "smokes", "--json")
    )
    assert from_store == from_file
    assert from_store["n"] == 300


def test_export(folder: Path, filled: Path) -> None:
    out = folder / "r.parquet"
    assert json.loads(castell("export", filled, out, "--json")) == {
        "file": str(out),
        "reports": 300,
    }
    assert "--force" in fails("export", filled, out)
    castell("export", filled, out, "--force")
    assert ".parquet" in fails("export", filled, folder / "r.csv")
    assert "there is no store" in fails("export", folder / "no.sqlite", folder / "s.parquet")


def test_backup_and_restore(folder: Path, filled: Path) -> None:
    backup, new = folder / "backup.sqlite", folder / "new.sqlite"
    assert castell("backup", filled, backup) == f"wrote {backup}: 300 reports\n"
    assert json.loads(castell("restore", backup, new, "--json"))["reports"] == 300
    assert "there already" in fails("restore", backup, filled)


def test_backup_of_a_running_collector(folder: Path) -> None:
    with collecting(folder, "--port", "0") as made:
        call(f"{made.told['address']}/reports", report())
        assert "1 reports" in castell("backup", folder / "study.sqlite", folder / "b.sqlite")
        assert call(f"{made.told['address']}/reports", report())[0] == 201


def test_a_collection_can_be_invited_only_before_the_first_code_is_made(folder: Path) -> None:
    study = folder / "study.json"
    with collecting(folder, "--port", "0", "--invited") as server:
        url = f"http://127.0.0.1:{server.port}"
        assert call(f"{url}/reports", report())[0] == 403
        assert json.loads(call(f"{url}/collector.json")[1])["invitations"] is True
        code = castell("invite", study, "1").strip()
        assert call(f"{url}/reports", report(invitation=code))[0] == 201
    with collecting(folder, "--port", "0") as server:  # it stays so
        assert call(f"http://127.0.0.1:{server.port}/reports", report())[0] == 403


def test_results_come_once_a_day_unless_told_otherwise(folder: Path, filled: Path) -> None:
    assert filled.exists()
    for options, ready in (([], False), (["--release-every", "0"], True)):
        with collecting(folder, "--port", "0", *options) as server:
            told = f"http://127.0.0.1:{server.port}/results/api/overview"
            token = {"authorization": f"Bearer {server.told['token']}"}
            status, said = call(told, **token)
            assert (status, json.loads(said)["ready"]) == (200, ready)


def test_invite(folder: Path) -> None:
    study = folder / "study.json"
    codes = castell("invite", study, "3").split()
    assert len(set(codes)) == 3
    more = json.loads(castell("invite", study, "2", "--json"))["invitations"]
    with collecting(folder, "--port", "0") as made:
        url = f"{made.told['address']}/reports"
        for code in [*codes, *more]:
            assert call(url, report(invitation=code))[0] == 201
        assert call(url, report(invitation=codes[0]))[0] == 403
        # More of them, while it runs.
        assert call(url, report(invitation=castell("invite", study, "1").strip()))[0] == 201


def test_a_study_that_cannot_be_collected_leaves_no_store(folder: Path) -> None:
    study = folder / "filters.toml"
    study.write_text(
        'name = "filters"\nepsilon = 2.0\ndesign = "bloom"\n'
        '[[attribute]]\nname = "sex"\nvalues = ["f", "m"]\n',
        encoding="utf-8",
    )
    assert "collect with another design" in fails("serve", study, "--port", "0")
    assert not (folder / "filters.sqlite").exists()


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("starlette", ["serve", "study.json"]),
        ("msgspec", ["serve", "study.json"]),
        ("sqlalchemy", ["export", "postgresql://x/y", "r.parquet"]),
        ("psycopg", ["serve", "study.json", "--store", "postgresql://x/y", "--port", "0"]),
        ("psycopg", ["estimate", "study.json", "postgresql://x/y", "sex"]),
    ],
)
def test_a_missing_extra_is_named(folder: Path, missing: str, arguments: list[str]) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from castell.cli.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert f"needs {missing}" in ran.stderr
    assert ran.stderr.endswith("pip install 'castell[serve]'\n")


def test_passwords_are_not_shown() -> None:
    assert without_password("postgresql://me:p@ss@host/db") == "postgresql://...@host/db"
    assert without_password("study.sqlite") == "study.sqlite"
    assert without_password("odd@name.sqlite") == "odd@name.sqlite"
    assert without_password("postgresql://host/db?user=me&password=x") == "postgresql://host/db"


def test_what_is_a_password() -> None:
    assert has_password("postgresql://me:p@ss@host/db")
    assert has_password("postgresql://host/db?user=me&password=x")
    assert not has_password("postgresql://me@host:5432/db")
    assert not has_password("postgresql://host:5432/db")
    assert not has_password("me:p@ss.sqlite")


ADDRESS = "postgresql://me:secret-word@127.0.0.1:1/db"


@pytest.mark.parametrize(
    ("given", "environment", "warned"),
    [
        (["--store", ADDRESS], {}, True),
        ([], {"CASTELL_STORE": ADDRESS}, False),
        (["--store", "@address.txt"], {}, False),
        ([], {"CASTELL_STORE": "@address.txt"}, False),
    ],
)
def test_a_password_in_the_command_is_warned_of(
    folder: Path, given: list[str], environment: dict[str, str], warned: bool
) -> None:
    (folder / "address.txt").write_text(ADDRESS + "\n")
    ran = subprocess.run(
        [sys.executable, "-m", "castell", "serve", "study.json", "--port", "0", *given],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    # Nothing listens there: all of them got as far as asking the server.
    assert ran.returncode == 1
    assert "the database does not do it" in ran.stderr
    assert ("list of processes" in ran.stderr) is warned
    assert "secret-word" not in ran.stderr + ran.stdout


def test_other_verbs_read_the_address_from_a_file_too(folder: Path) -> None:
    (folder / "address.txt").write_text(ADDRESS)
    for words in (
        ["export", "@address.txt", "x.parquet"],
        ["backup", "@address.txt", "x.sqlite"],
        ["estimate", "study.json", "@address.txt", "sex"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "castell", *words], cwd=folder, capture_output=True, text=True
        )
        assert "the database does not do it" in ran.stderr, words


def test_a_file_without_an_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be read"):
        resolve(f"@{tmp_path / 'none.txt'}")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(OptionError, match="is empty"):
        resolve(f"@{tmp_path / 'empty.txt'}")
