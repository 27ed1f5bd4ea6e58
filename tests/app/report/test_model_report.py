"""``uneven.report``: the headline never comes from rows that the model has learnt from; all faces say the same."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from browsing import has_browser
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.app.report.pages import _drawn_score
from uneven.costs import money
from uneven.errors import UnevenError
from uneven.metrics import expected_cost

COSTS = {"fp_cost": 1.0, "fn_cost": 8.0}


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Six columns, of which four are noise, and noisy labels."""
    X, y = make_classification(
        4000, 6, n_informative=2, n_redundant=0, shuffle=False, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=3
    )
    chosen = np.random.default_rng(seed).permutation(4000)[:count]
    return X[chosen], y[chosen]


def ensemble(X, y, **costs):
    return uneven.UnevenEnsembleClassifier(members=["linear", "extra_trees"]).fit(X, y, **(costs or COSTS))


@pytest.fixture(scope="module")
def fitted():
    X, y = rows(1200)
    return ensemble(X[:600], y[:600]), X, y


def test_on_new_rows_the_headline_is_their_cost(fitted):
    model, X, y = fitted
    found = uneven.report(model, X[600:], y[600:], columns=False)
    assert found.rows[0].cost == pytest.approx(-model.score(X[600:], y[600:]))
    assert found.new is not None
    assert found.known is None
    assert found.seen == ""
    rule = min((row for row in found.rows if row.name.startswith("flag ")), key=lambda row: row.cost)
    assert money(1000 * rule.difference) in found.answer


def test_on_rows_of_the_fit_the_headline_is_the_cost_out_of_fold(fitted):
    model, X, y = fitted
    found = uneven.report(model, X[:600], y[:600], columns=False)
    honest, rosy = model.out_of_fold_cost_, -model.score(X[:600], y[:600])
    assert rosy < 0.9 * honest.cost  # else this test could not fail
    assert (found.rows[0].cost, found.rows[0].low, found.rows[0].high) == (honest.cost, honest.low, honest.high)
    assert "out of fold" in found.seen
    assert "All 600 rows" in found.seen


def test_rows_of_the_fit_among_others_are_left_out(fitted):
    model, X, y = fitted
    found = uneven.report(model, X, y, columns=False)
    alone = uneven.report(model, X[600:], y[600:], columns=False)
    assert found.rows == alone.rows
    assert "600 of 1,200 rows" in found.seen


def test_shuffled_rows_of_the_fit_are_known_too(fitted):
    model, X, y = fitted
    order = np.random.default_rng(1).permutation(600)
    found = uneven.report(model, pd.DataFrame(X[:600][order]).to_numpy(), y[:600][order], columns=False)
    assert found.rows[0].cost == model.out_of_fold_cost_.cost


def test_a_model_without_rows_out_of_fold_promises_nothing_on_rows_of_the_fit():
    X, y = rows(800)
    model = uneven.UnevenLinearClassifier(**COSTS).fit(X, y)
    found = uneven.report(model, X, y, columns=False)
    assert found.answer.startswith("WARNING: it is not known what this model saves on new rows")
    assert found.rows == []
    assert found.known.rows[0].cost == pytest.approx(-model.score(X, y))
    folds = uneven.report(model, X, y, folds=3, columns=False)
    assert "saves" in folds.answer
    assert folds.rows[0].cost != found.known.rows[0].cost


def test_many_rows_are_known_by_a_sample():
    random = np.random.default_rng(0)
    X = random.normal(size=(30_000, 3))
    y = (X[:, 0] + random.normal(size=30_000) > 1).astype(int)
    model = uneven.UnevenLinearClassifier(**COSTS).fit(X[:15_000], y[:15_000])
    assert uneven.report(model, X[:15_000], y[:15_000], columns=False).new is None
    assert uneven.report(model, X[15_000:], y[15_000:], columns=False).new is not None
    half = uneven.report(model, X[7_500:22_500], y[7_500:22_500], columns=False)
    assert half.new is None
    share = float(half.seen.split()[1].rstrip("%"))
    assert 40 < share < 60


