"""The demonstration: whom should the bank call? The ensemble against what people would use, on rows kept out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from uneven.app.report.model_report import report
from uneven.app.report.table_report import Report
from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
from uneven.learners.threshold_classifier import UnevenThresholdClassifierCV
from uneven.metrics import make_cost_scorer
from uneven.tables import FrameEncoder
from uneven.tables.example_table import load_example

#: Fewer members than by default, to be quick. They were not chosen by their results.
MEMBERS = "linear,histogram,extra_trees"
#: Rows of a year, for the money: a round number.
ROWS_PER_YEAR = 100_000


def fit_ensemble(members: list[str]) -> UnevenEnsembleClassifier:
    """The ensemble, fitted to the training rows. It is what the report is about, whatever comes out."""
    X, y, costs = load_example("train")
    with threadpool_limits(1):  # members are fitted at the same time
        return UnevenEnsembleClassifier(members=members, random_state=0).fit(X, y, **costs)


def fit_others() -> dict[str, Any]:
    """What people would use, with scikit-learn's defaults, fitted to the same rows.

    Two of them know the costs of the mean client: one weighs the classes, one tunes its threshold by cost. The last one
    cuts its probability at the threshold of each client, as an expert would by hand.
    """
    X, y, costs = load_example("train")
    missed = float(np.mean(costs["fn_cost"])) - costs["tp_cost"]
    scorer = make_cost_scorer(fp_cost=costs["fp_cost"], fn_cost=missed)
    boosted = HistGradientBoostingClassifier(random_state=0)
    tuned = TunedThresholdClassifierCV(boosted, scoring=scorer, random_state=0)
    weight = {False: 1.0, True: missed / costs["fp_cost"]}
    found = {
        "logistic regression": (LogisticRegression(max_iter=2000), "linear"),
        "logistic regression, classes weighted": (LogisticRegression(max_iter=2000, class_weight=weight), "linear"),
        "boosted trees": (boosted, "trees"),
        "boosted trees, threshold tuned": (tuned, "trees"),
    }
    with threadpool_limits(1):  # small fits, where threads would mostly wait for each other
        fitted = {
            name: make_pipeline(FrameEncoder(view=view), model).fit(X, y) for name, (model, view) in found.items()
        }
        by_hand = UnevenThresholdClassifierCV(fitted["boosted trees"], prefit=True, method="none").fit(X, y, **costs)
    return {**fitted, "boosted trees, each client's threshold": by_hand}


def bank_report(model: Any, others: dict[str, Any]) -> Report:
    """What they cost on the clients that were kept out."""
    X, y, costs = load_example("test")
    with threadpool_limits(1):
        found = report(model, X, y, **costs, against=others, unit="EUR", rows_per_year=ROWS_PER_YEAR)
    assert isinstance(found, Report)  # of two classes
    return found
