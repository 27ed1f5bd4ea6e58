"""The promise of ``UnevenLinearClassifier``, for any training set: the reported gap is true, and so is ``tol``.

A :class:`Training` is a training set with the parameters of a fit; :func:`drawn` makes them from a seed, nasty ones on
purpose. :func:`audit` fits, solves the same problem independently, and compares.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from extended_phi import Extended
from independent_optimum import LinearProblem, Optimum, optimum
from mean_regret import mean_regret
from sklearn.exceptions import ConvergenceWarning

import uneven

#: Expressions whose kinks are hard: no doubles, irrational, two of them, or next to curved pieces.
HARD_KINKS = [
    "relu(1 - 3*t)",
    "relu(1/3 - t)",
    "abs(1/3 - t)",
    "max(0, 1 - t, 3 - 6*t)",
    "max(softplus(-t), 1 - 2*t)",
    "relu(1 - t)**2 + relu(1 - t)",
]
#: Every registered convex phi that is calibrated for some costs; the perceptron is not.
CONVEX = [name for name in uneven.losses.names() if uneven.phi(name).convex and name != "perceptron"]


@dataclass(frozen=True)
class Training:
    """A training set, the parameters of a fit, and words that say what is special about it."""

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray | None
    parameters: dict[str, Any]
    words: list[str] = field(default_factory=list)

    def problem(self, precision: Any = Extended) -> LinearProblem:
        """The same problem for the independent solver."""
        given = dict(self.parameters)
        for other in ("tol", "max_iter", "solver"):
            given.pop(other, None)
        penalty = given.pop("penalty", "l2")
        ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": given.pop("l1_ratio", 0.0), None: 0.0}[penalty]
        given["gamma"] = given.pop("margin_gamma", 1.0)
        return LinearProblem.of(
            uneven.phi(given.pop("loss")).text,
            self.X,
            self.y,
            sample_weight=self.sample_weight,
            ridge=0.0 if penalty is None else 1.0 - ratio,
            l1=ratio,
            precision=precision,
            **given,
        )

    def fit(self) -> tuple[uneven.UnevenLinearClassifier, bool]:
        """The fitted model, and whether it warned that it is not within ``tol``."""
        model = uneven.UnevenLinearClassifier(**self.parameters)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model.fit(self.X, self.y, self.sample_weight)
        others = [w for w in seen if not issubclass(w.category, ConvergenceWarning)]
        assert not others, others[0]
        return model, bool(seen)


@dataclass(frozen=True)
class Audit:
    """A fit beside the truth."""

    model: uneven.UnevenLinearClassifier
    warned: bool
    value: float  # the objective at the fitted coefficients
    best: Optimum
    rounding: float

    @property
    def gap(self) -> float:
        """The objective at the fitted coefficients minus the best value that the independent solver found."""
        return float(self.value - self.best.value)


def audit(training: Training, *, precision: Any = Extended, accuracy: float = 2e-11) -> Audit:
    model, warned = training.fit()
    problem = training.problem(precision)
    theta = np.append(model.coef_[0], model.intercept_).astype(precision)
    best = optimum(problem, accuracy=accuracy)
    return Audit(model, warned, problem.value(theta), best, problem.rounding)


def require_promise(found: Audit, tol: float) -> None:
    """The reported gap is at least the true one; without a warning both are within ``tol``."""
    model, value = found.model, float(found.value)
    slack = 1e-12 * value + found.rounding
    best = float(found.best.value)
    assert found.best.uncertainty <= 1e-9 * best + found.rounding, "the independent solver has failed"
    assert model.duality_gap_ >= 0, "the gap is negative"
    assert found.gap <= model.duality_gap_ + slack, f"true gap {found.gap:.3g} > reported {model.duality_gap_:.3g}"
    assert abs(model.objective_ - value) <= max(1e-9 * value, model.duality_gap_) + slack, "objective_ is another value"
    if not found.warned:
        assert model.duality_gap_ <= tol * model.objective_ * (1 + 1e-12), "no warning, but the gap is too large"
        assert found.gap <= tol * value + slack, f"true gap {found.gap:.3g} > tol * objective {tol * value:.3g}"


def drawn(seed: int, loss: str, *, C: float, wide: bool = False, **fixed: Any) -> Training:
    """A small training set with difficulties drawn from a seed; C is for costs that are not divided by their mean."""
    random = np.random.default_rng([seed, wide])
    words = []
    n, d = (int(random.integers(6, 22)), int(random.integers(24, 48))) if wide else (0, int(random.integers(1, 8)))
    n = n or int(random.integers(d + 4, 70))
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    score = X @ random.normal(size=d) / np.sqrt(d)
    labels = random.choice(["noisy", "separable", "one example", "balanced"])
    if labels in ("noisy", "balanced"):
        score = score + random.logistic(size=n)
    share = 1 / n if labels == "one example" else 0.5 if labels == "balanced" else float(random.uniform(0.1, 0.9))
    positives = min(max(round(share * n), 1), n - 1)
    y = np.zeros(n, dtype=int)
    y[np.argsort(-score)[:positives]] = 1
    scaling = random.choice(["standard", "standard", "columns", "tiny", "huge"])
    X *= {
        "standard": 1.0,
        "columns": 10.0 ** random.uniform(-3, 5, size=d),
        "tiny": 1e-3,
        "huge": 1e5,
    }[scaling]
    words += [str(labels), f"scale {scaling}", f"{n} x {d}"]
    if d > 2 and random.random() < 0.4:
        X[:, 1] = X[:, 0]
        words.append("duplicated column")
    if d > 3 and random.random() < 0.4:
        X[:, 2] = random.choice([0.0, 1.0, -3.0])
        words.append("constant column")
    if random.random() < 0.2:
        X[n // 2] = X[0]
        words.append("duplicated row")
    weight = None
    if random.random() < 0.4:
        weight = 10.0 ** random.uniform(-2, 2, size=n)
        weight[random.random(n) < 0.1] = 0.0
        weight[[np.argmax(y), np.argmin(y)]] = 1.0
        words.append("weights")
    kind = random.choice(["dense", "dense", "F", "csr", "float32"])
    if kind == "csr":
        X = sp.csr_matrix(np.where(random.random(X.shape) < 0.5, X, 0.0))
    X = {"F": np.asfortranarray, "float32": lambda x: x.astype(np.float32)}.get(str(kind), lambda x: x)(X)
    words.append(str(kind))
    parameters = {
        "loss": loss,
        "C": C,
        "margin_gamma": float(random.choice([1.0, 1.0, 3.0, 0.2])),
        "fp_cost": 1.0,
        "fn_cost": float(random.choice([1.0, 7.0, 0.1])),
        "fit_intercept": bool(random.random() < 0.8),
        "tol": float(random.choice([1e-3, 1e-6, 1e-8])),
        **fixed,
    }
    costs = {name: parameters[name] for name in ("fp_cost", "fn_cost")}
    parameters["C"] = C * mean_regret(y, sample_weight=weight, **costs)
    return Training(X, y, weight, parameters, words)
