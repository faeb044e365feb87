"""Scripts and styles of the survey page as one file each."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from castell.collector.browser_channels import CLIENT
from castell.collector.page_bundle import one_script, one_style
from castell.collector.survey_page import PAGES
from tests.collector.respondents import collector

FOLDERS = {"client": CLIENT, "survey": PAGES / "survey"}


def test_modules_are_joined_in_the_order_they_need_each_other(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.js").write_text(
        '// Why.\nimport { b as c } from "./sub/b.js";\nimport * as d from "./d.js";\n\n'
        'start(c, d); // goes\nconst text = "; // stays";\nconst more = "; // it stays"; // goes\n'
        "const e = /** @type {Map<string, d.E>} */ (c());\n"
    )
    (tmp_path / "sub" / "b.js").write_text(
        'import { d } from "../d.js";\n\n/**\n * What.\n */\nexport function b() {}\n'
    )
    (tmp_path / "d.js").write_text("export const d = 1;\nexport class E {\n  f() {}\n}\n")
    joined = one_script("x/a.js", {"x": tmp_path})
    assert joined == (
        "const $x_d = (() => {\n"
        "const d = 1;\nclass E {\nf() {}\n}\nreturn { d, E };\n})();\n"
        "\nconst $x_sub_b = (() => {\nconst { d } = $x_d;\n"
        "function b() {}\nreturn { b };\n})();\n"
        "\nconst $x_a = (() => {\nconst { b: c } = $x_sub_b;\n"
        "const d = $x_d;\nstart(c, d);\n"
        'const text = "; // stays";\nconst more = "; // it stays";\n'
        "const e = (c());\nreturn {  };\n})();\n"
    )


@pytest.mark.parametrize("line", ['import x from "./y.js";', "export default 1;", "export { x };"])
def test_what_cannot_be_joined_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.js").write_text(f"const x = 1;\n{line}\n")
    with pytest.raises(ValueError, match=r"x/a\.js has a line that cannot be joined"):
        one_script("x/a.js", {"x": tmp_path})


def test_a_text_of_several_lines_is_refused(tmp_path: Path) -> None:
    """The spaces that its lines begin with would be lost."""
    (tmp_path / "a.js").write_text("const x = `one\n  two`;\n")
    with pytest.raises(ValueError, match=r"x/a\.js has a text of several lines"):
        one_script("x/a.js", {"x": tmp_path})


def test_every_line_of_every_module_that_is_no_comment_is_served() -> None:
    served = one_script("survey/survey.js", FOLDERS).splitlines()
    scripts = [*CLIENT.rglob("*.js"), *(PAGES / "survey").rglob("*.js")]
    for path in scripts:
        for line in path.read_text(encoding="utf-8").splitlines():
            code = re.sub(r"/\*\* @type .*?\*/ ?", "", line).strip()
            code = re.sub(r"(?<=[;,{(]) // [^\"'`]*$", "", code)
            comment = code.startswith(("//", "/*", "*"))
            if code and not comment and not line.startswith(("import", "export", "}")):
                assert code in served, (path.name, line)
    assert sum(line.startswith("const $") for line in served) >= len(scripts)


def test_it_is_compressed_for_who_takes_that_and_asked_about_each_time(tmp_path: Path) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        for name, kind in (("/survey.js", "text/javascript"), ("/survey.css", "text/css")):
            plain = client.get(name, headers={"accept-encoding": "identity"})
            packed = client.get(name, headers={"accept-encoding": "br, gzip"})
            assert plain.headers["content-type"].startswith(kind)
            assert "content-encoding" not in plain.headers
            assert packed.headers["content-encoding"] == "gzip"
            assert packed.headers["vary"] == "accept-encoding"
            assert packed.content == plain.content  # the client has unpacked it
            assert len(gzip.compress(plain.content)) < 0.35 * len(plain.content)
            again = client.get(name, headers={"if-none-match": plain.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert "script-src 'self'" in plain.headers["content-security-policy"]


def test_styles_are_joined_without_their_comments() -> None:
    made = one_style(["/* Why. */\na { b: c; } /* and\nwhy */\n", "d {\n  e: f;\n}\n"])
    assert made == "a { b: c; } \nd {\ne: f;\n}\n"
