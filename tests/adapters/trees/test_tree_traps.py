"""Every silent trap of a custom objective, put right: starts, labels, metrics, weights, hessians, files."""

from __future__ import annotations

from typing import Any

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from tree_models import CATBOOST, LIBRARIES, LIGHTGBM, XGBOOST, Library, data

import uneven
from uneven.adapters.catboost import _Stop
from uneven.adapters.trees.tree_objective import TreeMetric, TreeRows
from uneven.errors import CostError, ParameterError, SolverError

each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)


def plain_scores(library: Library, path: Any, X: np.ndarray) -> np.ndarray:
    """Raw scores of a file by the library alone."""
    if library is XGBOOST:
        return xgboost.Booster(model_file=path).predict(xgboost.DMatrix(X), output_margin=True)
    if library is LIGHTGBM:
        return lightgbm.Booster(model_file=path).predict(X, raw_score=True)
    return catboost.CatBoost().load_model(str(path)).predict(X, prediction_type="RawFormulaVal")


@each_library
@pytest.mark.parametrize("stops", [False, True])
def test_a_file_holds_the_start_and_the_plain_library_agrees(library: Library, stops: bool, tmp_path: Any) -> None:
    X, y = data()
    model = library.make(rounds=30, fn_cost=9, margin_gamma=2, early_stopping_rounds=3 if stops else None)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])] if stops else None)
    path = tmp_path / f"model.{library.suffix}"
    model.save(path)
    score = model.decision_function(X)
    assert np.allclose(plain_scores(library, path, X), score, atol=1e-6)
    again = library.estimator.load(path)
    assert np.array_equal(again.decision_function(X), score)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X, fp_cost=2), model.predict(X, fp_cost=2))
    assert again.loss_ == model.loss_
    assert again.get_params()["fn_cost"] == 9
    assert again.start_ == model.start_ != 0


@pytest.mark.parametrize(
    ("labels", "loss"),
    [
        (np.array(["ok", "fraud"]), "logistic"),
        (np.array([-1, 1]), uneven.phi("beta", order=2)),
        (np.array([False, True]), uneven.calibrated_loss("logistic", alpha="1/10", gamma=3)),
    ],
    ids=["texts", "phi", "loss"],
)
def test_files_hold_labels_and_losses_of_all_kinds(labels: np.ndarray, loss: Any, tmp_path: Any) -> None:
    X, y = data(150)
    for library in LIBRARIES:
        path = tmp_path / f"model.{library.suffix}"
        model = library.make(loss, rounds=5, fn_cost=9, pos_label=labels[1]).fit(X, labels[y])
        model.save(path)
        again = library.estimator.load(path)
        assert np.array_equal(again.predict(X), model.predict(X))
        assert again.predict(X).dtype == labels.dtype
        assert again.loss_ == model.loss_
        other = type("Other", (library.estimator,), {})
        with pytest.raises(ParameterError, match=r"holds a Uneven\w+ .* not a"):
            other.load(path)


def test_a_plain_file_is_refused(tmp_path: Any) -> None:
    X, y = data(100)
    path = tmp_path / "plain.json"
    xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(X, y).save_model(path)
    with pytest.raises(ParameterError, match="XGBoost itself can open it"):
        uneven.UnevenXGBClassifier.load(path)


@each_library
def test_labels_as_texts_and_the_right_column(library: Library) -> None:
    """predict gives labels, predict_proba the columns of classes_; "fraud" < "ok": the positive class is the first."""
    X, y = data()
    words = np.where(y == 1, "fraud", "ok")
    model = library.make(fn_cost=9, pos_label="fraud").fit(X, words)
    number = library.make(fn_cost=9).fit(X, y)
    assert model.classes_.tolist() == ["fraud", "ok"]
    assert np.array_equal(model.predict(X) == "fraud", number.predict(X) == 1)
    assert np.allclose(model.predict_proba(X)[:, 0], number.predict_proba(X)[:, 1])
    assert np.allclose(model.decision_function(X), -number.decision_function(X))
    with pytest.raises(CostError, match="pos_label"):
        library.make(fn_cost=9).fit(X, words)


