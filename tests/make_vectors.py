"""Write vectors/: what Python, JavaScript and any other client must agree on.

Nothing here imports castell. The expectations are computed from the definitions, slowly and
plainly, so that they check both implementations instead of repeating one. Run it from the clone:
python tests/make_vectors.py
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vectors"
WORDS = 2**64
Json = dict[str, Any]


def canonical(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


# -- channels, from their definitions --------------------------------------------------------------


def kary(size: int, same: int, other: int) -> Json:
    return {"kind": "kary", "size": size, "same": same, "other": other}


def matrix(*rows: list[int]) -> Json:
    return {"kind": "matrix", "weights": list(rows)}


def cyclic(size: int, outputs: int, chosen: list[int], same: int, other: int) -> Json:
    return {
        "kind": "cyclic",
        "size": size,
        "outputs": outputs,
        "set": chosen,
        "same": same,
        "other": other,
    }


def clear(size: int) -> Json:
    """Of a public attribute, which is sent as it is."""
    return {"kind": "clear", "size": size}


def skip(channel: Any) -> Json:
    """Of a question that may be skipped: who does is seen to."""
    return {"kind": "skip", "channel": channel}


def partition(sizes: list[int], leaves: list[list[list[int]]], channel: Any) -> Json:
    return {"kind": "partition", "sizes": sizes, "leaves": leaves, "channel": channel}


def leaf_of(channel: Json, answer: int) -> int:
    """The leaf that holds an answer: each of its codes is in the leaf's list for its attribute."""
    codes = list(product(*(range(size) for size in channel["sizes"])))[answer]
    (found,) = (
        leaf
        for leaf, box in enumerate(channel["leaves"])
        if all(code in inside for code, inside in zip(codes, box, strict=True))
    )
    return found


def shape(channel: Json) -> tuple[int, int]:
    if channel["kind"] == "skip":
        inputs, outputs = shape(channel["channel"])
        return inputs + 1, outputs + 1
    if channel["kind"] == "partition":
        return math.prod(channel["sizes"]), shape(channel["channel"])[1]
    if channel["kind"] == "matrix":
        return len(channel["weights"]), len(channel["weights"][0])
    return channel["size"], channel["outputs" if channel["kind"] == "cyclic" else "size"]


def weight(channel: Json, answer: int, report: int) -> int:
    if channel["kind"] == "skip":
        inputs, outputs = shape(channel["channel"])
        if answer == inputs or report == outputs:
            return total_of(channel["channel"]) * (answer == inputs and report == outputs)
        return weight(channel["channel"], answer, report)
    if channel["kind"] == "partition":
        return weight(channel["channel"], leaf_of(channel, answer), report)
    if channel["kind"] == "matrix":
        return int(channel["weights"][answer][report])
    if channel["kind"] == "clear":
        return int(answer == report)
    if channel["kind"] == "kary":
        return int(channel["same"] if answer == report else channel["other"])
    near = (report - answer) % channel["outputs"] in channel["set"]
    return int(channel["same"] if near else channel["other"])


def total_of(channel: Json) -> int:
    if channel["kind"] == "kary":  # too many reports in some vectors to add them up one by one
        return int(channel["same"] + (channel["size"] - 1) * channel["other"])
    return sum(weight(channel, 0, report) for report in range(shape(channel)[1]))


