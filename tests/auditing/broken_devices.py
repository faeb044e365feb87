"""Devices for audits: one that is right and repeatable, and some that are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from castell import KaryResponse, Study
from castell.auditing.devices import Answers, Codes
from castell.device.report import make_report
from castell.study.design import Block, Design


@dataclass
class SeededFrame:
    """`study.randomize` with seeds, so that what a test sees is always the same."""

    seed: int
    step: int = 1 << 20
    remembers: bool = False
    name: str = "seeded frame"
    sent: tuple[str, ...] = ()

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        self.seed += 1
        columns = {k: np.full(people, v, dtype=object) for k, v in asked[0].items()}
        found = study.randomize(columns, seed=self.seed).columns
        return np.stack([np.asarray(c, dtype=np.int64) for c in found], axis=1)[:, None, :]


Keys = Callable[[int, int], bytes]  # of which person, asked for which time


@dataclass
class KeyedDevice:
    """What a device in Python does, with keys that a test chooses."""

    keys: Keys
    study: Callable[[Study], Study] = lambda study: study
    by_answer: bool = False
    step: int = 1000
    remembers: bool = True
    name: str = "keyed"
    sent: tuple[str, ...] = ()
    person: int = field(default=0)

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        used = self.study(study)
        found = []
        for _ in range(people):
            self.person += 1
            made = []
            for time, answers in enumerate(asked):
                key = self.keys(self.person, time)
                if self.by_answer:
                    key += repr(sorted(answers.items())).encode()
                made.append(make_report(used, answers, key).codes)
            found.append(made)
        return np.array(found, dtype=np.int64)


def right(person: int, time: int) -> bytes:
    del time
    return person.to_bytes(8, "big")


def with_weights(study: Study, same: Callable[[int], int]) -> Study:
    """The same study with another weight for the answer itself."""
    blocks = []
    for block in study.design.blocks:
        channel = block.channel
        assert isinstance(channel, KaryResponse)
        changed = KaryResponse(channel.size, same(channel.same), channel.other)
        blocks.append(Block(block.names, block.sizes, changed))
    return Study(study.schema, design=Design(tuple(blocks)))


@dataclass
class BiasedCoin(SeededFrame):
    """Words of which too few are large: the answer itself is reported too often."""

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        made = super().reports(study, asked, people)
        truth = [int(study.schema[name].values.index(asked[0][name])) for name in study.names]
        coin = np.random.default_rng(self.seed).random(made.shape) < 0.02
        return np.where(coin, np.array(truth), made)


@dataclass
class SharedCoin(KeyedDevice):
    """All blocks are drawn with one number."""

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        found = []
        for _ in range(people):
            self.person += 1
            generator = np.random.default_rng(self.person)
            word = generator.random()
            row = []
            for answers in asked:
                codes = []
                for block in study.design.blocks:
                    number = np.array([int(word * block.channel.total)], dtype=np.uint64)
                    code = study.schema[block.names[0]].values.index(answers[block.names[0]])
                    codes.append(int(block.channel.respond(np.array([code]), number)[0]))
                row.append(codes)
            found.append(row)
        return np.array(found, dtype=np.int64)
