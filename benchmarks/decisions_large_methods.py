"""The methods of study 2, each in a process of its own: training rows and costs in, decisions about new rows out.

``decisions_large.py`` starts ``python decisions_large_methods.py task.pickle answers.pickle``. A task holds no label
of a new row. Methods that do not know the costs learn probabilities once and are cut at the alpha of each kind of
costs.

Where a method takes matrices only (logistic regression, forests, empulse), it gets ours: numbers scaled and filled in,
or as they are for trees; categories as columns of 0 and 1; parts of dates; words of texts. Boosting libraries and EBM
get numbers, parts of dates and texts' latent columns from the same encoder, and the categories as they are, as their
own kind of column. AutoGluon, FLAML and H2O see the table as it is."""

from __future__ import annotations

import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import uneven
from uneven.costs import COSTS, RowCosts
from uneven.tables import FrameEncoder

CORES = 2
#: Settings that are drawn of a boosting library.
DRAWS = 12
#: Rounds of boosting at most, and how long they may not improve.
ROUNDS, PATIENCE = 3_000, 50


@dataclass(frozen=True)
class Task:
    """What a method is given.

    Attributes
    ----------
    X, new : DataFrame
        Training rows and new rows.
    y : ndarray of int
    costs, new_costs : dict of str to RowCosts
        Of both by the kind of costs, such as "20:1".
    seconds : float
        Wall time of methods that take a limit.
    """

    method: str
    X: Any
    y: np.ndarray
    new: Any
    costs: dict[str, RowCosts]
    new_costs: dict[str, RowCosts]
    seconds: float
    seed: int


@dataclass(frozen=True)
class Method:
    """A function from a task to decisions by kind of costs, and how it is to be run.

    Attributes
    ----------
    decide : callable
    per_costs : bool
        It is fitted for each kind of costs, each time in a process of its own.
    share : float
        Its time limit over the seconds that our fit took; 0: it takes none.
    kinds : tuple of str
        The only kinds of costs it is for; empty: all.
    per_row : bool
        Whether it takes costs of each row.
    """

    decide: Callable[[Task], dict[str, np.ndarray]]
    per_costs: bool = False
    share: float = 0.0
    kinds: tuple[str, ...] = ()
    per_row: bool = True


def as_arguments(costs: RowCosts) -> dict[str, Any]:
    """The costs as arguments of ``fit``."""
    return {name: getattr(costs, name) for name in COSTS}


def _cut(task: Task, probability: np.ndarray) -> dict[str, np.ndarray]:
    return {kind: costs.prefers_positive(np.asarray(probability, float)) for kind, costs in task.new_costs.items()}


# -- ours -------------------------------------------------------------------------------------------------------------


def _ours(task: Task) -> dict[str, np.ndarray]:
    """One fit, with the costs of each row where there are some; other numbers need no new fit."""
    first = "per row" if "per row" in task.costs else next(iter(task.costs))
    model = uneven.UnevenEnsembleClassifier(time_limit=task.seconds, random_state=task.seed, verbose=False)
    model.fit(task.X, task.y, **as_arguments(task.costs[first]))
    return {kind: model.predict(task.new, **as_arguments(costs)) == 1 for kind, costs in task.new_costs.items()}


# -- automatic machine learning ---------------------------------------------------------------------------------------


def _autogluon(presets: str, cost: bool = False) -> Callable[[Task], dict[str, np.ndarray]]:
    def decide(task: Task) -> dict[str, np.ndarray]:
        from autogluon.tabular import TabularPredictor

        metric: Any = _cost_metric(next(iter(task.costs.values()))) if cost else "log_loss"
        folder = tempfile.mkdtemp()
        try:
            predictor = TabularPredictor("the outcome", "binary", eval_metric=metric, path=folder, verbosity=0)
            table = task.X.assign(**{"the outcome": task.y})
            more = {"calibrate_decision_threshold": True} if cost else {}
            predictor.fit(table, time_limit=task.seconds, presets=presets, num_cpus=CORES, **more)
            if cost:
                return dict.fromkeys(task.costs, np.asarray(predictor.predict(task.new) == 1))
            return _cut(task, predictor.predict_proba(task.new)[1].to_numpy())
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return decide


