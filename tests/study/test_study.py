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
from castell.channels import BloomResponse, CyclicResponse
from castell.cli.study_file import to_toml
from castell.errors import StudyError
from castell.study.design import Block, Design

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
    study = Study([Attribute("a", ["x", "y"])], design=design)
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


def test_a_cluster_with_more_reports_than_answers_is_published() -> None:
    wide = MatrixResponse((np.eye(4, 5, dtype=int) * 6 + 1).tolist())
    schema = Schema([Attribute("a", [0, 1]), Attribute("b", [0, 1])])
    study = Study(schema, design=Design((Block(("a", "b"), (2, 2), wide),)))
    assert Study.from_json(study.to_json()) == study
    assert study == Study(schema, None, "joint", channels={("a", "b"): wide})


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
        (f"epsilon = 3\n{A}epsilon = 1\nweights = [[9, 1], [2, 8]]\n", "a share and a channel"),
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


# -- designs that draw one block for each respondent ---------------------------------------------


THREE = "".join(f'[[attribute]]\nname = "{n}"\nvalues = ["0", "1"]\n' for n in "abc")

# A drawn study with a set-valued channel as published. As above: never to change.
DRAWN = (
    '{"attributes":[{"name":"a","question":"","values":["0","1","2","3","4"]},'
    '{"name":"b","question":"","values":["0","1","2"]},'
    '{"name":"c","question":"","values":["0","1"]}],'
    '"blocks":[{"attributes":["b","a"],"channel":{"kind":"cyclic","other":1073741824,'
    '"outputs":15,"same":2162250505,"set":[0,1,2,7,9,12,13],"size":15}},'
    '{"attributes":["c"],"channel":{"kind":"kary","other":1073741824,"same":2162250505,"size":2}},'
    '{"attributes":["c","b"],"channel":'
    '{"kind":"kary","other":1073741824,"same":2162250505,"size":6}}],"castell":1,'
    '"digest":"0c93d9ab13d965ae4f9395c62dc87e92a65583dfe797218f3bdfb16ec412eebf",'
    '"draw":1,"name":"study"}'
)


NO_DRAWS: list[Any] = [0, 2, -1, True, False, None, 1.0, "1", [1], {}]


def drawn(**changes: Any) -> Study:
    attributes = [Attribute("a", range(5)), Attribute("b", range(3)), Attribute("c", range(2))]
    asked: dict[str, Any] = {"epsilon": 0.7, "design": [["b", "a"], ["c"], ["c", "b"]]}
    return Study(Schema(attributes), **{**asked, "draw": True, **changes})


def test_a_drawn_study_is_published_with_its_draw() -> None:
    study = drawn()
    assert study.to_json() == DRAWN
    each = [block.channel.exact_epsilon for block in study.design.blocks]
    assert study.design.exact_epsilon == max(each)
    assert 0.7 - 2**-29 < study.epsilon <= 0.7
    back = Study.from_json(DRAWN)
    assert back == study
    assert back.design == study.design
    assert back.design.draw
    # The blocks alone, reported by everybody, are another study.
    one = Study(study.schema, 2.0, "joint")
    alone = Study(study.schema, design=Design(one.design.blocks, draw=True))
    assert "draw" not in one.to_json()
    assert one != alone
    assert Study.from_json(alone.to_json()) == alone


