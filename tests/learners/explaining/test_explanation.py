"""Laws of explanations: sums are exact, values are Shapley's, and every change that is named changes the decision."""

import sys
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import uneven
from uneven.errors import ParameterError
from uneven.learners.explaining.mixed_rows import Pool
from uneven.solvers.running import listening
from uneven.tables import FrameEncoder


def _rows(count=200, width=4):
    random = np.random.default_rng(1)
    X = random.normal(size=(count, width))
    return X, random.random(count) < 1 / (1 + np.exp(1 - 2 * X[:, 0] + X[:, 1] - X[:, 0] * X[:, 1]))


def _table(count=150):
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "amount": random.integers(1, 900, count),
            "rate": np.where(random.random(count) < 0.2, np.nan, random.normal(size=count)),
            "country": random.choice(["AT", "US", "FR"], count),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, count), unit="D"),
            "note": [f"note {a} {b}" for a, b in random.integers(0, 90, (count, 2))],
        }
    )
    odds = frame["amount"] / 300 - 2 + 2 * (frame["country"] == "US") + frame["rate"].fillna(0)
    return frame, random.random(count) < 1 / (1 + np.exp(-odds))


def _check_sums(why, model, X, **costs):
    score = model.decision_function(X, **costs)
    np.testing.assert_allclose(why.base_score + why.points.sum(axis=1), score, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(why.base_saving + why.money.sum(axis=1), why.saving, rtol=1e-9, atol=1e-9)


def _brute_force(ask, x, background):
    """Mean steps over all orders and all background rows."""
    values = np.zeros(x.size)
    orders = list(permutations(range(x.size)))
    for order in orders:
        rows = background.copy()
        for j in order:
            before = ask(rows)
            rows[:, j] = x[j]
            values[j] += (ask(rows) - before).mean()
    return values / len(orders)


@pytest.mark.parametrize("costs", [{}, {"fn_cost": 30}, {"fp_cost": np.linspace(1, 9, 20), "fn_cost": 20}])
def test_a_linear_score_has_exact_values(costs):
    X, y = _rows()
    model = uneven.UnevenLinearClassifier(fn_cost=5).fit(X, y)
    why = model.explain(X[:20], X[20:], **costs)
    _check_sums(why, model, X[:20], **costs)
    np.testing.assert_allclose(why.points, model.coef_ * (X[:20] - X[20:].mean(axis=0)), atol=1e-12)
    assert why.method == "exact"
    assert (why.standard_errors == 0).all()


@pytest.mark.slow
def test_encoded_columns_are_summed_back_to_the_users_columns():
    frame, y = _table()
    model = make_pipeline(FrameEncoder(view="linear"), uneven.UnevenLinearClassifier(fn_cost=5)).fit(frame, y)
    why = uneven.explain(model, frame[:10], frame[10:])
    matrix = model[0].transform(frame)
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    encoded = model[1].coef_ * (matrix[:10] - matrix[10:].mean(axis=0))
    names = model[0].get_feature_names_out()
    for j, column in enumerate(frame.columns):
        own = [k for k, name in enumerate(names) if name.startswith(column)]
        np.testing.assert_allclose(why.points[:, j], encoded[:, own].sum(axis=1), atol=1e-9)
    assert why.method == "exact"
    assert why.columns == tuple(frame.columns)


def test_a_linear_model_of_products_is_no_sum_over_columns():
    X, y = _rows()
    model = make_pipeline(PolynomialFeatures(2), uneven.UnevenLinearClassifier()).fit(X[:, :2], y)
    why = uneven.explain(model, X[:5, :2], X[50:80, :2])
    assert why.method == "sampled"
    for i in range(5):  # an order and its reverse are all orders of two columns
        truth = _brute_force(model.decision_function, X[i, :2], X[50:80, :2])
        np.testing.assert_allclose(why.points[i], truth, atol=1e-9)


def _forest(X, y):
    forest = RandomForestClassifier(5, max_depth=4, random_state=0)
    return uneven.UnevenThresholdClassifierCV(forest, fn_cost=5, cv=2).fit(X, y)


@pytest.mark.slow
def test_sampled_values_are_within_their_errors_of_all_orders():
    X, y = _rows(width=3)
    model = _forest(X, y)
    why = model.explain(X[:8], X[100:110], n_draws=100)
    _check_sums(why, model, X[:8])
    truth = np.array([_brute_force(model.decision_function, x, X[100:110]) for x in X[:8]])
    apart = np.abs(why.points - truth)
    assert (apart <= 4 * why.standard_errors + 1e-12).all()
    assert apart.max() > 0
    same = model.explain(X[:8], X[:1])
    assert np.abs(same.points[0]).max() == 0  # compared with itself
    unused = model.explain(np.c_[X[:8, :2], np.full(8, 7.0)], np.c_[X[50:90, :2], np.full(40, 7.0)])
    assert np.abs(unused.points[:, 2]).max() == 0


@pytest.mark.slow
def test_trees_have_exact_values_with_shap_and_sampled_ones_without(monkeypatch):
    pytest.importorskip("shap")
    X, y = _rows(width=3)
    model = uneven.UnevenXGBClassifier(fn_cost=2, n_estimators=5, n_jobs=1).fit(X, y)
    why = model.explain(X[:6], X[100:120])
    assert why.method == "exact (shap)"
    truth = np.array([_brute_force(model.decision_function, x, X[100:120]) for x in X[:6]])
    np.testing.assert_allclose(why.points, truth, atol=1e-5)
    monkeypatch.setitem(sys.modules, "shap", None)
    sampled = model.explain(X[:6], X[100:120])
    assert sampled.method == "sampled"
    np.testing.assert_allclose(sampled.points.sum(axis=1), why.points.sum(axis=1), atol=1e-6)


@pytest.mark.slow
def test_an_ensemble_speaks_in_the_users_columns():
    frame, y = _table()
    model = uneven.UnevenEnsembleClassifier(fn_cost=5, members=["linear", "extra_trees"], cv=2).fit(frame, y)
    costs = {"fn_cost": np.linspace(2, 30, 6)}
    why = model.explain(frame[:6], frame[20:], n_draws=4, **costs)
    _check_sums(why, model, frame[:6], **costs)
    assert why.columns == tuple(frame.columns)
    assert why.to_frame().index.equals(frame.index[:6])
    for i, changes in enumerate(why.counterfactuals(most=5)):
        assert "note" not in [change.column for change in changes]
        assert sorted(change.size for change in changes) == [change.size for change in changes]
        for change in changes:
            changed = frame[i : i + 1].assign(**{change.column: change.new_value})
            assert model.predict(changed, fn_cost=costs["fn_cost"][i : i + 1])[0] != why.flagged[i]


@pytest.mark.slow
def test_a_search_in_a_pipeline_is_explained_by_what_it_chose():
    X, y = _rows()
    inner = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(fn_cost=5))
    model = uneven.UnevenClassifierCV(inner, Cs=[0.1, 1.0], cv=2).fit(X, y)
    why = model.explain(X[:5], X[5:])
    assert why.method == "exact"
    _check_sums(why, model, X[:5])


