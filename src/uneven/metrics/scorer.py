"""Expected cost as a scikit-learn scorer that knows the costs of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven import _inputs
from uneven._inputs import Exact
from uneven.costs import GivenCosts, RowCosts
from uneven.errors import CostError
from uneven.metrics.passing_costs import require_way_to_decide


def make_cost_scorer(
    *,
    fp_cost: Exact = 1.0,
    fn_cost: Exact = 1.0,
    tp_cost: Exact = 0.0,
    tn_cost: Exact = 0.0,
    pos_label: Any = None,
    decide: str = "auto",
) -> Any:
    """A scikit-learn scorer: minus the expected cost of the decisions, so that greater is better.

    Costs of each row reach it through scikit-learn's metadata routing, for example by
    ``cross_validate(..., params={"fn_cost": amount})``. It requests all four by default, so they need no
    ``set_score_request``; ``set_score_request(sample_weight=True)`` requests weights. Costs of rows override the
    numbers given here. The scorer can also be called directly: ``scorer(estimator, X, y, fn_cost=amount)``.

    Parameters
    ----------
    fp_cost, fn_cost, tp_cost, tn_cost : number
        Costs of the outcomes for which no costs of rows arrive.
    pos_label : label, optional
        The positive class, as in :func:`expected_cost`.
    decide : {"auto", "predict", "alpha"}
        How the decisions are made. ``"auto"`` passes the costs of the rows on to ``predict``, if costs of rows arrive
        and ``predict`` takes fp_cost and fn_cost (that of the last step of a pipeline, of the best estimator of a
        search); scikit-learn's own scorers never do that. ``"predict"`` always calls ``predict(X)``. ``"alpha"`` works
        for every classifier with ``predict_proba``: it predicts positive where that is the cheaper decision at this
        probability and the row's own costs.

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

    A miss costs more for a large tumour. Each row is decided at its own costs:

    >>> from sklearn import config_context
    >>> from sklearn.naive_bayes import GaussianNB
    >>> scorer = make_cost_scorer(pos_label=0, decide="alpha")
    >>> with config_context(enable_metadata_routing=True):
    ...     found = cross_val_score(GaussianNB(), X, y, scoring=scorer, params={"fn_cost": X[:, 0]})
    >>> found.round(2).tolist()
    [-0.38, -1.01, -0.4, -0.51, -0.29]
    """
    from uneven.metrics.cost_scorer import CostScorer

    require_way_to_decide(decide)
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    for name, cost in costs.items():
        if np.ndim(cost) > 0:
            raise CostError(f"{name} of a scorer must be a number; give the costs of rows as metadata, params={{...}}")
        _inputs.exact(name, cost, CostError)
    if tp_cost == 0 and tn_cost == 0:
        RowCosts.read(1, **costs)
    return CostScorer({**costs, "pos_label": pos_label}, decide)