def _cost_metric(costs: RowCosts) -> Any:
    from autogluon.core.metrics import make_scorer

    false_alarm, miss = float(costs.fp_regret), float(costs.fn_regret)

    def cost(truth: np.ndarray, said: np.ndarray) -> float:
        wrong = np.where(truth == 1, miss * (said != 1), false_alarm * (said == 1))
        return float(np.mean(wrong))

    return make_scorer("expected_cost", cost, optimum=0, greater_is_better=False, needs_class=True)


def _flaml(task: Task) -> dict[str, np.ndarray]:
    from flaml import AutoML

    model = AutoML()
    model.fit(
        task.X,
        task.y,
        task="classification",
        metric="log_loss",
        time_budget=task.seconds,
        n_jobs=CORES,
        seed=task.seed,
        verbose=0,
    )
    return _cut(task, model.predict_proba(task.new)[:, 1])


def _h2o(task: Task) -> dict[str, np.ndarray]:
    import h2o
    from h2o.automl import H2OAutoML

    h2o.init(nthreads=CORES, max_mem_size="8G", verbose=False)
    try:
        h2o.no_progress()
        known = h2o.H2OFrame(_plain(task.X).assign(outcome=np.where(task.y == 1, "yes", "no")))
        known["outcome"] = known["outcome"].asfactor()
        new = h2o.H2OFrame(_plain(task.new), column_types=known.drop("outcome").types)
        learner = H2OAutoML(
            max_runtime_secs=max(1, round(task.seconds)),
            exclude_algos=["DeepLearning"],
            stopping_metric="logloss",
            sort_metric="logloss",
            seed=task.seed,
        )
        learner.train(y="outcome", training_frame=known)
        return _cut(task, learner.leader.predict(new).as_data_frame(use_multi_thread=False)["yes"].to_numpy())
    finally:
        h2o.cluster().shutdown()