# -- reasons and changes -----------------------------------------------------------------------------------------------


def _fitted():
    X, y = _rows(width=2)
    frame = pd.DataFrame({"amount": np.rint(100 * X[:, 0]), "age": X[:, 1]})
    model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(fn_cost=2)).fit(frame, y)
    return frame, model


def test_reasons_speak_for_the_decision_the_most_important_first():
    frame, model = _fitted()
    why = uneven.explain(model, frame)
    assert {*why.flagged.tolist()} == {True, False}
    for i, reasons in enumerate(why.reasons()):
        points = [reason.points if why.flagged[i] else -reason.points for reason in reasons]
        assert points == sorted(points, reverse=True)
        assert all(point > 0 for point in points)
        for reason in reasons:
            assert reason.value == frame[reason.column].iloc[i]
            assert reason.money == why.money[i, why.columns.index(reason.column)]
    found = why.to_frame(1)
    assert found["reason_1"].tolist()[0] == why.reasons()[0][0].column
    assert "<td>flagged</td>" in why._repr_html_()


def test_every_change_changes_the_decision_and_none_is_missed():
    frame, model = _fitted()
    why = uneven.explain(model, frame)
    theta, scale = model[1].coef_[0], model[0].scale_
    for i, changes in enumerate(why.counterfactuals(["amount"])):
        border = frame["amount"].iloc[i] - why.score[i] / theta[0] * scale[0]  # where the score is 0
        within = frame["amount"].min() < border < frame["amount"].max()
        assert bool(changes) == bool(within)
        for change in changes:
            changed = frame[i : i + 1].assign(amount=change.new_value)
            assert model.predict(changed)[0] != why.flagged[i]
            assert change.beyond == ("at most" if why.flagged[i] else "at least")
            assert abs(change.new_value - border) <= max(1, 0.1 * abs(border))
    assert why.counterfactuals([]) == [[]] * len(frame)
    assert "No change of a single column" in uneven.explain(model, frame[:1], frame[:1]).sentences()[0]


