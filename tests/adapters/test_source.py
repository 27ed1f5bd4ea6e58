"""Models as SQL and Python source say what the models say: in SQLite, in DuckDB and in a Python without packages."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import uneven
from uneven.adapters.python import to_python
from uneven.adapters.source.source_trees import before_rounding
from uneven.adapters.sql import to_sql
from uneven.errors import CostError, ParameterError
from uneven.tables import FrameEncoder

#: Names and texts that must be quoted, and what a file may call missing.
AMOUNT, AGE, CITY, WHEN, SCORE = 'amount "€"', "a'ge", "uneven_1; --", "when", "score"
CITIES = ["Graz", 'O\'Brien "x"', "Ünï 東京", "'; DROP TABLE t; --", "TRUE", "\\'x"]


def rows(count: int, seed: int, cities: list[str] = CITIES) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    start = pd.Timestamp("2023-01-01")
    frame = pd.DataFrame(
        {
            AMOUNT: random.lognormal(3, 1, count).round(2),
            AGE: random.integers(18, 90, count).astype(float),
            CITY: random.choice(np.array(cities, dtype=object), count),
            WHEN: start + pd.to_timedelta(random.integers(0, 700 * 86400, count), unit="s"),
            SCORE: random.normal(size=count),
        }
    )
    for name in (AGE, CITY, WHEN):
        frame.loc[random.random(count) < 0.1, name] = None
    return frame


def training(seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    X = rows(400, seed)
    noise = np.random.default_rng(seed).normal(size=len(X))
    return X, (X[SCORE] + (X[AGE].fillna(50) - 50) / 30 + (X[CITY] == "Graz") + noise > 1.2).to_numpy().astype(int)


def in_sqlite(frame: pd.DataFrame, query: str, table: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(":memory:")
    written = frame.copy()
    for name in written:
        if written[name].dtype.kind == "M":
            written[name] = written[name].dt.strftime("%Y-%m-%d %H:%M:%S")
    written.to_sql(table, database, index=False)
    return database.execute(query).fetchall()


def in_duckdb(frame: pd.DataFrame, query: str, table: str) -> list[tuple[Any, ...]]:
    database = duckdb.connect()
    database.register("frame", frame)
    quoted = table.replace('"', '""')
    database.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM frame')
    return database.execute(query).fetchall()


def in_python(frame: pd.DataFrame, source: str, folder: Path) -> list[tuple[Any, float]]:
    """Without site-packages: the module may need the standard library only."""
    (folder / "written.py").write_text(source, encoding="utf-8")
    (folder / "rows.json").write_text(
        frame.to_json(orient="records", date_format="iso", date_unit="s", double_precision=15)
    )
    program = "import json, written; print(json.dumps([written.predict(r) for r in json.load(open('rows.json'))]))"
    run = [sys.executable, "-S", "-c", program]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


def assert_same(model: Any, Z: pd.DataFrame, folder: Path, *, near: float = 1e-12, **costs: Any) -> None:
    """Probabilities to ``near``, relative, and the same decisions, in all languages."""
    table = 'my "table"'
    numbered = Z.reset_index(drop=True)
    numbered.insert(0, "row", range(len(Z)))
    found = {}
    for dialect, run in (("sqlite", in_sqlite), ("duckdb", in_duckdb)):
        query = to_sql(model, table, dialect=dialect, keep=["row"], **costs)
        found[dialect] = [one[1:] for one in sorted(run(numbered, query, table))]
    found["python"] = [one[::-1] for one in in_python(Z, to_python(model, **costs), folder)]
    labels = model.predict(Z, **costs).tolist()
    last = model[-1] if isinstance(model, Pipeline) else model
    has = hasattr(model, "predict_proba")
    expected = model.predict_proba(Z)[:, list(model.classes_).index(last._classes.pos_label)] if has else None
    for language, said in found.items():
        assert [label for _, label in said] == labels, language
        if expected is None:
            assert {probability for probability, _ in said} == {None}
        else:
            given = np.array([probability for probability, _ in said])
            assert np.allclose(given, expected, rtol=near, atol=1e-200), language


def table_models() -> dict[str, Any]:
    wrap = uneven.UnevenThresholdClassifierCV

    def after(view: str, model: Any) -> Any:
        return make_pipeline(FrameEncoder(view), model)

    linear = uneven.UnevenLinearClassifier
    return {
        "logistic": after("linear", linear(fn_cost=3)),
        "logistic, gamma": after("linear", linear(fn_cost=3, margin_gamma=2)),
        "exponential": after("linear", linear("exponential", fn_cost=3)),
        "squared hinge": after("linear", linear("squared_hinge", fn_cost=3, margin_gamma=2)),
        "hinge": after("linear", linear("hinge", fn_cost=3)),
        "equal costs": after("linear", linear()),
        "boosted": after("trees", uneven.UnevenAdaBoostClassifier(n_estimators=15, max_depth=3, fn_cost=3)),
        "around a line": wrap(after("linear", LogisticRegression()), fn_cost=5),
        "around scores": wrap(after("linear", linear("hinge")), fn_cost=5),
        "around a tree": wrap(after("trees", DecisionTreeClassifier(max_depth=5)), fn_cost=5),
        "around a forest": wrap(after("trees", RandomForestClassifier(6, max_depth=4, random_state=0)), fn_cost=5),
        "around boosting": wrap(after("trees", HistGradientBoostingClassifier(max_iter=10)), fn_cost=5),
        "around old boosting": wrap(after("linear", GradientBoostingClassifier(n_estimators=5)), fn_cost=5),
        "as it is": wrap(after("trees", DecisionTreeClassifier(max_depth=3)), method="none", fn_cost=5),
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:do not take")
@pytest.mark.parametrize("name", table_models())
def test_same_answers_on_tables(name: str, tmp_path: Path) -> None:
    X, y = training()
    model = table_models()[name].fit(X, y)
    Z = rows(150, 2, [*CITIES, "new'", "NA", " Graz "])
    # Log-odds of probabilities near 1 lose digits, in Python as well.
    assert_same(model, Z, tmp_path, near=1e-10 if "around" in name else 1e-12)


@pytest.mark.slow
def test_other_costs_and_labels(tmp_path: Path) -> None:
    X, y = training()
    labels = np.where(y == 1, "it's", 'ü"')
    inner = make_pipeline(FrameEncoder("trees"), DecisionTreeClassifier(max_depth=4, random_state=0))
    wrapped = uneven.UnevenThresholdClassifierCV(inner, fn_cost=2, pos_label="it's").fit(X, labels)
    linear = make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier(fn_cost=2, pos_label="it's"))
    Z = rows(150, 3)
    for model in (wrapped, linear.fit(X, labels)):
        for costs in ({"fn_cost": 40}, {"fp_cost": 9, "tn_cost": -1}):
            assert_same(model, Z, tmp_path, near=1e-10, **costs)


def test_costs_of_each_row(tmp_path: Path) -> None:
    X, y = training()
    model = make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier(fn_cost=2)).fit(X, y)
    Z = rows(100, 4)
    labels = model.predict(Z, fn_cost=Z[AMOUNT].to_numpy()).tolist()
    assert labels != model.predict(Z).tolist()
    said = in_python(Z, to_python(model, fn_cost=AMOUNT), tmp_path)
    assert [label for label, _ in said] == labels
    query = to_sql(model, "t", dialect="duckdb", fn_cost=AMOUNT)
    assert [one[-1] for one in in_duckdb(Z, query, "t")] == labels
    wrapped = uneven.UnevenThresholdClassifierCV(model, fn_cost=2).fit(X, y)
    with pytest.raises(CostError, match="decides by numbers as costs here"):
        to_python(wrapped, fn_cost=AMOUNT)


def test_arrays_have_names_of_their_own(tmp_path: Path) -> None:
    X, y = training()
    pair = X[[AMOUNT, SCORE]]
    model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(fn_cost=3)).fit(pair.to_numpy(), y)
    said = in_python(pair.head(30), to_python(model, columns=[AMOUNT, SCORE]), tmp_path)
    assert np.allclose([one for _, one in said], model.predict_proba(pair.head(30).to_numpy())[:, 1], rtol=1e-12)
    assert '"x1"' in to_sql(model, "t")
    with pytest.raises(ParameterError, match="columns must be 2 different names"):
        to_sql(model, "t", columns=["a", "a"])


def test_a_row_without_a_needed_number_is_refused(tmp_path: Path) -> None:
    X, y = training()
    pair = X[[AMOUNT, SCORE]]
    model = uneven.UnevenLinearClassifier(fn_cost=3).fit(pair, y)
    strange = pd.DataFrame(
        {AMOUNT: ["1.5", None, "a lot", " 2 ", "NA"], SCORE: [0.0, 1.0, 1.0, 1.0, 1.0]}, dtype=object
    )
    said = in_sqlite(strange, to_sql(model, "t", dialect="sqlite", keep=[]), "t")
    assert [label is None for _, label in said] == [False, True, True, False, True]
    assert [probability is None for probability, _ in said] == [label is None for _, label in said]
    space: dict[str, Any] = {}
    exec(compile(to_python(model), "written", "exec"), space)
    for row, wrong in (({AMOUNT: "a lot"}, "must hold numbers"), ({AMOUNT: None}, "is missing"), ({}, "has no column")):
        with pytest.raises(ValueError, match=wrong):
            space["predict"]({SCORE: 1.0, **row})


@pytest.mark.parametrize("seed", range(3))
def test_thresholds_before_rounding(seed: int) -> None:
    """x rounds above the threshold exactly if it is above the number that is written."""
    random = np.random.default_rng(seed)
    thresholds = np.concatenate([random.normal(size=300), random.lognormal(0, 20, 300), [0.0, 2.5, -1.0, 1e-40]])
    for threshold in thresholds.tolist():
        written = before_rounding(threshold)
        single = np.float32(written)
        around = [np.nextafter(written, -np.inf), written, np.nextafter(written, np.inf), threshold, float(single)]
        for x in around:
            assert (float(np.float32(x)) > threshold) == (x > written), (threshold, x)


def test_what_cannot_be_written_is_named() -> None:
    X, y = training()
    words = X.assign(note=[f"word{k % 37} and word{k % 11} again" for k in range(len(X))])
    linear = uneven.UnevenLinearClassifier()
    with pytest.raises(ParameterError, match="words of its texts in column 'note'"):
        to_sql(make_pipeline(FrameEncoder("linear"), linear).fit(words, y), "t")
    numbers = X[[AMOUNT, SCORE]]
    near = uneven.UnevenThresholdClassifierCV(KNeighborsClassifier()).fit(numbers, y)
    with pytest.raises(ParameterError, match="KNeighborsClassifier cannot be written in Python"):
        to_python(near)
    with pytest.raises(ParameterError, match="knows no costs"):
        to_python(RidgeClassifier().fit(numbers, y))
    with pytest.raises(ParameterError, match="must be fitted"):
        to_python(uneven.UnevenLinearClassifier())
    fitted = uneven.UnevenLinearClassifier().fit(numbers, y)
    for wrong in ({"dialect": "mysql"}, {"table": ""}, {"keep": ["probability"]}, {"keep": ["Uneven_7"]}):
        with pytest.raises(ParameterError):
            to_sql(fitted, **{"table": "t", **wrong})


def test_ensembles_of_members_that_can(tmp_path: Path) -> None:
    X, y = training()
    how = {"fn_cost": 4, "random_state": 0, "keep_training_rows": True}
    model = uneven.UnevenEnsembleClassifier(members=["linear"], **how).fit(X, y)
    assert_same(model, rows(60, 5), tmp_path, near=1e-10)


def test_extreme_numbers(tmp_path: Path) -> None:
    X, y = training()
    model = make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier(fn_cost=3)).fit(X, y)
    Z = rows(8, 6)
    Z[SCORE] = [1e6, -1e6, 1e300, -1e300, 0.0, 5e-324, np.inf, np.nan]
    space: dict[str, Any] = {}
    exec(compile(to_python(model), "written", "exec"), space)
    said = [space["predict"](row) for row in Z.to_dict("records")]
    assert all(math.isfinite(probability) and 0 <= probability <= 1 for _, probability in said)
    assert [label for label, _ in said] == model.predict(Z).tolist()
    query = to_sql(model, "t", dialect="duckdb")
    assert [one[-1] for one in in_duckdb(Z, query, "t")] == model.predict(Z).tolist()
