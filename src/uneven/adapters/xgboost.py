"""XGBoost: our losses as its objectives and metrics, and an estimator. Needs the extra ``xgboost``."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from uneven.adapters.trees.library_parameters import LibraryParameters, parameters_of, takes
from uneven.adapters.trees.tree_classifier import EVALUATION, UnevenTreeClassifier, shares_of
from uneven.adapters.trees.tree_objective import CallableObjective, Descent, TreeMetric, TreeRows
from uneven.errors import needs_extra

with needs_extra("UnevenXGBClassifier and uneven.adapters.xgboost", "xgboost"):
    xgb: Any = import_module("xgboost")

__all__ = ["UnevenXGBClassifier", "XGBMetric", "metric", "objective"]

_COSTS = "fp_cost and fn_cost say what the mistakes cost"
#: Names that XGBoost takes and does not list in its configuration, and facts of a model that it lists there.
_ALIASES = ("process_type", "refresh_leaf", "top_k", "updater", "use_rmm", "validate_parameters", "verbosity")
_FACTS = ("name", "num_feature", "num_target", "num_trees", "boost_from_average", "updater_seq")


@lru_cache(maxsize=1)
def _native_names() -> frozenset[str]:
    """Names of XGBoost's own parameters: those of its configuration for each kind of booster, and aliases.

    XGBoost only warns about a name that it does not know.
    """
    names = set(_ALIASES)
    data = xgb.DMatrix(np.zeros((2, 1)), np.array([0.0, 1.0]))
    for booster in ("gbtree", "dart", "gblinear"):
        made = xgb.Booster({"booster": booster, "nthread": 1}, [data])
        made.update(data, 0)
        names |= _names_in(json.loads(made.save_config()))
    return frozenset(names.difference(_FACTS))


def _names_in(part: Any) -> set[str]:
    """Names of all entries of a configuration that are texts."""
    if not isinstance(part, dict):
        return set().union(*map(_names_in, part)) if isinstance(part, list) else set()
    inner = [_names_in(value) for value in part.values()]
    return {name for name, value in part.items() if isinstance(value, str)}.union(*inner)


_PARAMETERS = LibraryParameters(
    "XGBoost",
    parameters_of(
        [xgb.XGBModel.__init__], without=["objective", "base_score", "scale_pos_weight", "eval_metric", "kwargs"]
    ),
    refused={
        "objective": "loss is the objective",
        "base_score": "the start is the best constant of the loss",
        "scale_pos_weight": f"a custom objective ignores it; {_COSTS}",
        "num_class": "there are two classes",
        "disable_default_eval_metric": "eval_metric='cost' or 'surrogate' is the only metric",
    },
    more=_native_names,
)


def objective(
    loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1
) -> CallableObjective:
    """A loss as an objective: for ``xgboost.train(obj=...)``, XGBoost's estimators and ``xgboost.dask``.

    Sample weights of the data are applied. A custom objective starts at 0 or 0.5: give its ``start`` to the library as
    ``base_score``, without which the first rounds are lost.

    Parameters
    ----------
    loss : str, Phi or Loss
        A name, an expression in t, a phi, or a finished loss that is calibrated for the costs.
    fp_cost, fn_cost : number
    margin_gamma : positive number

    Returns
    -------
    CallableObjective
        Its ``start(y, sample_weight)`` is the best constant, ``probability(score)`` the inverse link.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from uneven.adapters.xgboost import metric, objective
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(500, 3))
    >>> y = X[:, 0] + random.logistic(size=500) > 1
    >>> loss = objective("logistic", fp_cost=1, fn_cost=10, margin_gamma=2)
    >>> data = xgboost.DMatrix(X, y)
    >>> model = xgboost.train({"base_score": loss.start(y), "max_depth": 2}, data, 20, obj=loss)
    >>> score = model.predict(data, output_margin=True)                # above 0: positive is cheaper
    >>> bool(np.all((score > 0) == (loss.probability(score) > 1 / 11)))
    True
    """
    return CallableObjective(loss, fp_cost=fp_cost, fn_cost=fn_cost, margin_gamma=margin_gamma)


class XGBMetric(TreeMetric):
    """A metric that XGBoost calls, in its native way (scores, data) or scikit-learn's (y, scores)."""

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        if hasattr(second, "get_label"):
            return self.kind, self.value(second.get_label(), first, second.get_weight())
        return self.value(first, second, sample_weight)


#: Expected cost or the loss itself on raw scores; its arguments are those of :class:`TreeMetric`.
metric = XGBMetric