def test_where_the_costs_alone_decide_no_column_is_a_reason():
    X, y = _rows()
    model = uneven.UnevenLinearClassifier(fn_cost=5).fit(X, y)
    why = model.explain(X[:3], X, fn_cost=[5, -1, 5], fp_cost=[1, 1, -1])
    assert np.isfinite(why.score).tolist() == [True, False, False]
    assert [bool(reasons) for reasons in why.reasons()] == [True, False, False]
    assert "costs of this row alone decide" in why.sentences()[1]
    assert why.flagged.tolist()[1:] == [False, True]


def test_a_loss_without_probabilities_has_points_and_no_money():
    X, y = _rows()
    why = uneven.UnevenLinearClassifier("hinge").fit(X, y).explain(X[:4], X)
    assert why.money is None
    assert why.reasons(1)[0][0].money is None
    assert "points" in why.sentences()[0]
    assert "reason_1_money" not in why.to_frame(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: (csr_matrix(X), None), "toarray"),
        (lambda X: (X[:1], None), "nothing to be compared with"),
        (lambda X: (X, X[:, :2]), "4 columns of X"),
        (lambda X: (X[:0], X), "0 rows"),
        (lambda X: (pd.DataFrame(X), X), "both be data frames"),
    ],
)
def test_bad_rows_are_refused_in_a_sentence(change, message):
    X, y = _rows()
    model = uneven.UnevenLinearClassifier().fit(X, y)
    with pytest.raises(ParameterError, match=message):
        model.explain(*change(X))


def test_other_classifiers_are_refused_with_what_would_work():
    X, y = _rows()
    forest = RandomForestClassifier(2).fit(X, y)
    with pytest.raises(ParameterError, match="prefit=True"):
        uneven.explain(forest, X)
    with pytest.raises(ParameterError, match="columns must be among"):
        uneven.UnevenLinearClassifier().fit(X, y).explain(X).counterfactuals(["income"])


@pytest.mark.parametrize(("width", "values"), [(3, 2), (40, 90)])  # 90 to the 40th does not fit into an integer
def test_equal_mixed_rows_are_asked_once(width, values):
    random = np.random.default_rng(4)
    rows = random.integers(0, values, (200, width)).astype(float)
    rows[random.random(rows.shape) < 0.1] = np.nan
    pool = Pool.of(rows[:100], rows[100:])
    index = np.tile(random.integers(0, 200, (150, width)), (2, 1))
    asked = []

    def evidence(mixed):
        asked.append(np.nan_to_num(mixed, nan=-1.0))
        return asked[-1] @ np.arange(1, width + 1)

    found = pool.ask(evidence, index)
    mixed = np.nan_to_num(pool.mix(index), nan=-1.0)
    assert (found == mixed @ np.arange(1, width + 1)).all()
    distinct = np.unique(mixed, axis=0)
    assert len(distinct) < len(index)
    assert sorted(map(tuple, np.concatenate(asked))) == sorted(map(tuple, distinct))


def test_a_program_hears_how_far_reasons_and_changes_are():
    X, y = _rows(60)
    model = uneven.UnevenThresholdClassifierCV(RandomForestClassifier(5, random_state=0), fn_cost=3, cv=2).fit(X, y)
    heard = []
    with listening(lambda name, words, share: heard.append((name, share))):
        model.explain(X[:5], X).counterfactuals()
    assert heard[-1] == ("changes", 1.0)
    assert ("explain", 1.0) in heard
    assert [share for name, share in heard if name == "changes"] == [0.25, 0.5, 0.75, 1.0]
