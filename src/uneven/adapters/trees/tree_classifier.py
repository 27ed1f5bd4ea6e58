"""What the estimators over XGBoost, LightGBM and CatBoost share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from uneven.adapters.trees.library_parameters import LibraryParameters, facts_of, restored
from uneven.adapters.trees.tree_objective import METRICS, Descent, TreeRows, evaluation_rows, row_losses, training_rows
from uneven.calibration.calibrated_losses import only_alpha
from uneven.costs import COSTS, Cost, GivenCosts, RowCosts, read_cost, read_costs
from uneven.errors import CostError, ParameterError, SolverError
from uneven.inputs import Exact, brief, require_choice, require_integer, to_float
from uneven.labels import read_target, read_weights
from uneven.learners.base import UnevenClassifier
from uneven.learners.contract import costs_of_fit
from uneven.learners.training_set import TrainingSet, read_features
from uneven.losses import Loss, Phi

Self = TypeVar("Self", bound="UnevenTreeClassifier")

#: Names that ``eval_set`` gets in ``evals_result_``, as in XGBoost.
EVALUATION = "validation_{}"
#: alpha of costs that differ by a factor of ten: from there on, probabilities of trees need a check on other rows.
_EVEN = 1 / 11 + 1e-9


@dataclass(frozen=True)
class _Evaluation:
    """Rows as the library sees them, and their classes and sample weights as they were given."""

    rows: TreeRows
    y: np.ndarray
    weight: np.ndarray


class UnevenTreeClassifier(UnevenClassifier):
    """Base of the estimators that train a tree library with our losses.

    A subclass says how its library bins data (``_bin_rows``), trains (``_train``), predicts (``_score``), and writes
    and reads files. Its docstring takes the sections below in place of ``{parameters}`` and ``{attributes}``.

    Parameters
    ----------
    loss : str, Phi or Loss
        A name (:func:`uneven.losses.names`), an expression in t, a phi, or a finished loss. For a loss that is not
        convex the curvature is replaced by a bound of it, so that steps descend. One with kinks is smoothed there.
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` and ``predict`` also take costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry gamma. You may tune it freely: the classifier stays calibrated for your costs.
    eval_metric : {"surrogate", "cost"}
        What is computed on ``eval_set`` in each round and what early stopping looks at: the loss, or the cost of the
        decisions above that of the right ones, per row.
    warmup_rounds : int, optional
        For a loss that is not convex: so many rounds descend the logistic loss for the same costs first, by default
        half of them. Far from 0 such a loss is flat, and descent from a constant may lead nowhere.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    cost_range : pair of numbers or CostPrior, optional
        In place of the costs: the least and the largest ratio fn_cost/fp_cost, as in
        :class:`uneven.UnevenLinearClassifier`. After ``warmup_rounds`` the trees descend the mean cost over the range.

    Attributes
    ----------
    start_ : float
        The best constant score, which the scores contain.
    classes_ : ndarray of shape (2,)
    evals_result_ : dict
        ``eval_metric`` of each evaluation set and round.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    probability_ratio_ : float or None
        Mean of ``predict_proba`` over the share of positives, on ``eval_set`` or else the training rows; if it is far
        from 1, ``predict_proba`` warns.
    cost_scale_, loss_, analysis_
        As in :class:`uneven.UnevenLinearClassifier`.
    """

    _library: ClassVar[LibraryParameters]

    def __init__(
        self,
        loss: str | Phi | Loss = "logistic",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        eval_metric: str = "surrogate",
        warmup_rounds: int | None = None,
        pos_label: Any = None,
        neg_label: Any = None,
        cost_range: Any = None,
        **library: Any,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.margin_gamma = margin_gamma
        self.eval_metric = eval_metric
        self.warmup_rounds = warmup_rounds
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.cost_range = cost_range
        self._library.check(library)
        for name, default in self._library.defaults.items():
            setattr(self, name, library.pop(name, default))
        if library:
            self._more = library

    # -- parameters -------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Our parameters and those of the library.

        Parameters
        ----------
        deep : bool

        Returns
        -------
        dict
        """
        return {**super().get_params(deep=deep), **self.__dict__.get("_more", {})}

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters of ours or of the library.

        Parameters
        ----------
        **params

        Returns
        -------
        estimator
        """
        known = super().get_params(deep=True)
        more = {name: value for name, value in params.items() if name not in known}
        self._library.check(more)
        if more:
            self._more = {**self.__dict__.get("_more", {}), **more}
        super().set_params(**{name: value for name, value in params.items() if name in known})
        return self

    def _library_values(self) -> dict[str, Any]:
        """The parameters of the library."""
        values = {name: getattr(self, name) for name in self._library.defaults}
        return {**values, **self.__dict__.get("_more", {})}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """A data frame as it is, for the library to read; anything else as a matrix that may hold NaN."""
        if hasattr(X, "columns") and hasattr(X, "shape"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            if reset and X.shape[0] == 0:
                raise CostError("X has 0 rows: there is nothing to learn from")
            return X
        return read_features(self, X, reset=reset, missing=True)

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self: Self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_costs: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Train with the loss that is calibrated for the costs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Missing values and categorical columns as the library takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's. A row whose mistake
            costs nothing does not count; one whose mistake pays is learnt with the other label, with a warning.
        eval_set : list of (X, y), optional
            Rows that are not trained on. ``eval_metric`` of each round is in ``evals_result_``; the library's early
            stopping looks at it.
        eval_sample_weight : list of array-like, optional
            Weights of these rows, for each evaluation set.
        eval_costs : list of dict, optional
            Costs of these rows, for each evaluation set; needed if ``fit`` is given costs of each row.
        callbacks : list, optional
            Callbacks of the library.

        Returns
        -------
        estimator
        """
        self._read_parameters()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if eval_set is None:
            self._require_no_early_stopping()
        problem = self._read(X, y, sample_weight, given)
        loss = self._loss_for(problem.costs)
        rows, scale = training_rows(problem, self.loss)
        evaluations = self._read_evaluations(eval_set, eval_sample_weight, eval_costs, given)
        self._remember(problem, scale, loss)
        seen = [one.rows for one in evaluations]
        self._descend(problem, loss, rows, self._bin_rows(rows), seen, list(callbacks or []))
        held = evaluations[0] if evaluations else _Evaluation(rows, problem.y, problem.sample_weight)
        self._check_probabilities(held.rows.X, held.y, held.weight, given)
        self._checked_on = "eval_set" if evaluations else "the training rows"
        return self

    def _read_parameters(self) -> None:
        require_choice("eval_metric", self.eval_metric, METRICS)
        if self.warmup_rounds is not None:
            require_integer("warmup_rounds", self.warmup_rounds, least=0, wanted="None, 0 or a positive integer")

    def _require_no_early_stopping(self) -> None:
        """Raise if early stopping is asked for: without an evaluation set it has nothing to look at."""
        values = self._library_values()
        asked = [name for name in self._early_stopping if values.get(name)]
        if asked:
            raise ParameterError(
                f"{asked[0]}={brief(values[asked[0]])} needs eval_set: early stopping looks at rows that are not "
                f"trained on; give eval_set=[(X, y)] to fit, or leave {asked[0]} out"
            )

    def _doubt_about_probabilities(self) -> str | None:
        """Also if trees were trained for very uneven costs, and nobody looked at other rows than theirs."""
        found = super()._doubt_about_probabilities()
        regrets = self._fitted_with[1]
        if found is not None or self._checked_on == "eval_set" or regrets is None:
            return found
        alpha = read_cost(*regrets).alpha
        if _EVEN <= alpha <= 1 - _EVEN:
            return None
        return (
            "trees that are trained for such uneven costs may be off by a factor of 100 on new rows, and fit was given "
            "no eval_set to check them on"
        )

    def shared_fits(
        self: Self, X: Any, y: Any, sample_weight: Any, costs: GivenCosts, params: list[dict[str, Any]]
    ) -> Iterator[Self]:
        """Fitted copies for several margins or losses, which share the binned data.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        costs : dict
            As given to :meth:`fit`.
        params : list of dict
            ``margin_gamma`` and ``loss`` of each copy.

        Returns
        -------
        iterator of estimators
        """
        self._require_no_early_stopping()
        binned = problem = None
        for one in params:
            model = clone(self).set_params(**one)
            if problem is None:
                problem = model._read(X, y, sample_weight, costs)
                first = model
            else:
                model._keep_classes(problem.classes)
                for name in ("n_features_in_", "feature_names_in_"):
                    if hasattr(first, name):
                        setattr(model, name, getattr(first, name))
            loss = model._loss_for(problem.costs)
            rows, scale = training_rows(problem, model.loss)
            if binned is None:
                binned = model._bin_rows(rows)
            model._remember(problem, scale, loss)
            model._descend(problem, loss, rows, binned, [], [])
            model._check_probabilities(rows.X, problem.y, problem.sample_weight, costs)
            yield model

    def _descend(
        self,
        problem: TrainingSet,
        loss: Loss,
        rows: TreeRows,
        binned: Any,
        evaluations: list[TreeRows],
        callbacks: list[Any],
    ) -> None:
        finished = isinstance(self.loss, Loss)
        losses = row_losses(loss, weighted=finished)
        inside = None
        if finished and not losses.pair.convex:
            costs = problem.costs
            inside = to_float(costs.exact_alpha if isinstance(costs, Cost) else only_alpha(loss))
        warmup = self._rounds() // 2 if self.warmup_rounds is None else int(self.warmup_rounds)
        descent = Descent.of(losses, inside, warmup, rows, self.eval_metric)
        self.start_ = descent.start
        self.evals_result_: dict[str, dict[str, list[float]]] = {}
        self.best_iteration_: int | None = None
        self.booster_ = self._train(rows, binned, descent, evaluations, callbacks)
        if self._is_constant() and self._would_split(rows):
            raise SolverError(
                f"{type(self).__name__} learnt a constant, though {self._library.name} finds splits with its own "
                f"logistic objective: for {losses.pair.names} no split was worth its price; limits such as "
                f"{self._limits} are in units of the loss's curvature, so lower them"
            )

    def _read_evaluations(self, eval_set: Any, weights: Any, costs: Any, given: GivenCosts) -> list[_Evaluation]:
        """The evaluation sets, checked."""
        sets = [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
        weights, costs = ([None] * len(sets) if each is None else each for each in (weights, costs))
        for name, each in (("eval_sample_weight", weights), ("eval_costs", costs)):
            if len(each) != len(sets):
                raise ParameterError(
                    f"{name} must have one entry for each of {len(sets)} evaluation sets, got {len(each)}"
                )
        return [self._read_evaluation(*parts, given) for parts in zip(sets, weights, costs, strict=True)]

    def _read_evaluation(self, pair: Any, sample_weight: Any, costs: Any, given: GivenCosts) -> _Evaluation:
        X = self._read_features(pair[0], reset=False)
        labels = read_target(pair[1], X.shape[0])
        strange = ~np.isin(labels, self.classes_)
        if strange.any():
            raise CostError(
                f"the labels of eval_set must be {brief(self.classes_.tolist())}, got {brief(labels[strange][0])}"
            )
        four = costs_of_fit(self, given)
        if costs is not None:
            four.update(costs)
        elif four.per_row:
            raise CostError("fit was given costs of each row, so eval_set needs its own: give them as eval_costs")
        y = (labels == self.classes_[self._positive]).astype(np.int8)
        weight = read_weights(sample_weight, y.size)
        rows = evaluation_rows(X, y, weight, _costs(y.size, four), self.loss, self.eval_metric)
        return _Evaluation(rows, y, weight)

    # -- what a library does ----------------------------------------------------------------------------------------

    #: Names of the library's limits on leaves, for messages.
    _limits: ClassVar[str]
    #: Parameters of the library that ask for early stopping.
    _early_stopping: ClassVar[tuple[str, ...]] = ("early_stopping_rounds",)

    @abstractmethod
    def _rounds(self) -> int:
        """The number of rounds, if training does not stop early."""

    @abstractmethod
    def _bin_rows(self, rows: TreeRows) -> Any:
        """The training set as the library keeps it."""

    @abstractmethod
    def _train(
        self, rows: TreeRows, binned: Any, descent: Descent, evaluations: list[TreeRows], callbacks: list[Any]
    ) -> Any:
        """The trained model, whose raw scores contain the start; sets ``evals_result_`` and ``best_iteration_``."""

    @abstractmethod
    def _is_constant(self) -> bool:
        """Whether the trained model has no split."""

    @abstractmethod
    def _would_split(self, rows: TreeRows) -> bool:
        """Whether one round of the library's own logistic objective splits, with the same parameters."""

    @abstractmethod
    def _write(self, path: str, facts: str) -> None:
        """Write the model in the library's format, with our facts in it."""

    @classmethod
    @abstractmethod
    def _open_model(cls, path: str) -> tuple[Any, str | None]:
        """The model of a file, and our facts."""

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the fitted model to one file in the library's own format, with our facts (loss, costs, labels) in it.

        The library alone can open the file, and gives the same raw scores. Nothing is pickled.

        Parameters
        ----------
        path : path-like
        """
        check_is_fitted(self, "booster_")
        if self._in_use is not None:
            raise ParameterError(
                "a model of with_costs is not stored in the library's own format, which knows the costs of the fit; "
                "skops.io.dump would work, or save the model as it was"
            )
        self._write(str(path), facts_of(self))

    @classmethod
    def load(cls: type[Self], path: Any) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        estimator
        """
        booster, facts = cls._open_model(str(path))
        if facts is None:
            raise ParameterError(
                f"{path} holds a model of {cls._library.name} that {cls.__name__}.save did not write: its loss, costs "
                f"and labels are not known; {cls._library.name} itself can open it"
            )
        model = restored(cls, facts)
        model.booster_ = booster
        return model

    @property
    @abstractmethod
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column, as the library computes it; they sum to 1."""


def _costs(count: int, four: dict[str, Any]) -> Cost | RowCosts:
    return read_costs(count, {name: four[name] for name in COSTS})


def shares_of(importances: Any) -> np.ndarray:
    """Importances that sum to 1; all 0 if there is no split."""
    values = np.asarray(importances, dtype=np.float64)
    return values / values.sum() if values.sum() > 0 else values
