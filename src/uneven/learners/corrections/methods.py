"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable

from uneven.learners.corrections.affine import affine
from uneven.learners.corrections.argmin import argmin
from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.gibbs import gibbs
from uneven.learners.corrections.isotonic import isotonic
from uneven.learners.corrections.platt import platt
from uneven.learners.corrections.realised_cost import realised_cost
from uneven.learners.corrections.scored_rows import ScoredRows


def no_correction(rows: ScoredRows, order: int) -> Correction:
    """Log-odds as they are."""
    return Correction()


#: From rows with out-of-fold log-odds and the order of the window loss to a correction.
METHODS: dict[str, Callable[[ScoredRows, int], Correction]] = {
    "gibbs": gibbs,
    "affine": affine,
    "argmin": argmin,
    "platt": platt,
    "isotonic": isotonic,
    "cost": realised_cost,
    "none": no_correction,
}
