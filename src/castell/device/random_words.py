"""Where randomness comes from: sources of uniform 64-bit words, and exactly uniform numbers.

A word at or above the largest multiple of a total is thrown away and drawn again, so that the rest
are exactly uniform below it. Whether that happens has nothing to do with any answer.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from castell.channels import Words
from castell.errors import OptionError
from castell.numbers import is_whole

Source = Callable[[int], Words]


def secure_words(count: int) -> Words:
    """Words from the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype="<u8")


def seeded_words(seed: int) -> Source:
    """Words that anybody who knows the seed can repeat: for tests and simulations only."""
    if not is_whole(seed, 0):
        raise OptionError(f"the seed is {seed!r}", "give a whole number from 0 up, or none")
    generator = np.random.Generator(np.random.Philox(int(seed)))
    return lambda count: np.frombuffer(generator.bytes(8 * count), dtype="<u8")


def labelled_words(key: bytes, *label: str | int) -> Source:
    """Words that belong to a label under a secret key: the same each time, four for each HMAC.

    client/memo.js gives the same words, and vectors/words.json holds both to it.
    """

    def stream() -> Iterator[int]:
        turn = 0
        while True:
            message = ["castell-1", *label, turn]
            text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            yield from np.frombuffer(hmac.digest(key, text.encode(), "sha256"), dtype="<u8")
            turn += 1

    words = stream()
    return lambda count: np.array(list(islice(words, count)), dtype=np.uint64)


def numbers_below(total: int, count: int, words: Source) -> Words:
    """Numbers drawn exactly uniformly from 0 to total - 1."""
    drawn = words(count)
    spare = 2**64 % total
    if spare:
        last = np.uint64(2**64 - spare - 1)
        while (over := drawn > last).any():
            drawn = drawn.copy()
            drawn[over] = words(int(over.sum()))
    result: Words = drawn % np.uint64(total)
    return result
