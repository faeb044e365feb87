"""The constants of the latent class model's search, in one place, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Frozen. Where a constant was set by looking at results, docs/methods.md says at which."""

    # Numbers of classes tried. Many classes stopped early do as well as few that are fitted for
    # long, or better.
    classes: tuple[int, ...] = (6, 24)
    # Standard deviation of a random start's log shares about the margins.
    start_scale: float = 0.3
    # More classes that start further apart, tried too where some blocks ask coarsely: their reports
    # tell more than those of a single stage.
    coarse_classes: int = 48
    coarse_start_scale: float = 1.0
    # Starts at combinations that stand out: EM steps to the table of a block, which is smooth where
    # it is stopped early; the share of classes at such combinations, the others being near
    # independence; and the share of such a class that has its combination.
    block_steps: int = 100
    seeded: float = 0.75
    certain: float = 0.9
    # Fits from different starts that are averaged; wide data get fewer, never less than the latter.
    starts: int = 12
    fewest_starts: int = 3
    # EM steps between two looks at the held-out reports, and how long to wait for the next gain.
    check_every: int = 5
    patience: int = 25
    most_steps: int = 1000
    # Operations in one search: wide data get fewer steps, never less than the latter.
    work: int = 20_000_000_000
    fewest_steps: int = 100
    # The same through reports one by one: reports x attributes x classes; with less they are left
    # aside.
    report_work: int = 1_000_000_000
    fewest_report_steps: int = 10
    # The gain in cross-validated composite log-likelihood for which independence is left. Theory of
    # likelihoods does not hold for composite ones, so it was simulated: where independence holds,
    # it was left in 8, 0, 2 and 12 of 100 collections of four designs.
    least_gain: float = 4.0
    # What rules of what is impossible count for, in parts of what the reports are worth.
    rule_weights: tuple[float, ...] = (1.0, 0.1, 0.0)
    # Shrinkage coefficients and weights tried, how often to go over all attributes, and the same
    # for margins.
    weights: tuple[float, ...] = tuple(k / 20 for k in range(21))
    sweeps: int = 2
    margin_shrinkage: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)


SETTINGS = Settings()
