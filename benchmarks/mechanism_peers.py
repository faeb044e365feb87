"""Mechanisms beside multi-freq-ldpy's and pure-ldp's, on the same people: how far shares are off.

2,000 people with eleven values in Zipf's shares, epsilon 1, 40 collections. Every estimate is cut
at zero and divided by its sum, as multi-freq-ldpy does with its own. The error is the total
variation distance to the shares of those people. What a package cannot do is said with its own
words; `pip install -e '.[bench]'` installs both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import castell
from benchmarks._text import grid
from castell import Attribute, Schema, Study
from castell.channels import mechanism
from castell.evaluation.metrics import tvd
from castell.inference.postprocess import clip
from castell.linear.operators import Floats

VALUES, EPSILON, PEOPLE, REPEATS = 11, 1.0, 2_000, 40
NAMES = ("grr", "sue", "oue", "olh", "subset", "hadamard")

Codes = NDArray[np.intp]
# Shares estimated from what one collection's people send.
Way = Callable[[Codes], Floats]


def run(quick: bool) -> dict[str, Any]:
    repeats, generator = (2 if quick else REPEATS), np.random.default_rng(0)
    shares = 1.0 / np.arange(1, VALUES + 1)
    crowds = [
        generator.choice(VALUES, 200 if quick else PEOPLE, p=shares / shares.sum())
        for _ in range(repeats)
    ]
    ways: dict[str, dict[str, Way]] = {"castell": {name: partial(_ours, name) for name in NAMES}}
    if find_spec("multi_freq_ldpy"):
        ways["multi-freq-ldpy"] = _multi_freq()
    if find_spec("pure_ldp"):
        ways["pure-ldp"] = _pure()
    found = {
        package: {name: _measured(way, crowds) for name, way in each.items()}
        for package, each in ways.items()
    }
    return {"repeats": repeats, "people": len(crowds[0]), "errors": found}


def _measured(way: Way, crowds: list[Codes]) -> dict[str, Any]:
    errors = []
    for codes in crowds:
        truth = np.bincount(codes, minlength=VALUES) / len(codes)
        try:
            errors.append(tvd(truth, clip(np.asarray(way(codes), dtype=float))))
        except Exception as error:  # a package that does not work is a finding, not the end
            return {"fails": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    return {
        "error": float(np.mean(errors)),
        "spread": float(np.std(errors, ddof=1) / len(errors) ** 0.5),
    }


def _ours(name: str, codes: Codes) -> Floats:
    values = [f"v{k}" for k in range(VALUES)]
    channels = {"a": mechanism(name, VALUES, EPSILON)}
    study = Study(Schema([Attribute("a", values)]), channels=channels)
    reports = study.randomize({"a": np.array(values)[codes]})
    return castell.fit(reports, "castell").estimate("a").probabilities


def _multi_freq() -> dict[str, Way]:
    def of(file: str, name: str) -> Any:
        return getattr(import_module(f"multi_freq_ldpy.pure_frequency_oracles.{file}"), name)

    def sent(file: str, add_up: Callable[..., Any], *more: Any) -> Way:
        client = of(file, f"{file}_Client")
        return lambda codes: add_up([client(int(x), VALUES, EPSILON, *more) for x in codes], *more)

    def of_bits(reports: Any, optimal: bool) -> Any:
        return of("UE", "UE_Aggregator_MI")(np.array(reports), EPSILON, optimal)

    def of_values(file: str) -> Callable[..., Any]:
        add_up = of(file, f"{file}_Aggregator_MI")
        return lambda reports, *more: add_up(np.array(reports), VALUES, EPSILON, *more)

    return {
        "grr": sent("GRR", of_values("GRR")),
        "sue": sent("UE", of_bits, False),
        "oue": sent("UE", of_bits, True),
        "olh": sent("LH", of_values("LH"), True),
        "subset": sent("SS", of_values("SS")),
    }


def _pure() -> dict[str, Way]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracles = import_module("pure_ldp.frequency_oracles")

    def sent(client: str, server: str, **more: Any) -> Way:
        def shares(codes: Codes) -> Floats:
            known = {"index_mapper": lambda x: x, **more}
            counter = getattr(oracles, server)(EPSILON, VALUES, **known)
            if client.startswith("Hadamard"):
                known["hash_funcs"] = counter.get_hash_funcs()
            person = getattr(oracles, client)(EPSILON, VALUES, **known)
            for x in codes:
                counter.aggregate(person.privatise(int(x)))
            told = (counter.estimate(k, suppress_warnings=True) for k in range(VALUES))
            return np.array(list(told)) / len(codes)

        return shares

    return {
        "grr": sent("DEClient", "DEServer"),
        "sue": sent("UEClient", "UEServer", use_oue=False),
        "oue": sent("UEClient", "UEServer", use_oue=True),
        "olh": sent("LHClient", "LHServer", use_olh=True),
        "hadamard": sent("HadamardResponseClient", "HadamardResponseServer"),
    }


def show(result: dict[str, Any]) -> str:
    rows, notes = [], []
    for package, each in result["errors"].items():
        rows.append([package, *(_cell(each.get(name)) for name in NAMES)])
        notes += [f"{package}, {n}: {e['fails']}" for n, e in each.items() if "fails" in e]
    about = f"{result['people']:,} people, {VALUES} values, epsilon {EPSILON:g}, "
    about += f"{result['repeats']} collections"
    return "\n".join([about, grid(["", *NAMES], rows), *notes])


def _cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    return "fails" if "fails" in found else f"{found['error']:.3f} ± {found['spread']:.3f}"
