"""A study as a person writes it: TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from decimal import Decimal
from math import prod
from typing import Any

from castell.channels import MECHANISMS, Kinds, MatrixResponse, channel_of, mechanism
from castell.channels.classic import MECHANISMS as CLASSIC
from castell.channels.classic import PARAMETERS
from castell.channels.literature import (
    OF_SEVERAL,
    OF_SOME_SIZES,
    RAPPOR,
    RAPPOR_CHANCES,
    channel_of_several,
    named_channel,
    rappor_channel,
)
from castell.errors import ChannelError, StudyError
from castell.study.choices import choose_all, split_epsilon
from castell.study.collection_table import CollectionTable
from castell.study.corrections import Correction, corrections_of
from castell.study.key_values import OF_A_NUMBER, key_values
from castell.study.page import Page
from castell.study.schema import Attribute, Schema, suggest
from castell.study.stage_sizes import StageSizes
from castell.study.texts import LINKS, SAID, StudyText

# What pages show beside the questions: published, and in the digest, only where there is any.
TEXTS = {*SAID, *LINKS, "language", "translations", "review"}

# What a study file may say of an attribute's values besides listing them.
SCALED = {"bins", "range", "unit", "type", "period", "rounding", "ordered", "also", "missing"}
SCALED |= {"public", "none"}

# Mechanisms that take an epsilon, or several attributes: named in a section of a channel.
_OF_LITERATURE = {*MECHANISMS, *OF_SOME_SIZES, *OF_SEVERAL, RAPPOR}

# Questions that are asked as many: what makes their attributes, and what each of these may have.
_ASKED_AS_MANY: dict[str, tuple[Callable[..., tuple[Attribute, ...]], tuple[str, ...]]] = {
    "choose": (choose_all, ("also", "missing")),
    "keys": (key_values, OF_A_NUMBER),
}


def read_toml(text: str, kinds: Kinds | None = None) -> dict[str, Any]:
    """What a study file says, as the arguments of a `Study`."""
    try:
        # Decimals, so that what a person writes as 0.1 is 0.1.
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"not valid TOML ({error})", "correct the file") from None
    known = {"name", "epsilon", "design", "clusters", "draw", "sample", "attribute", "channel"}
    known |= {"impossible", "correction", "stages", "expected"}
    _only(content, known | TEXTS | {"collection", "page"}, "the study")
    # No part of the study, but a mistake in them is told all the same.
    CollectionTable.of(content)
    Page.of(content.get("page", {}))
    tables = content.get("attribute")
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise StudyError(
            "the study has no attributes", "add a [[attribute]] section for each question"
        )
    attributes: list[Attribute] = []
    shares: dict[str, Any] = {}
    channels: dict[str | tuple[str, ...], Any] = {}
    for table in tables:
        if set(_ASKED_AS_MANY) & set(table):
            several, share = _several(table)
            attributes += several
            shares |= {one.name: share for one in several if share is not None}
            continue
        known = {"name", "values", "question", "epsilon", "matrix", "weights", "translations"}
        _only(table, known | SCALED | {"mechanism", *PARAMETERS}, "attribute")
        if "name" not in table:
            raise StudyError("an attribute has no name", "add name = ... to it")
        if not {"values", "bins", "range", "type"} & set(table):
            raise StudyError("an attribute has no values", "add values = ... to it")
        given = {key: table[key] for key in SCALED if key in table}
        attribute = Attribute(
            table["name"],
            table.get("values", ()),
            table.get("question", ""),
            table.get("translations"),
            **given,
        )
        attributes.append(attribute)
        if "epsilon" in table:
            shares[attribute.name] = table["epsilon"]
        if PARAMETERS & set(table) and "mechanism" not in table:
            key = min(PARAMETERS & set(table))
            raise StudyError(
                f"attribute {attribute.name!r} has {key!r} and no mechanism",
                f"add mechanism = ..., or leave {key} out",
            )
        if {"matrix", "weights", "mechanism"} & set(table):
            channels[attribute.name] = _read_channel(table, repr(attribute.name), kinds)
    for table in _channel_tables(content):
        names = tuple(table["attributes"])
        if names in channels or (len(names) == 1 and names[0] in channels):
            raise StudyError(f"{' x '.join(names)} has two channels", "give one of them")
        if str(table.get("mechanism")) in _OF_LITERATURE:
            channels[names] = _channel_by_name(table, Schema(attributes))
        else:
            channels[names] = _read_channel(table, " x ".join(map(repr, names)), kinds)
    clusters = content.get("clusters")
    if clusters is not None and content.get("design", "clusters") != "clusters":
        raise StudyError("there are clusters and another design", "leave one of them out")
    if clusters is None and content.get("design") == "clusters":
        raise StudyError("design is 'clusters'", 'add clusters = [["a", "b"], ["c"]]')
    return {
        "schema": Schema(attributes, content.get("impossible", [])),
        "epsilon": content.get("epsilon"),
        "design": content.get("design", "independent") if clusters is None else clusters,
        "shares": shares,
        "channels": channels,
        "draw": _boolean(content.get("draw", False)),
        "sample": content.get("sample"),
        "name": content.get("name", "study"),
        "text": StudyText.of(content),
        "corrections": _corrections(content.get("correction", [])),
        "staged": StageSizes.of(content) is not None,
    }


def correction_section(made: Correction) -> str:
    """A correction as a section of a study file: what castell correct adds at its end."""
    was = json.dumps(made.was, ensure_ascii=False, sort_keys=True)
    # TOML reads a text of JSON as it is, but for one character.
    text = json.dumps(was, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f'\n[[correction]]\nof = "{made.of}"\non = "{made.on}"\nwas = {text}\n'


def _corrections(tables: Any) -> tuple[Correction, ...]:
    """The [[correction]] sections; what was there before is JSON in a text."""
    if not tables:
        return ()
    try:
        listed = [{**table, "was": json.loads(table["was"])} for table in tables]
    except (KeyError, TypeError, ValueError):
        raise StudyError(
            "a [[correction]] section is broken",
            "leave those that castell correct wrote as they are",
        ) from None
    return corrections_of(listed)


def _channel_tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The [[channel]] sections: channels of blocks, or of a kind of their own."""
    tables = content.get("channel", [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise StudyError("channel is no list of sections", "write [[channel]] above each")
    for table in tables:
        names = table.get("attributes")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise StudyError("a channel is for no attributes", 'add attributes = ["a", "b"] to it')
    return tables


def _read_channel(table: dict[str, Any], what: str, kinds: Kinds | None) -> Any:
    """The channel that a section gives: a matrix, weights, or a kind with its entries."""
    given = [key for key in ("matrix", "weights", "kind", "mechanism") if key in table]
    if "kind" in table and "attributes" in table:
        entries = {key: value for key, value in table.items() if key != "attributes"}
        return channel_of(entries, kinds)
    if len(given) != 1:
        raise StudyError(
            f"{what} has {' and '.join(given) or 'a channel without a matrix'}",
            "give one of them: matrix, weights, kind or mechanism",
        )
    if "mechanism" in table:
        return _classic(table, what)
    if "attributes" in table:
        _only(table, {"attributes", "matrix", "weights"}, "a channel")
    return table["matrix"] if "matrix" in table else MatrixResponse(table["weights"])


def _several(table: dict[str, Any]) -> tuple[tuple[Attribute, ...], Decimal | None]:
    """The attributes of a question that is asked as many, and the share of each."""
    kind = "choose" if "choose" in table else "keys"
    make, entries = _ASKED_AS_MANY[kind]
    _only(table, {"name", kind, "question", "epsilon", *entries}, "a question")
    if "name" not in table:
        raise StudyError("a question has no name", "add name = ... to it")
    more = {key: table[key] for key in entries if key in table}
    several = make(table["name"], table[kind], table.get("question", ""), **more)
    if "epsilon" not in table:
        return several, None
    return several, split_epsilon(table["epsilon"], len(several), table["name"])


def _classic(table: dict[str, Any], what: str) -> Any:
    """A classic design by its name, with its parameters beside it."""
    name = table["mechanism"]
    if not isinstance(name, str):
        raise StudyError(f"{what}: mechanism is {name!r}", 'write its name, as "warner"')
    if name in _OF_LITERATURE:
        raise StudyError(
            f"{what} has the mechanism {name!r} in its own section",
            "give it a [[channel]] section with attributes, mechanism and epsilon",
        )
    if "attributes" in table and name in CLASSIC:
        _only(table, {"attributes", "mechanism", *PARAMETERS}, "a channel")
    try:
        return mechanism(name, **{k: table[k] for k in PARAMETERS & set(table)})
    except ChannelError as error:
        error.problem = f"{what}: {error.problem}"
        raise


def _channel_by_name(table: dict[str, Any], schema: Schema) -> Any:
    """The channel of a section that names a mechanism of the literature, and its epsilon."""
    several, rappor = table["mechanism"] in OF_SEVERAL, table["mechanism"] == RAPPOR
    more = {"fakes"} if several else set()
    known = set(RAPPOR_CHANCES) if rappor else {"epsilon"} | more
    _only(table, {"attributes", "mechanism"} | known, "a channel with a mechanism")
    what = " x ".join(map(repr, table["attributes"]))
    if "epsilon" not in table and not rappor:
        raise StudyError(f"the mechanism of {what} has no epsilon", "add epsilon = 1.0 to it")
    for name in table["attributes"]:
        if name not in schema.names:
            raise StudyError(f"there is a channel for {name!r}", suggest(name, schema.names))
    sizes = [schema[name].size for name in table["attributes"]]
    if several:
        given = {key: table[key] for key in more & set(table)}
        return channel_of_several(
            table["mechanism"], sizes, table["epsilon"], f"the epsilon of {what}", **given
        )
    size = prod(sizes)
    if rappor:
        return rappor_channel(size, **{key: table[key] for key in known & set(table)})
    return named_channel(table["mechanism"], size, table["epsilon"], f"the epsilon of {what}")


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise StudyError(f"draw is {value!r}", "write draw = true or leave it out")
    return value


def _only(table: dict[str, Any], known: set[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise StudyError(f"{what} has an unknown entry {key!r}", suggest(key, sorted(known)))