@pytest.mark.parametrize(
    "make",
    [
        lambda: uneven.UnevenLinearClassifier(**COSTS),
        lambda: uneven.UnevenLinearClassifier("hinge", **COSTS),
        lambda: uneven.UnevenSVC(**COSTS),
        uneven.UnevenPerceptron,
        lambda: uneven.UnevenAdaBoostClassifier(n_estimators=5, **COSTS),
        lambda: uneven.UnevenThresholdClassifierCV(LogisticRegression(), **COSTS),
        lambda: uneven.UnevenClassifierCV("linear", Cs=[0.1, 1.0], **COSTS),
        lambda: make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(**COSTS)),
        lambda: GridSearchCV(uneven.UnevenLinearClassifier(**COSTS), {"C": [0.1, 1.0]}),
        lambda: uneven.UnevenThresholdClassifierCV(
            LogisticRegression(), actions=uneven.Actions(clear=(8, 0), review=(1.5, 0.3), block=(0, 1))
        ),
        LogisticRegression,
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda make: "",
)
def test_every_model_has_a_report_that_says_what_its_decisions_cost(make):
    X, y = rows(900)
    model = make().fit(X[:500], y[:500])
    found = uneven.report(model, X[500:], y[500:], **COSTS, unit="EUR", rows_per_year=5000)
    said = model.predict(X[500:])
    assert found.rows[0].cost == pytest.approx(expected_cost(y[500:], said, **COSTS))
    assert "EUR" in found.summary()
    assert "5,000 rows a year" in found.summary()
    page = found.to_html()
    assert "nan" not in page.lower().split("base64")[0]
    assert json.loads(json.dumps(found.to_dict()))["answer"] == found.answer
    assert len(found.columns) == 6


def test_costs_of_each_row_and_texts_and_names():
    X, y = rows(900)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(X[:, 0] > 0, "new", "old"))
    frame.index = [f"client {k}" for k in range(900)]
    labels = np.where(y == 1, "yes", "no")
    missed = np.random.default_rng(0).lognormal(1, 1, 900) + 1
    model = uneven.UnevenEnsembleClassifier(members=["linear"], pos_label="yes")
    model.fit(frame[:500], labels[:500], fp_cost=1, fn_cost=missed[:500])
    found = uneven.report(model, frame[500:], labels[500:], fp_cost=1, fn_cost=missed[500:])
    score = model.score(frame[500:], labels[500:], fp_cost=1, fn_cost=missed[500:])
    assert found.rows[0].cost == pytest.approx(-score)
    assert found.first[0].name.startswith("row client ")
    assert {column.name for column in found.columns} == {*"abcdef", "kind"}
    honest = uneven.report(model, frame[:500], labels[:500], fp_cost=1, fn_cost=missed[:500], columns=False)
    assert honest.rows[0].cost == pytest.approx(model.out_of_fold_cost_.cost)
    with pytest.raises(UnevenError, match="the fit had fn_cost of each row"):
        uneven.report(model, frame, labels)


def test_the_columns_that_matter_are_found(fitted):
    _, X, y = fitted
    noise = np.random.default_rng(5).normal(size=(600, 1))
    wide = ensemble(np.hstack([X[:600, :2], noise]), y[:600])
    found = uneven.report(wide, np.hstack([X[600:, :2], noise]), y[600:])
    worth = {column.name: column.cost for column in found.columns}
    assert worth["column 2"] < 0.2 * max(worth.values())
    assert all(column.low <= column.cost <= column.high for column in found.columns)


def test_others_are_compared_and_the_faces_agree(fitted, tmp_path):
    model, X, y = fitted
    plain = LogisticRegression().fit(X[:600], y[:600])
    found = uneven.report(model, X[600:], y[600:], against={"logistic": plain}, columns=False)
    theirs = next(row for row in found.rows if row.name == "logistic")
    assert theirs.cost == pytest.approx(expected_cost(y[600:], plain.predict(X[600:]), **COSTS))
    assert repr(found) == found.summary()
    place = found.to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == found.to_html()
    assert place == str(tmp_path / "r.html")
    assert found._repr_html_().startswith("<iframe srcdoc=")
    assert found.answer in found.to_html()


def test_models_of_others_say_their_own_threshold_and_that_nothing_is_known_of_their_rows(fitted):
    _, X, y = fitted
    found = uneven.report(LogisticRegression().fit(X[:600], y[:600]), X[600:], y[600:], **COSTS, columns=False)
    assert "above 0.5" in found.summary()
    assert any("is not known" in line for line in found.unknowns)
    with pytest.raises(UnevenError, match="does not know what mistakes cost: give fp_cost and fn_cost"):
        uneven.report(LogisticRegression().fit(X, y), X, y)


