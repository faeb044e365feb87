"""A study is what its digest says: written by a person, published, and refused once changed."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castell import Attribute, CastellError, KaryResponse, MatrixResponse, Schema, Study
from castell.design import Block, Design
from castell.errors import StudyError
from castell.studyfile import to_toml

TOML = """
name = "café"
epsilon = 3.5
clusters = [["b", "a"]]

[[attribute]]
name = "a"
values = ["x", "y"]
question = "Què?"

[[attribute]]
name = "b"
values = [1, 2, 30]
epsilon = 0.1

[[attribute]]
name = "c"
values = [true, false]
matrix = [[0.8, 0.2], [0.3, 0.7]]
"""

# The published form of that study, and the digest every device and server must agree on. If this
# changes, reports collected before are orphaned: it is a new format, never a fix.
GOLDEN = (
    '{"attributes":[{"name":"a","question":"Què?","values":["x","y"]},'
    '{"name":"b","question":"","values":["1","2","30"]},'
    '{"name":"c","question":"","values":["true","false"]}],'
    '"blocks":[{"attributes":["b","a"],"channel":'
    '{"kind":"kary","other":268435456,"same":2539817556,"size":6}},'
    '{"attributes":["c"],"channel":{"kind":"matrix","weights":[[8,2],[3,7]]}}],'
    '"castell":1,"name":"café"}'
)
DIGEST = "099ae8606971e28023c8be9dce8d0f52e7300d0fbb97c2bdeaeabbbfe4901f7a"


def in_python() -> Study:
    return Study(
        Schema(
            [
                Attribute("a", ["x", "y"], "Què?"),
                Attribute("b", [1, 2, 30]),
                Attribute("c", [True, False]),
            ]
        ),
        3.5,
        [["b", "a"]],
        shares={"b": 0.1},
        channels={"c": [[0.8, 0.2], [0.3, 0.7]]},
        name="café",
    )


# -- as written, as published --------------------------------------------------------------------


def test_the_digest_is_pinned() -> None:
    study = Study.from_toml(TOML)
    published = json.loads(study.to_json())
    assert published.pop("digest") == study.digest == DIGEST
    text = json.dumps(published, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == GOLDEN
    assert hashlib.sha256(GOLDEN.encode()).hexdigest() == DIGEST


def test_toml_and_python_say_the_same() -> None:
    study = Study.from_toml(TOML)
    assert study == in_python()
    assert hash(study) == hash(in_python())
    assert study.name == "café"
    assert study.names == ("a", "b", "c")
    assert study.design == in_python().design
    assert [b.names for b in study.design.blocks] == [("b", "a"), ("c",)]
    assert 3.5 - 2**-29 < study.epsilon <= 3.5


def test_what_a_person_writes_as_a_tenth_is_a_tenth() -> None:
    text = "epsilon = 0.3\n" + "".join(
        f'[[attribute]]\nname = "{name}"\nvalues = ["0", "1"]\nepsilon = {share}\n'
        for name, share in (("a", "0.1"), ("b", "0.2"))
    )
    study = Study.from_toml(text)
    assert study.design.exact_epsilon <= Decimal("0.3")
    python = Study(study.schema, 0.3, shares={"a": 0.1, "b": 0.2})
    assert study == python


def test_numbers_in_toml_are_the_answers_a_frame_holds() -> None:
    study = Study.from_toml('epsilon = 1\n[[attribute]]\nname = "a"\nvalues = [1.0, 2.5, 4.0]\n')
    assert len(study.randomize({"a": [1.0, 2.5, 4.0]})) == 3
    assert study.schema["a"].values == ("1", "2.5", "4")


@pytest.mark.parametrize(
    ("design", "blocks"),
    [
        ("", [("a",), ("b",)]),
        ('design = "independent"', [("a",), ("b",)]),
        ('design = "joint"', [("a", "b")]),
        ('design = "clusters"\nclusters = [["b", "a"]]', [("b", "a")]),
        ('clusters = [["b"]]', [("a",), ("b",)]),
    ],
)
def test_designs_in_toml(design: str, blocks: list[tuple[str, ...]]) -> None:
    attributes = "".join(f'[[attribute]]\nname = "{n}"\nvalues = ["0", "1"]\n' for n in "ab")
    study = Study.from_toml(f"epsilon = 2\n{design}\n{attributes}")
    assert [block.names for block in study.design.blocks] == blocks
    assert study.name == "study"


@pytest.mark.parametrize(
    "study",
    [
        in_python(),
        Study(Schema([Attribute("one", ["yes", "no"])]), 0.5),
        Study(
            Schema([Attribute("one", ["yes", "no"])]), channels={"one": [[0.9, 0.1], [0.2, 0.8]]}
        ),
        Study(
            Schema([Attribute("a", ["\u0000\u2028", '"\\', "é"]), Attribute("b\n.x y", [0, 1])]),
            2.0,
            "joint",
            name="",
        ),
        Study(
            Schema([Attribute("wide", ["x", "y"])]),
            channels={"wide": MatrixResponse([[7, 2, 1], [1, 2, 7]])},
        ),
    ],
    ids=["clusters", "one", "matrix", "odd texts", "rectangular"],
)
def test_what_is_published_comes_back(study: Study, tmp_path: Path) -> None:
    back = Study.from_json(study.to_json())
    assert back == study
    assert (back.schema, back.design, back.name) == (study.schema, study.design, study.name)
    assert back.to_json() == study.to_json()
    path = tmp_path / "study.json"
    path.write_text(study.to_json(), encoding="utf-8")
    assert Study.load(path).epsilon == study.epsilon
    # The same document with other spaces and another order of keys is the same study.
    loose = dict(reversed(json.loads(study.to_json()).items()))
    assert Study.from_json(json.dumps(loose, indent=3)) == study


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text == text.strip()
)


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    values=st.lists(TEXTS, min_size=2, max_size=5, unique=True),
    question=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_texts_survive_toml_and_json(
    names: list[str], values: list[str], question: str
) -> None:
    schema = Schema(Attribute(name, values, question) for name in names)
    study = Study.from_toml(to_toml(schema, name=names[0], epsilon=2.5))
    assert study.schema == schema
    assert study.name == names[0]
    assert Study.from_json(study.to_json()) == study == Study(schema, 2.5, name=names[0])


def test_a_study_takes_a_ready_design_and_a_list_of_attributes() -> None:
    channel = KaryResponse(2, 3, 1)
    design = Design((Block(("a",), (2,), channel),))
    study = Study([Attribute("a", ["x", "y"])], design=design)  # type: ignore[arg-type]
    assert study.design is design
    assert study.epsilon == channel.epsilon


def test_any_difference_makes_another_study() -> None:
    base = in_python()
    others = [
        Study(base.schema, design=base.design, name="cafe"),
        Study(
            base.schema,
            3.5,
            [["a", "b"]],
            shares={"b": 0.1},
            channels={"c": [[0.8, 0.2], [0.3, 0.7]]},
            name="café",
        ),
        Study(base.schema, 3.5, name="café"),
        Study.from_toml(TOML.replace("Què?", "Quin?")),
        Study.from_toml(TOML.replace('"x", "y"', '"y", "x"')),
        Study.from_toml(TOML.replace("epsilon = 3.5", "epsilon = 3.5000001")),
    ]
    assert len({base, *others}) == len(others) + 1
    assert base != "study"


def test_nothing_changes_after_construction() -> None:
    with pytest.raises(FrozenInstanceError):
        in_python().name = "other"  # type: ignore[misc]


# -- what was changed is refused -----------------------------------------------------------------


def change(edit: Callable[[dict[str, Any]], object]) -> str:
    document = json.loads(in_python().to_json())
    edit(document)
    return json.dumps(document)


def at(*keys: Any, value: Any) -> Callable[[dict[str, Any]], object]:
    def edit(document: dict[str, Any]) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    edit.__name__ = " ".join(map(str, keys)) + f" = {value!a}"
    return edit


def without(*keys: Any) -> Callable[[dict[str, Any]], object]:
    def edit(document: dict[str, Any]) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    edit.__name__ = "no " + " ".join(map(str, keys))
    return edit


def twice(document: dict[str, Any]) -> None:
    document["blocks"].append(document["blocks"][0])


def swapped(document: dict[str, Any]) -> None:
    document["blocks"].reverse()


def untouched(_: dict[str, Any]) -> None:
    pass


@pytest.mark.parametrize(
    "edit",
    [
        # One weight, however little; a name; an order.
        at("blocks", 0, "channel", "same", value=2539817557),
        at("blocks", 0, "channel", "other", value=134217728),
        at("blocks", 1, "channel", "weights", value=[[8, 2], [4, 6]]),
        at("blocks", 1, "channel", "weights", value=[[80, 20], [30, 70]]),
        at("blocks", 0, "attributes", value=["a", "b"]),
        at("attributes", 0, "values", value=["y", "x"]),
        at("attributes", 0, "question", value="Que?"),
        at("name", value="cafe"),
        at("name", value=None),
        at("digest", value="0" * 64),
        at("digest", value=None),
        at("digest", value=[]),
        swapped,
        # Keys too many or too few, at every level.
        at("seed", value=1),
        at("blocks", 0, "seed", value=1),
        at("blocks", 0, "channel", "seed", value=1),
        at("attributes", 0, "seed", value=1),
        without("digest"),
        without("name"),
        without("castell"),
        without("blocks"),
        without("attributes"),
        without("attributes", 0, "question"),
        without("attributes", 0, "values"),
        without("blocks", 0, "attributes"),
        without("blocks", 0, "channel"),
        without("blocks", 1, "channel", "weights"),
        # Another type than the one the digest is made of.
        at("attributes", 1, "values", value=[1, 2, 30]),
        at("attributes", 2, "values", value=[True, False]),
        # Blocks that do not fit the questions.
        without("blocks", 0),
        without("blocks", 1),
        at("blocks", value=[]),
        twice,
        at("blocks", 0, "attributes", value=["b"]),
        at("blocks", 0, "attributes", value=["b", "z"]),
        at("blocks", 0, "attributes", value=["b", "a", "a"]),
        at("blocks", 0, "attributes", value=[]),
        at("blocks", 0, "attributes", value="ba"),
        at("blocks", 0, "attributes", value=3),
        at("blocks", 0, "attributes", value=[["b"], "a"]),
        at("blocks", 0, "channel", "size", value=7),
        at("blocks", 0, "channel", value=None),
        at("blocks", 0, "channel", "kind", value="identity"),
        at("blocks", value=None),
        at("blocks", value="ab"),
        at("attributes", value=None),
        at("attributes", value=[]),
        at("attributes", value=[1, 2, 3]),
        at("attributes", 0, "values", value=5),
        at("attributes", 0, "values", value="xy"),
        at("attributes", 0, "name", value="c"),
        at("attributes", 0, "question", value="\ud800"),
        # A format this version does not know.
        at("castell", value=2),
        at("castell", value="1"),
        at("castell", value=None),
    ],
    ids=lambda edit: edit.__name__,
)
def test_a_changed_publication_is_refused(edit: Callable[[dict[str, Any]], object]) -> None:
    assert Study.from_json(change(untouched)) == in_python()
    with pytest.raises(CastellError):
        Study.from_json(change(edit))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "3", '"study"', "[" * 100_000, "9" * 5000, '{"castell": NaN}', TOML],
    ids=lambda text: text[:8],
)
def test_what_is_no_publication_is_refused(text: str) -> None:
    with pytest.raises(StudyError):
        Study.from_json(text)


def test_a_cluster_with_more_reports_than_answers_is_refused() -> None:
    # Its reports are no combination of values, so no digit of them is an attribute's.
    wide = MatrixResponse((np.eye(4, 5, dtype=int) * 6 + 1).tolist())
    schema = Schema([Attribute("a", [0, 1]), Attribute("b", [0, 1])])
    with pytest.raises(StudyError):
        Study.from_json(Study(schema, design=Design((Block(("a", "b"), (2, 2), wide),))).to_json())


# -- what is wrongly written is refused ----------------------------------------------------------


A = '[[attribute]]\nname = "a"\nvalues = ["x", "y"]\n'
B = '[[attribute]]\nname = "b"\nvalues = ["x", "y", "z"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no attributes"),
        ("epsilon = ", "not valid TOML"),
        ("epsilon = 1\nepsilon = 2", "not valid TOML"),
        ("epsilon = 1\nattribute = 3", "no attributes"),
        ("epsilon = 1\nattribute = []", "no attributes"),
        ("epsilon = 1\nattribute = [3]", "no attributes"),
        ('epsilon = 1\n[attribute]\nname = "a"', "no attributes"),
        (f"epsilonn = 1\n{A}", "unknown entry 'epsilonn'.*did you mean 'epsilon'"),
        (f"epsilon = 1\n{A}value = 3\n", "unknown entry 'value'.*did you mean 'values'"),
        (f"epsilon = 1\n{A}[[attributes]]\n", "unknown entry 'attributes'"),
        ('epsilon = 1\n[[attribute]]\nname = "a"\n', "no values"),
        ('epsilon = 1\n[[attribute]]\nvalues = ["x", "y"]\n', "no name"),
        ('epsilon = 1\n[[attribute]]\nname = "a"\nvalues = 5\n', "'a'"),
        ('epsilon = 1\n[[attribute]]\nname = "a"\nvalues = "xy"\n', "'a'"),
        ('epsilon = 1\n[[attribute]]\nname = 3\nvalues = ["x", "y"]\n', "not a name"),
        (f"epsilon = 1\n{A}{A}", "two attributes named 'a'"),
        (A, "no epsilon"),
        (f'epsilon = "1"\n{A}', "epsilon is '1'"),
        (f"epsilon = true\n{A}", "epsilon is True"),
        (f"epsilon = nan\n{A}", "epsilon is NaN"),
        (f"epsilon = 0\n{A}", "epsilon is 0"),
        (f'epsilon = 1\ndesign = "pears"\n{A}', "not a design"),
        (f'epsilon = 1\ndesign = "clusters"\n{A}', "add clusters"),
        (f'epsilon = 1\ndesign = "joint"\nclusters = [["a"]]\n{A}', "another design"),
        (f"epsilon = 1\nclusters = 3\n{A}", "not a design"),
        (f'epsilon = 1\nclusters = [["a", "c"]]\n{A}{B}', "names 'c'"),
        (f"epsilon = 1\n{A}epsilon = 2.0\n{B}", "sum to 2"),
        (f'epsilon = 1\n{A}epsilon = "2"\n{B}', "the share of 'a' is '2'"),
        (f"{A}matrix = [[0.9, 0.1], [0.2, 0.8]]\nweights = [[9, 1], [2, 8]]\n", "give one of them"),
        (f"{A}matrix = [[0.9, 0.2], [0.2, 0.8]]\n", "row 1 of the matrix of 'a'"),
        (f"{A}matrix = 3\n", "the matrix of 'a'"),
        (f"{A}weights = 3\n", "rows of numbers"),
        (f"{A}weights = [[9.0, 1.0], [2.0, 8.0]]\n", "not a weight"),
        (f"epsilon = 3\n{A}epsilon = 1\nweights = [[9, 1], [2, 8]]\n", "a share and a matrix"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CastellError, match=message):
        Study.from_toml(text)
    # And from a file, also which one.
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CastellError, match=message) as caught:
        Study.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_load_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing.toml", tmp_path / "binary.toml"
    binary.write_bytes("name = 'caf\xe9'".encode("latin-1"))
    with pytest.raises(StudyError, match=r"cannot read .*missing\.toml: No such file"):
        Study.load(missing)
    with pytest.raises(StudyError, match=r"binary\.toml is not text in UTF-8"):
        Study.load(str(binary))
    with pytest.raises(StudyError, match="Is a directory"):
        Study.load(tmp_path)
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(StudyError, match=r"broken\.json: not valid JSON"):
        Study.load(broken)
    good = tmp_path / "good.toml"
    good.write_text(TOML, encoding="utf-8")
    assert Study.load(str(good)) == in_python()


# -- a design of one's own -----------------------------------------------------------------------


def test_a_finished_design_must_be_for_this_schema_and_stand_alone() -> None:
    two = Schema([Attribute("a", [0, 1]), Attribute("b", [0, 1, 2])])
    fits = Study(two, epsilon=2.0).design
    assert Study(two, design=fits).epsilon == Study(two, epsilon=2.0).epsilon
    for others in ({"epsilon": 1.0}, {"shares": {"a": 1.0}}, {"channels": {"a": np.eye(2)}}):
        with pytest.raises(StudyError, match="a finished design and a budget beside it"):
            Study(two, design=fits, **others)
    one = Study(Schema([Attribute("a", [0, 1])]), epsilon=1.0).design
    for design in (one, Design(()), Design((*fits.blocks, *one.blocks))):
        with pytest.raises(StudyError, match="hold each attribute once"):
            Study(two, design=design)
    small = Study(Schema([Attribute("a", [0, 1]), Attribute("b", [0, 1])]), epsilon=1.0).design
    with pytest.raises(StudyError, match="does not fit its values"):
        Study(two, design=small)
