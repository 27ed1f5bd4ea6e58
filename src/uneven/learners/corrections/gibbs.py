"""The mean of the Gibbs posterior of the shift. With few rows it stays near 0, with many it is the best shift."""

from __future__ import annotations

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.posterior import shift_posterior
from uneven.learners.corrections.scored_rows import ScoredRows


def gibbs(rows: ScoredRows, order: int) -> Correction:
    """The shift by its posterior mean."""
    posterior = shift_posterior(rows, order)
    return Correction(shift=posterior.mean, posterior=posterior)
