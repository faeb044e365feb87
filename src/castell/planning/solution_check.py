"""What simulation says of an n or an epsilon that was solved for.

The half-width of a model's interval is predicted to some per cent, and n goes with its square. So
collections are simulated where the prediction reaches what is asked. Prediction and simulation are
weighted by what is known of their errors; what remains of these is allowed for, as far as nine
tenths of the people would still not do.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, log, sqrt

# The error of a prediction of `auto`, in parts: nine of ten are within 10 % (docs/planning.md), and
# those of single shares are less sure than those of tables.
PREDICTION_ERROR = 0.1
# A half-width falls with the root of n: with nine tenths of the people it is longer by 5 %. What is
# allowed for is half of that at most, so that both sides have as much room.
MOST_ALLOWED = log(1 / 0.9) / 4


@dataclass(frozen=True)
class SolutionCheck:
    """Collections with a design, by n people at an epsilon: the half-width that was asked for, on
    average, its standard error, and what is predicted."""

    design: str
    n: int
    epsilon: float
    collections: int
    half_width: float
    standard_error: float
    predicted: float

    @property
    def times(self) -> float:
        """How many times longer than predicted intervals are taken to be."""
        return exp(self._weight * log(self.half_width / self.predicted))

    @property
    def cautious(self) -> float:
        """The same, and what is allowed for because it is not known exactly."""
        left = PREDICTION_ERROR * sqrt(1.0 - self._weight)
        return self.times * exp(min(left, MOST_ALLOWED))

    @property
    def _weight(self) -> float:
        """Of what was simulated beside what was predicted, by their precisions."""
        error = self.standard_error / self.half_width
        return (PREDICTION_ERROR / hypot(PREDICTION_ERROR, error)) ** 2
