"""Dask: a linear classifier whose rows stay on the workers of a cluster. Needs the extra ``dask``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.costs import GivenCosts, read_cost
from uneven.errors import CostError, ParameterError, needs_extra
from uneven.inputs import Exact, brief, require_integer
from uneven.learners.contract import costs_of_fit, costs_to_score
from uneven.learners.linear import UnevenLinearClassifier
from uneven.losses import Loss, Phi
from uneven.metrics.expected_cost import expected_cost
from uneven.parts.blocks import Batch
from uneven.parts.cluster import HoldsClient, read_client
from uneven.parts.fitting import FROM_PARTS
from uneven.parts.starting_point import worth_asking
from uneven.tables import columns_in_parts
from uneven.tables.arrow_columns import names_of
from uneven.tables.columns import Sizes
from uneven.tables.columns_in_parts import require_columns

with needs_extra("DaskUnevenLinearClassifier and uneven.adapters.dask", "dask"):
    import dask.array
    import distributed  # noqa: F401

from uneven.parts.dask_parts import FEATURE, DaskParts, on_parts
from uneven.parts.dask_rows import (
    Facts,
    LazyRows,
    column_names,
    facts_of,
    features,
    is_array,
    is_lazy,
    like_rows,
    numbers_of,
    summary,
)

__all__ = ["DaskUnevenLinearClassifier"]

#: Share of the rows in partitions whose own minima help: with less, partitions are not asked for them.
_ABLE_SHARE = 0.9


class DaskUnevenLinearClassifier(HoldsClient, UnevenLinearClassifier):
    r"""A linear classifier that is right for your costs, on the rows of Dask arrays or dataframes.

    It minimises what :class:`uneven.UnevenLinearClassifier` minimises and proves the same gap, with the same numbers
    however the rows are divided. The partitions stay on their workers. Each pass sends the coefficients to every
    partition and gets back the value, the gradient and a small matrix; the client computes the next step.

    A worker that dies costs one pass: Dask makes its partitions anew. If the scheduler is gone, ``fit`` raises
    ``uneven.errors.ClusterError``; with ``warm_start=True`` the next ``fit`` starts from the last coefficients.

    Parameters
    ----------
    loss : str, Phi or Loss
        As in :class:`uneven.UnevenLinearClassifier`; it must be convex. Losses with kinks, such as the hinge, are
        smoothed less and less, until the gap of the true loss is proved.
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` and ``predict`` also take costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry gamma.
    C : positive number
        Weight of the data against the penalty.
    penalty : {"l2", None}
    fit_intercept : bool
    tol : positive number
        The fit ends when the objective is proved to be above its optimum by at most this fraction of itself, or it
        warns. Without penalty, ``duality_gap_`` of :class:`~uneven.UnevenLinearClassifier` says what that means.
    max_iter : int
        Most steps, each about one pass over the partitions.
    warm_start : bool
        Start from the coefficients of the last fit, also of one that the cluster interrupted.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    verbose : bool or int
        Progress on stderr.
    standardize : bool
        Subtract the mean of each column of numbers and divide by its standard deviation, both over all rows. The
        penalty is then that of the standardised columns; ``coef_`` is for the columns as they are.
    most_categories : int
        A column of texts becomes a column of 0 and 1 for each different text that is not rare. With more different
        texts than this its words are hashed.
    buckets : int
        Number of columns that the words of such a column, and of free texts, are hashed into.
    client : dask.distributed.Client, optional
        By default the client of this process that was made last. Clones share it, files lack it.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_, objective_, duality_gap_, stationarity_
        As in :class:`uneven.UnevenLinearClassifier`.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    cost_scale_, loss_, analysis_
        As there.
    n_passes_ : int
        How often all partitions were asked.
    largest_message_ : int
        Bytes of the largest question to one partition, or answer from it, in the passes.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from uneven.adapters.dask import DaskUnevenLinearClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(1000, 3))
    >>> y = X[:, 0] + random.logistic(size=1000) > 2
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     rows, labels = da.from_array(X, chunks=(250, 3)), da.from_array(y, chunks=250)
    ...     model = DaskUnevenLinearClassifier(fn_cost=10).fit(rows, labels)
    ...     flagged = model.predict(rows)                                  # a Dask array, not computed yet
    ...     int(flagged.sum().compute())
    567
    >>> import uneven
    >>> alone = uneven.UnevenLinearClassifier(fn_cost=10).fit(X, y)
    >>> bool(np.allclose(model.coef_, alone.coef_, rtol=1e-3))
    True
    """

    # Parameters of the parent that make no sense here.
    solver = "auto"
    l1_ratio = None
    random_state = None

    def __init__(
        self,
        loss: str | Phi | Loss = "logistic",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        C: float = 1.0,
        penalty: str | None = "l2",
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        pos_label: Any = None,
        neg_label: Any = None,
        verbose: bool | int = False,
        standardize: bool = False,
        most_categories: int = 100,
        buckets: int = 256,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.margin_gamma = margin_gamma
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.verbose = verbose
        self.standardize = standardize
        self.most_categories = most_categories
        self.buckets = buckets
        self.client = client

    def fit(  # type: ignore[override] # paths of files are for the parent; Dask reads them
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Self:
        """Fit to the rows of Dask collections; the partitions are loaded once and stay on their workers.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features)
            Its chunks may have unknown sizes, and partitions may be empty. Texts, categories, dates and missing values
            of dataframes become numbers as those of Parquet files do (:class:`uneven.StreamedRows`); ``coef_`` and
            ``feature_names_in_`` are then for the columns that are made of them.
        y : dask array or series of shape (n_samples,)
            Labels of two classes, with the partitions of X.
        sample_weight : dask array or series of shape (n_samples,), optional
            Nonnegative weights.
        fp_cost, fn_cost, tp_cost, tn_cost : number, dask array or series of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's.

        Returns
        -------
        DaskUnevenLinearClassifier
        """
        self._read_parameters()
        client = read_client(self.client, FEATURE)
        four = costs_of_fit(self, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        parts = self._load(client, LazyRows.read(X, y, sample_weight, four))
        try:
            self.fit_parts(parts, **four)
        except BaseException:  # also Ctrl-C: from there the next fit can go on
            if parts.last_theta is not None:
                self._unfinished = parts.last_theta
            raise
        self.__dict__.pop("_unfinished", None)
        self.n_passes_, self.largest_message_ = parts.passes, parts.largest_message
        return self

    def _load(self, client: Any, data: LazyRows) -> DaskParts:
        """Load the partitions on the workers, and find out what the fit must know before the first pass."""
        held = client.compute(data.delayed())
        found = on_parts(client, held, partial(facts_of, recipe=data.recipe))
        facts = [one for one in found if one.shape[0]]
        if not facts:
            raise CostError("X has no rows in any of its partitions")
        widths = sorted({one.shape[1] for one in facts})
        if len(widths) > 1:
            raise CostError(f"all partitions of X must have the same number of columns, got {widths}")
        held = [one for one, fact in zip(held, found, strict=True) if fact.shape[0]]
        plan = None
        if not all(one.plain for one in facts):
            plan = on_parts(client, held, partial(summary, sizes=Sizes(self.most_categories, self.buckets))).plan()
        near = np.array([one.about for one in facts]) if plan is None else columns_in_parts.near_the_data(plan)[None]
        parts = DaskParts(client, held, Batch(near, np.concatenate([one.labels for one in facts])), plan)
        parts.names = column_names(data.columns["X"]) if plan is None else columns_in_parts.output_names(plan)
        if self.standardize:
            parts.standardized = (
                np.ones(near.shape[1], dtype=bool) if plan is None else columns_in_parts.is_number(plan)
            )
        parts.row_costs = data.row_costs
        regrets = {one.regrets for one in facts}
        if data.row_costs and len(regrets) == 1 and None not in next(iter(regrets)):
            parts.regrets = read_cost(*next(iter(regrets)))
        if _most_know_both_classes(facts, near.shape[1]):
            parts.start = FROM_PARTS
        return parts

    def _read_parameters(self) -> None:
        if self.penalty not in ("l2", None):
            raise ParameterError(
                f"DaskUnevenLinearClassifier has penalty='l2' or None, got penalty={brief(self.penalty)}; for a sample "
                "in memory, UnevenLinearClassifier has others"
            )
        for name in ("most_categories", "buckets"):
            require_integer(name, getattr(self, name))
        super()._read_parameters()

    def _last_theta(self) -> np.ndarray | None:
        unfinished: np.ndarray | None = self.__dict__.get("_unfinished")
        return unfinished if self.warm_start and unfinished is not None else super()._last_theta()

    def fit_path(self, X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None, **costs: Any) -> Any:
        """Not available: fit one model for each C, with ``warm_start=True``.

        Parameters
        ----------
        X : dask array or dataframe
        y : dask array or series
        Cs : iterable of positive numbers
        sample_weight : dask array or series, optional
        **costs
            As in :meth:`fit`.
        """
        raise ParameterError(
            "DaskUnevenLinearClassifier has no fit_path; warm_start=True and one fit after the other would work"
        )

    def in_memory(self) -> UnevenLinearClassifier:
        """The same fitted model without Dask: it can be stored, and used where no Dask is installed.

        Returns
        -------
        UnevenLinearClassifier
        """
        check_is_fitted(self, "classes_")
        known = UnevenLinearClassifier().get_params()
        model = UnevenLinearClassifier(**{name: getattr(self, name) for name in known})
        dropped = {*self.get_params(deep=False), "_unfinished", "n_passes_", "largest_message_"}
        model.__dict__.update({name: value for name, value in self.__dict__.items() if name not in dropped})
        return model

    # -- predicting -------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # for Dask collections these give Dask collections
        decision_function: Any
        predict: Any
        predict_proba: Any
        predict_log_proba: Any

    def _answer(self, method: str, X: Any, given: GivenCosts) -> Any:
        model = self.in_memory()
        if not is_lazy(X):
            return getattr(model, method)(X, **given)
        return _predict(model, method, X, given)

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
        """Minus the expected cost of the decisions: greater is better. It is computed at once.

        Labels, weights and costs come to this process, the columns of X do not.

        Parameters
        ----------
        X : dask array or dataframe, or array-like, of shape (n_samples, n_features)
        y : dask array or series, or array-like, of shape (n_samples,)
        sample_weight : dask array or series, or array-like, of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or one for each row, optional
            As in :class:`uneven.UnevenLinearClassifier`; those of each row are of the kind of X.

        Returns
        -------
        float
        """
        check_is_fitted(self, "classes_")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if not is_lazy(X):
            return self.in_memory().score(X, y, sample_weight, **given)
        costs = costs_to_score(self._costs_of_fit, given, "score")
        asked = {"y_true": y, "y_pred": self.predict(X, **given), "sample_weight": sample_weight, **costs}
        return -expected_cost(**_compute(self.client, asked), pos_label=self._classes.pos_label)


def _most_know_both_classes(facts: list[Facts], columns: int) -> bool:
    """Whether most rows are in partitions that are large and have both classes: their minima are a good start."""
    able = sum(one.shape[0] for one in facts if worth_asking(one.shape[0], columns) and len(one.labels) > 1)
    return able >= _ABLE_SHARE * sum(one.shape[0] for one in facts)


# -- predictions are Dask collections again, computed when somebody asks for them --------------------------------------


def _predict(model: Any, method: str, X: Any, given: dict[str, Any]) -> Any:
    """What a method of a fitted model says about the rows of a collection.

    An array gives an array, a dataframe gives a series or dataframe with its index. ``given`` are the costs, each None,
    a number, or a collection with the partitions of X.
    """
    X = features(X)
    columns = X.shape[1]
    plan = model.__dict__.get("_table_plan")
    if plan is not None:
        if is_array(X):
            raise CostError(
                "the model was fitted on a dataframe with texts, dates or missing values, so X must be a dataframe "
                "with these columns, got a Dask array"
            )
        require_columns(plan, names_of(X), "X")
    elif not np.isnan(columns) and columns != model.n_features_in_:
        raise CostError(
            f"X has {columns} columns, but {type(model).__name__} was fitted with {model.n_features_in_} columns"
        )
    by_row = {
        name: like_rows(name, value, X)
        for name, value in given.items()
        if value is not None and (is_lazy(value) or np.ndim(value))
    }
    numbers = {name: value for name, value in given.items() if value is not None and name not in by_row}
    names = tuple(by_row)
    wide = method in ("predict_proba", "predict_log_proba")
    kind = model.classes_.dtype if method == "predict" else np.dtype(np.float64)
    if not is_array(X):
        return _predict_frame(X, by_row, kind, wide, (model, method, names, numbers))
    if not all(map(is_array, by_row.values())):
        raise CostError("costs of rows in a Dask array must be Dask arrays, too; to_dask_array() makes one of a series")
    pairs = [item for one in by_row.values() for item in (one, "i")]
    return dask.array.blockwise(
        _answer_rows,
        "ik" if wide else "i",
        X,
        "ij",
        *pairs,
        facts=(model, method, names, numbers),
        new_axes={"k": 2} if wide else None,
        dtype=kind,
        concatenate=True,
        align_arrays=False,
        meta=np.empty((0, 2) if wide else 0, dtype=kind),
    )


def _compute(client: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Values by name, with collections as arrays in this process; what is in memory stays as it is."""
    lazy = [name for name, value in values.items() if is_lazy(value)]
    wanted = [values[name] for name in lazy]
    found = dask.compute(*wanted) if client is None else client.gather(client.compute(wanted))
    return {**values, **{name: np.asarray(value) for name, value in zip(lazy, found, strict=True)}}


def _predict_frame(X: Any, by_row: dict[str, Any], kind: Any, wide: bool, facts: Any) -> Any:
    import pandas as pd

    if any(map(is_array, by_row.values())):
        raise CostError("costs of rows in a Dask dataframe must be series of it, got a Dask array")
    labels = facts[0].classes_
    index = X._meta.index[:0]
    if wide:
        meta: Any = pd.DataFrame({label: pd.Series([], dtype=kind) for label in labels.tolist()}, index=index)
    else:
        meta = pd.Series(np.empty(0, dtype=kind), index=index)
    return X.map_partitions(_answer_frame, *by_row.values(), facts=facts, meta=meta, align_dataframes=False)


def _answer_rows(X: np.ndarray, *costs: np.ndarray, facts: Any) -> np.ndarray:
    """The answer for the rows of one partition."""
    model, method, names, numbers = facts
    if not X.shape[0]:
        shape: Any = (0, 2) if method in ("predict_proba", "predict_log_proba") else 0
        return np.empty(shape, dtype=model.classes_.dtype if method == "predict" else np.float64)
    return np.asarray(getattr(model, method)(X, **numbers, **dict(zip(names, costs, strict=True))))


def _answer_frame(X: Any, *costs: Any, facts: Any) -> Any:
    import pandas as pd

    named = zip(facts[2], costs, strict=True)
    values = _answer_rows(X, *(numbers_of(name, one) for name, one in named), facts=facts)
    if values.ndim == 2:
        return pd.DataFrame(values, index=X.index, columns=facts[0].classes_.tolist())
    return pd.Series(values, index=X.index)