def respond(channel: Json, answer: int, number: int) -> int:
    """The report that owns a number: which of its `weight` numbers each report owns is the rule."""
    outputs = shape(channel)[1]
    if channel["kind"] == "clear":
        return answer
    if channel["kind"] == "skip":
        skipped = answer == shape(channel)[0] - 1
        return outputs - 1 if skipped else respond(channel["channel"], answer, number)
    if channel["kind"] == "partition":
        return respond(channel["channel"], leaf_of(channel, answer), number)
    if channel["kind"] == "matrix":
        for report in range(outputs):
            number -= weight(channel, answer, report)
            if number < 0:
                return report
        raise AssertionError("the number is not below the total")
    if number < outputs * channel["other"]:
        return int(number // channel["other"])
    if channel["kind"] == "kary":
        return answer
    turn = (number - outputs * channel["other"]) // (channel["same"] - channel["other"])
    return int((answer + channel["set"][turn]) % outputs)


def loss(channel: Json) -> float:
    if channel["kind"] in ("partition", "skip"):  # every leaf has answers; who skips is not hidden
        return loss(channel["channel"])
    if channel["kind"] != "matrix":
        return math.log(channel["same"] / channel["other"])
    return max(
        math.log(max(column) / min(column)) for column in zip(*channel["weights"], strict=True)
    )


def number_from(total: int, words: Iterator[int]) -> int:
    """A uniform number below a total: words above the largest multiple are thrown away."""
    while (word := next(words)) >= WORDS - WORDS % total:
        pass
    return word % total


CHANNELS = {
    "the paper's coin": kary(2, 3, 1),
    "three values, epsilon 1": kary(3, 2918732888, 1073741824),
    "total is a power of two: no word is thrown away": kary(5, 4, 1),
    "the largest total, 2^53": kary(2, 2**53 - 2**20, 2**20),
    "the largest epsilon, 32": kary(5, 78962960182680, 1),
    "many values": kary(1_000_003, 2**40 + 7, 2**12),
    "asymmetric": matrix([8, 2], [3, 7]),
    "more reports than answers": matrix([7, 2, 1], [1, 2, 7]),
    "three by three": matrix([90, 7, 3], [5, 80, 15], [11, 19, 70]),
    "five reports, sums near 2^53": matrix(
        [2**52, 2**51, 2**50, 2**49, 2**49], [2**49, 2**49, 2**50, 2**51, 2**52]
    ),
    "a circle of seven": cyclic(5, 7, [0, 1, 3], 11, 4),
    "a circle that is all values": cyclic(7, 7, [1, 2, 4], 3, 1),
    "quotients just below whole numbers": cyclic(8, 13, [0, 1, 3, 9], 2**50 + 3, 2**8),
    "a wide circle, epsilon 1": cyclic(21, 21, [3, 6, 7, 12, 14], 2918732888, 2**30),
    "may be skipped": skip(kary(3, 2918732888, 2**30)),
    "may be skipped, more reports than answers": skip(matrix([7, 2, 1], [1, 2, 7])),
    "leaves: boxes of two attributes": partition(
        [2, 3], [[[0], [0]], [[0], [1, 2]], [[1], [0, 1, 2]]], kary(3, 9, 2)
    ),
    "leaves: values merged": partition([5], [[[0, 3]], [[1]], [[2, 4]]], kary(3, 2**52, 2**20)),
    "leaves: every answer its own": partition(
        [2, 2], [[[1], [1]], [[0], [0]], [[0], [1]], [[1], [0]]], kary(4, 41, 16)
    ),
    "leaves on a circle": partition(
        [3, 2, 2],
        [
            [[0, 2], [0], [0, 1]],
            [[1], [0], [0, 1]],
            [[0, 1, 2], [1], [0]],
            [[0], [1], [1]],
            [[1, 2], [1], [1]],
        ],
        cyclic(5, 7, [0, 1, 3], 11, 4),
    ),
    "leaves through an asymmetric matrix": partition(
        [3, 2], [[[0], [0, 1]], [[1, 2], [0, 1]]], matrix([7, 2, 1], [1, 2, 7])
    ),
}


def edge_words(channel: Json) -> list[int]:
    """Words at the ends of everything: the range, the multiple, and each report's own numbers."""
    if channel["kind"] in ("partition", "skip"):
        return edge_words(channel["channel"])
    total = total_of(channel)
    last = WORDS - WORDS % total - 1
    words = {0, 1, total - 1, total, last - 1, last, WORDS // 2, 0x0123456789ABCDEF % last}
    inputs, outputs = shape(channel)
    bounds = [outputs * channel["other"]] if channel["kind"] != "matrix" else []
    for report in range(min(outputs, 8)):
        if channel["kind"] != "matrix":
            bounds.append(report * channel["other"])
        else:
            bounds += [sum(channel["weights"][answer][: report + 1]) for answer in range(inputs)]
    if channel["kind"] == "cyclic":
        gap, base = channel["same"] - channel["other"], outputs * channel["other"]
        bounds += [base + turn * gap for turn in range(len(channel["set"]) + 1)]
    for bound in bounds:
        # The same numbers from words low and high in the range.
        for number in (bound - 1, bound, bound + 1):
            if 0 <= number < total:
                words |= {number, (last + 1 - total) + number}
    return sorted(words)


def channel_vectors() -> list[Json]:
    vectors = []
    for name, channel in CHANNELS.items():
        total, (inputs, outputs) = total_of(channel), shape(channel)
        answers = sorted({0, 1, inputs // 2, inputs - 1})
        cases = [
            [answer, [hex(word)], respond(channel, answer, word % total)]
            for word in edge_words(channel)
            for answer in answers
        ]
        if WORDS % total:
            thrown = [WORDS - WORDS % total, WORDS - 1]
            cases += [
                [answer, [*map(hex, thrown), hex(word)], respond(channel, answer, word % total)]
                for word in (0, total - 1, 12345 % total)
                for answer in answers
            ]
        vectors.append(
            {
                "name": name,
                "channel": channel,
                "inputs": inputs,
                "outputs": outputs,
                "total": total,
                "epsilon": loss(channel),
                "cases": cases,
            }
        )
    return vectors


BROKEN_CHANNELS: dict[str, Any] = {
    "no channel": None,
    "a list": [],
    "no kind": {"size": 2, "same": 3, "other": 1},
    "unknown kind": {"kind": "laplace", "size": 2, "same": 3, "other": 1},
    "an entry too many": {**kary(2, 3, 1), "note": 1},
    "an entry too few": {"kind": "kary", "size": 2, "same": 3},
    "one value": kary(1, 3, 1),
    "the answer weighs no more than others": kary(2, 4, 4),
    "the answer weighs less": kary(2, 1, 4),
    "others weigh nothing: the report is the answer": kary(2, 3, 0),
    "a negative weight": kary(2, 3, -1),
    "not a power of two": kary(2, 7, 3),
    "a total above 2^53": kary(2, 2**53 - 2**20 + 1, 2**20),
    "k-ary response that reports the answer as it is": kary(2, 2**50, 1),
    "an epsilon just above 32": kary(2, 78962960182681, 1),
    "a weight as text": {**kary(2, 3, 1), "same": "3"},
    "a weight that is true": {**kary(2, 3, 1), "other": True},
    "a broken number": {**kary(2, 3, 1), "same": 3.5},
    "an empty matrix": matrix(),
    "one row": matrix([1, 2]),
    "rows of two lengths": matrix([1, 2], [1, 1, 1]),
    "rows of two totals": matrix([1, 2], [2, 2]),
    "an impossible report": matrix([3, 0], [1, 2]),
    "negative weights in a row": matrix([4, -1], [1, 2]),
    "fewer reports than answers": matrix([5], [5]),
    "a matrix that reports the answer as it is": matrix([2**50, 1], [1, 2**50]),
    "rows that are no lists": {"kind": "matrix", "weights": 3},
    "a circle smaller than the values": cyclic(5, 4, [0], 3, 1),
    "an empty set": cyclic(5, 5, [], 3, 1),
    "a set that is everything": cyclic(3, 3, [0, 1, 2], 3, 1),
    "a set out of order": cyclic(5, 5, [1, 0], 3, 1),
    "a set with a distance twice": cyclic(5, 5, [1, 1], 3, 1),
    "a set beyond the circle": cyclic(5, 5, [5], 3, 1),
    "a negative distance": cyclic(5, 5, [-1, 1], 3, 1),
    "near weighs no more": cyclic(5, 5, [0], 2, 2),
    "far is not a power of two": cyclic(5, 5, [0], 7, 3),
    "far weighs nothing": cyclic(5, 5, [0], 7, 0),
    "a circle that reports the answer as it is": cyclic(7, 7, [1, 2, 4], 2**50, 1),
    "a circle's total above 2^53": cyclic(5, 5, [0, 1, 2, 3], 2**51 + 2**12, 2**10),
}


def broken_partitions() -> Json:
    """A good partition with something wrong in it."""
    boxes = [[[0], [0]], [[0], [1, 2]], [[1], [0, 1, 2]]]
    good = partition([2, 3], boxes, kary(3, 9, 2))

    def leaf(*box: Any) -> Json:
        """The last leaf in another form."""
        return {**good, "leaves": [*boxes[:2], list(box)]}

    whole = {**good, "channel": kary(2, 9, 2)}
    return {
        "a partition without sizes": partition([], [[], [], []], kary(3, 9, 2)),
        "sizes that are a number": {**good, "sizes": 6},
        "sizes that are text": {**good, "sizes": "23"},
        "an attribute of one value": partition([1, 2], [[[0], [0]], [[0], [1]]], kary(2, 3, 1)),
        "a size with a point": {**good, "sizes": [2.5, 3]},
        "more answers than a device writes down": partition(
            [2, 2**20], [[[0], [0]], [[0], [1]]], kary(2, 3, 1)
        ),
        "more leaves than are worked out": partition(
            [1026], [[[code]] for code in range(1024)] + [[[1024, 1025]]], kary(1025, 9, 2)
        ),
        "very many attributes": {**good, "sizes": [2] * 20_000},
        "leaves that are a number": {**good, "leaves": 3},
        "no leaves": {**good, "leaves": []},
        "leaves that are no boxes": {**good, "leaves": [0, 1, 2]},
        "leaves that are null": {**good, "leaves": None},
        "boxes of codes without lists": leaf(1, 2),
        "a box of one attribute too few": leaf([1]),
        "a box of one attribute too many": leaf([1], [0, 1, 2], [0]),
        "an empty box": leaf([], [0, 1, 2]),
        "codes that are text": leaf(["1"], [0, 1, 2]),
        "codes that are true": leaf([True], [0, 1, 2]),
        "codes with a point": leaf([0.5], [0, 1, 2]),
        "a negative code": leaf([-1], [0, 1, 2]),
        "a code beyond the values": leaf([1], [0, 1, 2, 3]),
        "codes out of order": leaf([1], [0, 2, 1]),
        "a code twice": leaf([1], [0, 0, 1, 2]),
        "leaves that overlap": leaf([0, 1], [0, 1, 2]),
        "leaves that overlap and are as many answers": leaf([0], [0, 1, 2]),
        "leaves that leave an answer out": leaf([1], [0, 1]),
        "two leaves for a channel of three": {**good, "leaves": boxes[:2]},
        "three leaves for a channel of two": whole,
        "a partition with an entry of its own": {**good, "note": 1},
        "a partition without a channel": {k: v for k, v in good.items() if k != "channel"},
        "leaves through nothing": {**good, "channel": None},
        "leaves through a list": {**good, "channel": []},
        "leaves through a channel of no kind": {**good, "channel": {"size": 3}},
        "leaves through a kind in a list": {**good, "channel": {**kary(3, 9, 2), "kind": ["kary"]}},
        "leaves through an unknown kind": {**good, "channel": {"kind": "laplace", "size": 3}},
        "leaves through leaves": {
            **good,
            "channel": partition([3], [[[0]], [[1]], [[2]]], kary(3, 9, 2)),
        },
        "leaves without noise": {**good, "channel": kary(3, 9, 0)},
        "leaves reported as they are": {**good, "channel": kary(3, 2**50, 1)},
    }


BROKEN_CHANNELS |= broken_partitions()
BROKEN_CHANNELS |= {
    "skipping nothing": skip(None),
    "skipping without a channel": {"kind": "skip"},
    "skipping with an entry of its own": {**skip(kary(2, 3, 1)), "note": 1},
    "skipping what may be skipped": skip(skip(kary(2, 3, 1))),
    "skipping an answer in clear": skip({"kind": "clear", "size": 2}),
    "skipping on a circle": skip(cyclic(5, 7, [0, 1, 3], 11, 4)),
    "skipping without noise": skip(kary(2, 3, 0)),
    "skipping what is reported as it is": skip(kary(2, 2**50, 1)),
}


# -- studies ---------------------------------------------------------------------------------------


def attribute(name: str, *values: str, question: str = "", **more: Any) -> Json:
    return {"name": name, "question": question, "values": list(values), **more}


def block(channel: Json, *names: str) -> Json:
    return {"attributes": list(names), "channel": channel}


def study(name: str, attributes: list[Json], blocks: list[Json], **more: Any) -> Json:
    return {"castell": 1, "name": name, "attributes": attributes, "blocks": blocks, **more}


def digest_of(content: Json) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def published(content: Json) -> str:
    return canonical({**content, "digest": digest_of(content)})


YES = attribute("yes", "no", "yes", question="Yes?")
SMOKES = attribute(
    "smokes",
    "never",
    "before",
    "now",
    question="Do you smoke?",
    translations={
        "de": {"question": "Rauchen Sie?", "values": ["nie", "früher", "jetzt"]},
        "ca": {"question": "Fumeu?"},
    },
)
HEALTH = attribute("health", "poor", "fair", "good", "excellent", question="Health?")
ODD = attribute("\U0001d4d0 \ue000", "\x00\u2028\x7f", '"\\/', "é", "e\u0301", question="\t\n")

STUDIES = {
    "one question": study("tiny", [YES], [block(kary(2, 3, 1), "yes")]),
    "texts in three languages": study(
        "health",
        [SMOKES, HEALTH],
        [block(kary(3, 2918732888, 2**30), "smokes"), block(kary(4, 2918732888, 2**30), "health")],
        title="How are you?",
        description="Six questions.\nThree minutes.",
        consent="I take part of my own will.",
        thanks="Thank you.",
        imprint="https://university.example/imprint",
        privacy="/privacy.html?short#top",
        completion="https://panel.example:8443/done?study=7",
        language="en",
        translations={
            "de": {"title": "Wie geht es Ihnen?", "imprint": "https://university.example/de"},
            "ca": {"title": "Com esteu?", "description": "Sis preguntes."},
        },
    ),
    "shown before it is sent": study(
        "before", [YES], [block(kary(2, 3, 1), "yes")], review="before"
    ),
    "a cluster, and a matrix": study(
        "café",
        [YES, SMOKES, HEALTH],
        [
            block(kary(12, 2**30 + 5, 2**28), "health", "smokes"),
            block(matrix([8, 2], [3, 7]), "yes"),
        ],
    ),
    "odd texts": study("\u00fc\U0001f512", [ODD], [block(kary(4, 9, 2), ODD["name"])]),
    "a circle": study("circle", [HEALTH], [block(cyclic(4, 7, [0, 1, 3], 11, 4), "health")]),
    "a circle with reports of nobody": study(
        "sparse",
        [HEALTH, YES],
        [block(cyclic(8, 31, [1, 5, 11, 24, 25, 27], 90, 2), "yes", "health")],
    ),
    "a report that says nearly all": study(
        "uneven",
        [YES, SMOKES],
        [
            block(matrix([1000, 1], [500, 501]), "yes"),
            block(matrix([90, 7, 3, 1], [5, 80, 15, 1], [11, 19, 70, 1]), "smokes"),
        ],
    ),
    "a matrix over a cluster": study(
        "own",
        [YES, SMOKES, HEALTH],
        [
            block(
                matrix(
                    [40, 2, 3, 1, 5, 6, 3],
                    [1, 42, 3, 1, 5, 6, 2],
                    [7, 2, 33, 1, 5, 6, 6],
                    [1, 9, 3, 31, 5, 6, 5],
                    [1, 2, 3, 8, 35, 6, 5],
                    [3, 2, 3, 1, 5, 36, 10],
                ),
                "smokes",
                "yes",
            ),
            block(kary(4, 41, 16), "health"),
        ],
    ),
    "drawn, with a matrix over a set": study(
        "own-drawn",
        [YES, SMOKES],
        [
            block(matrix([30, 5, 9], [3, 32, 9], [8, 6, 30]), "smokes"),
            block(
                matrix(
                    [40, 2, 3, 1, 5, 9],
                    [1, 42, 3, 1, 5, 8],
                    [7, 2, 33, 1, 5, 12],
                    [1, 9, 3, 31, 5, 11],
                    [1, 2, 3, 8, 35, 11],
                    [3, 2, 3, 1, 5, 46],
                ),
                "yes",
                "smokes",
            ),
        ],
        draw=1,
    ),
    "twelve questions of which one is asked": study(
        "twelve",
        [attribute(f"q{i:02}", "no", "yes", question=f"Question {i}?") for i in range(12)],
        [block(kary(2, 13536824018, 2**25), f"q{i:02}") for i in range(12)],
        draw=1,
    ),
    "drawn, with overlaps": study(
        "drawn",
        [YES, SMOKES, HEALTH],
        [
            block(kary(6, 90, 8), "yes", "smokes"),
            block(cyclic(12, 13, [0, 1, 3, 9], 30, 4), "smokes", "health"),
            block(kary(8, 41, 16), "health", "yes"),
        ],
        draw=1,
    ),
    "drawn, three to one": study(
        "unequal",
        [YES, SMOKES],
        [block(kary(2, 3, 1), "yes"), block(kary(3, 5, 2), "smokes")],
        draw=[3, 1],
    ),
    "drawn, with weights near 2^53": study(
        "rare",
        [YES, SMOKES],
        [block(kary(6, 9, 1), "yes", "smokes"), block(kary(3, 5, 2), "smokes")],
        draw=[2**53 - 7, 7],
    ),
    "asked coarsely": study(
        "coarse",
        [SMOKES, HEALTH],
        [
            block(
                partition(
                    [3, 4],
                    [[[2], [0, 1]], [[0, 1], [0, 1]], [[0, 1, 2], [2]], [[0, 1, 2], [3]]],
                    kary(4, 41, 16),
                ),
                "smokes",
                "health",
            )
        ],
    ),
    "drawn, fine and coarse": study(
        "boxes",
        [YES, SMOKES, HEALTH],
        [
            block(
                partition([4], [[[0, 1]], [[2, 3]]], matrix([90, 7, 3], [1, 9, 90])),
                "health",
            ),
            block(
                partition(
                    [2, 4, 3],
                    [
                        [[0], [0, 3], [0, 1, 2]],
                        [[0], [1, 2], [0]],
                        [[0], [1, 2], [1, 2]],
                        [[1], [0, 1, 2, 3], [0, 2]],
                        [[1], [0], [1]],
                        [[1], [1, 2, 3], [1]],
                    ],
                    cyclic(6, 13, [0, 1, 3, 9], 30, 4),
                ),
                "yes",
                "health",
                "smokes",
            ),
            block(
                partition([3, 2], [[[0, 1], [0, 1]], [[2], [0]], [[2], [1]]], kary(3, 90, 8)),
                "smokes",
                "yes",
            ),
            block(kary(3, 90, 8), "smokes"),
        ],
        draw=[4, 20, 15, 1],
    ),
}


def corrected(content: Json, was: Json, on: str = "2026-11-16", **now: Any) -> Json:
    """A study with other words, which says what they were."""
    earlier = content.get("corrections", [])
    return {
        **content,
        **now,
        "corrections": [*earlier, {"of": digest_of(content), "on": on, "was": was}],
    }


def with_question(content: Json, at: int, question: str) -> list[Json]:
    """The attributes of a study, one of them with other words."""
    attributes = list(content["attributes"])
    attributes[at] = {**attributes[at], "question": question}
    return attributes


_TEXTS, _DRAWN = STUDIES["texts in three languages"], STUDIES["drawn, with overlaps"]
STUDIES["a corrected title"] = corrected(
    _TEXTS, {"title": _TEXTS["title"]}, title="A title without mistakes"
)
STUDIES["a question and a link corrected after that"] = corrected(
    STUDIES["a corrected title"],
    {"attributes": {"smokes": {"question": "Do you smoke?"}}, "privacy": _TEXTS["privacy"]},
    on="2026-11-17",
    attributes=with_question(_TEXTS, 0, "Do you smoke at all?"),
    privacy="https://university.example/privacy",
)
STUDIES["drawn, a question corrected and a title added"] = corrected(
    _DRAWN,
    {"attributes": {"yes": {"question": "Yes?"}}, "title": None},
    attributes=with_question(_DRAWN, 0, "Yes or no?"),
    title="Drawn",
)
STUDIES["combinations that cannot occur"] = study(
    "zeros",
    [YES, SMOKES, HEALTH],
    [block(kary(6, 9, 2), "yes", "smokes"), block(kary(4, 41, 16), "health")],
    impossible=[{"smokes": [0], "health": [1, 2, 3]}, {"yes": [1], "smokes": [1, 2]}],
)
_ZEROS = STUDIES["combinations that cannot occur"]
STUDIES["such a study, a value corrected"] = corrected(
    _ZEROS,
    {"attributes": {"smokes": {"values": SMOKES["values"]}}},
    attributes=[YES, {**SMOKES, "values": ["never ever", *SMOKES["values"][1:]]}, HEALTH],
)

# Stages: other blocks under the same words and the same promise.
_FIRST = study(
    "staged",
    [YES, SMOKES],
    [block(kary(2, 20, 8), "yes"), block(kary(3, 9, 4), "smokes")],
    draw=1,
    stages={"epsilon": "0.9162907318741551"},  # ln 2.5 = .91629073187415506...
)


def stage_after(*earlier: Json, **changes: Any) -> Json:
    after = [digest_of(one) for one in earlier]
    made = {**earlier[0], "stages": {**earlier[0]["stages"], "after": after}, **changes}
    return {key: value for key, value in made.items() if value is not None}


_SECOND = stage_after(
    _FIRST,
    blocks=[
        block(
            partition([2, 3], [[[0, 1], [0, 1]], [[0, 1], [2]]], kary(2, 39, 16)), "yes", "smokes"
        ),
        block(matrix([5, 2, 3], [2, 5, 3]), "yes"),
        block(cyclic(3, 7, [0, 1, 3], 9, 4), "smokes"),
    ],
    draw=[5, 1, 1],
)
_THIRD = stage_after(
    _FIRST,
    _SECOND,
    blocks=[block(kary(2, 3, 2), "yes"), block(kary(3, 13, 8), "smokes")],
    draw=None,  # both are reported: 3/2 of one and 13/8 of the other make 2.4375
)


def retitled(content: Json) -> Json:
    return corrected(content, {"title": None}, title="With a title")


STUDIES |= {
    "the first of several stages": _FIRST,
    "the second": _SECOND,
    "the third, in which everything is reported": _THIRD,
    "the second, corrected": retitled(_SECOND),
    "a promise of the largest epsilon": {**_FIRST, "stages": {"epsilon": "32"}},
}


def stage_vectors() -> list[Json]:
    """Whether two studies are stages of one. A device reports once for all stages of a study."""
    worded, later = retitled(_FIRST), retitled(_SECOND)
    words = {"attributes": [{**YES, "question": "No?"}, SMOKES]}
    values = {"attributes": [{**YES, "values": ["yes", "no"]}, SMOKES]}
    rule = {"impossible": [{"yes": [1], "smokes": [0]}]}
    more = stage_after({**_FIRST, "stages": {"epsilon": "0.92"}})
    pairs = {
        "the second after the first": (_FIRST, _SECOND, True, True),
        "the third after the first": (_FIRST, _THIRD, True, True),
        "a corrected second after the first": (_FIRST, later, True, False),
        "a corrected second after the corrected first": (worded, later, True, True),
        "the second of a first that was corrected since": (worded, _SECOND, True, False),
        "a stage that promises more": (_FIRST, more, False, False),
        "a stage that promises less": (
            _FIRST,
            stage_after({**_THIRD, "stages": {"epsilon": "0.9"}}),
            False,
            False,
        ),
        "a stage with another question": (_FIRST, stage_after(_FIRST, **words), False, False),
        "a stage with exchanged values": (_FIRST, stage_after(_FIRST, **values), False, False),
        "a stage with another name": (_FIRST, stage_after(_FIRST, name="other"), False, False),
        "a stage with a rule of its own": (_FIRST, stage_after(_FIRST, **rule), False, False),
        "a stage with another consent": (_FIRST, stage_after(_FIRST, consent="Yes"), False, False),
        "a stage beside public attributes": (_PUBLIC, _PUBLIC_STAGE, True, True),
        "without a promise": (_FIRST, stage_after(_FIRST, stages=None), False, False),
    }
    return [
        {
            "name": name,
            "seen": published(seen),
            "then": published(then),
            "same_study": same,
            "same_words": words,
        }
        for name, (seen, then, same, words) in pairs.items()
    ]


def broken_stages() -> dict[str, str]:
    """Stages that cost more than they promise, and promises that are none."""
    other = digest_of(STUDIES["one question"])

    def said(stages: Any, base: Json = _FIRST) -> str:
        return published({**base, "stages": stages})

    def asked(*blocks: Json, draw: Any = 1) -> str:
        return published(stage_after(_FIRST, blocks=list(blocks), draw=draw))

    yes, smokes = block(kary(2, 20, 8), "yes"), block(kary(3, 20, 8), "smokes")
    bound = "0.9162907318741551"
    return {
        "a stage one unit above the promise": asked(
            block(kary(2, 5 * 2**49 + 1, 2**50), "yes"), smokes
        ),
        "a worse channel in a block that is hardly ever drawn": asked(
            yes, smokes, block(kary(6, 21, 8), "yes", "smokes"), draw=[2**40, 2**40, 1]
        ),
        "a worse matrix": asked(block(matrix([6, 3, 2], [5, 1, 5]), "yes"), smokes),
        "a worse circle": asked(yes, block(cyclic(3, 7, [0, 1, 3], 11, 4), "smokes")),
        "worse leaves": asked(
            block(partition([3], [[[0, 1]], [[2]]], kary(2, 11, 4)), "smokes"), yes
        ),
        "both reported, each within the promise": asked(
            block(kary(2, 3, 2), "yes"), block(kary(3, 27, 16), "smokes"), draw=None
        ),
        "a promise just below what it costs": said({"epsilon": "0.916290731874155"}),
        "a promise of nothing": said({"epsilon": "0"}),
        "a promise above 32": said({"epsilon": "32.1"}),
        "a promise of 100": said({"epsilon": "100"}),
        "a promise that is a number": said({"epsilon": 1}),
        "a promise that is null": said(None),
        "a promise that is a list": said([bound]),
        "a promise without an epsilon": said({}),
        "a promise below zero": said({"epsilon": "-1"}),
        "a promise with zeros at its end": said({"epsilon": "1.0"}),
        "a promise with a zero before it": said({"epsilon": "01"}),
        "a promise without a digit before the point": said({"epsilon": ".95"}),
        "a promise in powers of ten": said({"epsilon": "1e0"}),
        "a promise that is infinite": said({"epsilon": "Infinity"}),
        "a promise with a line feed": said({"epsilon": "1\n"}),
        "a promise in other digits": said({"epsilon": "\u0661"}),
        "a promise with an entry of its own": said({"epsilon": bound, "note": 1}),
        "a stage after none": said({"epsilon": bound, "after": []}),
        "a stage after null": said({"epsilon": bound, "after": None}),
        "a stage after text": said({"epsilon": bound, "after": other}),
        "a stage after a number": said({"epsilon": bound, "after": [1]}),
        "a stage after no digest": said({"epsilon": bound, "after": [other.upper()]}),
        "a stage after the same one twice": said({"epsilon": bound, "after": [other, other]}),
        "too many stages": said(
            {"epsilon": bound, "after": [hashlib.sha256(bytes([n])).hexdigest() for n in range(50)]}
        ),
        "a correction of the promise": published(
            corrected(_FIRST, {"stages": _FIRST["stages"]}, stages={"epsilon": "2"})
        ),
    }


# -- values that stand for numbers -----------------------------------------------------------------

AGE: Json = {"bins": [None, "18", "30", "45", None], "unit": "years", "whole": True}
PAY: Json = {"bins": ["0", "0.5", "1.25", "10"], "unit": "thousand"}
DOSE: Json = {"points": ["-1", "0", "2.5", "100"]}
AGES = ("under 18", "18 to 29", "30 to 44", "45 and over")
DECLINED = "prefer not to say"
QUARTERS = ("2024-Q1", "2024-Q2")
STUDIES["numbers in bins and points, days by quarter"] = study(
    "numbers",
    [
        attribute("age", *AGES, DECLINED, scale=AGE, also=1, missing="category"),
        attribute("pay", "little", "some", "more", scale=PAY),
        attribute("dose", "-1", "0", "2.5", "100", scale=DOSE),
        attribute("seen", *QUARTERS, scale={"period": "quarter"}),
        attribute("health", "poor", "good", "not asked", ordered=True, also=1),
    ],
    [
        block(kary(5, 41, 16), "age"),
        block(kary(12, 9, 2), "pay", "dose"),
        block(kary(2, 3, 1), "seen"),
        block(kary(3, 9, 2), "health"),
    ],
)
ENDS: Json = {"points": ["0", "100"]}
CHAT = ("0", "100", "none", DECLINED)
STUDIES["numbers of those who have any"] = study(
    "key-value",
    [
        attribute("debt", "0", "100", "no debt", scale=ENDS, also=1, none=True),
        attribute("mail", "0", "100", "none", scale=ENDS, also=1, none=True, missing="none"),
        attribute("chat", *CHAT, scale=ENDS, also=2, none=True, missing="category"),
    ],
    [
        block(kary(3, 9, 2), "debt"),
        block(kary(3, 9, 2), "mail"),
        block(kary(4, 9, 2), "chat"),
    ],
)
NUMBERS = [
    *("17", "18", "29", "30", "44", "45", "-3", "29.5", "1e2", "+20", " 21 ", "", "x", "12,345"),
    *("0", "0.49999999999999994", "0.5", "1,25", "1.2499999999999998", "10", "10.000000000000002"),
    *("-1", "-0.25", "-0", "2.5", "51.25", "100", "100.5", "1e999", "Infinity", "NaN", "0x10"),
    *(".5", "5.", "--1", "1 000", "1.250", "99.99999999999999", "0,125", "-0,250", "0,5000"),
    *("1.234,5", "1,234.5", "1.234.567", "1,234,567", "1 234,5", "1\u00a0234", "1\u202f234.5"),
    *("1'234", "1\u2019234.5", "-1.234,5", "1,234,5", "1.234.5", "0.123,4", "1234,567.8", "1 23"),
    *("1,23.4", "1.234,", "1 234 56", "1.234 567", "1  234", "12.345,678", "1.234,5e3"),
]


def code_of(scale: Json, text: str, chance: Fraction) -> int:
    """The value of a typed number, in exact arithmetic on the doubles that devices read."""
    text = text.strip()
    whole, comma, rest = text.partition(",")
    digits = whole.removeprefix("-")
    # A comma before three digits may part thousands, but not behind a zero.
    decimal = len(rest) != 3 or digits.startswith("0")
    if comma and rest.isdigit() and digits.isdigit() and decimal:
        text = f"{whole}.{rest}"
    try:
        if not set(text) <= set("+-.eE0123456789"):
            return -1
        number = Fraction(float(text))
    except (ValueError, OverflowError):
        return -1
    if "points" in scale:
        points = [Fraction(float(point)) for point in scale["points"]]
        for low, (one, two) in enumerate(pairwise(points)):
            if one <= number < two or (number == two == points[-1]):
                return low + (chance < (number - one) / (two - one))
        return -1
    edges = [None if edge is None else Fraction(float(edge)) for edge in scale["bins"]]
    for place, (first, high) in enumerate(pairwise(edges)):
        above = first is None or number >= first
        last = place == len(edges) - 2
        below = high is None or number < high or (last and number == high)
        if above and below:
            return -1 if scale.get("whole") and number.denominator != 1 else place
    return -1


def scale_vectors() -> list[Json]:
    chances = [Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(2**53 - 1, 2**53)]
    return [
        {
            "scale": scale,
            "cases": [
                [text, float(chance), code_of(scale, text, chance)]
                for text in NUMBERS
                for chance in (chances if "points" in scale else chances[:1])
            ],
        }
        for scale in (AGE, PAY, DOSE)
    ]


def broken_scales() -> dict[str, str]:
    """Studies whose values are not what is said of them."""
    good = STUDIES["numbers in bins and points, days by quarter"]

    def first(place: int = 0, **changes: Any) -> str:
        entry = {**good["attributes"][place], **changes}
        entry = {key: value for key, value in entry.items() if value is not ...}
        before, after = good["attributes"][:place], good["attributes"][place + 1 :]
        return published({**good, "attributes": [*before, entry, *after]})

    def bins(*edges: Any, **more: Any) -> str:
        return first(scale={"bins": list(edges), "whole": True, **more})

    return {
        "a scale that is null": first(scale=None),
        "a scale that is a list": first(scale=[]),
        "a scale of nothing": first(scale={}),
        "a scale of another kind": first(scale={"kind": "bins"}),
        "a scale with two kinds": bins(None, "18", "30", "45", None, points=["1", "2"]),
        "a scale with an empty unit": bins(None, "18", "30", "45", None, unit=""),
        "a scale with a unit that is a number": bins(None, "18", "30", "45", None, unit=1),
        "one bin too few": bins(None, "18", "30", None),
        "one bin too many": bins(None, "18", "30", "45", "60", None),
        "a bin that is open in the middle": bins(None, "18", None, "45", None),
        "bins that are open at one end": bins("0", "18", "30", "45", None),
        "bins that do not ascend": bins(None, "30", "18", "45", None),
        "a bin without width": bins(None, "18", "18", "45", None),
        "an edge that is a number": bins(None, 18, "30", "45", None),
        "an edge with a zero at its end": bins(None, "18.0", "30", "45", None),
        "an edge with a zero before it": bins(None, "018", "30", "45", None),
        "an edge with an exponent": bins(None, "1e1", "30", "45", None),
        "an edge of minus nothing": bins(None, "-0", "30", "45", None),
        "a fraction among whole numbers": bins(None, "18.5", "30", "45", None),
        "whole that is false": bins(None, "18", "30", "45", None, whole=False),
        "whole that is one": bins(None, "18", "30", "45", None, whole=1),
        "bins that are text": first(scale={"bins": "18", "whole": True}),
        "a bin called by a number of another": first(values=["40", *AGES[1:], DECLINED]),
        "points out of order": first(2, scale={"points": ["0", "-1", "2.5", "100"]}),
        "points for whole numbers": first(2, scale={**DOSE, "whole": True}),
        "points called by one another": first(2, values=["0", "-1", "2.5", "100"]),
        "a period that is none": first(3, scale={"period": "week"}),
        "a period with a unit": first(3, scale={"period": "quarter", "unit": "days"}),
        "an order beside a scale": first(ordered=True),
        "an order that is false": first(4, ordered=False),
        "an order that is one": first(4, ordered=1),
        "no value beside the scale": first(also=0, missing=...),
        "a value beside the scale, and so one bin too few": first(also=2),
        "all values beside": first(4, also=3),
        "one value that is not beside": first(4, also=2),
        "fewer than none beside": first(4, also=-1),
        "beside that is true": first(4, also=True),
        "half a value beside": first(4, also=1.5),
        "missing answers refused, as is usual": first(missing="refuse"),
        "missing answers that are skipped": first(missing="skip"),
        "missing answers without a value": first(values=list(AGES), also=..., missing="category"),
        "none that is false": first(3, values=[*QUARTERS, "none"], also=1, none=False),
        "none that is one": first(3, values=[*QUARTERS, "none"], also=1, none=1),
        "none that is a text": first(3, values=[*QUARTERS, "none"], also=1, none="none"),
        "none without a value for it": first(3, none=True),
        "missing answers that are none where nobody has none": first(missing="none"),
        "missing answers that become none though none says so": first(none=True),
    }


# -- public attributes -----------------------------------------------------------------------------

STUDIES["public attributes around two that are randomised"] = study(
    "public",
    [
        attribute("region", "north", "south", "west", public=True),
        attribute("smokes", "no", "yes"),
        attribute("arm", "a", "b", public=True),
        attribute("health", "poor", "fair", "good"),
    ],
    [
        block(clear(3), "region"),
        block(kary(2, 3, 1), "smokes"),
        block(clear(2), "arm"),
        block(kary(3, 9, 2), "health"),
    ],
    stages={"epsilon": "2.61"},
)
_PUBLIC = STUDIES["public attributes around two that are randomised"]


_STAGE_BLOCKS = [
    block(kary(6, 13, 1), "smokes", "health"),
    block(kary(2, 3, 1), "smokes"),
    block(clear(3), "region"),
    block(clear(2), "arm"),
]
_PUBLIC_STAGE = stage_after(_PUBLIC, blocks=_STAGE_BLOCKS, draw=[3, 1])
STUDIES["a later stage beside public attributes"] = _PUBLIC_STAGE


STUDIES["public attributes beside blocks that are drawn"] = study(
    "drawn public",
    [
        attribute("region", "north", "south", "west", public=True),
        attribute("smokes", "no", "yes"),
        attribute("health", "poor", "fair", "good"),
        attribute("arm", "a", "b", public=True),
        attribute("rich", "no", "yes"),
    ],
    [
        block(kary(6, 9, 2), "smokes", "health"),
        block(kary(2, 3, 1), "rich"),
        block(cyclic(6, 7, [0, 1, 3], 11, 4), "health", "rich"),
        block(clear(3), "region"),
        block(clear(2), "arm"),
    ],
    draw=[2, 1, 3],
)
_DRAWN_PUBLIC = STUDIES["public attributes beside blocks that are drawn"]
STUDIES["a public attribute beside one block that is drawn"] = study(
    "drawn one",
    [attribute("smokes", "no", "yes"), attribute("arm", "a", "b", public=True)],
    [block(kary(2, 3, 1), "smokes"), block(clear(2), "arm")],
    draw=1,
)


def skippable(name: str, *values: str, **more: Any) -> Json:
    """An attribute whose last value says that there is no answer."""
    return attribute(name, *values, also=1, missing="skip", **more)


STUDIES["questions that may be skipped"] = study(
    "skipping",
    [
        skippable("smokes", "no", "yes", "no answer"),
        attribute("arm", "a", "b", public=True),
        skippable("health", "poor", "fair", "good", "not said"),
    ],
    [
        block(skip(kary(2, 3, 1)), "smokes"),
        block(clear(2), "arm"),
        block(skip(matrix([90, 7, 3], [5, 80, 15], [11, 19, 70])), "health"),
    ],
)
_SKIPPING = STUDIES["questions that may be skipped"]
STUDIES["drawn, each may be skipped"] = study(
    "drawn skipping",
    [skippable("smokes", "no", "yes", "no answer"), attribute("rich", "no", "yes")],
    [block(skip(kary(2, 3, 1)), "smokes"), block(kary(2, 7, 2), "rich")],
    draw=1,
)


def broken_skipping() -> dict[str, str]:
    """Only what is declared to be skipped shows who does, and what is declared must show it."""
    smokes, arm, health = _SKIPPING["attributes"]
    blocks = _SKIPPING["blocks"]

    def said(one: Json, **more: Any) -> str:
        return published({**_SKIPPING, "attributes": [one, arm, health], **more})

    plain = {key: value for key, value in smokes.items() if key not in ("missing", "also")}
    return {
        "skipping that is not declared": said(plain),
        "skipping that is called a value like others": said({**smokes, "missing": "category"}),
        "skipping with no value for it": said({**smokes, "also": 0}),
        "declared skipping that is randomised": said(
            smokes, blocks=[block(kary(3, 3, 1), "smokes"), *blocks[1:]]
        ),
        "declared skipping that is in clear": said(
            smokes, blocks=[block(clear(3), "smokes"), *blocks[1:]]
        ),
        "skipping a public attribute": said({**smokes, "public": True}),
        "missing that is something else": said({**smokes, "missing": "show"}),
        "skipping of another size": said(
            smokes, blocks=[block(skip(kary(3, 3, 1)), "smokes"), *blocks[1:]]
        ),
        "two questions skipped at once": published(
            study(
                "skipping",
                [smokes, skippable("rich", "no", "yes", "no answer")],
                [block(skip(kary(8, 3, 1)), "smokes", "rich")],
            )
        ),
    }


def hidden(content: Json) -> Json:
    """A study without its public attributes."""
    return {
        **content,
        "attributes": [a for a in content["attributes"] if not a.get("public")],
        "blocks": [one for one in content["blocks"] if one["channel"]["kind"] != "clear"],
    }


def answering(content: Json) -> Json:
    """A study as those see it who answer: nobody has to guess who skips."""
    return {
        **content,
        "attributes": [
            {**a, "values": a["values"][:-1]} if a.get("missing") == "skip" else a
            for a in content["attributes"]
        ],
        "blocks": [
            {**one, "channel": one["channel"]["channel"]}
            if one["channel"]["kind"] == "skip"
            else one
            for one in content["blocks"]
        ],
    }


def broken_public() -> dict[str, str]:
    """What is sent as it is must be declared public, and what is declared must be so."""
    asked, blocks = _PUBLIC["attributes"], _PUBLIC["blocks"]
    region, smokes, arm, health = asked
    first, *others = _DRAWN_PUBLIC["blocks"]

    def drawn_with(*listed: Json, **more: Any) -> str:
        return published({**_DRAWN_PUBLIC, "blocks": list(listed), **more})

    def said(attributes: list[Json], **more: Any) -> str:
        return published({**_PUBLIC, "attributes": attributes, **more})

    undeclared = {key: value for key, value in region.items() if key != "public"}
    both = [
        block(clear(6), "region", "arm"),
        block(kary(2, 3, 1), "smokes"),
        block(kary(3, 9, 2), "health"),
    ]
    drawn = [block(clear(2), "smokes"), block(kary(2, 3, 1), "smokes")]
    return {
        "an attribute in clear that is not declared public": said(
            [undeclared, smokes, arm, health]
        ),
        "a public attribute that is randomised": said(
            [region, {**smokes, "public": True}, arm, health]
        ),
        "public that is false": said([region, {**smokes, "public": False}, arm, health]),
        "public that is 1": said([{**region, "public": 1}, smokes, arm, health]),
        "public that is null": said([{**region, "public": None}, smokes, arm, health]),
        "two public attributes in one block": said(asked, blocks=both),
        "a public attribute of another size": said(
            asked, blocks=[block(clear(2), "region"), *blocks[1:]]
        ),
        "an entry too many in clear": said(
            asked, blocks=[block({**clear(3), "same": 1}, "region"), *blocks[1:]]
        ),
        "nothing but public attributes": published(
            study("public", [region, arm], [block(clear(3), "region"), block(clear(2), "arm")])
        ),
        "drawn, a public attribute before a block": drawn_with(others[-1], first, *others[:-1]),
        "drawn, a public attribute between blocks": drawn_with(first, others[-1], *others[:-1]),
        "drawn, a public attribute left out": drawn_with(first, *others[:-1]),
        "drawn, a public attribute twice": drawn_with(first, *others, others[-1]),
        "drawn, a weight for what is public": drawn_with(first, *others, draw=[2, 1, 3, 1, 1]),
        "drawn, a private attribute in clear": drawn_with(
            first, *others, block(clear(2), "smokes")
        ),
        "drawn, a public attribute in a block": drawn_with(
            block(kary(12, 9, 2), "smokes", "health", "arm"), *others
        ),
        "drawn, groups beside what is public": drawn_with(
            block(
                partition([2, 3], [[[0], [0, 1, 2]], [[1], [0, 1, 2]]], kary(2, 3, 1)),
                "smokes",
                "health",
            ),
            *others,
        ),
        "an attribute in clear that is drawn": published(
            study("public", [{**smokes, "public": True}], drawn, draw=1)
        ),
        "a drawn attribute in clear beside another": published(
            study(
                "public",
                [region, smokes],
                [block(clear(3), "region"), block(kary(2, 3, 1), "smokes")],
                draw=1,
            )
        ),
        "a promise broken by what is randomised beside public attributes": said(
            asked, stages={"epsilon": "2.6"}
        ),
        "a later stage that costs more, beside public attributes": published(
            {
                **_PUBLIC_STAGE,
                "blocks": [block(kary(6, 14, 1), "smokes", "health"), *_STAGE_BLOCKS[1:]],
            }
        ),
        "groups that hold answers in clear": said(
            asked,
            blocks=[
                blocks[0],
                block(partition([2], [[[0]], [[1]]], clear(2)), "smokes"),
                *blocks[2:],
            ],
        ),
    }


def widths_of(content: Json) -> list[int]:
    outputs = [shape(one["channel"])[1] for one in content["blocks"]]
    if "draw" not in content:
        return outputs
    drawn = len(hidden(content)["blocks"])
    return [sum(outputs[:drawn]), *outputs[drawn:]]


def epsilon_of(content: Json) -> float:
    losses = [loss(one["channel"]) for one in hidden(content)["blocks"]]
    return max(losses) if "draw" in content else sum(losses)


def study_vectors() -> list[Json]:
    return [
        {
            "name": name,
            "text": published(content),
            "digest": digest_of(content),
            "widths": widths_of(content),
            "epsilon": epsilon_of(content),
        }
        for name, content in STUDIES.items()
    ]


# -- what a report gives away ----------------------------------------------------------------------


def seen(content: Json, one: Json, name: str | None) -> list[dict[int, Fraction]]:
    """For each report of a block how likely it comes with each value of an attribute, or of all."""
    sizes = {a["name"]: len(a["values"]) for a in content["attributes"]}
    channel, total = one["channel"], total_of(one["channel"])
    inputs, outputs = shape(channel)
    found: list[dict[int, Fraction]] = [{} for _ in range(outputs)]
    answers = product(*(range(sizes[each]) for each in one["attributes"]))
    for number, answer in enumerate(answers):
        value = number if name is None else answer[one["attributes"].index(name)]
        for report in range(outputs):
            chance = Fraction(weight(channel, number, report), total * inputs)
            found[report][value] = found[report].get(value, Fraction(0)) + chance
    return found


def best_guess(content: Json, one: Json, name: str | None) -> Fraction:
    return sum((max(report.values()) for report in seen(content, one, name)), Fraction(0))


def worst_guess(content: Json, one: Json, name: str) -> Fraction:
    return max(
        max(report.values()) / sum(report.values(), Fraction(0))
        for report in seen(content, one, name)
    )


def draw_weights(content: Json) -> list[int]:
    """How often each block is drawn, beside the others."""
    draw = content.get("draw", 1)
    return draw if isinstance(draw, list) else [1] * len(hidden(content)["blocks"])


def risk_of(content: Json, entry: Json) -> Json:
    """The risk of one attribute: of whoever is asked, and over the draw."""
    name, blocks = entry["name"], content["blocks"]
    held = [one for one in blocks if name in one["attributes"]]
    each = [best_guess(content, one, name) for one in held]
    chance = Fraction(1, len(entry["values"]))
    often = draw_weights(content)
    times = [often[blocks.index(one)] for one in held]
    draws = sum(often) if "draw" in content else 1
    asked = sum(times) if "draw" in content else 1
    known = sum((t * guess for t, guess in zip(times, each, strict=True)), Fraction(0))
    return {
        "name": name,
        "by_chance": float(chance),
        "best_guess_if_drawn": float(max(each)),
        "least_guess_if_drawn": float(min(each)),
        "best_guess_over_draw": float((known + (draws - asked) * chance) / draws),
        "chance_drawn": asked / draws,
        "worst_guess": float(max(worst_guess(content, one, name) for one in held)),
    }


def statement_of(content: Json) -> Json:
    """Public attributes are no part of it: nobody has to guess them."""
    content = answering(hidden(content))
    blocks, drawn = content["blocks"], "draw" in content
    whole = [best_guess(content, one, None) for one in blocks]
    cells = math.prod(len(a["values"]) for a in content["attributes"])
    inputs = [shape(one["channel"])[0] for one in blocks]
    most = whole.index(max(whole))
    every = math.prod(whole, start=Fraction(1))
    often = draw_weights(content)
    over = sum(
        times * x * size / cells for times, x, size in zip(often, whole, inputs, strict=True)
    ) / sum(often)
    return {
        "attributes": [risk_of(content, entry) for entry in content["attributes"]],
        "telling_block": blocks[most]["attributes"]
        if drawn
        else [a["name"] for a in content["attributes"]],
        "all_guessed_if_drawn": float(whole[most] if drawn else every),
        "all_by_chance_if_drawn": 1 / (inputs[most] if drawn else cells),
        "all_guessed": float(over if drawn else every),
        "all_by_chance": 1 / cells,
    }


def statement_vectors() -> list[Json]:
    return [
        {"name": name, "study": published(content), "statement": statement_of(content)}
        for name, content in STUDIES.items()
    ]


def broken_studies() -> list[Json]:
    good = STUDIES["texts in three languages"]
    drawn, coarse = STUDIES["drawn, with overlaps"], STUDIES["asked coarsely"]
    one = STUDIES["one question"]

    def changed(change: Callable[[Json], object], base: Json = good) -> str:
        """A study with something wrong in it and a digest that fits nevertheless."""
        copy: Json = json.loads(canonical(base))
        change(copy)
        return published(copy)

    def put(*path: Any, value: Any, base: Json = good) -> str:
        def change(document: Any) -> None:
            for key in path[:-1]:
                document = document[key]
            document[path[-1]] = value

        return changed(change, base)

    text = published(good)
    other = digest_of(STUDIES["one question"])
    broken = {
        "nothing": "",
        "not JSON": text[:-1],
        "a list": "[]",
        "null": "null",
        "no digest": canonical(good),
        "another digest": text.replace(digest_of(good), other),
        "a digest in capitals": text.replace(digest_of(good), digest_of(good).upper()),
        "changed after it was published": text.replace("Do you smoke?", "Do you drink?"),
        "a weight changed after it was published": text.replace("2918732888", "2918732889"),
        "an entry of its own": put("note", value="x"),
        "another format": put("castell", value=2),
        "a format that is text": put("castell", value="1"),
        "a title that is no text": put("title", value=3),
        "an empty title": put("title", value=""),
        "a review that is the default": put("review", value="after"),
        "a review that is none": put("review", value=""),
        "a consent that is no text": put("consent", value=["x"]),
        "a link that runs a script": put("completion", value="javascript:alert(1)"),
        "a link without encryption": put("privacy", value="http://university.example/"),
        "a link to another host by its path": put("imprint", value="//university.example/"),
        "the same with a backslash": put("imprint", value="/\\university.example/"),
        "a link with a name in it": put("imprint", value="https://me@university.example/"),
        "a link with a space": put("imprint", value="https://university.example/a b"),
        "a link without a host": put("imprint", value="https:///a"),
        "a translated link that runs a script": put(
            "translations", "de", "imprint", value="javascript:alert(1)"
        ),
        "a language that is none": put("language", value="English"),
        "translations without a language": put("translations", value={}),
        "an empty translation": put("translations", value={"de": {}}),
        "a translation with an entry of its own": put("translations", "de", "note", value="x"),
        "a translation with too few values": put(
            "attributes", 0, "translations", "de", "values", value=["nie", "jetzt"]
        ),
        "a translation with equal values": put(
            "attributes", 0, "translations", "de", "values", value=["nie", "nie", "jetzt"]
        ),
        "no attributes": put("attributes", value=[]),
        "an attribute without a question": changed(lambda s: s["attributes"][0].pop("question")),
        "an attribute with an entry of its own": put("attributes", 0, "note", value=1),
        "an attribute with one value": put("attributes", 0, "values", value=["never"]),
        "a value twice": put("attributes", 1, "values", value=["a", "b", "a", "c"]),
        "an empty value": put("attributes", 1, "values", value=["a", "b", " ", "c"]),
        "a value that is a number": put("attributes", 1, "values", value=["a", "b", 3, "c"]),
        "a name with a space at its end": changed(
            lambda s: [
                s["attributes"][1].update(name="health "),
                s["blocks"][1].update(attributes=["health "]),
            ]
        ),
        "two attributes of one name": put("attributes", 1, "name", value="smokes"),
        "no blocks": put("blocks", value=[]),
        "a block too few": changed(lambda s: s["blocks"].pop()),
        "an attribute in two blocks": changed(lambda s: s["blocks"].append(s["blocks"][0])),
        "a block of an unknown attribute": put("blocks", 1, "attributes", value=["wealth"]),
        "a block without attributes": put("blocks", 1, "attributes", value=[]),
        "a block with an entry of its own": put("blocks", 1, "note", value=1),
        "a channel that does not fit": put("blocks", 1, "channel", value=kary(5, 3, 1)),
        "a channel without noise": put("blocks", 1, "channel", "other", value=0),
        "a matrix for one of two attributes": changed(
            lambda s: s.update(
                attributes=[YES, attribute("no", "a", "b")],
                blocks=[block(matrix([4, 1], [1, 4]), "yes", "no")],
            )
        ),
        "a kind of channel that nobody has": put(
            "blocks", 1, "channel", value={"kind": "dice", "size": 4}
        ),
        "a kind of channel that every object has": put(
            "blocks", 1, "channel", value={"kind": "constructor"}
        ),
        "a weight with a point": text.replace("1073741824", "1073741824.0", 1),
        "half a character": text.replace("How are you?", "How are you\\ud83d"),
        "draws two blocks": put("draw", value=2, base=drawn),
        "draws true": put("draw", value=True, base=drawn),
        "draws nothing": put("draw", value=0, base=drawn),
        "draws null": put("draw", value=None, base=drawn),
        "draws text": put("draw", value="123", base=drawn),
        "draws an object": put("draw", value={"0": 1}, base=drawn),
        "draws without weights": put("draw", value=[], base=drawn),
        "a weight too few": put("draw", value=[2, 1], base=drawn),
        "a weight too many": put("draw", value=[2, 1, 1, 1], base=drawn),
        "equal weights, as a list": put("draw", value=[1, 1, 1], base=drawn),
        "weights with a common factor": put("draw", value=[4, 2, 2], base=drawn),
        "a weight of nothing": put("draw", value=[1, 0, 2], base=drawn),
        "a negative weight": put("draw", value=[1, -1, 2], base=drawn),
        "a weight with a half": put("draw", value=[1, 1.5, 2], base=drawn),
        "a weight that is true": put("draw", value=[2, 1, True], base=drawn),
        "a weight that is text": put("draw", value=[2, 1, "1"], base=drawn),
        "a weight that is a list": put("draw", value=[2, 1, [1]], base=drawn),
        "weights above 2^53": put("draw", value=[2**52, 2**52, 1], base=drawn),
        "a weight for one block": put("draw", value=[1], base=one),
        "weights of a draw that is none": put("draw", value=[2, 1], base=one),
        "a partition of other sizes": put(
            "blocks", 0, "channel", "sizes", value=[4, 3], base=coarse
        ),
        "a partition of the other order": put(
            "blocks", 0, "attributes", value=["health", "smokes"], base=coarse
        ),
        "a coarse block beside others": changed(
            lambda s: [
                s["attributes"].append(YES),
                s["blocks"].append(block(kary(2, 3, 1), "yes")),
            ],
            coarse,
        ),
        "a coarse block that leaves answers out": changed(
            lambda s: s["blocks"][0]["channel"]["leaves"][3][0].pop(), coarse
        ),
        "drawn, an attribute in no block": changed(
            lambda s: s.update(blocks=s["blocks"][:1]), drawn
        ),
        "drawn, an attribute twice in a block": put(
            "blocks", 0, "attributes", value=["yes", "yes"], base=drawn
        ),
    }
    broken |= broken_rules() | broken_corrections() | broken_stages() | broken_scales()
    broken |= broken_public() | broken_skipping()
    return [{"name": name, "text": text} for name, text in broken.items()]


def broken_rules() -> dict[str, str]:
    """Studies whose rules of what is impossible are none."""
    rules: dict[str, Any] = {
        "no rules": [],
        "rules that are no list": {"smokes": [0], "health": [1]},
        "a rule that is a list": [[0, 1]],
        "a rule that is null": [None],
        "a rule about one attribute": [{"smokes": [0]}],
        "a rule about an attribute that is not there": [{"smokes": [0], "wealth": [0]}],
        "a rule with a value that is not there": [{"smokes": [3], "health": [0]}],
        "a rule with a code below zero": [{"smokes": [-1], "health": [0]}],
        "a rule with a code that is true": [{"smokes": [True], "health": [0]}],
        "a rule with a value by its name": [{"smokes": ["never"], "health": [0]}],
        "a rule with a value twice": [{"smokes": [0, 0], "health": [0]}],
        "a rule with values out of order": [{"smokes": [1, 0], "health": [0]}],
        "a rule without a value": [{"smokes": [], "health": [0]}],
        "a rule with every value": [{"smokes": [0, 1, 2], "health": [0]}],
        "a rule with a code that is no list": [{"smokes": 0, "health": [0]}],
    }
    found = {name: published({**_ZEROS, "impossible": given}) for name, given in rules.items()}
    other = [{"smokes": [0], "health": [1]}]
    was = {"impossible": _ZEROS["impossible"]}
    found["a correction of a rule"] = published(corrected(_ZEROS, was, impossible=other))
    return found


def broken_corrections() -> dict[str, str]:
    """Studies that say they correct another and do not, or do more."""
    good = STUDIES["texts in three languages"]
    title = {"title": good["title"]}
    fair = corrected(good, title, title="Another")
    smokes, health = good["attributes"][0], good["attributes"][1]
    swapped = [{**smokes, "values": ["before", "never", "now"]}, health]
    fewer = [{**YES, "values": ["no", "yes"]}]

    def entry(**changes: Any) -> str:
        return published({**fair, "corrections": [{**fair["corrections"][0], **changes}]})

    def words(**texts: Any) -> Json:
        """The attributes with other texts of the first."""
        return {"attributes": [{**smokes, **texts}, health]}

    german = dict(smokes["translations"]["de"])
    turned = {**german, "values": german["values"][::-1]}
    both = {**smokes["translations"], "de": turned}
    consent = {**good["translations"]["de"], "consent": "Ja, alles."}
    told = {**good["translations"], "de": consent}
    blocks = [{**good["blocks"][0], "channel": kary(3, 5, 2)}, *good["blocks"][1:]]
    inside = {"attributes": {"smokes": {"question": smokes["question"]}}}
    return {
        "no corrections": published({**good, "corrections": []}),
        "corrections that are no list": published({**good, "corrections": {}}),
        "a correction of another study": entry(of=digest_of(STUDIES["one question"])),
        "a correction of nothing": entry(of=None),
        "a correction with other words before": entry(was={"title": "Never said"}),
        "a correction without a day": entry(on=""),
        "a correction on a day that is a list": entry(on=["2026-11-16"]),
        "a correction on a day that is none": entry(on="2026-13-16"),
        "a correction with an entry of its own": entry(note="x"),
        "a correction that was nothing": entry(was={}),
        "a correction that was null": entry(was=None),
        "a correction that changes nothing": published(corrected(good, title)),
        "a correction that lists what it did not change": published(
            corrected(good, {**title, **inside}, title="Another")
        ),
        "a correction of a channel": published(
            corrected(good, {"blocks": good["blocks"]}, blocks=blocks)
        ),
        "a correction of the name": published(corrected(good, {"name": good["name"]}, name="x")),
        "a correction of the order of showing": published(
            corrected(good, {"review": None}, review="before")
        ),
        "a correction of what people agreed to": published(
            corrected(good, {"consent": good.get("consent")}, consent="All of it")
        ),
        "the same in another language": published(
            corrected(good, {"translations": good["translations"]}, translations=told)
        ),
        "a correction that exchanges two values": published(
            corrected(
                good,
                {"attributes": {"smokes": {"values": smokes["values"]}}},
                attributes=swapped,
            )
        ),
        "the same in a translation": published(
            corrected(
                good,
                {"attributes": {"smokes": {"translations": smokes["translations"]}}},
                **words(translations=both),
            )
        ),
        "a correction of an attribute's name": published(
            corrected(
                STUDIES["one question"],
                {"attributes": {"no": {"name": "yes"}}},
                attributes=fewer,
            )
        ),
        "a correction without a question before": published(
            corrected(good, {"attributes": {"smokes": {"question": None}}}, **words(question="x"))
        ),
        "a correction of a study that was none": published(
            corrected({**good, "title": 3}, {"title": 3}, title="x")
        ),
        "two corrections of which the first is none": published(
            corrected(
                corrected(good, {"title": "Never said"}, title="x"), {"title": "x"}, title="y"
            )
        ),
    }


# -- reports ---------------------------------------------------------------------------------------


def labelled_words(key: bytes, *label: Any) -> Iterator[int]:
    """Words that belong to a label: HMAC-SHA256 under the device's key, four in each."""
    round_ = 0
    while True:
        message = canonical(["castell-1", *label, round_]).encode()
        code = hmac.digest(key, message, "sha256")
        for at in range(0, 32, 8):
            yield int.from_bytes(code[at : at + 8], "little")
        round_ += 1


def drawn_block(content: Json, words: Iterator[int]) -> int:
    """The block that owns a number: each owns as many as it weighs, the first the smallest."""
    weights = draw_weights(content)
    number = number_from(sum(weights), words)
    return next(i for i in range(len(weights)) if number < sum(weights[: i + 1]))


def device_report(key: bytes, content: Json, answers: dict[str, str]) -> Json:
    # The digest before any correction: corrected words draw nothing anew.
    digest = content["corrections"][0]["of"] if "corrections" in content else digest_of(content)
    blocks = content["blocks"]
    values = {a["name"]: a["values"] for a in content["attributes"]}
    asked = list(range(len(blocks)))
    drawn = len(hidden(content)["blocks"]) if "draw" in content else 0
    if drawn:  # what is public comes after the blocks to draw from, and is in every report
        asked = [drawn_block(content, labelled_words(key, "draw", digest)), *asked[drawn:]]
    packed, codes = [], []
    for index in asked:
        answer = 0
        for name in blocks[index]["attributes"]:
            answer = answer * len(values[name]) + values[name].index(answers[name])
        channel = blocks[index]["channel"]
        words = labelled_words(key, "report", digest, index)
        code = respond(channel, answer, number_from(total_of(channel), words))
        if index < drawn:
            code += sum(shape(one["channel"])[1] for one in blocks[:index])
        packed.append(answer)
        codes.append(code)
    return {"asked": asked, "packed": packed, "codes": codes}


def report_vectors() -> list[Json]:
    vectors = []
    for name, content in STUDIES.items():
        text = published(content)
        for number in range(4):
            key = hashlib.sha256(f"{name} {number}".encode()).digest()
            answers = {
                a["name"]: a["values"][(number + 2 * i) % len(a["values"])]
                for i, a in enumerate(content["attributes"])
            }
            made = device_report(key, content, answers)
            identifier = "AAAAAAAAAAAAAAAAAAAAA" + "AQgw"[number]
            body = json.dumps(
                {"id": identifier, "study": digest_of(content), "codes": made["codes"]},
                separators=(",", ":"),
            )
            vectors.append(
                {
                    "name": f"{name}, {number}",
                    "study": text,
                    "key": key.hex(),
                    "answers": answers,
                    **made,
                    "id": identifier,
                    "body": body,
                }
            )
    return vectors


def standing_vectors() -> list[Json]:
    """What a device does over time: the first report that is handed over stands."""
    vectors = []
    for name in ("a cluster, and a matrix", "drawn, with overlaps"):
        content = STUDIES[name]
        key = hashlib.sha256(name.encode()).digest()
        every = [
            {a["name"]: a["values"][number % len(a["values"])] for a in content["attributes"]}
            for number in range(4)
        ]
        drawn = [device_report(key, content, answers)["codes"] for answers in every]
        first, other = drawn[0], [drawn[0][0] ^ 1, *drawn[0][1:]]
        one, two = "A" * 22, "B" * 21 + "A"
        steps = [
            *({"make": answers, "codes": c} for answers, c in zip(every, drawn, strict=True)),
            {"settle": [one, "arrived"], "state": None},  # there is nothing to settle
            {"spend": [one, first], "state": "waiting"},
            *({"make": answers, "codes": first} for answers in every),
            {"spend": [two, first], "state": "refused"},  # another id is another report
            {"spend": [one, other], "state": "refused"},
            {"settle": [two, "arrived"], "state": "waiting"},
            {"settle": [one, "refused"], "state": "refused"},
            {"make": every[3], "codes": first},  # the collector has seen it
            {"spend": [one, first], "state": "waiting"},
            {"settle": [one, "arrived"], "state": "arrived"},
            {"settle": [one, "refused"], "state": "arrived"},
            {"spend": [one, first], "state": "arrived"},
            {"spend": [two, other], "state": "refused"},
            *({"make": answers, "codes": first} for answers in every),
        ]
        vectors.append(
            {"name": name, "study": published(content), "key": key.hex(), "steps": steps}
        )
    return vectors


def word_vectors() -> list[Json]:
    key = bytes(range(32))
    labels: list[list[Any]] = [
        ["report", "ab" * 32, 0],
        ["report", "ab" * 32, 41],
        ["draw", "é\U0001f512"],
    ]
    return [
        {"key": key.hex(), "label": label, "words": [hex(next(words)) for _ in range(9)]}
        for label in labels
        for words in [labelled_words(key, *label)]
    ]


CANONICAL = [
    {"b": 1, "a": [], "c": {}},
    {"\U0001f512": 1, "\ue000": 2, "z": 3, "é": 4, "": 5},
    ["\u0000\u001f\u007f\u0080\u2028\ufeff", '"\\/\b\f\n\r\t', True, False, None],
    {"aa": {"b": {"c": [1, [2, [3]]]}}, "a": 9007199254740991, "ab": -1},
]


def canonical_vectors() -> list[Json]:
    return [
        {
            "value": value,
            "text": canonical(value),
            "sha256": hashlib.sha256(canonical(value).encode()).hexdigest(),
        }
        for value in CANONICAL
    ]


def vectors() -> dict[str, list[Json]]:
    return {
        "canonical": canonical_vectors(),
        "channels": channel_vectors(),
        "broken_channels": [{"name": n, "channel": c} for n, c in BROKEN_CHANNELS.items()],
        "scales": scale_vectors(),
        "studies": study_vectors(),
        "statements": statement_vectors(),
        "broken_studies": broken_studies(),
        "words": word_vectors(),
        "reports": report_vectors(),
        "standing": standing_vectors(),
        "stages": stage_vectors(),
    }


def text_of(entries: list[Json]) -> str:
    """A file of vectors: one on each line, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, entries in vectors().items():
        (FOLDER / f"{name}.json").write_text(text_of(entries), encoding="utf-8")