@takes(_PARAMETERS)
class UnevenXGBClassifier(UnevenTreeClassifier):
    r"""XGBoost trained with a loss that is calibrated for your costs.

    All parameters of XGBClassifier can be given by name, except those that would break the objective (``objective``,
    ``base_score``, ``scale_pos_weight``). Training starts at the best constant score. Regrets are divided by their mean
    over the rows, so ``min_child_weight`` and the like do not depend on the unit of the costs.

    Parameters
    ----------
    {parameters}
    **library
        Parameters of XGBClassifier.

    Attributes
    ----------
    booster_ : xgboost.Booster
        Its margins are the scores of the positive class.
    best_iteration_ : int or None
        The best round, if training stopped early; later rounds are dropped.
    {attributes}

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenXGBClassifier(fp_cost=1, fn_cost=40, n_estimators=20, max_depth=2, pos_label=0).fit(X, y)
    >>> clf.loss_
    uneven.UnevenMarginLoss('logistic', gamma=1.0, alpha='1/41')
    >>> int(((clf.predict(X) == 1) & (y == 0)).sum())                 # malignant ones missed
    0
    """

    _limits = "min_child_weight and gamma"

    def _wrapper(self) -> Any:
        """XGBoost's own estimator, which translates the parameters."""
        return xgb.XGBRegressor(**self._library_values())

    def _can_bin(self) -> bool:
        """Whether the data can be stored as bins."""
        return self.booster != "gblinear" and self.tree_method in (None, "auto", "hist")

    def _matrix(self, rows: TreeRows, reference: Any = None) -> Any:
        values = self._library_values()
        given = {
            "label": rows.y,
            "weight": rows.weight_or_none,
            "missing": values["missing"],
            "enable_categorical": values["enable_categorical"],
            "feature_types": values["feature_types"],
            "nthread": values["n_jobs"],
        }
        if not self._can_bin():
            return xgb.DMatrix(rows.X, **given)
        return xgb.QuantileDMatrix(rows.X, **given, max_bin=values["max_bin"], ref=reference)

    def _rounds(self) -> int:
        return int(self._wrapper().get_num_boosting_rounds())

    def _bin_rows(self, rows: TreeRows) -> Any:
        return self._matrix(rows)

    def _settings(self) -> dict[str, Any]:
        return {**self._wrapper().get_xgb_params(), "disable_default_eval_metric": True}

    def _train(
        self, rows: TreeRows, binned: Any, descent: Descent, evaluations: list[TreeRows], callbacks: list[Any]
    ) -> Any:
        values = self._library_values()
        evals = [(self._matrix(each, binned), EVALUATION.format(k)) for k, each in enumerate(evaluations)]
        booster = xgb.train(
            {**self._settings(), "base_score": descent.start},
            binned,
            self._rounds(),
            evals=evals,
            obj=lambda score, data: descent.derivatives(score, rows),
            custom_metric=lambda score, data: (
                descent.metric,
                descent.measured(data.get_label(), score, data.get_weight()),
            ),
            early_stopping_rounds=values["early_stopping_rounds"],
            evals_result=self.evals_result_,
            verbose_eval=False,
            callbacks=[*(values["callbacks"] or []), *callbacks],
        )
        if values["early_stopping_rounds"] is not None:
            self.best_iteration_ = int(booster.best_iteration)
            if booster.best_iteration + 1 < booster.num_boosted_rounds():
                booster = booster[: booster.best_iteration + 1]
        return booster

    def _is_constant(self) -> bool:
        return self.booster != "gblinear" and not self.booster_.get_score(importance_type="weight")

    def _would_split(self, rows: TreeRows) -> bool:
        settings = {**self._settings(), "objective": "binary:logistic"}
        return bool(xgb.train(settings, self._matrix(rows), 1).get_score(importance_type="weight"))

    def _score(self, X: Any) -> np.ndarray:
        values = self._library_values()
        if self.booster != "gblinear":
            try:
                score = self.booster_.inplace_predict(X, predict_type="margin", missing=values["missing"])
                return np.asarray(score, dtype=np.float64)
            except TypeError:  # a container that needs a matrix
                pass
        matrix = xgb.DMatrix(X, missing=values["missing"], enable_categorical=values["enable_categorical"])
        return np.asarray(self.booster_.predict(matrix, output_margin=True), dtype=np.float64)

    def _write(self, path: str, facts: str) -> None:
        self.booster_.set_attr(uneven=facts)
        try:
            self.booster_.save_model(path)
        finally:
            self.booster_.set_attr(uneven=None)

    @classmethod
    def _open_model(cls, path: str) -> tuple[Any, str | None]:
        booster = xgb.Booster(model_file=path)
        facts = booster.attr("uneven")
        booster.set_attr(uneven=None)
        return booster, facts

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean gain of the splits of each column, or what ``importance_type`` says; they sum to 1."""
        kind = self.importance_type or ("weight" if self.booster == "gblinear" else "gain")
        scores = self.booster_.get_score(importance_type=kind)
        names = self.booster_.feature_names or [f"f{k}" for k in range(self.n_features_in_)]
        return shares_of([scores.get(name, 0.0) for name in names])
