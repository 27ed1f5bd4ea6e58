"""The three tree libraries for tests: our estimators with small settings, and the built-in objectives."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost

import uneven
from uneven.adapters import catboost as catboost_door
from uneven.adapters import lightgbm as lightgbm_door
from uneven.adapters import xgboost as xgboost_door

#: One thread, and no randomness, so that two trainings can be compared.
_CATBOOST = {"thread_count": 1, "bootstrap_type": "No", "random_strength": 0, "leaf_estimation_backtracking": "No"}


@dataclass(frozen=True)
class Library:
    """A library: our estimator, the module with objective and metric, and names of parameters."""

    name: str
    estimator: Any
    door: ModuleType
    settings: dict[str, Any]
    depth: str
    suffix: str

    def make(self, *args: Any, rounds: int = 20, **params: Any) -> Any:
        """Our estimator; ``depth`` is called alike for all."""
        params = {self.depth if name == "depth" else name: value for name, value in params.items()}
        return self.estimator(*args, **{"n_estimators": rounds, **self.settings, **params})

    def built_in(self, X: Any, y: Any, start: float, *, weight: Any = None, rounds: int = 20, depth: int = 3) -> Any:
        """Raw scores of the library's own logistic objective from a start."""
        if self.name == "xgboost":
            data = xgboost.QuantileDMatrix(X, y, weight=weight, nthread=1)
            base = {"objective": "binary:logistic", "base_score": 1 / (1 + np.exp(-start))}
            model = xgboost.train({**base, "max_depth": depth, "nthread": 1}, data, rounds)
            return model.predict(data, output_margin=True)
        if self.name == "lightgbm":
            data = lightgbm.Dataset(X, y, weight=weight, init_score=np.full(len(y), start))
            settings = {"objective": "binary", "max_depth": depth, "verbosity": -1, "num_threads": 1}
            return lightgbm.train(settings, data, rounds).predict(X, raw_score=True) + start
        pool = catboost.Pool(X, y, weight=weight, baseline=np.full(len(y), start))
        settings = {**_CATBOOST, "loss_function": "Logloss", "depth": depth, "iterations": rounds}
        model = catboost.CatBoost({**settings, "verbose": False, "allow_writing_files": False}).fit(pool)
        return model.predict(X, prediction_type="RawFormulaVal") + start

    def through_the_door(self, loss: Any, X: Any, y: Any, *, weight: Any = None, rounds: int = 20) -> Any:
        """Raw scores of plain training of depth 3 with an objective from ``objective``."""
        start = loss.start(y, weight)
        if self.name == "xgboost":
            data = xgboost.QuantileDMatrix(X, y, weight=weight, nthread=1)
            model = xgboost.train({"base_score": start, "max_depth": 3, "nthread": 1}, data, rounds, obj=loss)
            return model.predict(data, output_margin=True)
        if self.name == "lightgbm":
            data = lightgbm.Dataset(X, y, weight=weight, init_score=np.full(len(y), start))
            settings = {"objective": loss, "max_depth": 3, "verbosity": -1, "num_threads": 1, "metric": "None"}
            return lightgbm.train(settings, data, rounds).predict(X) + start
        pool = catboost.Pool(X, y, weight=weight, baseline=np.full(len(y), start))
        own = catboost.CatBoost(
            {"loss_function": "Logloss", "iterations": rounds, "verbose": False, "allow_writing_files": False}
        )
        chosen = own.fit(pool).get_all_params()
        taken = {name: chosen[name] for name in ("learning_rate", "leaf_estimation_iterations")}
        settings = {**_CATBOOST, **taken, "loss_function": loss, "depth": 3, "iterations": rounds}
        settings["eval_metric"] = catboost_door.metric("surrogate")
        model = catboost.CatBoost({**settings, "verbose": False, "allow_writing_files": False}).fit(pool)
        model.set_scale_and_bias(1, start)
        return model.predict(X)


XGBOOST = Library("xgboost", uneven.UnevenXGBClassifier, xgboost_door, {"n_jobs": 1}, "max_depth", "json")
LIGHTGBM = Library("lightgbm", uneven.UnevenLGBMClassifier, lightgbm_door, {"n_jobs": 1}, "max_depth", "txt")
CATBOOST = Library("catboost", uneven.UnevenCatBoostClassifier, catboost_door, dict(_CATBOOST), "depth", "cbm")
LIBRARIES = (XGBOOST, LIGHTGBM, CATBOOST)


def data(count: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with two useful columns of three."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + random.logistic(size=count) > 2).astype(int)
    return X, y
