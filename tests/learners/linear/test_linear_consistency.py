"""On a saturated model the fitted sign is that of eta - alpha, for every calibrated phi and every gamma."""

from __future__ import annotations

import numpy as np
import pytest
from registered import CALIBRATED

import uneven
from uneven import UnevenLinearClassifier as Linear

ALPHA = 0.1
ETA = np.array([0.01, 0.03, 0.06, 0.15, 0.25, 0.4, 0.6, 0.9])


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One-hot rows, labels and weights: counts instead of repeated rows."""
    random = np.random.default_rng(seed)
    ones = random.binomial(n, ETA)
    X = np.repeat(np.eye(ETA.size), 2, axis=0)
    y = np.tile([1, 0], ETA.size)
    weight = np.stack([ones, n - ones], axis=1).ravel().astype(float)
    return X, y, weight


@pytest.mark.parametrize("gamma", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", CALIBRATED)
def test_the_sign_is_right_in_the_end(name: str, gamma: float) -> None:
    wrong = []
    for n in (30, 300, 30_000):
        X, y, weight = sample(n)
        model = Linear(name, fp_cost=1, fn_cost=9, margin_gamma=gamma, C=n).fit(X, y, sample_weight=weight / n)
        wrong.append(int((model.predict(np.eye(ETA.size)) != (ETA > ALPHA)).sum()))
    assert wrong[-1] == 0


@pytest.mark.parametrize("gamma", [0.3, 3.0])
def test_a_miscalibrated_beta_stays_wrong(gamma: float) -> None:
    """The sigmoid family with beta = 1/gamma assumes other costs; no number of examples makes its signs right."""
    naive = uneven.UnevenMarginLoss("sigmoid", gamma=gamma, alpha=ALPHA)
    with pytest.raises(uneven.errors.LossError, match="is not calibrated for these costs"):
        Linear(naive, fp_cost=1, fn_cost=9).fit(*sample(30)[:2])
    implied = uneven.implied_alpha(naive).alpha
    between = np.sort([implied, ALPHA])
    eta = np.array([between.mean(), 0.001, 0.99])
    n = 10**6
    ones = np.round(n * eta)
    X, y = np.repeat(np.eye(3), 2, axis=0), np.tile([1, 0], 3)
    weight = np.stack([ones, n - ones], axis=1).ravel() / n
    wrong = Linear(naive, fp_cost=implied, fn_cost=1 - implied, C=n).fit(X, y, sample_weight=weight)
    right = Linear("sigmoid", fp_cost=1, fn_cost=9, margin_gamma=gamma, C=n).fit(X, y, sample_weight=weight)
    assert (wrong.predict(np.eye(3)) == (eta > ALPHA)).tolist() == [False, True, True]
    assert (right.predict(np.eye(3)) == (eta > ALPHA)).all()
