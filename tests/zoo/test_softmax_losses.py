"""The cost matrices that softmax losses assume: theorem W, the zoo's own alphas, and the libraries themselves."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import softmax

import uneven
from uneven import implied_cost_matrix, zoo
from uneven.errors import LossError, ParameterError
from uneven.zoo.softmax_losses import softmax_losses

#: Functions g of theorem W, by the formula in the record.
FALLS = {
    "-log p": lambda p, v: -np.log(p),
    "-(1 - p)**gamma log p": lambda p, v: -((1 - p) ** float(v.get("gamma", 2))) * np.log(p),
    "-log p + epsilon (1 - p)": lambda p, v: -np.log(p) + float(v.get("epsilon", 2)) * (1 - p),
}


def random_parameters(one: Any, random: np.random.Generator, count: int) -> dict[str, Any]:
    """Values for some parameters of a loss."""
    found: dict[str, Any] = {}
    for parameter in one.parameters:
        if parameter.name == "counts" or random.random() < 0.2:
            continue
        if parameter.name in ("label_smoothing", "alpha") and not hasattr(parameter, "words"):
            found[parameter.name] = round(float(random.uniform(0.01, 0.6)), 3)
        elif parameter.name in ("gamma", "epsilon"):
            found[parameter.name] = round(float(random.uniform(0, 4)), 2)
        elif getattr(parameter, "words", None) and one.name.startswith("catboost"):
            continue
        elif hasattr(parameter, "words"):
            found[parameter.name] = [round(float(w), 3) for w in 10.0 ** random.uniform(-1, 1, size=count)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in softmax_losses() if one.falls in FALLS], ids=lambda one: one.name)
def test_theorem_w(one: Any) -> None:
    """The largest probability at the minimum of the risk is the cheapest action, found by minimising."""
    random = np.random.default_rng(0)
    decided = 0
    for _ in range(25):
        count = int(random.integers(2, 5))
        values = random_parameters(one, random, count)
        found = implied_cost_matrix(one.name, classes=count, **values)
        assert found.matrix is not None
        q = random.dirichlet(np.ones(count))
        m = q @ np.array([[float(t) for t in row] for row in found.targets])
        costs = found.matrix.expected_cost(q)
        if np.partition(costs, 1)[1] - costs.min() < 1e-3 * np.abs(found.matrix.costs).max():
            continue
        g = FALLS[one.falls]

        def risk(z: np.ndarray, m=m, g=g, values=values) -> float:  # type: ignore[no-untyped-def]
            return float(m @ g(np.clip(softmax(np.append(z, 0.0)), 1e-300, 1 - 1e-16), values))

        starts = [np.zeros(count - 1), *random.normal(size=(4, count - 1))]
        best = min((minimize(risk, z, method="BFGS") for z in starts), key=lambda run: run.fun)
        assert np.append(best.x, 0.0).argmax() == costs.argmin()
        decided += 1
    assert decided > 10


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_the_alphas_of_the_zoo(weighted: bool) -> None:
    random = np.random.default_rng(1)
    cases: list[tuple[str, dict[str, Any]]] = []
    for _ in range(12):
        weight = tuple(round(float(w), 2) for w in 10.0 ** random.uniform(-1, 1.3, size=2)) if weighted else (1, 1)
        e, alpha = round(float(random.uniform(0, 0.5)), 2), round(float(random.uniform(0.05, 0.95)), 2)
        cases.append(("torch.nn.CrossEntropyLoss", {"weight": weight, "label_smoothing": e}))
        cases.append(("torch.nn.MultiMarginLoss", {"weight": weight}))
        cases.append(("sklearn.linear_model.LogisticRegression", {"class_weight": weight}))
        cases.append(("catboost.CatBoostClassifier", {"class_weights": weight}))
        cases.append(("kornia.losses.focal_loss", {"weight": weight, "alpha": alpha}))
    counts = {"counts": (900, 100)}
    cases.append(("sklearn.linear_model.LogisticRegression", {"class_weight": "balanced", **counts}))
    cases += [
        ("catboost.CatBoostClassifier", {"auto_class_weights": w, **counts}) for w in ("Balanced", "SqrtBalanced")
    ]
    none = 0
    for name, values in cases:
        implied = uneven.implied_alpha(zoo.loss(name, **values))
        (zero, fp), (fn, also) = implied_cost_matrix(name, classes=2, **values).exact_costs
        assert zero == also == 0
        if implied.alpha is None:
            assert implied.proved_none
            assert min(fp, fn) <= 0
            none += 1
        elif implied.exact is not None:
            assert fp / (fp + fn) == implied.exact
        else:
            assert implied.interval is not None
            assert implied.interval[0] <= fp / (fp + fn) <= implied.interval[1]
    assert none > 0 or not weighted


def test_class_weights_are_those_of_the_matrix() -> None:
    found = implied_cost_matrix("xgboost.XGBClassifier", sample_weight=("1/3", 2, 7), classes=["a", "b", "c"])
    assert found.matrix is not None
    weights = found.matrix.expressible_by_class_weights.weights
    assert weights == {"a": pytest.approx(1 / 3), "b": 2.0, "c": 7.0}
    smoothed = implied_cost_matrix("torch.nn.CrossEntropyLoss", weight=(1, 2, 7), label_smoothing=0.1)
    assert smoothed.matrix is not None
    assert not smoothed.matrix.expressible_by_class_weights
    alike = implied_cost_matrix("torch.nn.CrossEntropyLoss", classes=4, label_smoothing=0.3)
    assert alike.in_words() == "This loss treats all confusions alike."


def test_sums_of_hinges_tie_classes_that_differ() -> None:
    """The risk of Weston and Watkins' loss by linear programming: the tie of the proof is the lowest point."""
    found = implied_cost_matrix("torch.nn.MultiMarginLoss", classes=3)
    assert found.matrix is None
    assert "its lowest risk is at a tie" in found.in_words()
    pairs = [(y, a) for y in range(3) for a in range(3) if a != y]
    z = np.array([1, 1, -2]) / 3
    for q in ((0.4, 0.35, 0.25), (0.34, 0.49, 0.17), (0.45, 0.4, 0.15)):
        rows = np.zeros((6, 9))
        for i, (y, a) in enumerate(pairs):
            rows[i, [a, y, 3 + i]] = 1, -1, -1
        objective = np.array([0.0, 0, 0, *(q[y] for y, _ in pairs)])
        bounds = [(None, None)] * 3 + [(0, None)] * 6
        least = linprog(objective, A_ub=rows, b_ub=-np.ones(6), bounds=bounds).fun
        assert sum(q[y] * max(1 - z[y] + z[a], 0) for y, a in pairs) == pytest.approx(least, abs=1e-9)
    with pytest.raises(LossError, match="p=2 and more than two classes nothing is proved"):
        implied_cost_matrix("torch.nn.MultiMarginLoss", classes=3, p=2)


