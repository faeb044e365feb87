"""The study file, field by field: the words are here, the fields are the reader's own.

A test holds the two together: an entry that the reader knows and this page does not fails it.
"""

from __future__ import annotations

Entries = dict[str, str]

STUDY: Entries = {
    "name": "What the study is called. Another name is another study, with another digest.",
    "epsilon": "What one respondent spends in all. The exact total is never above it.",
    "design": (
        '`"independent"` (the default), `"joint"`, `"clusters"`, `"cover"`, `"pairs"`, '
        '`"singles"`, `"bloom"` or `"inpht"`: who reports what.'
    ),
    "clusters": "Groups of attributes that are randomised as one: lists of names.",
    "draw": (
        "`true`: each respondent reports one of the clusters, drawn at random, with the "
        "whole budget."
    ),
    "sample": (
        "Each respondent reports so many attributes, drawn at random. In the design `inpht`: how "
        "many attributes a table has at most."
    ),
    "attribute": "One `[[attribute]]` section for each question; see below.",
    "channel": "A `[[channel]]` section gives a block its own randomisation; see below.",
    "impossible": "Combinations of values that nobody has: [rules](../impossible.md).",
    "correction": (
        "A corrected typing error. `castell correct` writes these sections; leave them as they are."
    ),
    "stages": (
        "After which reports the next [stage](../stages.md) begins: shares of `expected`, "
        "numbers, or `true` (by hand)."
    ),
    "expected": "How many reports are expected in all. Needed where `stages` are shares.",
    "title": "The headline of the survey page.",
    "description": "What the study is about, below the headline.",
    "consent": "What a respondent agrees to before anything is sent.",
    "thanks": "What is said afterwards.",
    "imprint": "Address of the page that says who is responsible.",
    "privacy": "Address of the privacy notice.",
    "completion": "Address to go on to when done. Nothing is added to it.",
    "language": "The language that the texts are written in, such as `en`.",
    "translations": "The same texts in other languages, by language.",
    "review": (
        '`"after"` (the default) or `"before"`: when a respondent sees the randomised report.'
    ),
    "collection": "The `[collection]` table; see below. Not published.",
    "page": "The `[page]` table; see below. Not published.",
}

ATTRIBUTE: Entries = {
    "name": "The column of a file of answers, and the name in every estimate.",
    "question": "What the survey page asks.",
    "values": "The answers, in order.",
    "bins": "Where each bin of a number begins.",
    "range": "Both ends of a number; without `bins`, every whole number between is a value.",
    "unit": "Of what a number is, for pages and tables.",
    "type": '`"boolean"`, `"integer"` or `"number"`, where the values do not tell.',
    "period": '`"day"`, `"month"`, `"quarter"` or `"year"`: days are taken by it.',
    "rounding": (
        '`"unbiased"`: numbers are rounded up or down at random to the ends of bins, so that '
        "means are exact."
    ),
    "ordered": "`true`: the values have an order.",
    "also": "Last values that stand beside the order, such as `prefer not to say`.",
    "missing": (
        '`"category"`: a missing answer is the first value of `also`; `"skip"`: it is reported as '
        'it is, and a report shows who did not answer; `"none"`: it is `none`.'
    ),
    "public": (
        "`true`: known anyway, so reported as it is, outside epsilon: [weights](../weights.md)."
    ),
    "choose": "In place of `values`: options of which all that apply may be chosen.",
    "keys": (
        "Several things of which people have some or none: an attribute with a number for each."
    ),
    "none": "Beside numbers, what those answer who have none; means are of those who have any.",
    "mechanism": (
        "A classic design by its name, with its entries beside it: [classic "
        "designs](../classic-designs.md)."
    ),
    "p": "`warner`, `unrelated`: the chance that the sensitive question is asked.",
    "prevalence": (
        "`unrelated`, `crosswise`, `triangular`: the share of people who say yes to the other "
        "question."
    ),
    "forced": "`forced`: the chance of each forced answer, in order of values.",
    "red": "`kuk`: the share of red cards for each value, in order.",
    "cards": "`kuk`: how many cards a respondent draws; 1 if not given.",
    "epsilon": "The part of the total that this attribute gets, in designs without a draw.",
    "matrix": "Its own randomisation matrix: a row of probabilities for each answer.",
    "weights": "The same as integers.",
    "translations": "Question and values in other languages, by language.",
}

CHANNEL: Entries = {
    "attributes": "The attributes of the block, in order.",
    "matrix": "A row of probabilities for each combination of answers.",
    "weights": "The same as integers.",
    "mechanism": (
        "A classic design, its entries as above, or a [mechanism of the "
        "literature](../mechanisms.md)."
    ),
    "epsilon": "What a mechanism of the literature spends.",
    "fakes": "`rs+rfd`: for each attribute the shares by which its values are made up.",
    "f": "`rappor`: how often a permanent bit is drawn by a coin.",
    "q": "`rappor`: how often a bit is sent that is on; `p`: one that is off.",
    "kind": (
        "The kind of another channel; its own entries stand beside it: [write your "
        "own](../write-your-own.md)."
    ),
}

COLLECTION: Entries = {
    "opens": "From when reports are taken: a time with its offset.",
    "closes": "Until when.",
    "store": "Where reports are kept, as `--store` takes it.",
}

PAGE: Entries = {
    "logo": "A picture, from the folder of the study file.",
    "logo_alt": "What the picture says, for who does not see it.",
    "accent": "A colour, as `#0a5a63`.",
    "kiosk": "`true`: the page starts anew with each person.",
    "words": "Files of the page's own words, for languages that castell does not have.",
}

SECTIONS: dict[str, tuple[str, Entries]] = {
    "At the top": ("What is asked of whom, and what pages say.", STUDY),
    "`[[attribute]]`": (
        "One for each question. More in [attributes](../attributes.md).",
        ATTRIBUTE,
    ),
    "`[[channel]]`": ("One for each block that is not to have the usual randomisation.", CHANNEL),
    "`[collection]`": ("For whoever runs the collector; may change while it runs.", COLLECTION),
    "`[page]`": ("How the survey page looks. Not part of what the digest covers.", PAGE),
}


def study_file() -> str:
    """Markdown: a table of entries for each section of a study file."""
    lines: list[str] = []
    for title, (said, entries) in SECTIONS.items():
        lines += [f"## {title}", "", said, "", "| entry | is |", "|---|---|"]
        lines += [f"| `{name}` | {words} |" for name, words in entries.items()]
        lines.append("")
    return "\n".join(lines)
