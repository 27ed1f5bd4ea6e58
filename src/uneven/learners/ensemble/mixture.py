"""A weighted mean of fitted members' probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from uneven.decisions.platt import Sigmoid
from uneven.learners.ensemble.views import encode
from uneven.learners.out_of_fold import positive_probability


@dataclass(frozen=True)
class FittedMember:
    """A member of the mixture.

    Attributes
    ----------
    weight : float
    models : list
        The model of all rows, or the models of the folds, whose mean is taken.
    encoders : list
        What makes the matrix for each model; None for models that take X as it is.
    positive : label
        The positive class as the models know it.
    sigmoid : Sigmoid or None
        Makes probabilities of scores.
    """

    weight: float
    models: list[Any]
    encoders: list[Any]
    positive: Any
    sigmoid: Sigmoid | None = None

    @property
    def estimators(self) -> list[Any]:
        """The models as estimators that take X as it is."""
        return [
            model if encoder is None else make_pipeline(encoder, model)
            for encoder, model in zip(self.encoders, self.models, strict=True)
        ]


@dataclass(frozen=True)
class Mixture:
    """Members by name; their weights sum to 1."""

    members: dict[str, FittedMember]

    def probability(self, X: Any) -> np.ndarray:
        """P(positive) of the mixture. A view that several members share is made once."""
        return np.asarray(sum(m.weight * p for m, p in zip(self.members.values(), self._each(X), strict=True)))

    def _each(self, X: Any) -> list[np.ndarray]:
        seen: dict[int, Any] = {}
        found = []
        for member in self.members.values():
            values = []
            for model, encoder in zip(member.models, member.encoders, strict=True):
                rows = X
                if encoder is not None:
                    if id(encoder) not in seen:
                        seen[id(encoder)] = encode(encoder, X)
                    rows = seen[id(encoder)]
                values.append(positive_probability(model, rows, member.positive, member.sigmoid))
            found.append(np.mean(values, axis=0))
        return found