# -- the libraries themselves -----------------------------------------------------------------------------------------


def sentence(found: Any, z: np.ndarray, y: int, g: Any, values: dict[str, Any]) -> np.ndarray:
    """The loss that the record declares: targets times g."""
    return np.asarray(g(softmax(z, axis=1), values) @ np.array([float(t) for t in found.targets[y]]))


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    z = random.normal(size=(50, 4)) * 3
    for weight, e in (((1, 5, 20, 0.5), 0.1), ((2, 1, 1, 3), 0.0), (None, 0.4)):
        found = implied_cost_matrix("torch.nn.CrossEntropyLoss", classes=4, weight=weight, label_smoothing=e)
        tensor = None if weight is None else torch.tensor(weight, dtype=torch.float64)
        theirs = torch.nn.CrossEntropyLoss(weight=tensor, label_smoothing=e, reduction="none")
        for y in range(4):
            own = theirs(torch.tensor(z), torch.full((50,), y))
            assert np.allclose(own.numpy(), sentence(found, z, y, FALLS["-log p"], {}), rtol=1e-12)
    nll = implied_cost_matrix("torch.nn.NLLLoss", weight=(1, 5, 20, 0.5))
    theirs = torch.nn.NLLLoss(weight=torch.tensor([1, 5, 20, 0.5], dtype=torch.float64), reduction="none")
    own = theirs(torch.log_softmax(torch.tensor(z), dim=1), torch.full((50,), 2))
    assert np.allclose(own.numpy(), sentence(nll, z, 2, FALLS["-log p"], {}), rtol=1e-12)


def test_optax() -> None:
    optax = pytest.importorskip("optax")
    random = np.random.default_rng(0)
    z = random.normal(size=(50, 3)) * 2
    for y in range(3):
        hot = np.eye(3)[np.full(50, y)]
        smooth = implied_cost_matrix("optax.softmax_cross_entropy", classes=3, label_smoothing=0.2)
        own = optax.losses.softmax_cross_entropy(z, optax.losses.smooth_labels(hot, 0.2))
        assert np.allclose(own, sentence(smooth, z, y, FALLS["-log p"], {}), rtol=1e-4)
        poly = implied_cost_matrix("optax.poly_loss_cross_entropy", classes=3, epsilon=0.7)
        own = optax.losses.poly_loss_cross_entropy(z, hot, epsilon=0.7)
        assert np.allclose(own, sentence(poly, z, y, FALLS["-log p + epsilon (1 - p)"], {"epsilon": 0.7}), rtol=1e-4)


