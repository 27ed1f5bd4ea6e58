"""Expected cost as a scikit-learn scorer."""

from __future__ import annotations

from typing import Any

from uneven._inputs import Exact
from uneven.costs import Cost
from uneven.metrics.expected_cost import expected_cost


def make_cost_scorer(*, fp_cost: Exact = 1.0, fn_cost: Exact = 1.0, pos_label: Any = None) -> Any:
    """A scikit-learn scorer: minus the expected cost of ``predict``, so that greater is better.

    ``sample_weight`` reaches it through metadata routing (``set_score_request(sample_weight=True)``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from uneven.metrics import make_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_cost_scorer(fp_cost=1, fn_cost=20, pos_label=0)
    >>> bool(cross_val_score(DummyClassifier(), X, y, scoring=scorer).mean() < -7)
    True
    """
    from sklearn.metrics import make_scorer

    Cost(fp_cost=fp_cost, fn_cost=fn_cost)  # type: ignore[arg-type]
    return make_scorer(expected_cost, greater_is_better=False, fp_cost=fp_cost, fn_cost=fn_cost, pos_label=pos_label)