@each_library
def test_probabilities_are_not_the_sigmoid_of_the_score(library: Library) -> None:
    X, y = data()
    model = library.make(fn_cost=9, margin_gamma=2).fit(X, y)
    score = model.decision_function(X)
    assert np.allclose(model.predict_proba(X)[:, 1], model.loss_.inverse_link(score))
    assert not np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-score)), atol=0.05)


@each_library
@pytest.mark.parametrize("kind", ["cost", "surrogate"])
def test_early_stopping_looks_at_our_metric_on_raw_scores(library: Library, kind: str) -> None:
    """The only metric is ours, its values are those of the model at each round, and it does not stop at the start."""
    X, y = data(600)
    model = library.make(
        rounds=200, fn_cost=9, margin_gamma=2, eval_metric=kind, early_stopping_rounds=8, learning_rate=0.2
    )
    model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])])
    assert list(model.evals_result_["validation_0"]) == [kind]
    values = model.evals_result_["validation_0"][kind]
    assert 1 < len(values) < 200
    assert model.best_iteration_ == int(np.argmin(np.round(values, 7)))
    if kind == "surrogate":
        assert model.best_iteration_ > 0
        sign = np.where(y[400:] == 1, 1, -1)
        expected = 10 * model.loss_(sign, model.decision_function(X[400:])).mean()  # the loss's weights sum to 1
    else:
        expected = uneven.metrics.expected_cost(y[400:], model.predict(X[400:]), fn_cost=9)
    assert min(values) == pytest.approx(expected, rel=1e-5)


@each_library
def test_evaluation_sets_take_weights_and_costs_of_their_own(library: Library) -> None:
    X, y = data(300)
    amount = np.exp(X[:, 2])
    costs, weight = {"fp_cost": 1.0, "fn_cost": 5 * amount[200:]}, np.arange(1.0, 101.0)
    model = library.make(rounds=6, eval_metric="cost")
    with pytest.raises(CostError, match="eval_costs"):
        model.fit(X[:200], y[:200], fn_cost=5 * amount[:200], eval_set=[(X[200:], y[200:])])
    model.fit(
        X[:200],
        y[:200],
        fn_cost=5 * amount[:200],
        eval_set=[(X[200:], y[200:]), (X[200:], y[200:])],
        eval_costs=[costs, costs],
        eval_sample_weight=[None, weight],
    )
    values = [model.evals_result_[f"validation_{k}"]["cost"] for k in (0, 1)]
    said = model.predict(X[200:])
    last = model.best_iteration_ if model.best_iteration_ is not None else -1
    for value, own in zip(values, (None, weight), strict=True):
        expected = uneven.metrics.expected_cost(y[200:], said, sample_weight=own, **costs)
        assert value[last] == pytest.approx(expected, rel=1e-5)
    with pytest.raises(CostError, match="labels of eval_set"):
        model.fit(X, y, eval_set=[(X, y + 1)])
    with pytest.raises(ParameterError, match="eval_sample_weight must have one entry"):
        model.fit(X, y, eval_set=[(X, y)], eval_sample_weight=[])