@pytest.mark.slow
def test_models_without_information_predict_the_shares_of_the_targets() -> None:
    """A column that says nothing: the probabilities are what each class has of the targets."""
    from sklearn.linear_model import LogisticRegression

    counts, given = np.array([500, 300, 200]), {0: 1.0, 1: 3.0, 2: 10.0}
    y = np.tile(np.repeat([0, 1, 2], counts), 2)
    X = np.repeat([0.0, 1.0], len(y) // 2)[:, None]
    models: list[tuple[str, Any, dict[str, Any]]] = []
    for weight in (given, "balanced"):
        values = {"class_weight": weight, "counts": counts.tolist()}
        models.append(
            ("sklearn.linear_model.LogisticRegression", LogisticRegression(class_weight=weight, tol=1e-9), values)
        )
    with suppress(ImportError):
        from lightgbm import LGBMClassifier

        for weight in (given, "balanced"):
            values = {"class_weight": weight, "counts": counts.tolist()}
            model = LGBMClassifier(class_weight=weight, n_estimators=60, num_leaves=2, verbose=-1, n_jobs=1)
            models.append(("lightgbm.LGBMClassifier", model, values))
    with suppress(ImportError):
        from catboost import CatBoostClassifier

        for values in (
            {"class_weights": [1, 3, 10]},
            {"auto_class_weights": "Balanced"},
            {"auto_class_weights": "SqrtBalanced"},
        ):
            known = {} if "class_weights" in values else {"counts": counts.tolist()}
            model = CatBoostClassifier(
                loss_function="MultiClass",
                iterations=150,
                learning_rate=0.5,
                depth=1,
                l2_leaf_reg=1e-3,
                verbose=False,
                allow_writing_files=False,
                thread_count=1,
                **values,
            )
            models.append(("catboost.CatBoostClassifier", model, {**values, **known}))
    assert len(models) >= 2
    for name, model, values in models:
        targets = np.array([[float(t) for t in row] for row in implied_cost_matrix(name, classes=3, **values).targets])
        shares = counts @ targets / (counts @ targets).sum()
        assert np.allclose(model.fit(X, y).predict_proba(X[:1])[0], shares, atol=2e-3), name


def test_names_and_numbers_that_are_not_taken() -> None:
    with pytest.raises(
        LossError, match=r"there is no softmax loss named 'torch.nn.CrosEntropyLoss' here; did you mean"
    ):
        implied_cost_matrix("torch.nn.CrosEntropyLoss", classes=3)
    with pytest.raises(LossError, match=r"fastai.losses.FocalLoss assumes no cost matrix that is known"):
        implied_cost_matrix("fastai.losses.FocalLoss", classes=3)
    with pytest.raises(ParameterError, match="needs to know how many classes there are"):
        implied_cost_matrix("torch.nn.CrossEntropyLoss")
    with pytest.raises(ParameterError, match="different numbers of classes: weight 3, classes 2"):
        implied_cost_matrix("torch.nn.CrossEntropyLoss", weight=(1, 2, 3), classes=2)
    with pytest.raises(ParameterError, match="has no parameter 'weights' here; did you mean 'weight'"):
        implied_cost_matrix("torch.nn.CrossEntropyLoss", weights=(1, 2, 3))
    with pytest.raises(ParameterError, match="weight must hold a positive number"):
        implied_cost_matrix("torch.nn.CrossEntropyLoss", weight=(1, 0, 3))
    with pytest.raises(ParameterError, match="needs counts, the numbers of rows"):
        implied_cost_matrix("lightgbm.LGBMClassifier", class_weight="balanced", classes=3)
    with pytest.raises(ParameterError, match="classes must be a number or at least two names"):
        implied_cost_matrix("torch.nn.CrossEntropyLoss", classes="abc")
    with pytest.raises(ParameterError, match="has an entry for 'd', which is none of"):
        implied_cost_matrix("sklearn.linear_model.LogisticRegression", class_weight={"d": 2}, classes=["a", "b"])
    half = implied_cost_matrix("sklearn.linear_model.LogisticRegression", class_weight={"b": "1/3"}, classes=["a", "b"])
    assert half.exact_costs == ((0, 1), (Fraction(1, 3), 0))
