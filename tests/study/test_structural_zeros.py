"""Rules of what is impossible: what is read, what is refused, what follows, what is published."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.errors import SchemaError, StudyError
from castell.study.structural_zeros import MOST_RULES
from castell.study.structural_zeros_text import rule_text, rules_told

SEX = Attribute("sex", ["Female", "Male"])
ROLE = Attribute("role", ["Husband", "Wife", "Own child"])
AGE = Attribute("age", ["<18", "18-24", "25+"])
ODD = Attribute("odd", ["!x", "x", "y"])
ASKED = [SEX, ROLE, AGE, ODD]

FILE = """
name = "rules"
epsilon = 2.0
impossible = [
  {role = "Husband", sex = "Female"},
  {age = ["<18", "18-24"], role = "!Own child"},
]

[[attribute]]
name = "sex"
values = ["Female", "Male"]

[[attribute]]
name = "role"
values = ["Husband", "Wife", "Own child"]

[[attribute]]
name = "age"
values = ["<18", "18-24", "25+"]
"""


def codes(*rules: dict[str, Any]) -> list[dict[str, list[int]]]:
    return Schema(ASKED, rules).impossible.document()


# -- what may be written ---------------------------------------------------------------------------


def test_a_rule_names_a_value_a_list_or_all_but_one() -> None:
    assert codes({"role": "Husband", "sex": "Female"}) == [{"role": [0], "sex": [0]}]
    assert codes({"age": ["18-24", "<18"], "sex": "Male"}) == [{"age": [0, 1], "sex": [1]}]
    assert codes({"role": "!Own child", "sex": "Male"}) == [{"role": [0, 1], "sex": [1]}]


def test_a_value_that_starts_with_an_exclamation_mark_is_itself() -> None:
    assert codes({"odd": "!x", "sex": "Male"}) == [{"odd": [0], "sex": [1]}]
    assert codes({"odd": "!!x", "sex": "Male"}) == [{"odd": [1, 2], "sex": [1]}]
    assert codes({"odd": ["x", "y"], "sex": "Male"}) == [{"odd": [1, 2], "sex": [1]}]
    assert codes({"odd": "!y", "sex": "Male"}) == [{"odd": [0, 1], "sex": [1]}]


def test_a_study_file_has_them_at_its_top() -> None:
    study = Study.from_toml(FILE)
    assert study.schema.impossible.document() == [
        {"role": [0], "sex": [0]},
        {"age": [0, 1], "role": [0, 1]},
    ]
    asked = [SEX, ROLE, AGE]
    rules: list[dict[str, object]] = [
        {"sex": "Female", "role": "Husband"},
        {"role": ["Wife", "Husband"], "age": "!25+"},
    ]
    assert Study(Schema(asked, rules), epsilon=2.0, name="rules") == study


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"sex": "Male"}, "no list of rules"),
        ("sex", "no list of rules"),
        (3, "no list of rules"),
        (["sex"], "rule 1 of impossible is 'sex'"),
        ([{}], "about nothing alone"),
        ([{"sex": "Male"}], "about 'sex' alone.*two attributes"),
        ([{"sex": "Male", "rol": "Wife"}], "no attribute 'rol'.*did you mean 'role'"),
        ([{"sex": "Mal", "role": "Wife"}], "'Mal' is not a value of 'sex'.*did you mean 'Male'"),
        ([{"sex": "!Mal", "role": "Wife"}], "'Mal' is not a value.*did you mean 'Male'"),
        ([{"sex": ["Male", "!Male"], "role": "Wife"}], "'!Male' is not a value"),
        ([{"sex": [], "role": "Wife"}], "no value of 'sex'"),
        ([{"sex": None, "role": "Wife"}], "not a value"),
        ([{"sex": ["Male", "Female"], "role": "Wife"}], "every value of 'sex'"),
        ([{"sex": "Male", "role": "Wife"}] * 2, "rules 1 and 2 of impossible are the same"),
        (
            [{"sex": "Male", "role": "Wife"}, {"sex": "Female", "role": "Wife"}],
            "nobody with role = 'Wife'",
        ),
        (
            # By way of a third attribute.
            [
                {"sex": "Male", "role": "Wife"},
                {"role": "Wife", "age": "25+"},
                {"age": "!25+", "sex": "Female"},
            ],
            "nobody with role = 'Wife'",
        ),
        (
            [
                {"sex": "Male", "role": "!Wife"},
                {"sex": "Male", "role": "Wife"},
                {"sex": "Female", "role": "!Wife"},
                {"sex": "Female", "role": "Wife"},
            ],
            "leave no combination of answers possible",
        ),
    ],
)
def test_what_is_no_rule_is_refused(rules: Any, told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        Schema(ASKED, rules)


def test_rules_that_tie_too_much_together_are_refused() -> None:
    wide = [Attribute(f"a{i}", range(17)) for i in range(4)]
    rule: dict[str, object] = {a.name: 0 for a in wide}
    with pytest.raises(SchemaError, match="83,521 combinations"):
        Schema(wide, [rule])
    many = [Attribute("a", range(40)), Attribute("b", range(40))]
    rules: list[dict[str, object]] = [{"a": i, "b": j} for i in range(30) for j in range(39)]
    with pytest.raises(SchemaError, match=f"1,170 rules, the limit is {MOST_RULES:,}"):
        Schema(many, rules)


def test_many_followed_questions_are_tied_one_by_one() -> None:
    """A question that twenty others depend on: no table of them all is made."""
    rest = [Attribute(f"q{i}", ["not asked", *"abcdefg"]) for i in range(20)]
    rules: list[dict[str, object]] = [{"first": "no", a.name: "!not asked"} for a in rest]
    zeros = Schema([Attribute("first", ["no", "yes"]), *rest], rules).impossible
    assert zeros.is_impossible({"first": np.array([0]), "q7": np.array([1])})
    assert not zeros.is_impossible({a.name: np.array([0]) for a in rest})
    assert not zeros.is_impossible({a.name: np.array([3]) for a in rest})
    assert zeros.possible(["q3", "q4"]).all()


# -- what follows ----------------------------------------------------------------------------------

SIZES = (2, 3, 4, 2)
NAMES = "abcd"


def random_schema(seed: int) -> Schema:
    generator = np.random.default_rng(seed)
    asked = [Attribute(n, range(size)) for n, size in zip(NAMES, SIZES, strict=True)]
    while True:
        rules: list[dict[str, object]] = []
        for _ in range(generator.integers(1, 6)):
            chosen = generator.choice(4, generator.integers(2, 4), replace=False)
            rules.append(
                {
                    NAMES[k]: generator.choice(
                        SIZES[k], generator.integers(1, SIZES[k]), replace=False
                    ).tolist()
                    for k in chosen
                }
            )
        try:
            return Schema(asked, rules)
        except SchemaError:
            continue


def allowed(schema: Schema) -> Any:
    """Cell by cell, from the published rules."""
    table = np.ones(SIZES, dtype=bool)
    for cell in product(*map(range, SIZES)):
        for rule in schema.impossible.document():
            if all(cell[NAMES.index(name)] in held for name, held in rule.items()):
                table[cell] = False
    return table


@pytest.mark.parametrize("seed", range(30))
def test_what_is_possible_is_what_some_combination_allows(seed: int) -> None:
    schema = random_schema(seed)
    whole, zeros = allowed(schema), schema.impossible
    for kept in ("a", "ab", "ca", "dcb", "badc"):
        gone = tuple(k for k, name in enumerate(NAMES) if name not in kept)
        some = whole.any(axis=gone).transpose([sorted(kept).index(n) for n in kept])
        shape = [SIZES[NAMES.index(n)] for n in kept]
        np.testing.assert_array_equal(zeros.impossible_cells(kept, shape), ~some)
        assert zeros.empty_cells_in(kept) == (not some.all())
    generator = np.random.default_rng(seed)
    for _ in range(20):
        query = {
            NAMES[k]: np.sort(
                generator.choice(SIZES[k], generator.integers(1, SIZES[k] + 1), False)
            )
            for k in generator.choice(4, generator.integers(1, 5), replace=False)
        }
        inside = np.ix_(*(query.get(n, np.arange(s)) for n, s in zip(NAMES, SIZES, strict=True)))
        assert zeros.is_impossible(query) == (not whole[inside].any())
    rows = {n: generator.integers(0, s, 50) for n, s in zip(NAMES, SIZES, strict=True)}
    np.testing.assert_array_equal(zeros.are_possible(rows), whole[tuple(rows.values())])


def test_rules_matter_where_they_are_tied_to() -> None:
    rules: list[dict[str, object]] = [
        {"role": "Husband", "sex": "Female"},
        {"age": "<18", "odd": "y"},
    ]
    zeros = Schema([*ASKED, Attribute("free", [0, 1])], rules).impossible
    assert [rule.names for rule in zeros.rules_about(["sex"])] == [("role", "sex")]
    assert [rule.names for rule in zeros.rules_about(["age", "free"])] == [("age", "odd")]
    assert zeros.rules_about(["free"]) == ()
    assert not zeros.empty_cells_in(["sex", "age", "free"])
    assert not zeros.impossible_cells(["free"], [2]).any()


# -- published -------------------------------------------------------------------------------------


def test_rules_are_published_and_part_of_the_digest() -> None:
    study = Study.from_toml(FILE)
    document = json.loads(study.to_json())
    assert document["impossible"] == study.schema.impossible.document()
    assert Study.from_json(study.to_json()) == study
    without = Study(Schema(study.schema.attributes), design=study.design, name="rules")
    assert "impossible" not in json.loads(without.to_json())
    assert without.digest != study.digest
    fewer = Schema(study.schema.attributes, [{"role": "Husband", "sex": "Female"}])
    assert Study(fewer, design=study.design, name="rules").digest != study.digest


def test_an_empty_list_of_rules_is_none() -> None:
    text = FILE.replace(FILE[FILE.index("impossible") : FILE.index("[[attr")], "impossible = []\n")
    assert "impossible" not in json.loads(Study.from_toml(text).to_json())


def test_words_may_be_corrected_and_rules_may_not() -> None:
    study = Study.from_toml(FILE)
    words = Study.from_toml(FILE.replace('"Own child"', '"Child"').replace("!Own child", "!Child"))
    made = study.corrected(words, "2026-11-16")
    assert made.schema.impossible == study.schema.impossible
    assert Study.from_json(made.to_json()) == made
    other = Study.from_toml(FILE.replace('sex = "Female"', 'sex = "Male"'))
    with pytest.raises(StudyError, match="more than words: impossible"):
        study.corrected(other, "2026-11-16")


def test_a_device_reports_alike_with_rules_and_without() -> None:
    """Even what breaks a rule: a refusal after the draw would tell."""
    answers = {"sex": ["Female", "Male"] * 50, "role": ["Husband"] * 100, "age": ["<18"] * 100}
    study = Study.from_toml(FILE)
    without = Study(Schema(study.schema.attributes), design=study.design)
    found = [each.randomize(answers, seed=3) for each in (study, without)]
    for one, two in zip(found[0].columns, found[1].columns, strict=True):
        np.testing.assert_array_equal(one, two)


# -- in words --------------------------------------------------------------------------------------


def test_rules_in_words() -> None:
    rules: list[dict[str, object]] = [
        {"role": "Husband", "sex": "Female"},
        {"age": ["<18", "18-24"], "role": "!Own child"},
    ]
    schema = Schema([SEX, ROLE, AGE], rules)
    assert [rule_text(schema, rule) for rule in schema.impossible] == [
        "sex = 'Female' and role = 'Husband'",
        "role = 'Husband' or 'Wife' and age = '<18' or '18-24'",
    ]
    long = Schema([SEX, Attribute("n", range(20))], [{"sex": "Male", "n": list(range(12))}])
    assert rule_text(long, long.impossible.rules[0]).endswith("'5' or 6 more")
    but = Schema([SEX, Attribute("n", range(20))], [{"sex": "Male", "n": "!7"}])
    assert rule_text(but, but.impossible.rules[0]) == "sex = 'Male' and n other than '7'"
    assert rules_told(Schema(ASKED)) == []


def test_the_statement_lists_rules_and_says_they_cost_nothing() -> None:
    study = Study.from_toml(FILE)
    text = str(study.statement())
    assert "nobody has sex = 'Female' and role = 'Husband'; nobody has role" in text
    assert "This costs no privacy" in text
    without = Study(Schema(study.schema.attributes), design=study.design, name="rules")
    assert set(without.statement().words()) < set(study.statement().words())
    assert study.statement().to_dict()["epsilon"] == without.epsilon