def test_metrics_of_the_native_doors_see_raw_scores() -> None:
    X, y = data()
    loss = uneven.adapters.xgboost.objective(fn_cost=9)
    matrix = xgboost.DMatrix(X, y, nthread=1)
    results: dict[str, Any] = {}
    model = xgboost.train(
        {"base_score": loss.start(y), "nthread": 1, "disable_default_eval_metric": True},
        matrix,
        5,
        obj=loss,
        custom_metric=uneven.adapters.xgboost.metric("cost", fn_cost=9),
        evals=[(matrix, "train")],
        evals_result=results,
        verbose_eval=False,
    )
    said = (model.predict(matrix, output_margin=True) > 0).astype(int)
    assert results["train"]["cost"][-1] == pytest.approx(uneven.metrics.expected_cost(y, said, fn_cost=9), abs=1e-6)
    wrapped = xgboost.XGBRegressor(
        objective=loss,
        base_score=loss.start(y),
        n_estimators=5,
        n_jobs=1,
        disable_default_eval_metric=True,
        eval_metric=uneven.adapters.xgboost.metric("cost", fn_cost=9),
    ).fit(X, y, eval_set=[(X, y)], verbose=False)
    assert np.allclose(wrapped.predict(X), model.predict(matrix, output_margin=True), atol=1e-5)
    assert wrapped.evals_result()["validation_0"]["cost"] == pytest.approx(results["train"]["cost"])
    light = uneven.adapters.lightgbm.metric("cost", fn_cost=9)
    other = lightgbm.LGBMRegressor(objective=loss, n_estimators=5, n_jobs=1, verbosity=-1, metric="None")
    score = other.fit(X, y, sample_weight=y + 1.0).predict(X)
    value = TreeMetric("cost", fn_cost=9).value(y, score, y + 1.0)
    assert light(y, score, y + 1.0) == ("cost", value, False)
    assert light(score, lightgbm.Dataset(X, y, weight=y + 1.0).construct())[1] == pytest.approx(value)


@each_library
def test_weights_are_applied_once(library: Library) -> None:
    """Costs 1:4, sample weights and costs of each row give one model; weights applied twice would give another."""
    X, y = data()
    costs = library.make(rounds=10, fn_cost=4).fit(X, y)
    weight = np.where(y == 1, 4.0, 1.0)
    weighted = library.make(rounds=10).fit(X, y, sample_weight=weight / weight.mean())
    rows = library.make(rounds=10).fit(X, y, fn_cost=np.where(np.arange(y.size) < 9, 4.0, 4.0 + 1e-12))
    for other in (weighted, rows):
        assert np.allclose(costs.decision_function(X), other.decision_function(X), atol=1e-4)
    squared = library.make(rounds=10, fn_cost=16).fit(X, y)
    assert not np.allclose(costs.decision_function(X), squared.decision_function(X), atol=0.1)


@each_library
@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_the_currency_does_not_matter(library: Library, loss: str) -> None:
    X, y = data()
    one = library.make(loss, rounds=10, fp_cost=1, fn_cost=9).fit(X, y)
    cents = library.make(loss, rounds=10, fp_cost=1e-6, fn_cost=9e-6).fit(X, y)
    assert np.allclose(one.decision_function(X), cents.decision_function(X), atol=1e-5)


@each_library
def test_hessians_are_positive_so_no_loss_gives_a_silent_constant(library: Library) -> None:
    """A hinge has curvature 0 almost everywhere, a sigmoid a negative one: both models must learn."""
    X, y = data()
    for loss in ("hinge", "sigmoid", "ramp"):
        model = library.make(loss, rounds=20, fn_cost=3).fit(X, y)
        assert np.ptp(model.decision_function(X)) > 0.1
        best = min(np.mean(y == 1) * 3, np.mean(y == 0))
        assert uneven.metrics.expected_cost(y, model.predict(X), fn_cost=3) < 0.9 * best


def test_catboost_gets_derivatives_of_what_it_maximises() -> None:
    """Positive second derivatives would silently flip the model."""
    objective = CATBOOST.door.objective("savage")
    pairs = objective.calc_ders_range(np.linspace(-3, 3, 50), np.arange(50) % 2 * np.float32(1), None)
    assert (pairs[:, 1] < 0).all()
    assert (pairs[1::2, 0] > 0).all()
    assert (pairs[::2, 0] < 0).all()


def test_a_constant_without_reason_is_an_error() -> None:
    """Limits in units of the curvature can forbid every split; the same limits allow the logistic loss some."""
    X, y = data(200)
    with pytest.raises(SolverError, match="learnt a constant, though XGBoost finds splits"):
        XGBOOST.make("expit(-t/4)", rounds=3, min_child_weight=6, warmup_rounds=0).fit(X, y)


