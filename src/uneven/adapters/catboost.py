"""CatBoost: our losses as its objectives and metrics, and an estimator. Needs the extra ``catboost``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from uneven.adapters.trees.library_parameters import LibraryParameters, known_sparse, parameters_of, takes
from uneven.adapters.trees.tree_classifier import EVALUATION, UnevenTreeClassifier, shares_of
from uneven.adapters.trees.tree_objective import NO_WEIGHTS, Descent, RangeObjective, TreeMetric, TreeRows
from uneven.errors import needs_extra

with needs_extra("UnevenCatBoostClassifier and uneven.adapters.catboost", "catboost"):
    cb: Any = import_module("catboost")

__all__ = ["CatBoostMetric", "UnevenCatBoostClassifier", "metric", "objective"]

_COSTS = "fp_cost and fn_cost say what the mistakes cost"
_REFUSED = {
    **dict.fromkeys(("loss_function", "objective"), "loss is the objective"),
    **dict.fromkeys(("class_weights", "auto_class_weights", "scale_pos_weight"), _COSTS),
    **dict.fromkeys(("class_names", "classes_count", "target_border"), "there are two classes; pos_label names one"),
    "boost_from_average": "training starts at the best constant of the loss",
}
_PARAMETERS = LibraryParameters(
    "CatBoost", parameters_of([cb.CatBoostClassifier.__init__], without=[*_REFUSED, "eval_metric"]), refused=_REFUSED
)
#: Columns that need a word to the data, not to the training.
_COLUMNS = ("cat_features", "text_features", "embedding_features")
#: What CatBoost chooses by itself for its own logistic objective only.
_CHOSEN = ("learning_rate", "leaf_estimation_method", "leaf_estimation_iterations")
#: Dummy data have at most so many rows and columns: CatBoost distinguishes fewer than 20 columns from more.
_MANY_ROWS, _MOST_COLUMNS = 10_000, 50
#: The largest learning rate that CatBoost chooses.
_FASTEST = 0.5
_ROUNDS = ("iterations", "n_estimators", "num_boost_round", "num_trees")
_MOST_ROUNDS = 1000
#: A metric that is not computed without an evaluation set.
_UNSEEN = "Logloss:hints=skip_train~true"
_KEY = "uneven"


def objective(loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1) -> RangeObjective:
    """A loss as an objective: for ``CatBoost({"loss_function": ..., "eval_metric": ...})``.

    Sample weights of the data are applied. A custom objective starts at 0: give its ``start`` to the library as
    ``baseline`` of every row, and after training to ``set_scale_and_bias(1, start)``, so that the scores contain it.
    Use ``CatBoost`` or ``CatBoostRegressor``: with a custom objective, ``CatBoostClassifier`` knows no labels.

    Parameters
    ----------
    loss : str, Phi or Loss
        A name, an expression in t, a phi, or a finished loss that is calibrated for the costs.
    fp_cost, fn_cost : number
    margin_gamma : positive number

    Returns
    -------
    RangeObjective
        Its ``start(y, sample_weight)`` is the best constant, ``probability(score)`` the inverse link.

    Examples
    --------
    >>> import catboost
    >>> import numpy as np
    >>> from uneven.adapters.catboost import metric, objective
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(500, 3))
    >>> y = (X[:, 0] + random.logistic(size=500) > 1).astype(float)
    >>> loss = objective("logistic", fp_cost=1, fn_cost=10, margin_gamma=2)
    >>> start = loss.start(y)
    >>> settings = {"loss_function": loss, "eval_metric": metric("cost", fn_cost=10), "iterations": 20}
    >>> model = catboost.CatBoost({**settings, "verbose": False, "allow_writing_files": False})
    >>> model = model.fit(catboost.Pool(X, y, baseline=np.full(500, start)))
    >>> model.set_scale_and_bias(1, start)
    >>> score = model.predict(X)                                       # above 0: positive is cheaper
    >>> bool(np.all((score > 0) == (loss.probability(score) > 1 / 11)))
    True
    """
    return RangeObjective(loss, fp_cost=fp_cost, fn_cost=fn_cost, margin_gamma=margin_gamma)


class CatBoostMetric(TreeMetric):
    """A metric that CatBoost calls."""

    no_jit = True

    def is_max_optimal(self) -> bool:
        """Smaller is better."""
        return False

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """The weighted sum over the rows, and the sum of the weights."""
        return self.sums(target, approxes[0], weight)

    def get_final_error(self, error: float, weight: float) -> float:
        """The mean."""
        return error / weight if weight else 0.0


#: Expected cost or the loss itself on raw scores; its arguments are those of :class:`TreeMetric`.
metric = CatBoostMetric


@takes(_PARAMETERS)
class UnevenCatBoostClassifier(UnevenTreeClassifier):
    r"""CatBoost trained with a loss that is calibrated for your costs.

    All parameters of CatBoostClassifier can be given by name, except those that would break the objective
    (``loss_function``, ``class_weights``, ``auto_class_weights``, ``scale_pos_weight``, ``boost_from_average``).
    Training starts at the best constant score, which becomes the bias of the model. Where the loss is the logistic one
    at ``margin_gamma=1``, it is CatBoost's own objective with weights.

    Parameters
    ----------
    {parameters}
    **library
        Parameters of CatBoostClassifier. Unless given, nothing is printed, no files are written, the learning rate is
        the one that CatBoost chooses for its own logistic objective, and with another objective leaves take one Newton
        step, as in the other libraries: more of them (``leaf_estimation_iterations``) take much longer.

    Attributes
    ----------
    booster_ : catboost.CatBoost
        Its raw scores are those of the positive class.
    best_iteration_ : int or None
        The best round, if there is an evaluation set; later rounds are dropped unless ``use_best_model=False``.
    {attributes}

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenCatBoostClassifier(fp_cost=1, fn_cost=40, iterations=20, pos_label=0).fit(X, y)
    >>> int(((clf.predict(X) == 1) & (y == 0)).sum())                 # malignant ones missed
    0
    """

    _early_stopping = ("early_stopping_rounds", "od_wait", "od_pval", "od_type")
    _limits = "min_data_in_leaf and l2_leaf_reg"

    def _settings(self) -> dict[str, Any]:
        """Parameters of the training."""
        values = self._library_values()
        settings = {name: value for name, value in values.items() if name not in _COLUMNS and value is not None}
        if not {"verbose", "silent", "logging_level", "verbose_eval"} & set(settings):
            settings["verbose"] = False
        settings.setdefault("allow_writing_files", False)
        if "random_state" in settings and not isinstance(settings["random_state"], int | np.integer):
            settings["random_state"] = int(settings["random_state"].randint(2**31 - 1))
        return settings

    def _pool(self, rows: TreeRows) -> Any:
        columns = {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}
        return cb.Pool(known_sparse(rows.X), rows.y, weight=rows.weight_or_none, **columns)

    def _rounds(self) -> int:
        settings = self._settings()
        return int(next((settings[name] for name in _ROUNDS if name in settings), _MOST_ROUNDS))

    def _bin_rows(self, rows: TreeRows) -> Any:
        return self._pool(rows.that_count())  # CatBoost's bins and penalty count rows of weight 0, too

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, np.ndarray) and X.dtype == object and any(getattr(self, name) for name in _COLUMNS):
            from sklearn.utils.validation import validate_data

            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        return super()._read_features(X, reset=reset)

    def _train(
        self, rows: TreeRows, binned: Any, descent: Descent, evaluations: list[TreeRows], callbacks: list[Any]
    ) -> Any:
        settings, used = self._settings(), list(callbacks)
        built_in = descent.normalised.is_logistic
        chosen = self._ask_for_defaults(rows, bool(evaluations))
        if not built_in:
            chosen["leaf_estimation_iterations"] = 1  # each one asks for the derivatives of all rows, through Python
        for name, value in chosen.items():
            if not _aliases(name) & set(settings):
                settings[name] = value
        if built_in:
            settings["boost_from_average"] = True  # the log-odds of the weighted rows: the start of the logistic loss
        elif descent.warmup:
            used.append(_Counter(descent))
        settings["loss_function"] = "Logloss" if built_in else _Ranges(descent)
        measured = _Measured(descent)
        measured.start = 0.0 if built_in else descent.start  # else the scores do not contain it yet
        settings["eval_metric"] = measured if evaluations else _UNSEEN if built_in else "Logloss"
        booster = cb.CatBoost(settings)
        booster.fit(binned, eval_set=[self._pool(each) for each in evaluations] or None, callbacks=used or None)
        if evaluations:
            self._keep_evaluations(booster)
        booster = cb.sum_models([booster])  # without the settings, which hold objects of this fit
        metadata = booster.get_metadata()
        for name in [name for name in metadata.keys() if name.endswith("params")]:  # noqa: SIM118 - it is no dict
            del metadata[name]  # CatBoost would complain about them when it reads the model
        if not built_in:
            booster.set_scale_and_bias(1, descent.start)
        return booster

    def _keep_evaluations(self, booster: Any) -> None:
        results = [result for name, result in booster.get_evals_result().items() if name != "learn"]
        for k, result in enumerate(results):
            self.evals_result_[EVALUATION.format(k)] = {self.eval_metric: list(result[_Measured.__name__])}
        self.best_iteration_ = booster.get_best_iteration()

    def _ask_for_defaults(self, rows: TreeRows, evaluated: bool) -> dict[str, Any]:
        """What CatBoost would choose for its own logistic objective: it is asked with dummy data.

        The logarithm of its learning rate is a straight line in that of the number of rows, up to a largest rate. So a
        few rows tell what it is for many.
        """
        count, columns = max(rows.y.size, 4), min(rows.X.shape[1], _MOST_COLUMNS)
        if count <= _MANY_ROWS:
            return self._defaults_for(count, columns, evaluated)
        few, many = (self._defaults_for(number, columns, evaluated) for number in (_MANY_ROWS // 10, _MANY_ROWS))
        rises = float(np.log10(many["learning_rate"] / few["learning_rate"]))
        rate = many["learning_rate"] * (count / _MANY_ROWS) ** rises
        return {**many, "learning_rate": min(rate, _FASTEST) if rises > 0 else many["learning_rate"]}

    def _defaults_for(self, count: int, columns: int, evaluated: bool) -> dict[str, Any]:
        """What CatBoost chooses for so many rows and columns."""
        number = np.arange(count)
        X = np.repeat((number % 2).astype(np.float32)[:, None], columns, axis=1)
        dummy = cb.Pool(X, (number // 2 % 2).astype(np.float32))
        names = (*_ROUNDS, "l2_leaf_reg", "reg_lambda", *_CHOSEN, "eta")
        settings = {name: value for name, value in self._settings().items() if name in names}
        probe = cb.CatBoost({**settings, "loss_function": "Logloss", "verbose": False, "allow_writing_files": False})
        probe.fit(dummy, eval_set=dummy if evaluated else None, callbacks=[_Stop()])
        chosen = probe.get_all_params()
        return {name: chosen[name] for name in _CHOSEN}

    def _is_constant(self) -> bool:
        return bool((np.asarray(self.booster_.get_tree_leaf_counts()) <= 1).all())

    def _would_split(self, rows: TreeRows) -> bool:
        settings = {**self._settings(), "loss_function": "Logloss"}
        probe = cb.CatBoost(settings)
        probe.fit(self._pool(rows), callbacks=[_Stop()])
        return bool((np.asarray(probe.get_tree_leaf_counts()) > 1).any())

    def _score(self, X: Any) -> np.ndarray:
        return np.asarray(self.booster_.predict(known_sparse(X), prediction_type="RawFormulaVal"), dtype=np.float64)

    def _write(self, path: str, facts: str) -> None:
        self.booster_.get_metadata()[_KEY] = facts
        self.booster_.save_model(path)

    @classmethod
    def _open_model(cls, path: str) -> tuple[Any, str | None]:
        booster = cb.CatBoost()
        booster.load_model(path)
        metadata = booster.get_metadata()
        return booster, metadata.get(_KEY)

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the scores change with each column (PredictionValuesChange); they sum to 1."""
        return shares_of(self.booster_.get_feature_importance(type="PredictionValuesChange"))


class _OfOneFit:
    """Something that belongs to a fit: CatBoost copies its parameters, but this one counts rounds for all copies."""

    no_jit = True

    def __init__(self, descent: Descent) -> None:
        self.descent = descent

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class _Ranges(_OfOneFit):
    """The objective of a fit."""

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> np.ndarray:
        score = approxes + self.descent.start  # CatBoost starts at 0; a baseline takes long to read
        return self.descent.now.derivative_pairs(score, targets, NO_WEIGHTS if weights is None else weights)


class _Measured(_OfOneFit):
    """The metric of a fit."""

    start = 0.0

    def is_max_optimal(self) -> bool:
        return False

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        return self.descent.measured(target, approxes[0] + self.start, weight), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        return error


class _Counter(_OfOneFit):
    """Counts the rounds of a fit."""

    def after_iteration(self, info: Any) -> bool:
        self.descent.rounds += 1
        return True


class _Stop:
    """Ends training after one round."""

    def after_iteration(self, info: Any) -> bool:
        return False


def _aliases(name: str) -> set[str]:
    return {name, "eta"} if name == "learning_rate" else {name}
