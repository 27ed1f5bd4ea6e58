"""scikit-learn's own losses and class weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn._loss.loss import HalfBinomialLoss
from sklearn.linear_model._stochastic_gradient import BaseSGDClassifier
from sklearn.utils.class_weight import compute_class_weight


def _weight(label: int, class_weight: Any, counts: Any) -> float:
    if class_weight == "balanced":
        y = np.repeat([0, 1], [int(count) for count in counts])
        return float(compute_class_weight("balanced", classes=np.array([0, 1]), y=y)[label])
    return 1.0 if class_weight is None else float(class_weight[label])


def sgd(
    t: np.ndarray, label: int, loss: str = "hinge", epsilon: float = 0.1, class_weight: Any = None, counts: Any = None
) -> np.ndarray:
    kind, *fixed = BaseSGDClassifier.loss_functions[loss]
    if loss in ("huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
        fixed = [epsilon]
    function = kind(*fixed)
    if hasattr(function, "py_loss"):
        found = np.array([function.py_loss(float(x), float(2 * label - 1)) for x in t])
    else:
        target = np.full(t.size, float(label if loss == "log_loss" else 2 * label - 1))
        found = np.empty(t.size)
        function.loss(target, t.astype(np.float64), None, found)
    return _weight(label, class_weight, counts) * found


def logistic(t: np.ndarray, label: int, class_weight: Any = None, counts: Any = None) -> np.ndarray:
    losses = HalfBinomialLoss().loss(y_true=np.full(t.size, float(label)), raw_prediction=t.astype(np.float64))
    return _weight(label, class_weight, counts) * losses


def perceptron(t: np.ndarray, label: int, **weights: Any) -> np.ndarray:
    return sgd(t, label, loss="perceptron", **weights)


LOSSES = {
    "sklearn.linear_model.LogisticRegression": logistic,
    "sklearn.linear_model.Perceptron": perceptron,
    "sklearn.linear_model.SGDClassifier": sgd,
}
PARAMETERS = {
    "sklearn.linear_model.Perceptron": [{"class_weight": (2.0, 3.0)}],
    "sklearn.linear_model.SGDClassifier": [
        {"loss": "huber", "epsilon": 0.7},
        {"loss": "squared_epsilon_insensitive", "epsilon": 0.7, "class_weight": (2.0, 3.0)},
    ],
}
