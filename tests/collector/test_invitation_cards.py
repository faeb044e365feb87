"""Invitations as links, tables, QR codes and cards."""

from __future__ import annotations

import csv
import io
import stat
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from castell import Attribute, Study
from castell.collector.invitation_cards import check_url, qr_files, sheet, table
from castell.collector.store import Submission, open_store
from castell.collector.store.invitations import new_invitation
from castell.errors import OptionError
from castell.study.texts import StudyText
from tests.collector.respondents import STUDY, pair
from tests.collector.test_commands import castell, fails

URL = "https://example.org/survey/"


@pytest.mark.parametrize(
    "url",
    ["example.org", "http://example.org/", "https://", "https://a.example/#x", "javascript:1",
     "https://a.example/a b", "https://ä.example/", "ftp://a.example/", "https://[a/"],
)  # fmt: skip
def test_an_address_that_is_no_page_is_refused(url: str) -> None:
    with pytest.raises(OptionError, match="https://"):
        check_url(url)


def test_a_machine_of_ones_own_needs_no_https() -> None:
    assert check_url("http://localhost:8000/") == "http://localhost:8000/"


def test_the_table_has_a_link_for_each_code() -> None:
    codes = [new_invitation() for _ in range(3)]
    rows = list(csv.DictReader(io.StringIO(table(codes, URL))))
    assert [row["code"] for row in rows] == codes
    assert [row["link"] for row in rows] == [f"{URL}#invitation={code}" for code in codes]
    assert table(codes, None).splitlines()[0] == "number,code"


def test_a_qr_code_is_that_of_the_link_and_its_name_tells_nothing() -> None:
    import segno

    codes = [new_invitation() for _ in range(12)]
    files = dict(qr_files(codes, URL))
    assert list(files)[:2] == ["01.svg", "02.svg"]
    # Read the dots back from the picture and compare with the matrix of the link.
    wanted = segno.make(f"{URL}#invitation={codes[0]}", error="m", micro=False).matrix
    assert dots(files["01.svg"]) == {
        (x + 4, y + 4) for y, row in enumerate(wanted) for x, dark in enumerate(row) if dark
    }


def dots(svg: str) -> set[tuple[int, int]]:
    """The dark squares of a QR code, from the strokes of its path: M x y, h length, m dx dy."""
    paths = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")  # noqa: S314
    (drawn,) = [path.get("d") or "" for path in paths if path.get("stroke")]
    found, x, y = set(), 0.0, 0.0
    for step in drawn.replace("M", " M").replace("m", " m").replace("h", " h").split(" "):
        if step.startswith(("M", "m")):
            pending = [float(step[1:])]
        elif step.startswith("h"):
            length = float(step[1:])
            found |= {(round(x) + k, round(y - 0.5)) for k in range(int(length))}
            x += length
        elif step:
            dx, dy = pending[0], float(step)
            x, y = (dx, dy) if not found and (x, y) == (0, 0) else (x + dx, y + dy)
    return found


def test_cards_say_the_title_and_the_code_and_load_nothing() -> None:
    text = StudyText(title="Wie <geht> es?", language="de")
    study = Study([Attribute("a", ["x", "y"])], epsilon=1.0, text=text)
    codes = [new_invitation() for _ in range(4)]
    page = sheet(study, codes, URL)
    assert page.count("<article>") == page.count("<svg") == 4
    assert "Wie &lt;geht&gt; es?" in page
    assert "geben Sie diesen Code ein" in page
    assert all(f"{code[:5]} {code[5:10]}" in page for code in codes)
    assert "src=" not in page
    assert "<script" not in page


# -- on the command line ---------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.json"
    path.write_text(STUDY.to_json(), encoding="utf-8")
    return path


def test_invite_writes_files_that_only_their_owner_reads(study: Path) -> None:
    folder = study.parent
    names = {name: folder / name for name in ("codes.csv", "qr", "cards.html")}
    said = castell(
        "invite", study, "3", "--url", URL, "--csv", names["codes.csv"], "--qr", names["qr"],
        "--sheet", names["cards.html"],
    )  # fmt: skip
    assert said.count("3 invitations; whoever has it can use them") == 3
    assert len(list(names["qr"].iterdir())) == 3
    for path in (names["codes.csv"], names["cards.html"], *names["qr"].iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = list(csv.DictReader(names["codes.csv"].read_text(encoding="utf-8").splitlines()))
    opened = open_store(study.with_suffix(".sqlite"), STUDY)
    assert all(opened.is_unused(row["code"]) for row in rows)
    opened.close()
    links = castell("invite", study, "2", "--url", URL).split()
    assert all(link.startswith(f"{URL}#invitation=") for link in links)


def test_nothing_is_overwritten_and_nothing_made_in_vain(study: Path) -> None:
    folder = study.parent
    (folder / "codes.csv").write_text("old codes")
    assert "is there already" in fails("invite", study, "1", "--csv", folder / "codes.csv")
    assert "give its address: --url" in fails("invite", study, "1", "--qr", folder / "qr")
    assert "is not https" in fails("invite", study, "1", "--url", "http://a.example/")
    (folder / "study.sqlite").write_text("dear diary", encoding="utf-8")
    assert "is no store" in fails("invite", study, "1", "--csv", folder / "new.csv")
    assert not (folder / "new.csv").exists()
    (folder / "study.sqlite").unlink()
    missing = folder / "no" / "cards.html"
    with pytest.raises(FileNotFoundError):
        castell("invite", study, "1", "--url", URL, "--csv", folder / "new.csv", "--sheet", missing)
    assert not (folder / "new.csv").exists()  # its codes would let nobody in
    assert "anybody may send" in castell("invitations", folder / "study.sqlite")


def test_used_ones_are_not_counted(place: str) -> None:
    """On both stores, and while the report that used one still waits in the spool."""
    codes = [new_invitation() for _ in range(11)]
    with closing(open_store(place, STUDY)) as store:
        store.invite(codes)
        assert "10 or more" in castell("invitations", place)
        for code in codes[:2]:
            store.add([Submission((pair(),), code)])
        assert "fewer than 10" in castell("invitations", place)
        for code in codes[2:]:
            store.add([Submission((pair(),), code)])
        assert "none: nobody else" in castell("invitations", place)


@pytest.mark.parametrize(
    ("made", "told"),
    [("3", "fewer than 10"), ("10", "10 or more"), ("29", "20 or more")],
)
def test_unused_invitations_are_counted_in_steps(study: Path, made: str, told: str) -> None:
    castell("invite", study, made)
    assert told in castell("invitations", study.with_suffix(".sqlite"))
    assert '"step": 10' in castell("invitations", study.with_suffix(".sqlite"), "--json")
