"""Tunes the margin asymmetry, C and the loss by cross-validated expected cost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, Cost, GivenCosts
from uneven.decisions.alpha import DECIDE
from uneven.errors import CostError, LossError, ParameterError
from uneven.inputs import Exact, brief, require_choice
from uneven.learners.base import keep_costs_by_row
from uneven.learners.contract import EstimatorContract
from uneven.learners.folds import Split
from uneven.learners.out_of_fold import splits
from uneven.learners.tuning.gamma_rules import RULES, GammaPath, Table, cv_results, standard_error
from uneven.learners.tuning.gamma_search import Column, Reusable, Task, candidates, run_split
from uneven.learners.tuning.grid import (
    as_parameters,
    costs_of_all,
    labels_as_parameters,
    read_cs,
    read_data,
    read_estimator,
    read_gammas,
    read_losses,
    read_parts,
    read_points,
    read_uses_of_row_costs,
)
from uneven.metrics.cost_scorer import CostScorer
from uneven.parts.cluster import HoldsClient
from uneven.solvers.running import Bar, progress

if TYPE_CHECKING:
    from uneven.decisions.actions import Actions


class UnevenClassifierCV(EstimatorContract, HoldsClient, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Tunes the margin asymmetry (and C, and the loss) of a learner for your costs.

    The criterion is cross-validated expected cost at your costs. Every candidate is calibrated for them: the choice
    does not change which class is cheaper at a given probability, only how the learner gets there.

    It is faster than a grid search. For a hinge (:class:`UnevenSVC`, or the hinge loss) all gammas at one effective C
    share one fit, whose decision threshold moves. Other linear learners start each fit from its neighbours along gamma.
    Preprocessing (the first steps of a Pipeline) is fitted once per split. The kernel matrix is computed once per
    split, if it fits into ``cache_size``. Boosted trees (:class:`UnevenXGBClassifier` and its like) share their binned
    data between gammas.

    Parameters
    ----------
    estimator : {"linear", "svc"}, learner, or Pipeline that ends in one
        Anything with the parameters ``margin_gamma``, ``fp_cost`` and ``fn_cost``.
    loss : loss, optional
        Loss of the learner; by default its own.
    fp_cost, fn_cost, tp_cost, tn_cost : number, optional
        What the two mistakes and the two right decisions cost; by default those of the estimator. ``fit`` also takes
        costs of each row.
    margin_gammas : "auto" or array-like of positive numbers
        The grid. "auto": eleven values around 1, up to the class ratio or the ratio of the classes' total costs (at
        least 4, at most 64); ``margin_gammas_`` holds them.
    Cs : array-like of positive numbers, optional
        By default the learner's own C. For a hinge these are effective values: the candidate has
        C (1 + 1/margin_gamma)/2, so that the balance of data and penalty is the same for every gamma.
    losses : list of losses, optional
        Losses to try, such as mixtures (:func:`uneven.losses.mixture`).
    param_grid : dict, optional
        Other parameters of the learner to try: names and lists of values, as in GridSearchCV, such as
        ``{"max_depth": [3, 6]}`` of boosted trees.
    cv : int, splitter, iterable of splits, or None
        None: 5 stratified folds. A number of folds beyond the size of the rarer class is reduced, with a warning.
    scoring : None, str or callable
        None: minus the expected cost. Otherwise a scikit-learn scorer, which sees no sample weights. One from
        ``make_cost_scorer`` is given the costs of each row, other scorers see what ``predict`` says without them.
    rule : {"best", "one_standard_error", "smoothed", "shrunk", "averaged"}
        How to choose. All but "best" guard against the noise of few folds. "one_standard_error": the gamma nearest 1
        among those within one standard error of the best. "smoothed": the best after averaging neighbouring gammas.
        "shrunk": the best, moved towards 1 the more its gain is uncertain. "averaged": the geometric mean of the three
        best.
    n_jobs : int or None
        Number of splits that run in parallel.
    refit : bool
        Fit the chosen candidate on all rows. Without it there is no ``predict``.
    verbose : bool, int or None
        Progress on stderr. None: only on a terminal, and only if the search takes long.
    pos_label : label, optional
        The positive class; by default that of the estimator.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    row_costs : {"auto", "learn", "decide"}
        How costs of each row are used. "learn": the rows are weighted by them, and the threshold is 0. "decide": the
        fit uses the costs of the constructor, and each row is decided by its own costs, which ``predict`` then needs;
        the loss must identify probabilities. "auto": both are tried where possible, and the cheaper one is kept.
    client : dask.distributed.Client, optional
        Search on a Dask cluster, which replaces ``n_jobs``: X goes to every worker once, and splits are tasks there,
        divided further by loss, C and gamma if the cluster has more threads. Clones share the client, files lack it.
        Needs the extra ``dask``.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in scikit-learn's GridSearchCV; ``pandas.DataFrame(search.cv_results_)`` reads well.
    best_params_, best_index_, best_score_, best_estimator_
        As in GridSearchCV. ``best_score_`` is the score of the chosen candidate, also if the rule is not "best".
    margin_gammas_ : ndarray
        The grid.
    gamma_path_ : GammaPath
        Mean and standard error of the cost per gamma at the chosen C and loss.
    row_costs_ : {"learn", "decide"} or None
        The chosen way to use costs of each row; None if all rows have the same costs.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    n_splits_ : int
    refit_time_ : float
    classes_ : ndarray of shape (2,)
    n_features_in_ : int

    Notes
    -----
    Candidates with a smooth loss and a squared penalty only decide about the test rows, so their fits are not proved:
    they end when the gradient promises the learner's ``tol``, or warn as usual. ``best_estimator_`` is proved, and with
    ``scoring`` every fit is.

    Ctrl-C ends the search with a KeyboardInterrupt. ``cv_results_`` then holds the finished results (NaN elsewhere),
    and a line on stderr says so.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> model = make_pipeline(StandardScaler(), uneven.UnevenSVC(pos_label=0))
    >>> search = uneven.UnevenClassifierCV(model, fp_cost=1, fn_cost=20, Cs=[1, 10], margin_gammas=[0.5, 1, 2])
    >>> search.fit(X, y).best_params_                                 # C is (1 + 1/gamma)/2 times one of Cs
    {'unevensvc__margin_gamma': 2.0, 'unevensvc__C': 7.5}
    >>> search.gamma_path_.mean_cost.round(2)
    array([0.44, 0.25, 0.22])
    """

    #: As scikit-learn's group splitters, it wants these without being told.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "times": True}

    def __init__(
        self,
        estimator: Any = "linear",
        *,
        loss: Any = None,
        fp_cost: Exact | None = None,
        fn_cost: Exact | None = None,
        tp_cost: Exact | None = None,
        tn_cost: Exact | None = None,
        margin_gammas: Any = "auto",
        Cs: Any = None,
        losses: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        n_jobs: int | None = None,
        refit: bool = True,
        verbose: bool | int | None = None,
        pos_label: Any = None,
        neg_label: Any = None,
        row_costs: str = "auto",
        param_grid: Any = None,
        client: Any = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.margin_gammas = margin_gammas
        self.Cs = Cs
        self.losses = losses
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.refit = refit
        self.verbose = verbose
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.row_costs = row_costs
        self.param_grid = param_grid
        self.client = client

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = get_tags(read_estimator(self)[0])
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        times: Any = None,
    ) -> UnevenClassifierCV:
        """Cross-validate the grid, choose, and fit the choice on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the examples, in fitting and in the expected cost.
        groups : array-like of shape (n_samples,), optional
            Rows of one customer: they are in one fold, or go to the splitter of ``cv``. See docs/folds.md.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's.
        times : array-like of shape (n_samples,), optional
            When each row happened: numbers, dates or periods. Each fold is then tested with models of earlier rows.

        Returns
        -------
        UnevenClassifierCV
        """
        require_choice("rule", self.rule, tuple(RULES))
        if self.client is not None and self.n_jobs not in (None, 1):
            raise ParameterError(f"give client or n_jobs, got both: n_jobs={brief(self.n_jobs)}; leave n_jobs out")
        whole, steps, learner, prefix = read_parts(self)
        if getattr(learner, "cost_range", None) is not None:
            raise ParameterError(
                "UnevenClassifierCV tunes a learner for two costs, got one with "
                f"cost_range={brief(learner.cost_range)}; GridSearchCV with "
                "scoring=uneven.metrics.make_mean_cost_scorer(prior) would tune it"
            )
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        problem = read_data(X, y, sample_weight, given, steps, learner)
        X, y = indexable(X, y)
        classes = problem.classes.labels
        labels = problem.classes.label(problem.y)
        weight = problem.weight_or_none
        costs = costs_of_all(given, problem.y.size, learner)
        fixed = labels_as_parameters(problem.classes, learner)
        if isinstance(problem.costs, Cost):  # numbers given to fit are those of the learner from here on
            fixed |= as_parameters(given, costs)
        learner.set_params(**fixed)
        whole.set_params(**{f"{prefix}{name}": value for name, value in fixed.items()})
        self.margin_gammas_ = read_gammas(self, problem)
        losses = read_losses(self, learner)
        uses = read_uses_of_row_costs(self, problem, learner, losses)
        task = Task(
            learner=learner,
            steps=steps,
            candidates=candidates(
                learner,
                losses,
                read_cs(self, learner),
                self.margin_gammas_,
                uses or [None],
                read_points(self, learner),
            ),
            costs=costs,
            pos_label=learner.pos_label,
            scorer=None if self.scoring is None else check_scoring(learner, scoring=self.scoring),
        )
        parts = splits(self.cv, X, labels, classes, groups, times=times)
        self.n_splits_ = len(parts)
        columns = [Column.empty(len(task.candidates)) for _ in parts]
        try:
            self._run(task, X, labels, weight, parts, columns)
        except KeyboardInterrupt:
            self._keep(task, columns, prefix)
            finished = sum(not np.isnan(column.scores).any() for column in columns)
            progress(True, type(self).__name__)(
                f"interrupted: {finished} of {len(parts)} splits are finished; cv_results_ holds their results, and "
                "no model was refitted"
            )
            raise
        self._keep(task, columns, prefix)
        self.classes_ = classes
        self._costs = {name: getattr(learner, name, 0) for name in COSTS}
        self._costs |= {name: value for name, value in given.items() if value is not None and not np.ndim(value)}
        self._costs_by_row = [name for name, value in given.items() if self.row_costs_ is not None and np.ndim(value)]
        self._positive = problem.classes.positive
        self._constant_sums = problem.constant_sums
        if self.refit:
            used = {"sample_weight": weight, **task.given(np.arange(problem.y.size), self.row_costs_)}
            self._refit(whole, X, y, {f"{prefix}{name}": value for name, value in used.items() if value is not None})
            if self.row_costs_ != DECIDE:
                best = self.best_estimator_[-1] if isinstance(self.best_estimator_, Pipeline) else self.best_estimator_
                keep_costs_by_row(best, [name for name, value in given.items() if np.ndim(value)])
        return self

    def _refit(self, whole: Any, X: Any, y: Any, used: dict[str, Any]) -> None:
        """Fit the best candidate to all rows."""
        started = time.perf_counter()
        self.best_estimator_ = clone(whole).set_params(**self.best_params_)
        with config_context(enable_metadata_routing=False):  # a pipeline would want requests for these names
            self.best_estimator_.fit(X, y, **used)
        self.refit_time_ = time.perf_counter() - started
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    # -- searching --------------------------------------------------------------------------------------------------

    def _run(self, task: Task, X: Any, y: np.ndarray, weight: Any, parts: list[Split], columns: list[Column]) -> None:
        """Fill the columns, split by split."""
        verbose = self.verbose
        tell = progress(verbose, type(self).__name__)
        tell(f"{len(task.candidates)} candidates, margin_gammas {', '.join(f'{g:g}' for g in self.margin_gammas_)}")
        if self.client is not None:
            from uneven.learners.tuning.dask_search import Shared, run_on_cluster

            shared = Shared(task, X, y, weight, parts)
            run_on_cluster(
                self.client, shared, columns, lambda count: Bar(verbose, type(self).__name__, count, "tasks").advance
            )
            return
        bar = Bar(verbose, type(self).__name__, len(parts), "splits")
        if self.n_jobs in (None, 1):
            reusable = Reusable()
            for (train, test), column in zip(parts, columns, strict=True):
                run_split(task, X, y, weight, train, test, column, reusable)
                bar.advance()
            return
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(run_split)(task, X, y, weight, train, test) for train, test in parts
        )
        for number, column in enumerate(work):
            columns[number] = column
            bar.advance()

    def _keep(self, task: Task, columns: list[Column], prefix: str) -> None:
        """Keep the results of all splits, finished or not, and choose by the finished ones."""
        self._forget_changes()
        params = [{f"{prefix}{name}": value for name, value in c.params.items()} for c in task.candidates]
        if len({repr(c.loss) for c in task.candidates}) == 1:
            params = [{name: v for name, v in p.items() if name != f"{prefix}loss"} for p in params]
        self.cv_results_ = cv_results(params, columns)
        if task.candidates[0].row_costs is not None:
            self.cv_results_["row_costs"] = np.array([candidate.row_costs for candidate in task.candidates])
        costs = -np.stack([column.scores for column in columns], axis=1)
        complete = ~np.isnan(costs).any(axis=0)
        if not complete.any():
            return
        table = Table(
            costs=costs[:, complete],
            gammas=np.array([float(c.margin_gamma) for c in task.candidates]),
            Cs=np.array([np.nan if c.C is None else float(c.C) for c in task.candidates]),
            paths=np.array([c.path for c in task.candidates]),
        )
        self.best_index_ = RULES[self.rule](table)
        self.best_params_ = params[self.best_index_]
        self.row_costs_ = task.candidates[self.best_index_].row_costs
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        path = np.flatnonzero(table.paths == table.paths[self.best_index_])
        self.gamma_path_ = GammaPath(
            margin_gamma=table.gammas[path],
            mean_cost=table.mean[path],
            standard_error=standard_error(table.costs[path]),
            chosen=float(table.gammas[self.best_index_]),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the gamma path: cost and its standard error against gamma; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self, "gamma_path_")
        return self.gamma_path_.plot(ax)

    # -- predicting -------------------------------------------------------------------------------------------------

    def _require_model(self) -> Any:
        check_is_fitted(self, "classes_")
        if not hasattr(self, "best_estimator_"):
            raise LossError(
                "refit=False leaves no model to predict with; refit=True, or fitting best_params_ yourself, would work"
            )
        return self.best_estimator_

    def _require_method(self, method: str) -> None:
        model = self.best_estimator_ if hasattr(self, "best_estimator_") else read_estimator(self)[0]
        getattr(model, method)  # its own AttributeError says why

    def _costs_for(self, method: str, given: GivenCosts) -> dict[str, Any]:
        """The costs that a method of the chosen estimator is told."""
        costs = given.known
        if self.row_costs_ == DECIDE and method != "predict_proba" and not costs:
            raise CostError(
                f"this search chose to decide each row by its own costs (row_costs_ is 'decide'), so {method} needs "
                "them: give fp_cost and fn_cost, or fit with row_costs='learn'"
            )
        return self._costs | costs if costs and self.row_costs_ is not None else costs

    def _asks(self, given: GivenCosts) -> tuple[Any, GivenCosts]:
        return self._require_model(), GivenCosts(**self._costs_for("explain", given))

    def _answer(self, method: str, X: Any, given: GivenCosts) -> Any:
        """What a method of the chosen estimator says about rows with these costs."""
        if method == "predict_log_proba":
            return super()._answer(method, X, given)
        model, costs = self._require_model(), self._costs_for(method, given)
        if costs and isinstance(model, Pipeline):  # without the pipeline's own routing, which would need requests
            X = model[:-1].transform(X) if len(model.steps) > 1 else X
            model = model[-1]
        return np.asarray(getattr(model, method)(X, **costs))

    def _share_of_fit(self) -> float | None:
        model = self._require_model()
        share: float | None = (model[-1] if isinstance(model, Pipeline) else model)._share_of_fit()
        return share

    def _set_costs(self, numbers: dict[str, float], actions: Actions | None) -> None:
        """The chosen learner decides at these costs; what the search found is about those of the fit."""
        model, use = self._require_model(), self._in_use
        assert use is not None
        last = model[-1] if isinstance(model, Pipeline) else model
        share = last._share_of_fit() if use.use is None else use.use  # None: also if it was changed before
        changed = last.with_costs(**numbers, prevalence=share)
        if isinstance(model, Pipeline):
            changed = Pipeline([*model.steps[:-1], (model.steps[-1][0], changed)])
        self.best_estimator_, self.row_costs_ = changed, None
        self._costs, self._costs_by_row, self._actions_of_fit = dict(numbers), [], actions

    def _say_what_holds(self, before: EstimatorContract) -> list[str]:
        model = self._require_model()
        found: list[str] = (model[-1] if isinstance(model, Pipeline) else model)._say_what_holds(before)
        return [
            *found,
            "The setting was chosen by what it costs at the costs of the fit; so were best_score_ and such.",
        ]

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> float:
        """Minus the expected cost, like ``best_score_``; with ``scoring`` given, that score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows; those not given are the numbers of the fit. Those of which the fit had one for each row
            must be given.

        Returns
        -------
        float
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if self.scoring is None:
            return super().score(X, y, sample_weight, **given)
        model = self._require_model()
        scorer = check_scoring(model, scoring=self.scoring)
        used = {name: value for name, value in {"sample_weight": sample_weight, **given}.items() if value is not None}
        costs = [name for name in used if name in COSTS]
        if costs and not isinstance(scorer, CostScorer):
            raise CostError(
                f"scoring={brief(self.scoring)} uses no costs, got {', '.join(costs)}; make_cost_scorer() would"
            )
        return float(scorer(model, X, y, **used))

    @property
    def _costs_of_fit(self) -> dict[str, Any]:  # type: ignore[override]
        """The costs of the fit that are numbers."""
        return {name: value for name, value in self._costs.items() if name not in self._costs_by_row}
