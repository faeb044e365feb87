"""Penalised likelihood of one ordered attribute, the penalty chosen by cross-validation.

With p the shares of an attribute's values and h their log density (log p less the log of a bin's
width), what is maximised is

    l(p) - (lambda / 2) sum (second differences of h)^2

with l the log-likelihood of the reports through their channels (a penalty as that of P-splines,
Eilers and Marx 1996). Five-fold cross-validated log-likelihood chooses lambda; no smoothing is one
of the candidates, and the choice unless another gains enough. Values beside the order, such as "no
answer", are free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.counting import Counts, samples_of
from castell.counting.folds import FOLDS
from castell.errors import MethodError
from castell.inference.inversion import observe, parts_of
from castell.inference.likelihood import Likelihood
from castell.linear.operators import Floats, apply
from castell.study.scales import Bins
from castell.study.schema import Attribute

# From hardly any smoothing to a straight line of log densities.
PENALTIES = tuple(float(10.0**power) for power in range(-1, 8))
# So much more likely must a penalty make the held-out reports, in log-likelihood, than none does.
LEAST_GAIN = 2.0
MOST_STEPS = 60
MOST_EM_STEPS = 2000
CLOSE = 1e-7


@dataclass(frozen=True, eq=False)
class Reported:
    """How often each report came from one sample, and its chance for each value: a column each."""

    counts: Floats
    chances: Floats

    def replace(self, counts: Floats) -> Reported:
        return Reported(counts, self.chances)

    def log(self, shares: Floats) -> float:
        seen = self.counts > 0.0
        return float(self.counts[seen] @ np.log(np.maximum(self.chances[seen] @ shares, 1e-300)))


@dataclass(frozen=True, eq=False)
class Smooth:
    """Shares, the penalty that was chosen (None: no smoothing), and how much held-out
    log-likelihood it gained over none."""

    shares: Floats
    penalty: float | None
    gain: float


def reports_of(counts: Counts, name: str) -> list[Reported]:
    """What each sample of respondents says of an attribute by itself."""
    found = []
    for sample in samples_of(counts):
        if name not in sample.study.names or not sample.n:
            continue
        blocks = [block for block in sample.study.design.blocks if name in block.names]
        if not all(block.channel.has_matrix for block in blocks):
            continue
        if not all(part.lens.has_forward for part in parts_of(sample.study, [name])):
            continue  # how it is reported depends on the block's other attributes
        observed = observe(sample, [name])
        likelihood = Likelihood.of(observed)
        units = np.eye(observed.shape[0])
        columns = [
            apply(likelihood.forward, observed.in_block_order(unit)).ravel() for unit in units
        ]
        found.append(Reported(likelihood.counts.ravel(), np.column_stack(columns)))
    if not found:
        raise MethodError(
            f"no report tells {name!r} by itself", "ask for its table: model.estimate"
        )
    return found


def roughness(attribute: Attribute, codes: Sequence[int]) -> tuple[Floats, Floats]:
    """The matrix of the penalty over all values, and the log width of each."""
    width, place = np.ones(len(codes)), np.arange(len(codes), dtype=np.float64)
    if isinstance(attribute.scale, Bins):
        limits = attribute.scale.limits.copy()
        inner = np.diff(limits[1:-1])
        # A bin without an end is as wide as the one beside it.
        if not np.isfinite(limits[0]):
            limits[0] = limits[1] - (inner[0] if len(inner) else 1.0)
        if not np.isfinite(limits[-1]):
            limits[-1] = limits[-2] + (inner[-1] if len(inner) else 1.0)
        width = np.diff(limits)
        place = (limits[1:] + limits[:-1]) / 2.0
        place = place / np.diff(place).mean()
    bends = np.zeros((max(len(codes) - 2, 0), attribute.size))
    for row, k in enumerate(range(1, len(codes) - 1)):
        before, after = place[k] - place[k - 1], place[k + 1] - place[k]
        whole = (before + after) / 2.0
        bends[row, codes[k - 1]] = 1.0 / (before * whole)
        bends[row, codes[k + 1]] = 1.0 / (after * whole)
        bends[row, codes[k]] = -(bends[row, codes[k - 1]] + bends[row, codes[k + 1]])
    offset = np.zeros(attribute.size)
    offset[list(codes)] = np.log(width / width.mean())
    return bends.T @ bends, offset


def most_likely(reports: Sequence[Reported]) -> Floats:
    """Maximum likelihood without a penalty, by EM."""
    size = reports[0].chances.shape[1]
    shares = np.full(size, 1.0 / size)
    n = sum(float(one.counts.sum()) for one in reports)
    for _ in range(MOST_EM_STEPS):
        expected = np.zeros(size)
        for one in reports:
            ratio = one.counts / np.maximum(one.chances @ shares, 1e-300)
            expected += shares * (one.chances.T @ ratio)
        after = expected / expected.sum()
        moved, shares = float(np.abs(after - shares).max()), after
        if moved < 1e-4 / max(n, 1.0) ** 0.5:
            break
    return shares


def maximise_penalised(reports: Sequence[Reported], penalty: Floats, offset: Floats) -> Floats:
    """The maximum with a penalty, by Fisher scoring; steps that go down are halved."""
    h = np.zeros(len(offset))
    best = _objective(reports, h, penalty, offset)
    for _ in range(MOST_STEPS):
        shares = _shares(h, offset)
        jacobian = np.diag(shares) - np.outer(shares, shares)
        slope, bend = np.zeros(len(h)), np.zeros((len(h), len(h)))
        for one in reports:
            chances = np.maximum(one.chances @ shares, 1e-300)
            slope += one.chances.T @ (one.counts / chances)
            bend += (one.chances / chances[:, None]).T @ one.chances * one.counts.sum()
        gradient = jacobian @ slope - penalty @ h
        curved = jacobian @ bend @ jacobian + penalty
        # Adding the same to all of h changes nothing.
        ridge = 1e-9 * max(float(np.trace(curved)) / len(h), 1e-300)
        step = np.linalg.solve(curved + ridge * np.eye(len(h)), gradient)
        step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
        for _ in range(30):
            found = _objective(reports, h + step, penalty, offset)
            if found >= best:
                break
            step = step / 2.0
        else:
            return shares
        h, gained, best = h + step - (h + step).mean(), found - best, found
        if gained < CLOSE:
            break
    return _shares(h, offset)


def smooth(
    counts: Counts, attribute: Attribute, codes: Sequence[int], unsmoothed: Floats
) -> Smooth:
    """The shares with the penalty of largest held-out log-likelihood; `unsmoothed` if none is."""
    reports = reports_of(counts, attribute.name)
    matrix, offset = roughness(attribute, codes)
    folds = _folds(reports)
    logs = np.zeros(len(PENALTIES) + 1)
    for held_out in range(FOLDS):
        rest = [
            one.replace(one.counts - part[held_out])
            for one, part in zip(reports, folds, strict=True)
        ]
        judge = [one.replace(part[held_out]) for one, part in zip(reports, folds, strict=True)]
        fits = [most_likely(rest)]
        # With fewer reports the same penalty would weigh more.
        fits += [
            maximise_penalised(rest, each * (1 - 1 / FOLDS) * matrix, offset) for each in PENALTIES
        ]
        logs += [sum(one.log(shares) for one in judge) for shares in fits]
    best = int(np.argmax(logs))
    if logs[best] - logs[0] < LEAST_GAIN:
        return Smooth(unsmoothed, None, 0.0)
    chosen = PENALTIES[best - 1]
    return Smooth(
        maximise_penalised(reports, chosen * matrix, offset), chosen, float(logs[best] - logs[0])
    )


def _shares(h: Floats, offset: Floats) -> Floats:
    odds = np.exp(h + offset - (h + offset).max())
    return np.asarray(odds / odds.sum())


def _objective(reports: Sequence[Reported], h: Floats, penalty: Floats, offset: Floats) -> float:
    shares = _shares(h, offset)
    return sum(one.log(shares) for one in reports) - float(h @ penalty @ h) / 2.0


def _folds(reports: Sequence[Reported]) -> list[list[Floats]]:
    """Reports parted at random; the same counts always in the same way."""
    chance = np.random.default_rng(5)
    found = []
    for one in reports:
        left, parts = one.counts.round().astype(np.int64), []
        for k in range(FOLDS, 1, -1):
            part = chance.binomial(left, 1.0 / k)
            parts.append(part.astype(np.float64))
            left = left - part
        found.append([*parts, left.astype(np.float64)])
    return found