def test_rows_that_are_all_alike_are_not_taken_for_rows_of_the_fit():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (2000, 3)).astype(float)
    y = (X[:, 0] + random.normal(size=2000) > 1).astype(int)
    model = ensemble(X[:1000], y[:1000])
    assert uneven.report(model, X[1000:], y[1000:], columns=False).new is not None
    again = uneven.report(model, X[:1000], y[:1000], columns=False)
    assert again.rows[0].cost == model.out_of_fold_cost_.cost  # the very table is known all the same


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (np.zeros((3, 6)), [0, 1], {}, "X and y must have the same length, got 3 and 2"),
        (np.zeros((2, 6)), ["a", "b"], {}, "labels that the model does not know"),
        (np.zeros((2, 6)), [0, 1], {"rows_per_year": -1}, "rows_per_year must be"),
        (np.zeros((2, 6)), [0, 1], {"pos_label": 0}, "the positive class of this model is 1"),
        (np.zeros((2, 6)), [0, 1], {"against": {"flag no one": LogisticRegression()}}, "rename it"),
    ],
)
def test_bad_input_gets_a_sentence(fitted, X, y, options, words):
    with pytest.raises(UnevenError, match=words):
        uneven.report(fitted[0], X, y, **options)


@pytest.mark.slow
@pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs")
def test_it_prints_on_two_pages_and_fits_every_screen(fitted, browser, tmp_path):
    model, X, y = fitted
    plain = LogisticRegression().fit(X[:600], y[:600])
    dear = {"fp_cost": 1e9, "fn_cost": 8e9}
    against = {"logistic regression, as everybody uses it": plain}
    found = uneven.report(model, X[600:], y[600:], **dear, unit="EUR", rows_per_year=1e6, against=against)
    place = (tmp_path / "r.html").as_uri()
    found.to_html(tmp_path / "r.html")
    context = browser.new_context()
    shown = context.new_page()
    shown.goto(place)
    assert len(re.findall(rb"/Type\s*/Page\b", shown.pdf(prefer_css_page_size=True))) == 2
    for width in (390, 1280, 1920):
        shown.set_viewport_size({"width": width, "height": 900})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_without_a_limit_the_line_is_that_of_the_model(fitted):
    model, X, y = fitted
    for costs in (COSTS, {"fp_cost": 1.0, "fn_cost": 3.0}):
        found = uneven.report(model, X[600:], y[600:], **costs, columns=False)
        *_, last = found.limits
        assert last.cost == pytest.approx(found.rows[0].cost)
        assert last.rows == found.new.decisions.said_positive.sum()
        assert found.limits[0].how == ""
        assert last.how or len({limit.rows for limit in found.limits}) == len(found.limits)


def test_the_threshold_that_is_drawn_makes_the_decisions(fitted):
    model, X, y = fitted
    missed = np.where(X[600:, 0] > 0, 4.0, 12.0)
    of_rows = uneven.report(model, X[600:], y[600:], fp_cost=1.0, fn_cost=missed, columns=False)
    of_all = uneven.report(model, X[600:], y[600:], columns=False)
    labels = []
    for found in (of_rows, of_all):
        score, used, label, _ = _drawn_score(found.new.decisions)
        assert ((score > used) == found.new.decisions.said_positive).all()
        labels.append(label)
    assert labels == ["log-odds minus those of the row's threshold", "probability above which a row is flagged"]


def test_a_model_that_flags_every_row_needs_no_column(fitted):
    model, X, y = fitted
    found = uneven.report(model, X[600:], y[600:], fp_cost=1.0, fn_cost=1e7)
    assert "No column changes what the decisions cost: every row is flagged." in found.to_html()


def test_truth_values_are_yes_and_no():
    X, y = rows(300)
    model = uneven.UnevenLinearClassifier(**COSTS).fit(X[:200], y[:200] == 1)
    found = uneven.report(model, X[200:], pd.Series(y[200:] == 1, name="default"), columns=False)
    assert found.used.words == ("no", "yes")
    assert "<h1>Default? What" in found.to_html()