def _plain(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts: H2O reads a file."""
    categories = X.select_dtypes("category").columns
    return X.astype(dict.fromkeys(categories, object))


# -- single learners --------------------------------------------------------------------------------------------------


def own_categories(task: Task, encoder: str = "codes") -> tuple[Any, Any, list[str]]:
    """Training rows and new rows with numbers and category columns, and the names of the latter.

    Categories are codes of those that the training rows have: -1 is missing, or new.
    """
    names = list(task.X.select_dtypes("category").columns)
    rest = [name for name in task.X if name not in names]
    parts = [pd.DataFrame(index=task.X.index), pd.DataFrame(index=task.new.index)]
    if rest:
        numbers = FrameEncoder(view="trees")
        matrices = numbers.fit_transform(task.X[rest], task.y), numbers.transform(task.new[rest])
        columns = [f"n{k}" for k in range(matrices[0].shape[1])]
        parts = [
            pd.DataFrame(one, columns=columns, index=part.index) for one, part in zip(matrices, parts, strict=True)
        ]
    for k, name in enumerate(names):
        known = task.X[name].cat.remove_unused_categories().cat.categories
        for part, table in zip(parts, (task.X, task.new), strict=True):
            codes = pd.Categorical(table[name], categories=known).codes.astype(int)
            part[f"c{k}"] = pd.Categorical(codes, categories=range(-1, len(known))) if encoder == "pandas" else codes
    return parts[0], parts[1], [f"c{k}" for k in range(len(names))]


def _draws(space: dict[str, tuple[Any, ...]], seed: int) -> Iterator[dict[str, Any]]:
    """The default first, then settings at random."""
    random = np.random.default_rng(seed)
    yield {name: values[0] for name, values in space.items()}
    for _ in range(DRAWS - 1):
        yield {name: values[random.integers(len(values))] for name, values in space.items()}


def _log_loss(y: np.ndarray, probability: np.ndarray) -> float:
    said = np.clip(probability, 1e-6, 1 - 1e-6)
    return float(-np.mean(np.where(y == 1, np.log(said), np.log(1 - said))))


def _search(
    task: Task, settings: Iterator[dict[str, Any]], attempt: Callable[..., tuple[float, Any]], final: Callable[..., Any]
) -> dict[str, np.ndarray]:
    """The setting of least log loss on a fifth of the rows, fitted again on all of them.

    At least one setting is tried, and none is begun after half of three times our time limit: the process is ended
    after the whole.
    """
    known, held = train_test_split(np.arange(task.y.size), test_size=0.2, stratify=task.y, random_state=task.seed)
    started, found = time.monotonic(), []
    for setting in settings:
        if found and time.monotonic() - started > 1.5 * task.seconds:
            break
        loss, more = attempt(known, held, setting)
        found.append((loss, setting, more))
    _, setting, more = min(found, key=lambda one: one[0])
    return _cut(task, final(setting, more))


def _catboost(task: Task) -> dict[str, np.ndarray]:
    from catboost import CatBoostClassifier, Pool

    X, new, names = own_categories(task)
    fixed = {"random_seed": task.seed, "thread_count": CORES, "verbose": False, "allow_writing_files": False}
    space = {"depth": (6, 4, 8), "learning_rate": (0.05, 0.03, 0.1), "l2_leaf_reg": (3.0, 1.0, 10.0, 30.0)}
    space |= {"random_strength": (1.0, 0.0, 5.0), "one_hot_max_size": (2, 10)}

    def attempt(known: np.ndarray, held: np.ndarray, setting: dict[str, Any]) -> tuple[float, int]:
        pools = [Pool(X.iloc[rows], task.y[rows], cat_features=names) for rows in (known, held)]
        model = CatBoostClassifier(iterations=ROUNDS, **setting, **fixed)
        model.fit(pools[0], eval_set=pools[1], early_stopping_rounds=PATIENCE)
        return _log_loss(task.y[held], model.predict_proba(X.iloc[held])[:, 1]), model.tree_count_

    def final(setting: dict[str, Any], rounds: int) -> Any:
        model = CatBoostClassifier(iterations=max(1, rounds), **setting, **fixed)
        return model.fit(Pool(X, task.y, cat_features=names)).predict_proba(new)[:, 1]

    return _search(task, _draws(space, task.seed), attempt, final)


def _lightgbm(task: Task) -> dict[str, np.ndarray]:
    import lightgbm
    from lightgbm import LGBMClassifier

    X, new, _ = own_categories(task, "pandas")
    fixed = {"random_state": task.seed, "n_jobs": CORES, "verbosity": -1, "subsample_freq": 1}
    space = {"num_leaves": (31, 7, 15, 63), "learning_rate": (0.05, 0.03, 0.1), "min_child_samples": (20, 5, 100)}
    space |= {"colsample_bytree": (1.0, 0.5, 0.8), "subsample": (1.0, 0.7), "reg_lambda": (0.0, 1.0, 10.0)}

    def attempt(known: np.ndarray, held: np.ndarray, setting: dict[str, Any]) -> tuple[float, int]:
        model = LGBMClassifier(n_estimators=ROUNDS, **setting, **fixed)
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        model.fit(X.iloc[known], task.y[known], eval_set=[(X.iloc[held], task.y[held])], callbacks=[stop])
        return _log_loss(task.y[held], model.predict_proba(X.iloc[held])[:, 1]), model.best_iteration_

    def final(setting: dict[str, Any], rounds: int) -> Any:
        model = LGBMClassifier(n_estimators=max(1, rounds), **setting, **fixed)
        return model.fit(X, task.y).predict_proba(new)[:, 1]

    return _search(task, _draws(space, task.seed), attempt, final)


def _xgboost(task: Task) -> dict[str, np.ndarray]:
    from xgboost import XGBClassifier

    X, new, _ = own_categories(task, "pandas")
    fixed = {"random_state": task.seed, "n_jobs": CORES, "verbosity": 0, "enable_categorical": True}
    space = {"max_depth": (6, 3, 4, 8), "learning_rate": (0.05, 0.03, 0.1), "min_child_weight": (1.0, 5.0, 20.0)}
    space |= {"colsample_bytree": (1.0, 0.5, 0.8), "subsample": (1.0, 0.7), "reg_lambda": (1.0, 0.0, 10.0)}

    def attempt(known: np.ndarray, held: np.ndarray, setting: dict[str, Any]) -> tuple[float, int]:
        model = XGBClassifier(n_estimators=ROUNDS, early_stopping_rounds=PATIENCE, **setting, **fixed)
        model.fit(X.iloc[known], task.y[known], eval_set=[(X.iloc[held], task.y[held])], verbose=False)
        return _log_loss(task.y[held], model.predict_proba(X.iloc[held])[:, 1]), model.best_iteration + 1

    def final(setting: dict[str, Any], rounds: int) -> Any:
        model = XGBClassifier(n_estimators=rounds, **setting, **fixed)
        return model.fit(X, task.y).predict_proba(new)[:, 1]

    return _search(task, _draws(space, task.seed), attempt, final)


def _ebm(task: Task) -> dict[str, np.ndarray]:
    from interpret.glassbox import ExplainableBoostingClassifier

    X, new, names = own_categories(task)
    kinds = ["nominal" if name in names else "continuous" for name in X]
    model = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=CORES, random_state=task.seed)
    return _cut(task, model.fit(X, task.y).predict_proba(new)[:, 1])


def _of_matrix(view: str, make: Callable[[Any, int], Any], values: tuple[Any, ...]) -> Callable[[Task], Any]:
    """A learner of a matrix with one parameter to choose."""

    def decide(task: Task) -> dict[str, np.ndarray]:
        def attempt(known: np.ndarray, held: np.ndarray, setting: dict[str, Any]) -> tuple[float, None]:
            model = make_pipeline(FrameEncoder(view=view), make(setting["value"], task.seed))
            said = model.fit(task.X.iloc[known], task.y[known]).predict_proba(task.X.iloc[held])[:, 1]
            return _log_loss(task.y[held], said), None

        def final(setting: dict[str, Any], more: None) -> Any:
            model = make_pipeline(FrameEncoder(view=view), make(setting["value"], task.seed))
            return model.fit(task.X, task.y).predict_proba(task.new)[:, 1]

        return _search(task, iter([{"value": value} for value in values]), attempt, final)

    return decide


def _logistic(C: float, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, max_iter=2_000)


def _forest(leaf: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(300, min_samples_leaf=leaf, n_jobs=CORES, random_state=seed)


def _gradient(unused: Any, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=300, learning_rate=0.05, random_state=seed, n_jobs=CORES, verbosity=-1)


# -- learners that are told the costs ---------------------------------------------------------------------------------


def _tuned(view: str, make: Callable[[Any, int], Any], value: Any) -> Callable[[Task], dict[str, np.ndarray]]:
    """scikit-learn's threshold of least cost, found on five folds."""

    def decide(task: Task) -> dict[str, np.ndarray]:
        from sklearn.metrics import make_scorer
        from sklearn.model_selection import TunedThresholdClassifierCV

        ((kind, costs),) = task.costs.items()
        fp, fn = float(costs.fp_regret), float(costs.fn_regret)
        scorer = make_scorer(lambda y, said: -float(np.mean(np.where(y == 1, fn * (said != 1), fp * (said == 1)))))
        base = make_pipeline(FrameEncoder(view=view), make(value, task.seed))
        model = TunedThresholdClassifierCV(base, scoring=scorer, cv=5, response_method="predict_proba")
        return {kind: model.fit(task.X, task.y).predict(task.new) == 1}

    return decide


def _weighted(view: str, make: Callable[[Any, int], Any], value: Any) -> Callable[[Task], dict[str, np.ndarray]]:
    """Rows weighted by what a mistake about them costs; where a mistake pays, with the other label."""

    def decide(task: Task) -> dict[str, np.ndarray]:
        ((kind, costs),) = task.costs.items()
        regrets = costs.regrets(task.y == 1)
        label = np.where(regrets < 0, 1 - task.y, task.y)
        encoder, model = FrameEncoder(view=view), make(value, task.seed)
        matrix = encoder.fit_transform(task.X, task.y)
        model.fit(matrix, label, sample_weight=np.abs(regrets) / np.abs(regrets).mean())
        return {kind: model.predict(encoder.transform(task.new)) == 1}

    return decide


def _empulse(name: str) -> Callable[[Task], dict[str, np.ndarray]]:
    def decide(task: Task) -> dict[str, np.ndarray]:
        from empulse import models
        from sklearn.linear_model import LogisticRegression

        ((kind, costs),) = task.costs.items()
        encoder = FrameEncoder(view="linear")
        known, new = encoder.fit_transform(task.X, task.y), encoder.transform(task.new)
        known, new = (one.toarray() if hasattr(one, "toarray") else np.asarray(one) for one in (known, new))
        own, later = as_arguments(costs), as_arguments(task.new_costs[kind])
        if name == "CSThreshold":
            base = LogisticRegression(max_iter=2_000)
            model = models.CSThresholdClassifier(base, random_state=task.seed).fit(known, task.y, **own)
            return {kind: np.asarray(model.predict(new, **later)) == 1}
        learner = {"CSLogit": models.CSLogitClassifier, "CSBoost": models.CSBoostClassifier}[name]
        return {kind: np.asarray(learner().fit(known, task.y, **own).predict(new)) == 1}

    return decide


OURS = "UnevenEnsembleClassifier"

#: All methods in the order in which they run: those of the primary comparisons first.
METHODS: dict[str, Method] = {
    OURS: Method(_ours),
    "AutoGluon best, equal time": Method(_autogluon("best_quality"), share=1.0),
    "CatBoost, tuned": Method(_catboost),
    "LightGBM, tuned": Method(_lightgbm),
    "XGBoost, tuned": Method(_xgboost),
    "EBM": Method(_ebm),
    "random forest": Method(_of_matrix("trees", _forest, (1, 5, 20))),
    "logistic regression": Method(_of_matrix("linear", _logistic, (0.01, 0.1, 1.0, 10.0))),
    "AutoGluon best, double time": Method(_autogluon("best_quality"), share=2.0),
    "AutoGluon medium, equal time": Method(_autogluon("medium_quality"), share=1.0),
    "AutoGluon medium, double time": Method(_autogluon("medium_quality"), share=2.0),
    "AutoGluon best, own cost": Method(_autogluon("best_quality", cost=True), True, 1.0, ("20:1",), per_row=False),
    "FLAML": Method(_flaml, share=1.0),
    "H2O": Method(_h2o, share=1.0),
    "LightGBM, TunedThresholdClassifierCV": Method(_tuned("trees", _gradient, None), True, per_row=False),
    "LR, TunedThresholdClassifierCV": Method(_tuned("linear", _logistic, 1.0), True, per_row=False),
    "LightGBM, weighted by costs": Method(_weighted("trees", _gradient, None), True),
    "LR, weighted by costs": Method(_weighted("linear", _logistic, 1.0), True),
    "empulse CSLogit": Method(_empulse("CSLogit"), True),
    "empulse CSBoost": Method(_empulse("CSBoost"), True),
    "empulse CSThreshold (LR)": Method(_empulse("CSThreshold"), True),
}


def main() -> None:
    """Run the method of a task; errors are answers, too."""
    with open(sys.argv[1], "rb") as file:
        task: Task = pickle.load(file)
    warnings.simplefilter("ignore")
    started = time.monotonic(), time.process_time()
    try:
        answers: Any = {kind: np.asarray(one, bool) for kind, one in METHODS[task.method].decide(task).items()}
    except Exception as error:
        answers = f"{type(error).__name__}: {str(error)[:200]}"
    with open(sys.argv[2], "wb") as file:
        pickle.dump((answers, time.monotonic() - started[0]), file)


if __name__ == "__main__":
    # A pickled Task names this module, not "__main__".
    import decisions_large_methods

    decisions_large_methods.main()