@pytest.mark.parametrize(
    ("design", "blocks"),
    [
        ('design = "singles"', ["a", "b", "c"]),
        ('design = "pairs"', ["ab", "ac", "bc"]),
        ('design = "cover"', ["abc"]),
        ("sample = 2", ["ab", "ac", "bc"]),
        ("sample = 7", ["abc"]),
        ('draw = true\nclusters = [["c", "a"], ["b"], ["a", "b"]]', ["ca", "b", "ab"]),
        ('draw = true\ndesign = "pairs"', ["ab", "ac", "bc"]),
        ('draw = false\nclusters = [["c", "a"]]', ["ca", "b"]),
    ],
)
def test_drawn_designs_in_toml(design: str, blocks: list[str]) -> None:
    study = Study.from_toml(f"epsilon = 2.5\n{design}\n{THREE}")
    assert ["".join(block.names) for block in study.design.blocks] == blocks
    assert study.design.draw == ("false" not in design)
    assert 2.5 - 2**-28 < study.epsilon <= 2.5
    if study.design.draw:
        # The whole budget in each, for one respondent reports but one.
        each = {block.channel.exact_epsilon for block in study.design.blocks}
        assert each == {study.design.exact_epsilon}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilon = 1\ndraw = 2", "draw is 2: write draw = true"),
        ("epsilon = 1\ndraw = 1", "draw is 1"),
        ('epsilon = 1\ndraw = "true"', "draw is 'true'"),
        ("epsilon = 1\ndraw = []", "draw is \\[\\]"),
        ("epsilon = 1\ndraw = true", "'independent' with a draw"),
        ('epsilon = 1\ndraw = true\ndesign = "joint"', "'joint' with a draw"),
        ('epsilon = 1\ndraw = true\ndesign = "triples"', "not a design"),
        ("epsilon = 1\ndraw = true\nclusters = []", "holds a, b, c"),
        ('epsilon = 1\ndraw = true\nclusters = [["a", "b"]]', "no cluster to draw from holds c"),
        ('epsilon = 1\ndraw = true\nclusters = [["a","b"],["c"],["b","a"]]', "are the same"),
        ('epsilon = 1\ndraw = true\nclusters = [["a","b"],["c","c"]]', "names one twice"),
        ('epsilon = 1\ndraw = true\nclusters = [["a","b"],["c","x"]]', "names 'x'"),
        ('epsilon = 1\nclusters = [["a","b"],["c","b"]]', "draw = true"),
        ("epsilon = 1\nsample = 0", "sample is 0"),
        ("epsilon = 1\nsample = -1", "sample is -1"),
        ("epsilon = 1\nsample = true", "sample is True"),
        ("epsilon = 1\nsample = false", "sample is False"),
        ("epsilon = 1\nsample = 1.5", "sample is 1.5|Decimal"),
        ('epsilon = 1\nsample = "2"', "sample is '2'"),
        ('epsilon = 1\nsample = 2\ndesign = "pairs"', "a sample and a design"),
        ('epsilon = 1\nsample = 2\ndesign = "joint"', "a sample and a design"),
        ('epsilon = 1\nsample = 1\nclusters = [["a"]]', "a sample and a design"),
        ("epsilon = 1\nsample = 2\ndraw = true", "a sample and a design"),
        ('design = "pairs"', "no epsilon"),
        ("sample = 2", "no epsilon"),
        ('epsilon = 0\ndesign = "pairs"', "epsilon is 0"),
        ('epsilon = 33\ndesign = "pairs"', "epsilon is 33"),
        ('epsilon = 1e-17\ndesign = "pairs"', "below 2\\^-20"),
        ('epsilon = "1"\ndesign = "cover"', "epsilon is '1'"),
        ("epsilon = 1\nsamples = 2", "did you mean 'sample'"),
    ],
)
def test_a_wrong_draw_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(CastellError, match=message):
        Study.from_toml(f"{text}\n{THREE}")


@pytest.mark.parametrize("design", ['design = "pairs"', "sample = 1", 'design = "cover"'])
def test_the_block_drawn_has_the_whole_budget(design: str) -> None:
    with pytest.raises(StudyError, match="draws one block for each respondent has shares"):
        Study.from_toml(f"epsilon = 1\n{design}\n{THREE}epsilon = 0.5\n")
    with pytest.raises(StudyError, match="draws one block for each respondent has no epsilon"):
        Study.from_toml(f"{design}\n{THREE}")


