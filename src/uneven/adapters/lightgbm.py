"""LightGBM: our losses as its objectives and metrics, and an estimator. Needs the extra ``lightgbm``."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from uneven.adapters.trees.library_parameters import LibraryParameters, known_sparse, parameters_of, takes
from uneven.adapters.trees.tree_classifier import EVALUATION, UnevenTreeClassifier, shares_of
from uneven.adapters.trees.tree_objective import CallableObjective, Descent, TreeMetric, TreeRows
from uneven.errors import needs_extra

with needs_extra("UnevenLGBMClassifier and uneven.adapters.lightgbm", "lightgbm"):
    lgb: Any = import_module("lightgbm")

__all__ = ["LGBMMetric", "UnevenLGBMClassifier", "metric", "objective"]

_COSTS = "fp_cost and fn_cost say what the mistakes cost"
#: The line of a model file that holds our facts, as hexadecimal digits; LightGBM skips keys that it does not know.
_KEY = "uneven"
#: Parameters of the wrapper or of ``train``, not of the core.
_WRAPPER = ("n_estimators", "importance_type", "random_state", "n_jobs", "early_stopping_rounds")


@lru_cache(maxsize=1)
def _known_names() -> frozenset[str] | None:
    """All names that LightGBM knows for its parameters; None if it does not tell."""
    try:
        aliases = lgb.basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        return None
    return frozenset({*aliases, *(name for names in aliases.values() for name in names)})


_PARAMETERS = LibraryParameters(
    "LightGBM",
    {
        **parameters_of([lgb.LGBMModel.__init__], without=["objective", "class_weight"]),
        "early_stopping_rounds": None,
    },
    refused={
        **dict.fromkeys(("objective", "objective_type", "app", "application", "loss"), "loss is the objective"),
        **dict.fromkeys(
            ("class_weight", "scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets"),
            f"a custom objective ignores it; {_COSTS}",
        ),
        **dict.fromkeys(("metric", "metrics", "metric_types"), "eval_metric='cost' or 'surrogate' is the only metric"),
        **dict.fromkeys(("boost_from_average", "init_score"), "training starts at the best constant of the loss"),
    },
    more=_known_names,
)


def objective(
    loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1
) -> CallableObjective:
    """A loss as an objective: for ``params["objective"]``, LightGBM's estimators and ``lightgbm.dask``.

    Sample weights of the data are applied. A custom objective starts at 0: give its ``start`` to the library as
    ``init_score`` of every row, and add it to the raw scores that the library predicts, which lack it.

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
    >>> import lightgbm
    >>> import numpy as np
    >>> from uneven.adapters.lightgbm import objective
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(500, 3))
    >>> y = (X[:, 0] + random.logistic(size=500) > 1).astype(float)
    >>> loss = objective("logistic", fp_cost=1, fn_cost=10)
    >>> start = loss.start(y)
    >>> data = lightgbm.Dataset(X, y, init_score=np.full(500, start))
    >>> model = lightgbm.train({"objective": loss, "verbosity": -1}, data, 20)
    >>> score = start + model.predict(X)                               # above 0: positive is cheaper
    >>> bool(np.all((score > 0) == (loss.probability(score) > 1 / 11)))
    True
    """
    return CallableObjective(loss, fp_cost=fp_cost, fn_cost=fn_cost, margin_gamma=margin_gamma)


class LGBMMetric(TreeMetric):
    """A metric that LightGBM calls, in its native way (scores, data) or scikit-learn's (y, scores)."""

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> tuple[str, float, bool]:
        if hasattr(second, "get_label"):
            return self.kind, self.value(second.get_label(), first, second.get_weight()), False
        return self.kind, self.value(first, second, sample_weight), False


#: Expected cost or the loss itself on raw scores; its arguments are those of :class:`TreeMetric`.
metric = LGBMMetric


