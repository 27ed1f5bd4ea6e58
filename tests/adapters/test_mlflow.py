"""The MLflow flavour: what is logged, loaded and served decides as the model does, without pickle."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # before MLflow is imported

import uneven
from uneven.adapters.mlflow import load_model, log_model, save_model
from uneven.errors import ParameterError
from uneven.tables import FrameEncoder

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs and models in a folder of this test, and warnings of MLflow about itself are not ours."""
    import mlflow

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "MLFLOW_ALLOW_FILE_STORE", "true"
    )  # its database needs SQLAlchemy, which a store of files does not
    before = mlflow.get_tracking_uri()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
        yield
    mlflow.set_tracking_uri(before)


def table(count: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": np.where(random.random(count) < 0.1, np.nan, random.normal(30, 9, count)),
            "region": pd.Categorical(random.choice(["north", "south", None], count)),
            "since": pd.Timestamp("2025-01-01") + pd.to_timedelta(random.integers(0, 500, count), unit="D"),
        }
    )
    late = random.random(count) < np.where(X["region"] == "south", 0.6, 0.2)
    return X, np.where(late, "late", "paid")


def pipeline(X: pd.DataFrame, y: np.ndarray) -> Any:
    learner = uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=3, pos_label="late")
    return make_pipeline(FrameEncoder("linear"), learner).fit(X, y)


def test_log_load_predict_and_serve() -> None:
    import mlflow
    from fastapi.testclient import TestClient

    X, y = table()
    model = pipeline(X, y)
    with mlflow.start_run():
        info = log_model(model, "credit", X=X)
    np.testing.assert_array_equal(load_model(info.model_uri).predict(X), model.predict(X))
    served = mlflow.pyfunc.load_model(info.model_uri)
    assert [column.name for column in served.metadata.get_input_schema().inputs] == list(X.columns)
    assert {one.name: one.default for one in served.metadata.get_params_schema().params} == {
        "fp_cost": None,
        "fn_cost": None,
        "tp_cost": None,
        "tn_cost": None,
        "method": "predict",
    }
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
    dearer = model.predict(X, fn_cost=30.0)
    assert (dearer != model.predict(X)).any()
    np.testing.assert_array_equal(served.predict(X, params={"fn_cost": 30.0}), dearer)
    found = served.predict(X, params={"method": "predict_proba"})
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-12)
    with pytest.raises(ParameterError, match="method must be one of predict, predict_proba"):
        served.predict(X, params={"method": "fit"})
    # as `mlflow models serve` answers
    from mlflow.pyfunc import scoring_server

    client = TestClient(scoring_server.init(served))
    asked = json.loads(X.assign(since=X["since"].dt.strftime("%Y-%m-%dT%H:%M:%S")).to_json(orient="split", index=False))
    said = client.post("/invocations", json={"dataframe_split": asked, "params": {"fn_cost": 30}})
    assert said.status_code == 200, said.text
    assert said.json()["predictions"] == dearer.tolist()
    assert (
        client.post("/invocations", json={"dataframe_split": asked}).json()["predictions"] == model.predict(X).tolist()
    )
    refused = client.post("/invocations", json={"dataframe_split": asked, "params": {"fn_cost": -1}})
    assert refused.status_code == 400
    assert "cost" in refused.text


def test_what_is_saved(tmp_path: Path) -> None:
    X, y = np.random.default_rng(1).normal(size=(200, 3)), np.arange(200) % 2
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(), fp_cost=1, fn_cost=5, cv=3).fit(X, y)
    save_model(model, tmp_path / "model", X=X, metadata={"decided_by": "the board"})
    names = [path.name for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert "model.skops" in names
    assert not [name for name in names if name.endswith((".pkl", ".pickle"))]
    wanted = (tmp_path / "model" / "requirements.txt").read_text(encoding="utf-8").split()
    assert f"uneven=={uneven.__version__}" in wanted
    assert not [one for one in wanted if one.startswith(("torch", "xgboost"))]
    again = load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X, fn_cost=50), model.predict(X, fn_cost=50))
    import mlflow

    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert served.metadata.metadata == {"decided_by": "the board"}
    np.testing.assert_array_equal(served.predict(X, params={"fn_cost": 50.0}), model.predict(X, fn_cost=50))
    save_model(model, tmp_path / "bare")
    bare = mlflow.pyfunc.load_model(str(tmp_path / "bare"))
    np.testing.assert_array_equal(bare.predict(X, params={"fn_cost": 50.0}), model.predict(X, fn_cost=50))


class Known(DecisionTreeClassifier):  # type: ignore[misc]
    """A classifier of somebody else."""


def test_only_trusted_types(tmp_path: Path) -> None:
    import mlflow

    X, y = np.random.default_rng(1).normal(size=(120, 2)), np.arange(120) % 2
    model = uneven.UnevenThresholdClassifierCV(Known(max_depth=2), fp_cost=1, fn_cost=5, cv=3).fit(X, y)
    with pytest.raises(ParameterError, match=r"types that loading would refuse: .*Known"):
        save_model(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    name = f"{Known.__module__}.Known"
    save_model(model, tmp_path / "model", trusted=[name])
    with pytest.raises(ParameterError, match="types that are not trusted"):
        load_model(str(tmp_path / "model"))
    again = load_model(str(tmp_path / "model"), trusted=[name])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(X), model.predict(X))


def test_what_is_refused(tmp_path: Path) -> None:
    import mlflow
    from sklearn.exceptions import NotFittedError

    X, y = np.random.default_rng(1).normal(size=(100, 2)), np.arange(100) % 2
    with pytest.raises(NotFittedError):
        save_model(uneven.UnevenLinearClassifier(), tmp_path / "model")
    hinge = uneven.UnevenLinearClassifier("hinge", fp_cost=1, fn_cost=3).fit(X, y)
    save_model(hinge, tmp_path / "hinge", X=X)
    served = mlflow.pyfunc.load_model(str(tmp_path / "hinge"))
    with pytest.raises(ParameterError, match="has no predict_proba"):
        served.predict(X, params={"method": "predict_proba"})
    mlflow.pyfunc.save_model(tmp_path / "other", loader_module="uneven.adapters.mlflow")
    with pytest.raises(ParameterError, match="is not a model of uneven; it has the flavors python_function"):
        load_model(str(tmp_path / "other"))