@pytest.mark.parametrize(
    "changes",
    [
        {"draw": 2},
        {"draw": "yes"},
        {"draw": None},
        {"sample": 2},
        {"sample": 0},
        {"sample": np.float64(2.0), "draw": False, "design": "independent"},
        {"shares": {"a": 0.5}},
        {"channels": {"c": [[0.8, 0.2], [0.3, 0.7]]}},
        {"epsilon": None},
        {"design": "pairs", "sample": 1, "draw": False},
        {"design": drawn().design},
        {"design": drawn().design, "epsilon": None},
        {"design": drawn().design, "epsilon": None, "draw": False, "sample": 1},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_a_wrong_draw_in_python_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(StudyError):
        drawn(**changes)


@pytest.mark.parametrize(
    "edit",
    [
        *(at("draw", value=value) for value in NO_DRAWS),
        without("draw"),
        swapped,
        twice,
        at("blocks", 0, "channel", "set", value=[0, 1, 2, 7, 9, 12, 14]),
        at("blocks", 0, "channel", "set", value=[0, 1, 2, 7, 9, 12]),
        # Another difference set, as good as this one: the devices would disagree.
        at("blocks", 0, "channel", "set", value=[1, 2, 3, 8, 10, 13, 14]),
        at("blocks", 0, "channel", "set", value=[0, 1, 2, 7, 9, 12, 13.0]),
        at("blocks", 0, "channel", "set", value=[1, 0, 2, 7, 9, 12, 13]),
        at("blocks", 0, "channel", "set", value=0),
        at("blocks", 0, "channel", "outputs", value=16),
        at("blocks", 0, "channel", "outputs", value=2**50),
        at("blocks", 0, "channel", "size", value=14),
        at("blocks", 0, "channel", "same", value=2162250504),
        at("blocks", 0, "channel", "other", value=536870912),
        at("blocks", 0, "channel", "kind", value="kary"),
        without("blocks", 0, "channel", "set"),
        without("blocks", 0),
        at("blocks", 0, "attributes", value=["a", "b"]),
        at("blocks", 0, "attributes", value=["b", "b"]),
        at("blocks", 1, "attributes", value=["c", "c"]),
        at("blocks", 1, "attributes", value=[]),
        at("blocks", value=[]),
    ],
    ids=lambda edit: edit.__name__,
)
def test_a_changed_draw_is_refused(edit: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(DRAWN)
    edit(document)
    with pytest.raises(CastellError):
        Study.from_json(json.dumps(document))
    # With a digest that was made to fit, where it still is a study at all.
    del document["digest"]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    document["digest"] = hashlib.sha256(text.encode()).hexdigest()
    try:
        made = Study.from_json(json.dumps(document))
    except CastellError:
        return
    assert made != drawn()
    assert made.design.draw
    assert made.to_json() == json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def test_blocks_that_no_draw_can_hold() -> None:
    two = Schema([Attribute("a", range(3)), Attribute("b", range(5))])
    cyclic = Block(("a", "b"), (3, 5), CyclicResponse(15, 15, (0, 1, 2, 7, 9, 12, 13), 3, 1))
    kary = Block(("a",), (3,), KaryResponse(3, 2, 1))
    assert Study(two, design=Design((cyclic, kary), draw=True)).design.draw
    alone = Study(two, design=Design((cyclic,)))
    assert alone.design.exact_epsilon == cyclic.channel.exact_epsilon
    # Everybody would report a twice.
    with pytest.raises(StudyError, match="hold each attribute once"):
        Study(two, design=Design((cyclic, kary)))
    three = Schema([*two, Attribute("c", range(2))])
    coin = Block(("c",), (2,), KaryResponse(2, 2, 1))
    assert Study(three, design=Design((cyclic, coin))).design.widths == (15, 2)
    assert Study(three, design=Design((cyclic, coin), draw=True)).design.widths == (17,)
    matrix = MatrixResponse((np.eye(15, dtype=int) * 6 + 1).tolist())
    own = Study(two, design=Design((Block(("a", "b"), (3, 5), matrix), kary), draw=True))
    assert own.design.blocks[0].channel == matrix
    filters = BloomResponse([[i] for i in range(15)], 3, 1)
    with pytest.raises(StudyError, match="does not fit its values"):
        Study(two, design=Design((Block(("a", "b"), (3, 5), filters),)))
    for names, sizes in ((("b", "a"), (3, 5)), (("a", "a"), (3, 3)), (("a", "z"), (3, 5))):
        wrong = Block(names, sizes, cyclic.channel)
        with pytest.raises(CastellError):
            Study(two, design=Design((wrong, cyclic), draw=True))


def test_more_codes_than_an_exact_number_holds_are_refused() -> None:
    names = [f"x{i}" for i in range(52)]
    many = Schema(Attribute(name, [0, 1]) for name in names)
    whole = Block(tuple(names), (2,) * 52, KaryResponse(2**52, 3, 1))
    assert Study(many, design=Design((whole,) * 2, draw=True)).design.widths == (2**53,)
    with pytest.raises(StudyError, match="more than 2\\^53 codes"):
        Study(many, design=Design((whole,) * 3, draw=True))
