"""US Census 1990: the whole file where it is, else its first 15,317 rows, named as such.

The whole file (2,458,285 people, 361 MB) is never downloaded unasked; put it at
`census1990/USCensus1990.data.txt` in the folder CASTELL_DATA names. The domains of all 68
attributes are those of the whole file, so that a part of it asks the same questions; they multiply
to 1.369e45 (the paper prints 1.71e44, a factor of 8 less). With CASTELL_CENSUS=stand-in it is
`census_standin` instead: of full size, made up, and named so on every output.
"""

from __future__ import annotations

import gzip
import io
import os
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, Schema
from experiments.datasets.population import DataError, Population, check_cells
from experiments.datasets.source import UCI, File, local, obtain

N = 2_458_285
FIRST = 15_317
_URL = UCI + "census1990-mld/USCensus1990.data.txt"
WHOLE = File(
    "census1990/USCensus1990.data.txt",
    "38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799",
    url=_URL,
)
PACKED = File(
    "census1990/first15317rows.csv.gz",
    "fbb5eb3bff49bd90cf6b5c7b58ec68853f2e11610f325952631db6d294b6fdb3",
)
BEGINNING = File(
    "census1990/first15317rows.csv",
    "5264e6550c83544d14685d6cccd21f84e1ef255af0aeb2f820efd7759892e8d3",
    url=_URL,
    size=2_212_876,
)

# Values run from 0 unless written otherwise; these are the domains of the whole file.
_DOMAINS = """
dAge:0-7 dAncstry1:0-11 dAncstry2:1-12 iAvail:0-4 iCitizen:0-4 iClass:0-9 dDepart:0-5 iDisabl1:0-2
iDisabl2:0-2 iEnglish:0-4 iFeb55:0-1 iFertil:0-13 dHispanic:0-9 dHour89:0-5 dHours:0-5
iImmigr:0-10 dIncome1:0-4 dIncome2:0-1 dIncome3:0-1 dIncome4:0-1 dIncome5:0-1 dIncome6:0-1
dIncome7:0-1 dIncome8:0-1 dIndustry:0-12 iKorean:0-1 iLang1:0-2 iLooking:0-2 iMarital:0-4
iMay75880:0-1 iMeans:0-12 iMilitary:0-4 iMobility:0-2 iMobillim:0-2 dOccup:0-8 iOthrserv:0-1
iPerscare:0-2 dPOB:0-6 dPoverty:0-2 dPwgt1:0-3 iRagechld:0-4 dRearning:0-5 iRelat1:0-13
iRelat2:0-9 iRemplpar:0,111-114,121-122,133-134,141,211-213,221-223 iRiders:0-8 iRlabor:0-6
iRownchld:0-1 dRpincome:0-5 iRPOB:10,21-24,31-36,40,51-52 iRrelchld:0-1 iRspouse:0-6
iRvetserv:0-11 iSchool:0-3 iSept80:0-1 iSex:0-1 iSubfam1:0-3 iSubfam2:0-3 iTmpabsnt:0-3
dTravtime:0-6 iVietnam:0-1 dWeek89:0-2 iWork89:0-2 iWorklwk:0-2 iWWII:0-1 iYearsch:0-17
iYearwrk:0-7 dYrsserv:0-2
"""


def domains() -> dict[str, list[int]]:
    """The values of every attribute, from the short way they are written above."""
    found: dict[str, list[int]] = {}
    for word in _DOMAINS.split():
        name, _, ranges = word.partition(":")
        ends = [part.partition("-") for part in ranges.split(",")]
        found[name] = [v for a, _, b in ends for v in range(int(a), int(b or a) + 1)]
    return found


CELLS = prod(len(values) for values in domains().values())


def which() -> str:
    """What the census is here: results of one are none of another."""
    if os.environ.get("CASTELL_CENSUS") == "stand-in":
        return "stand-in"
    return "part" if local(WHOLE) is None else "whole"


def load() -> Population:
    if which() == "stand-in":
        from experiments.datasets import census_standin

        return census_standin.load()
    if which() == "part":
        return first_rows()
    return _check_rows(read(obtain(WHOLE), "US Census 1990, all rows"), N)


def first_rows() -> Population:
    """The beginning of the file: real rows, but few."""
    packed = local(PACKED) is not None
    content = gzip.decompress(obtain(PACKED)) if packed else obtain(BEGINNING)
    return _check_rows(read(content, f"the first {FIRST:,} of {N:,} rows of US Census 1990"), FIRST)


def _check_rows(people: Population, rows: int) -> Population:
    if people.n != rows:
        raise DataError(f"{people.n:,} rows came instead of {rows:,}", "take UCI's file")
    return check_cells(people, CELLS)


def read(content: bytes, note: str) -> Population:
    """The columns of a file in UCI's format, each number as its place in the domain."""
    from pyarrow import csv

    table = csv.read_csv(io.BytesIO(content))
    attributes, codes = [], {}
    for name, values in domains().items():
        attributes.append(Attribute(name, values))
        codes[name] = _places(name, np.asarray(table.column(name)), values)
    return Population("census1990", Schema(attributes), codes, note)


def _places(name: str, column: NDArray[Any], values: list[int]) -> NDArray[Any]:
    places: NDArray[Any] = np.full(max(values) + 2, 255, dtype=np.uint8)
    places[values] = np.arange(len(values), dtype=np.uint8)
    codes: NDArray[Any] = places[np.clip(column, -1, max(values) + 1)]
    if (codes == 255).any():
        raise DataError(f"a value of {name} is none of the census", "take UCI's file")
    return codes
