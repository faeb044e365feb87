"""The constants of the latent class model's search, in one place, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

from castell.inference.constants import LEAST_SHARE


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
    # Starts seeded at positive residuals from independence: EM steps to the table of a block, which
    # is smooth where it is stopped early; the share of classes at such combinations, the others
    # being near independence; and the share of such a class that has its combination.
    # Attributes that are reported apart are many pairs: of more attributes that start would take
    # longer than the others.
    block_steps: int = 100
    most_seeded_apart: int = 45
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
    # Over-relaxed EM: the factor by which the relaxation grows with every step that raises the
    # likelihood, its most, and the most by which a share may change before it is extrapolated. They
    # set how fast EM moves; the number of its steps is cross-validated with the same relaxation.
    relaxation_growth: float = 1.15
    largest_relaxation: float = 8.0
    largest_ratio: float = 1e3
    # EM that is not stopped early ends where a step, after the first ones, gains less in
    # log-likelihood: a hundredth is nothing that reports can tell.
    converged: float = 0.01
    first_steps: int = 10
    # No share is ever exactly zero; a start is somewhat further from it.
    least_share: float = LEAST_SHARE
    least_start_share: float = 1e-6
    # Rounds of raking that bring class profiles to given margins.
    margin_sweeps: int = 20
    # Structural zeros: lambda / (1 + lambda), how far raking moves a margin back to what it was;
    # raking ends once no margin moves by more than the tolerance.
    margin_pull: float = 0.95
    raking_tolerance: float = 1e-7
    most_raking_sweeps: int = 100
    # The error of associations: more pairs than these tell no more of the average over them. Of
    # the tables that hold a pair so many are put together that all are no more than the latter.
    most_pairs: int = 300
    most_tables_of_pairs: int = 3000
    # A block of more combinations is counted in pairs of its attributes.
    most_table_cells: int = 1 << 14
    # Reports are read one by one only where no block has more combinations: they are kept for every
    # class.
    most_block_cells: int = 1 << 14
    # Equal reports are put together where no more than these are possible: one table counts all.
    most_possible_reports: int = 1 << 22
    # Memory and speed alone. Reports at a time: they stay in the cache; fewer of several mixtures,
    # but no less than the latter. Codes of a block are looked up by a matrix product with
    # indicators up to so many: faster than picking them out one by one. Indicators of all reports
    # that are kept from step to step. Numbers at once for the classes of a table, and of what
    # reports of a block add to single shares. Blocks are stacked up to so many combinations, which
    # the cache holds in all classes; so many cells filled up take less time than another stack.
    rows_at_once: int = 1 << 12
    fewest_rows_at_once: int = 1 << 9
    few_codes: int = 64
    most_indicators: int = 1 << 24
    most_numbers: int = 1 << 22
    stacked: int = 1024
    spare_cells: int = 1 << 11


SETTINGS = Settings()
