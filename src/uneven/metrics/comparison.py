"""Classifiers compared by expected cost on the same rows, and expected cost as a scikit-learn scorer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from uneven import inputs
from uneven.costs import GivenCosts, RowCosts
from uneven.errors import CostError
from uneven.inputs import Exact, brief
from uneven.labels import read_groups, read_labels, read_relative_weights, require_same_length, where_positive
from uneven.metrics.intervals import estimates
from uneven.metrics.matrix_comparison import compare_by_matrix, compare_decisions
from uneven.metrics.matrix_rows import require_matrix
from uneven.metrics.passing_costs import fit_with_costs, predict_labels, require_way_to_decide

#: Train and test rows of a fold.
Split = tuple[np.ndarray, np.ndarray]

_Key = TypeVar("_Key")


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    folds: int = 5,
    repeats: int = 2,
    decide: str = "auto",
    rules: Collection[str] = (),
    progress: Callable[[str, float], None] | None = None,
    costs: Any = None,
) -> list[Any]:
    """Cross-validated expected cost of several classifiers, all on the same repeated stratified folds.

    Parameters
    ----------
    models : mapping of str to estimator
        Classifiers by name; each is cloned for every fold. The others are compared with the first one.
    X : array-like of shape (n, features)
        Anything scikit-learn can index: array, sparse matrix, data frame.
    y : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n,)
        As in :func:`expected_cost`. If one of them is given for each row, they are passed to ``fit`` and ``predict`` of
        the models that take fp_cost and fn_cost (of the last step of a pipeline, of the estimator of a search).
        Numbers are not passed: a model has its own.
    pos_label
        As in :func:`expected_cost`.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the cost. They are not passed to ``fit``.
    folds, repeats : int
        The number of folds is lowered to the number of examples of the rarer class.
    decide : {"auto", "predict", "alpha"}
        As in :func:`make_cost_scorer`: with the rows' costs if ``predict`` takes them; by ``predict(X)`` always; or by
        ``predict_proba`` at the costs of each row.
    rules : collection of str
        Names of models that decide the same for every row by rule, such as "flag everyone": they cannot make the other
        decision on new rows. A model that happens to do so here may not on others, and its interval says so.
    progress : callable, optional
        Called before each fold with a message and the share of the work that is done.
    costs : CostMatrix, optional
        In place of the four costs. Predictions are its actions; ``decide="alpha"`` takes the cheapest action at the
        probabilities of ``predict_proba``. A matrix for each row is passed to ``fit`` and ``predict`` of the models
        that take ``costs``.

    Returns
    -------
    list of CostEstimate, or of MatrixCostEstimate with ``costs``
        In the order of ``models``, with the paired difference from the first one. The 95 % intervals are meant for what
        a model costs that is fitted to all rows: they hold what varies with the rows that are tested and with those
        that are learnt from.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from uneven.metrics import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {k: DummyClassifier(strategy="constant", constant=v) for k, v in {"malignant": 0, "benign": 1}.items()}
    >>> for row in compare(models, X, y, fp_cost=1, fn_cost=20, pos_label=0, rules=models):
    ...     print(f"{row.name:10s} {row.cost:.2f} ({row.low:.2f} to {row.high:.2f})")
    malignant  0.63 (0.59 to 0.67)
    benign     7.45 (6.65 to 8.28)
    >>> print(f"{row.difference:.2f} more ({row.difference_low:.2f} to {row.difference_high:.2f})")
    6.82 more (5.72 to 7.97)
    """
    require_way_to_decide(decide)
    given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    if costs is not None:
        how: dict[str, Any] = {"sample_weight": sample_weight, "folds": folds, "repeats": repeats}
        how |= {"decide": decide, "rules": rules, "progress": progress}
        return compare_by_matrix(models, X, y, require_matrix(costs, given, pos_label), **how)
    labels = read_labels("y", y)
    (is_positive,) = where_positive(pos_label, labels)
    costs = RowCosts.read(labels.size, **given)
    weight = None if sample_weight is None else read_relative_weights(sample_weight, labels.size)
    fewest = int(min(is_positive.sum(), (~is_positive).sum()))
    if fewest < 2:
        raise CostError(f"cross-validation needs two examples of each class, got {fewest} of one")
    splits = stratified_folds(is_positive, folds, repeats)
    rows = _LabelledRows(X, labels, costs, given.per_row, labels[is_positive][0], decide)

    def decide_fold(repeat: int, fold: int) -> dict[str, np.ndarray]:
        count = len(splits[repeat])
        if progress is not None:
            share = (repeat * count + fold) / (repeats * count)
            progress(f"repeat {repeat + 1} of {repeats}, fold {fold + 1} of {count}", share)
        train, test = splits[repeat][fold]
        return {name: rows.said_positive(model, train, test) for name, model in models.items()}

    _, decisions = decide_on_folds(splits, decide_fold)
    return estimates(costs, is_positive, decisions, weight, trained=rows_learnt_from(splits), rules=rules)


def stratified_folds(label: np.ndarray, folds: int, repeats: int) -> list[list[Split]]:
    """Train and test rows of each fold of each repeat; no more folds than examples of the rarest class."""
    from sklearn.model_selection import StratifiedKFold

    folds = min(folds, int(np.unique(label, return_counts=True)[1].min()))
    splitters = (StratifiedKFold(folds, shuffle=True, random_state=repeat) for repeat in range(repeats))
    return [list(splitter.split(np.zeros(label.size), label)) for splitter in splitters]


def rows_learnt_from(splits: Sequence[Sequence[Split]]) -> float:
    """The mean number of training rows."""
    return float(np.mean([train.size for parts in splits for train, _ in parts]))


def decide_on_folds(
    splits: Sequence[Sequence[Split]], decide_fold: Callable[[int, int], Mapping[_Key, np.ndarray]]
) -> tuple[np.ndarray, dict[_Key, np.ndarray]]:
    """Decisions about all rows, each by models that were fitted without the row.

    Parameters
    ----------
    splits : sequence of sequences of pairs of row numbers
        Train and test rows of each fold of each repeat. All repeats test the same rows, each row once.
    decide_fold : callable
        From the numbers of a repeat and of a fold to where each model predicts positive among the test rows, or to the
        number of the action of each.

    Returns
    -------
    tested : ndarray of int
        Numbers of the rows that were tested, in rising order.
    decisions : dict of ndarray of bool or int, shape (repeats, tested rows)
    """
    tested = np.sort(np.concatenate([test for _, test in splits[0]]))
    decisions: dict[_Key, np.ndarray] = {}
    for repeat, parts in enumerate(splits):
        for fold, (_, test) in enumerate(parts):
            places = np.searchsorted(tested, test)
            for key, said in decide_fold(repeat, fold).items():
                empty = np.zeros((len(splits), tested.size), dtype=said.dtype)
                decisions.setdefault(key, empty)[repeat, places] = said
    return tested, decisions


def compare_predictions(
    y_true: Any,
    predictions: Mapping[str, Any],
    *,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    rules: Collection[str] = (),
    groups: Any = None,
    costs: Any = None,
) -> list[Any]:
    """Expected cost of several classifiers from their predictions for the same rows, with paired differences.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    predictions : mapping of str to array-like of shape (n,)
        Predicted labels by the name of the classifier. The others are compared with the first one.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`.
    rules : collection of str
        Names of predictions that are the same for every row by rule, as in :func:`compare`.
    groups : array-like of shape (n,), optional
        Rows of one customer, which are not independent: the intervals are then those of sums over groups.
    costs : CostMatrix, optional
        In place of the four costs; predictions are its actions.

    Returns
    -------
    list of CostEstimate, or of MatrixCostEstimate with ``costs``
        In the order of ``predictions``. The intervals hold for these fitted classifiers on new rows of the same kind.
        :func:`compare` fits the classifiers too.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics import compare_predictions
    >>> y = np.tile([1, 0, 0, 0], 100)
    >>> both = {"ours": np.tile([1, 1, 0, 0], 100), "theirs": np.zeros(400, dtype=int)}
    >>> _, theirs = compare_predictions(y, both, fp_cost=2, fn_cost=np.arange(400) % 90, rules=["theirs"])
    >>> print(f"{theirs.difference:.1f} more ({theirs.difference_low:.1f} to {theirs.difference_high:.1f})")
    9.8 more (7.7 to 12.4)
    """
    truth = read_labels("y_true", y_true)
    if not isinstance(predictions, Mapping) or not predictions:
        raise CostError(f"predictions must be a dictionary of at least one classifier, got {brief(predictions)}")
    if costs is not None:
        matrix = require_matrix(costs, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost), pos_label)
        how = {"sample_weight": sample_weight, "rules": rules, "groups": groups}
        return compare_decisions(truth, predictions, matrix, **how)
    labels = {name: read_labels(f"predictions[{name!r}]", said) for name, said in predictions.items()}
    for name, said in labels.items():
        require_same_length(**{"y_true": truth, f"predictions[{name!r}]": said})
    is_positive, *decisions = where_positive(pos_label, truth, *labels.values())
    costs = RowCosts.read(truth.size, fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
    weight = None if sample_weight is None else read_relative_weights(sample_weight, truth.size)
    named = {name: said[None] for name, said in zip(labels, decisions, strict=True)}
    group = None if groups is None else read_groups(groups)
    if group is not None:
        require_same_length(y_true=truth, groups=group)
    return estimates(costs, is_positive, named, weight, rules=rules, groups=group)


@dataclass(frozen=True)
class _LabelledRows:
    """The rows on which all models are fitted and tested, and how they decide."""

    X: Any
    y: np.ndarray
    costs: RowCosts
    costs_of_rows: bool
    positive: Any
    decide: str

    def said_positive(self, model: Any, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Where a model that is fitted to the training rows predicts positive."""
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.utils import _safe_indexing

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted, seen = clone(model), _safe_indexing(self.X, train)
            if self.costs_of_rows:
                fit_with_costs(fitted, seen, self.y[train], self.costs.take(train))
            else:
                fitted.fit(seen, self.y[train])
            unseen = _safe_indexing(self.X, test)
            how = {"decide": self.decide, "costs_of_rows": self.costs_of_rows, "pos_label": self.positive}
            labels = predict_labels(fitted, unseen, self.costs.take(test), **how)
        return np.asarray(labels == self.positive, dtype=bool)


def make_cost_scorer(
    *,
    fp_cost: Exact = 1.0,
    fn_cost: Exact = 1.0,
    tp_cost: Exact = 0.0,
    tn_cost: Exact = 0.0,
    pos_label: Any = None,
    decide: str = "auto",
    costs: Any = None,
) -> Any:
    """A scikit-learn scorer: minus the expected cost of the decisions, so that greater is better.

    Costs of each row reach it through scikit-learn's metadata routing, for example by
    ``cross_validate(..., params={"fn_cost": amount})``. It requests all four by default, so they need no
    ``set_score_request``; ``set_score_request(sample_weight=True)`` requests weights. Costs of rows override the
    numbers given here. The scorer can also be called directly: ``scorer(estimator, X, y, fn_cost=amount)``.

    Parameters
    ----------
    fp_cost, fn_cost, tp_cost, tn_cost : number
        Costs of the outcomes for which no costs of rows arrive.
    pos_label : label, optional
        The positive class, as in :func:`expected_cost`.
    decide : {"auto", "predict", "alpha"}
        How the decisions are made. ``"auto"`` passes the costs of the rows on to ``predict``, if costs of rows arrive
        and ``predict`` takes fp_cost and fn_cost (that of the last step of a pipeline, of the best estimator of a
        search); scikit-learn's own scorers never do that. ``"predict"`` always calls ``predict(X)``. ``"alpha"`` works
        for every classifier with ``predict_proba``: it predicts positive where that is the cheaper decision at this
        probability and the row's own costs.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from uneven.metrics import make_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_cost_scorer(fp_cost=1, fn_cost=20, pos_label=0)
    >>> bool(cross_val_score(DummyClassifier(), X, y, scoring=scorer).mean() < -7)
    True

    A miss costs more for a large tumour. Each row is decided at its own costs:

    >>> from sklearn import config_context
    >>> from sklearn.naive_bayes import GaussianNB
    >>> scorer = make_cost_scorer(pos_label=0, decide="alpha")
    >>> with config_context(enable_metadata_routing=True):
    ...     found = cross_val_score(GaussianNB(), X, y, scoring=scorer, params={"fn_cost": X[:, 0]})
    >>> found.round(2).tolist()
    [-0.38, -1.01, -0.4, -0.51, -0.29]
    """
    from uneven.metrics.cost_scorer import CostScorer

    require_way_to_decide(decide)
    four = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    if costs is not None:
        if require_matrix(costs, four, pos_label).per_row:
            raise CostError("costs of a scorer must be one matrix for all rows")
        return CostScorer({"costs": costs}, decide)
    for name, cost in four.items():
        if np.ndim(cost) > 0:
            raise CostError(f"{name} of a scorer must be a number; give the costs of rows as metadata, params={{...}}")
        inputs.exact(name, cost, CostError)
    if tp_cost == 0 and tn_cost == 0:
        RowCosts.read(1, **four)
    return CostScorer({**four, "pos_label": pos_label}, decide)