@takes(_PARAMETERS)
class UnevenLGBMClassifier(UnevenTreeClassifier):
    r"""LightGBM trained with a loss that is calibrated for your costs.

    All parameters of LGBMClassifier and all names of LightGBM's own parameters can be given, except those that would
    break the objective (``objective``, ``metric``, ``class_weight``, ``scale_pos_weight``, ``is_unbalance``). Training
    starts at the best constant score, which is then added to the leaves of the first tree, as LightGBM does for its own
    objectives.

    Parameters
    ----------
    {parameters}
    early_stopping_rounds : int, optional
        Stop if ``eval_metric`` has not improved in so many rounds.
    **library
        Parameters of LGBMClassifier and of LightGBM. ``verbosity`` is -1 unless given.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        Its raw scores are those of the positive class.
    best_iteration_ : int or None
        The best round, counted from 0, if training stopped early; later rounds are not used.
    {attributes}

    Notes
    -----
    LightGBM estimates the number of rows in a bin from its share of the hessian. With weights that differ by orders of
    magnitude, ``min_child_samples`` then means rows of average weight.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenLGBMClassifier(fp_cost=1, fn_cost=40, n_estimators=20, pos_label=0).fit(X, y)
    >>> int(((clf.predict(X) == 1) & (y == 0)).sum())                 # malignant ones missed
    0
    """

    _early_stopping = ("early_stopping_rounds", "early_stopping_round", "early_stopping", "n_iter_no_change")
    _limits = "min_child_weight, min_child_samples and min_split_gain"

    def _settings(self) -> dict[str, Any]:
        """Parameters of the core."""
        values = self._library_values()
        settings = {name: value for name, value in values.items() if name not in _WRAPPER and value is not None}
        if values["random_state"] is not None:
            state = values["random_state"]
            settings["seed"] = (
                int(state)
                if np.ndim(state) == 0 and not hasattr(state, "randint")
                else (int(check_random_state(state).randint(2**31 - 1)))
            )
        jobs = values["n_jobs"]
        if jobs is not None:
            settings["num_threads"] = int(jobs) if jobs >= 0 else max(1, (os.cpu_count() or 1) + 1 + int(jobs))
        if not {"verbosity", "verbose"} & set(settings):
            settings["verbosity"] = -1
        return settings

    def _dataset(self, rows: TreeRows, start: float, reference: Any = None) -> Any:
        return lgb.Dataset(
            known_sparse(rows.X),
            rows.y,
            weight=rows.weight_or_none,
            init_score=np.full(rows.y.size, start),
            reference=reference,
            params=self._settings(),
            free_raw_data=False,
        )

    def _rounds(self) -> int:
        return int(self._library_values()["n_estimators"])

    def _bin_rows(self, rows: TreeRows) -> Any:
        return self._dataset(rows, 0.0)

    def _train(
        self, rows: TreeRows, binned: Any, descent: Descent, evaluations: list[TreeRows], callbacks: list[Any]
    ) -> Any:
        values = self._library_values()
        binned.set_init_score(np.full(rows.y.size, descent.start))
        if not _has_features(binned):  # a custom objective would fail here, where LightGBM's own ones give a constant
            return _add_constant(lgb.train({**self._settings(), "objective": "binary"}, binned, 1), descent.start)
        used = list(callbacks)
        if evaluations:
            used.append(lgb.record_evaluation(self.evals_result_))
        if values["early_stopping_rounds"] is not None and evaluations:
            used.append(lgb.early_stopping(values["early_stopping_rounds"], verbose=False))
        booster = lgb.train(
            {
                **self._settings(),
                "objective": lambda score, data: descent.derivatives(score, rows),
                "metric": "None",
            },
            binned,
            num_boost_round=self._rounds(),
            valid_sets=[self._dataset(each, descent.start, binned) for each in evaluations],
            valid_names=[EVALUATION.format(k) for k in range(len(evaluations))],
            feval=lambda score, data: (
                descent.metric,
                descent.measured(data.get_label(), score, data.get_weight()),
                False,
            ),
            callbacks=used,
        )
        if booster.best_iteration > 0:
            self.best_iteration_ = booster.best_iteration - 1
        return _add_constant(booster, descent.start)

    def _is_constant(self) -> bool:
        return not self.booster_.feature_importance("split").any()

    def _would_split(self, rows: TreeRows) -> bool:
        data = lgb.Dataset(known_sparse(rows.X), rows.y, weight=rows.weight_or_none, params=self._settings())
        settings = {**self._settings(), "objective": "binary"}
        return bool(lgb.train(settings, data, 1).feature_importance("split").any())

    def _score(self, X: Any) -> np.ndarray:
        return np.asarray(self.booster_.predict(known_sparse(X), raw_score=True), dtype=np.float64)

    def _write(self, path: str, facts: str) -> None:
        text = self.booster_.model_to_string()
        head, mark, trees = text.partition("\nTree=0")
        Path(path).write_text(f"{head.rstrip()}\n{_KEY}={facts.encode().hex()}\n{mark}{trees}", encoding="utf-8")

    @classmethod
    def _open_model(cls, path: str) -> tuple[Any, str | None]:
        text = Path(path).read_text(encoding="utf-8")
        lines = (line for line in text.partition("\nTree=0")[0].splitlines() if line.startswith(f"{_KEY}="))
        facts = next(lines, None)
        return lgb.Booster(model_str=text), None if facts is None else bytes.fromhex(facts[len(_KEY) + 1 :]).decode()

    @property
    def feature_importances_(self) -> np.ndarray:
        """Number of splits of each column, or gain (``importance_type``); they sum to 1."""
        return shares_of(self.booster_.feature_importance(self.importance_type))


def _has_features(data: Any) -> bool:
    """Whether a column can be split at all; LightGBM drops the others."""
    data.construct()
    return any(data.feature_num_bin(k) > 1 for k in range(data.num_feature()))


def _add_constant(booster: Any, start: float) -> Any:
    """The booster with a constant added to the leaves of its first tree, in its text: also where leaves are linear."""
    text = booster.model_to_string(num_iteration=-1)
    head, mark, trees = text.partition("\nTree=0\n")
    first, following, rest = trees.partition("\nTree=1\n")
    if not following:
        first, following, rest = trees.partition("\nend of trees")
    lines = [_add_to_line(line, start) for line in first.split("\n")]
    sizes = [line for line in head.split("\n") if line.startswith("tree_sizes=")]
    new = "\n".join(lines)
    if sizes:  # bytes of each tree
        counts = sizes[0].partition("=")[2].split(" ")
        counts[0] = str(int(counts[0]) + len(new) - len(first))
        head = head.replace(sizes[0], "tree_sizes=" + " ".join(counts))
    moved = lgb.Booster(model_str=head + mark + new + following + rest)
    moved.best_iteration = booster.best_iteration
    return moved


def _add_to_line(line: str, start: float) -> str:
    name, equals, values = line.partition("=")
    if name not in ("leaf_value", "leaf_const") or not values:
        return line
    return name + equals + " ".join(repr(float(value) + start) for value in values.split(" "))