@each_library
def test_a_constant_with_a_reason_is_no_error(library: Library) -> None:
    y = np.arange(60) % 3 == 0
    if library is CATBOOST:
        with pytest.raises(catboost.CatBoostError, match="constant or ignored"):  # as the library says it
            library.make(rounds=3).fit(np.ones((60, 2)), y)
        return
    model = library.make(rounds=3).fit(np.ones((60, 2)), y)
    assert model.predict_proba(np.ones((1, 2)))[0, 1] == pytest.approx(1 / 3, abs=1e-3)
    assert model.feature_importances_.tolist() == [0, 0]


def test_lightgbm_with_linear_leaves_keeps_the_start() -> None:
    X, y = data()
    model = LIGHTGBM.make(rounds=10, linear_tree=True, fn_cost=9).fit(X, y)
    expected = LIGHTGBM.make(rounds=10, linear_tree=True, fn_cost=9)
    values = expected.fit(X, y, eval_set=[(X, y)]).evals_result_["validation_0"]["surrogate"]
    sign = np.where(y == 1, 1, -1)
    assert values[-1] == pytest.approx(10 * model.loss_(sign, model.decision_function(X)).mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("library", "given", "match"),
    [
        (XGBOOST, {"objective": "binary:logistic"}, "loss is the objective"),
        (XGBOOST, {"scale_pos_weight": 10}, "fp_cost and fn_cost"),
        (XGBOOST, {"base_score": 0.3}, "best constant"),
        (LIGHTGBM, {"class_weight": "balanced"}, "fp_cost and fn_cost"),
        (LIGHTGBM, {"is_unbalance": True}, "fp_cost and fn_cost"),
        (LIGHTGBM, {"metric": "auc"}, "the only metric"),
        (LIGHTGBM, {"num_leafs": 7}, "no parameter 'num_leafs'"),
        (CATBOOST, {"auto_class_weights": "Balanced"}, "fp_cost and fn_cost"),
        (CATBOOST, {"boost_from_average": True}, "best constant"),
        (CATBOOST, {"dept": 3}, "no parameter 'dept'"),
    ],
)
def test_parameters_that_would_be_ignored_or_correct_twice_are_refused(
    library: Library, given: dict[str, Any], match: str
) -> None:
    with pytest.raises(ParameterError, match=match):
        library.estimator(**given)
    with pytest.raises(ParameterError, match=match):
        library.estimator().set_params(**given)


@each_library
def test_bad_values_of_our_own_parameters(library: Library) -> None:
    X, y = data(60)
    with pytest.raises(ParameterError, match="eval_metric must be one of cost, surrogate"):
        library.make(eval_metric="logloss").fit(X, y)
    with pytest.raises(ParameterError, match="warmup_rounds must be None, 0 or a positive integer"):
        library.make(warmup_rounds=-1).fit(X, y)
    with pytest.raises(CostError, match="inf in row 3, column 1"):
        library.make().fit(np.where((np.arange(60) == 3)[:, None] & (np.arange(3) == 1), np.inf, X), y)


@pytest.mark.parametrize(("count", "columns", "rounds"), [(400, 3, 20), (400, 25, 20), (25_000, 3, 150)])
def test_catboost_is_asked_for_its_own_choices(count: int, columns: int, rounds: int) -> None:
    """Those it makes for its own logistic objective, by rows, columns and rounds; many rows are not needed to ask."""
    random = np.random.default_rng(0)
    X = random.normal(size=(count, columns)).astype(np.float32)
    y = (X[:, 0] > random.normal(size=count)).astype(np.float32)
    given = {"iterations": rounds, "thread_count": 1}
    own = catboost.CatBoost({**given, "loss_function": "Logloss", "verbose": False, "allow_writing_files": False})
    expected = own.fit(X, y, callbacks=[_Stop()]).get_all_params()
    chosen = uneven.UnevenCatBoostClassifier(**given)._ask_for_defaults(TreeRows(X, y, np.empty(0)), evaluated=False)
    assert chosen["learning_rate"] == pytest.approx(expected["learning_rate"], rel=1e-3)
    assert {**chosen, "learning_rate": 0} == {name: expected[name] if name != "learning_rate" else 0 for name in chosen}
