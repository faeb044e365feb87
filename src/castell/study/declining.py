"""A way not to answer: a value like any other, randomised like any other.

A question where every answer is compulsory gets lies instead of answers, or nobody to answer it.
The way out costs accuracy, as every value does; `price` says how much.
"""

from __future__ import annotations

import math

from castell.channels import KaryResponse
from castell.study.schema import Attribute
from castell.study.study import Study

# How people write it, without capitals and full stops, in the languages that castell's page has.
_LANGUAGES = ("", "de", "en", "es", "fr")
_PHRASES = """
prefer not to say|prefer not to answer|rather not say|i prefer not to say|i would rather not say
no answer|decline to answer|declined|not stated|refused|refuse to answer|don't want to say
i do not want to say|i don't want to say|no comment
keine angabe|keine antwort|möchte ich nicht sagen|möchte ich nicht beantworten|k. a|k.a
dazu möchte ich nichts sagen|weiß nicht / keine angabe
prefiero no decirlo|prefiero no contestar|prefiero no responder|sin respuesta|no contesta|ns/nc
je préfère ne pas répondre|préfère ne pas répondre|je préfère ne pas le dire|sans réponse
ne souhaite pas répondre|je ne souhaite pas répondre|pas de réponse
"""
# How programs write that there is no answer. "None" is not here: it is an answer to "How many?".
_MISSING = frozenset(["na", "n/a", "#n/a", "nan", "null", "missing", ".", "-", "--"])
_KNOWN = frozenset(_PHRASES.casefold().strip().replace("\n", "|").split("|"))


def offers_decline(attribute: Attribute) -> bool:
    """Whether one of the values is a usual way not to answer.

    >>> offers_decline(Attribute("smokes", ["yes", "no", "Prefer not to say."]))
    True
    """
    ways = attribute.beside - attribute.may_have_none
    return ways > 0 or any(map(declines, attribute.values))


def declines(text: str) -> bool:
    """Whether a text in a file is a usual way not to answer.

    >>> [declines(text) for text in ("Refused.", "prefer not to say", "never")]
    [True, True, False]
    """
    return _plain(text) in _KNOWN


def looks_missing(text: str) -> bool:
    """Whether a text in a file means that there is no answer, or is a usual way not to answer.

    >>> [looks_missing(text) for text in ("NA", "k.A.", "none", "no")]
    [True, True, False, False]
    """
    return text.casefold() in _MISSING or declines(text)


def answered_codes(attribute: Attribute) -> list[int]:
    """The codes of values that answer the question: not those beside it, nor ways not to answer.

    >>> answered_codes(Attribute("age", bins=[30], also=["not asked"]))
    [0, 1]
    >>> answered_codes(Attribute("smokes", ["yes", "prefer not to say", "no"]))
    [0, 2]
    """
    listed = attribute.values[: attribute.size - attribute.beside + attribute.may_have_none]
    return [code for code, value in enumerate(listed) if not declines(value)]


def number_codes(attribute: Attribute) -> list[int]:
    """The codes of values that answer the question and are not `none`: those of a number.

    >>> number_codes(Attribute("debt", bins=[0, 50], rounding="unbiased", none="no debt"))
    [0, 1]
    """
    return [code for code in answered_codes(attribute) if code != attribute.none_code]


def impossible_decline_warning(study: Study) -> str | None:
    """What `castell check` says of a rule that declares declining impossible: anybody may decline.

    "!none" is every value but "none", and so also the way not to answer.
    """
    schema = study.schema
    caught = [
        (name, schema[name].values[code])
        for rule in schema.impossible
        for name, codes in rule.codes
        for code in codes
        if code not in answered_codes(schema[name])
    ]
    if not caught:
        return None
    listed = ", ".join(f"{name} = {value!r}" for name, value in dict.fromkeys(caught))
    return (
        f"rules of impossible hold {listed}: who declines to answer would be impossible; list the "
        "values that are, without it"
    )


def price(size: int, epsilon: float) -> float:
    """How many times larger one more value makes the standard error of a rare value's share.

    For k-ary response: with k values its variance is (e^epsilon + k - 2) / (e^epsilon - 1)^2 a
    report.

    >>> round(price(3, 1.0), 2), round(price(3, 4.0), 2)
    (1.13, 1.01)
    """
    odds = math.exp(epsilon)
    return math.sqrt((odds + size - 1) / (odds + size - 2))


def decline_warning(study: Study) -> str | None:
    """What `castell check` says of a study that leaves no way out, where it can tell."""
    if study.text.language.split("-")[0].lower() not in _LANGUAGES:
        return None
    compulsory = [a.name for a in study.schema.hidden if not offers_decline(a)]
    if not compulsory:
        return None
    listed = ", ".join(map(repr, compulsory))
    return (
        f"no way not to answer {listed}: who does not want to say lies or leaves, and either way "
        f"the results are off; add a last value such as 'prefer not to say'{_price(study)}"
    )


def _price(study: Study) -> str:
    """The price for those questions that are randomised by themselves, for which it is simple."""
    prices = [
        price(block.sizes[0], float(block.channel.exact_epsilon))
        for block in study.design.blocks
        if len(block.names) == 1
        and isinstance(block.channel, KaryResponse)
        and not offers_decline(study.schema[block.names[0]])
    ]
    if not prices:
        return " (it is randomised like any other, and every value makes standard errors larger)"
    most = 100 * (max(prices) - 1)
    shown = f"{most:.0f} %" if most >= 1 else "less than 1 %"
    return f" (it makes standard errors up to {shown} larger)".replace("up to less", "less")


def _plain(value: str) -> str:
    return value.strip().rstrip(".!").strip().casefold().replace("\u2019", "'")
