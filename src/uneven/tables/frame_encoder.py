"""A data frame, an array or a sparse matrix as the matrix that a classifier takes, in one of two views."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from uneven.errors import ParameterError, UnevenError, needs_extra
from uneven.inputs import brief, require_choice, require_integer
from uneven.tables.category_columns import (
    MOST_CATEGORIES,
    MOST_COUNTED,
    SPARSE_BELOW,
    CategoryEncoder,
    ManyCategoriesEncoder,
    rare_below,
)
from uneven.tables.column_values import learnt_columns, typed_frame
from uneven.tables.columns import CATEGORY, MANY, NUMBER, TEXT, Column, Sizes, typed_names
from uneven.tables.names_as_text import with_names, with_text
from uneven.tables.number_columns import FloatNumbers, NumberScaler
from uneven.tables.text_columns import WORD_COLUMNS, LatentTextEncoder, WordEncoder


class Blocks(ColumnTransformer):  # type: ignore[misc]
    """A ColumnTransformer for thousands of columns.

    Columns are given by position (see :func:`positions`): scikit-learn looks for each name in the list of all names,
    which takes time with the square of their number. The names and positions that it keeps are one text in a model
    file, which takes long for each object.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = {**with_text(super().__getstate__())}
        places = state.pop("_transformer_to_input_indices", None)
        if places is not None:
            state["places"] = json.dumps({name: [int(k) for k in at] for name, at in places.items()})
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {**with_names(state)}
        if "places" in state:
            state["_transformer_to_input_indices"] = json.loads(state.pop("places"))
        super().__setstate__(state)


def positions(made: list[str], *blocks: tuple[str, Any, list[str]]) -> list[tuple[str, Any, np.ndarray]]:
    """The blocks with the positions of their columns among those that are ``made``, in place of their names."""
    at = {name: k for k, name in enumerate(made)}
    return [
        (name, encoder, np.array([at[column] for column in columns], dtype=int)) for name, encoder, columns in blocks
    ]


# -- what a user gives as X --------------------------------------------------------------------------------------------

FRAME, ARRAY, SPARSE = "frame", "array", "sparse"


def read_input(X: Any) -> tuple[str, Any]:
    """The kind of X, and X as a data frame whose columns have texts as names, array of numbers or CSR matrix.

    Infinite numbers count as missing (NaN).
    """
    if issparse(X):
        return SPARSE, _finite_sparse(
            check_array(X, accept_sparse="csr", dtype=_float(X.dtype), ensure_all_finite=False)
        )
    if hasattr(X, "to_pandas"):  # polars and Arrow
        _require_pandas()
        X = X.to_pandas()
    if hasattr(X, "iloc"):
        return FRAME, _named(X)
    if hasattr(X, "collect"):
        raise UnevenError(f"X must be a data frame, an array or a sparse matrix, got {type(X).__name__}; collect() it")
    array = _as_array(X)
    if array.dtype.kind not in "OUSMm":
        array = check_array(array, dtype=_float(array.dtype), ensure_all_finite=False)
        infinite = np.isinf(array)
        return ARRAY, np.where(infinite, np.nan, array) if infinite.any() else array
    if array.ndim != 2:
        check_array(array, dtype=None, ensure_all_finite=False)
    _require_pandas()
    import pandas as pd

    names = [f"x{k}" for k in range(array.shape[1])]
    return FRAME, _named(pd.DataFrame(array, columns=names, dtype=object if array.dtype.kind in "OUS" else None))


def _as_array(X: Any) -> np.ndarray:
    if isinstance(X, np.ndarray):
        return X
    try:
        array = np.asarray(X)
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    except ValueError as error:
        raise UnevenError(f"X must be a data frame, an array or a sparse matrix, got {brief(X)}: {error}") from None


def _float(dtype: np.dtype[Any]) -> Any:
    """The type to keep numbers in: their own, but a float type for what is none of float, double and integer."""
    if dtype.kind in "iu" or dtype in (np.float32, np.float64) or dtype.kind == "c":
        return None
    return np.float32 if dtype.itemsize < 8 else np.float64


def _finite_sparse(X: Any) -> Any:
    if X.dtype.kind == "f" and not np.isfinite(X.data).all():
        X = X.copy()
        X.data[np.isinf(X.data)] = np.nan
    return X


def _named(frame: Any) -> Any:
    """The same frame with texts as names of columns."""
    if frame.ndim != 2:
        raise UnevenError(f"Expected 2D array, got {frame.ndim}D array instead: X must have rows and columns")
    rows, width = frame.shape
    if not rows or not width:
        raise UnevenError(
            f"Found array with {rows} sample(s) and {width} feature(s) (shape=({rows}, {width})): X must have at least "
            "one row and one column"
        )
    names = [str(name) for name in frame.columns.astype(object)]
    double = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    if double:
        raise UnevenError(f"X has two columns named {min(double)!r}; rename one")
    import pandas as pd

    return frame.set_axis(pd.Index(names, dtype=object), axis=1)  # an index of Arrow texts takes longer at every use


def _require_pandas() -> None:
    with needs_extra("tables", "data"):
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401


# -- the encoder -------------------------------------------------------------------------------------------------------

TREES, LINEAR = "trees", "linear"
#: A sparse matrix with at most this many numbers becomes dense for trees.
_MOST_DENSE = 50_000_000


class FrameEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """A table with texts, categories, dates and missing values as a matrix of numbers.

    It decides at fit what each column is: numbers, few categories (up to 20), many categories, texts or dates. Numbers
    and dates written as texts are recognised. Columns with one value are left out.

    Parameters
    ----------
    view : {"trees", "linear"}
        What the matrix is for.

        - "trees": dense, float32. Numbers and parts of dates as they are, NaN where missing; a column of 0 and 1 for
          each of few categories; for many categories the mean label and the number of rows of the category; for texts
          8 or 20 latent columns as well.
        - "linear": sparse if mostly zeros. Numbers standardised, filled in with the mean and flagged where missing; a
          column of 0 and 1 for each frequent category (and month, day of week, hour); for free texts also TF-IDF of
          words.
    most_categories : int
        For linear models a column with more different texts has no columns for single texts, only for hashed words.
    buckets : int
        Columns that the words of a column are hashed into, for linear models.
    random_state : int
        Decides the folds of the mean labels and the start of the latent columns.

    Attributes
    ----------
    columns_ : list of Column
        Columns of a table that are used, and what they are.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X is a table.

    Notes
    -----
    ``fit_transform(X, y)`` is for the rows of the fit: a row's mean label never contains its own label. ``transform``
    is for new rows, and gives the rows of the fit other values. A pipeline does this right.

    An array of numbers passes through for trees, and is standardised for linear models. A sparse matrix is divided by
    the largest absolute values of its columns for linear models; for trees it becomes dense if that takes at most 50
    million numbers.

    Columns of new rows are found by their names, in any order; further columns are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from uneven.tables import FrameEncoder
    >>> X = pd.DataFrame({"age": [20, None, 40, 31], "city": ["Graz", "Linz", "Graz", None]})
    >>> encoder = FrameEncoder(view="trees")
    >>> encoder.fit_transform(X, [0, 1, 0, 1])
    array([[20.,  1.,  0.,  0.],
           [nan,  0.,  0.,  1.],
           [40.,  1.,  0.,  0.],
           [31.,  0.,  1.,  0.]], dtype=float32)
    >>> list(encoder.get_feature_names_out())
    ['age', 'city = Graz', 'city = missing', 'city = other']
    """

    def __init__(
        self,
        view: str = TREES,
        *,
        most_categories: int = MOST_COUNTED,
        buckets: int = WORD_COLUMNS,
        random_state: int = 0,
    ) -> None:
        self.view = view
        self.most_categories = most_categories
        self.buckets = buckets
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> FrameEncoder:
        """Learn how to encode.

        Parameters
        ----------
        X : data frame (pandas, polars), array or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels. Without them many categories become counts only.

        Returns
        -------
        FrameEncoder
        """
        self._learn(X, y)
        return self

    def set_output(self, *, transform: str | None = None) -> FrameEncoder:
        """Choose what ``transform`` and ``fit_transform`` return: a matrix, or a data frame with names of columns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None: nothing changes. Only this setting counts, not scikit-learn's global one: what a model from a file
            gets must not depend on the process that opens it.

        Returns
        -------
        FrameEncoder
        """
        if transform is not None:
            require_choice("transform", transform, ("default", "pandas", "polars"))
            self._sklearn_output_config = {"transform": transform}  # this name, because clone copies it
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and encode the rows of the fit.

        Parameters
        ----------
        X : data frame (pandas, polars), array or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels. Without them many categories become counts only.

        Returns
        -------
        ndarray or CSR matrix, or what :meth:`set_output` says
        """
        return self._in_container(self._learn(X, y), X)

    def _learn(self, X: Any, y: Any) -> Any:
        if self.view not in (TREES, LINEAR):
            raise ParameterError(f"view must be 'trees' or 'linear', got {brief(self.view)}")
        for name in ("most_categories", "buckets"):
            require_integer(name, getattr(self, name))
        self.kind_, table = read_input(X)
        if y is not None:
            y = np.asarray(y)
            check_consistent_length(table, y)
        self._remember_names(table)
        self.columns_: list[Column] = []
        self.blocks_: Any = None
        if self.kind_ == FRAME:
            self.columns_, typed = learnt_columns(table, Sizes(self.most_categories, 0))
            self.blocks_ = self._blocks(typed)
            with config_context(transform_output="default"):
                return self.blocks_.fit_transform(self._for_view(typed), y)
        if self.view == LINEAR:
            self.blocks_ = MaxAbsScaler() if self.kind_ == SPARSE else NumberScaler()
            with config_context(transform_output="default"):
                self.blocks_.fit(_without_nan(table) if self.kind_ == SPARSE else table)
        self.densified_ = self.kind_ == SPARSE and table.shape[0] * table.shape[1] <= _MOST_DENSE
        return self._numbers(table)

    def transform(self, X: Any) -> Any:
        """Encode new rows.

        Parameters
        ----------
        X : data frame (pandas, polars), array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix, or what :meth:`set_output` says
        """
        return self._in_container(self._encode(X), X)

    def _encode(self, X: Any) -> Any:
        check_is_fitted(self, "kind_")
        kind, table = read_input(X)
        if self.kind_ == FRAME:
            typed = self._for_view(typed_frame(self._as_frame(kind, table), self.columns_))
            with config_context(transform_output="default"):
                return self.blocks_.transform(typed)
        self._require_width(table)
        if kind == FRAME:
            table = np.column_stack([typed_frame(table, [Column(n, NUMBER)])[n] for n in table.columns])
        if self.kind_ == SPARSE and not issparse(table):
            table = csr_matrix(table)
        elif self.kind_ == ARRAY and issparse(table):
            table = table.toarray()
        return self._numbers(table)

    def _in_container(self, matrix: Any, X: Any) -> Any:
        wanted = self.__dict__.get("_sklearn_output_config", {}).get("transform", "default")
        if wanted == "default":
            return matrix
        if issparse(matrix):
            raise UnevenError(
                f"this table becomes a sparse matrix of {matrix.shape[1]:,} columns, which a data frame cannot hold; "
                "set_output(transform='default') or view='trees' would work"
            )
        names = [str(name) for name in self.get_feature_names_out()]
        if wanted == "pandas":
            with needs_extra("data frames", "data"):
                import pandas as pd
            return pd.DataFrame(matrix, columns=names, index=X.index if hasattr(X, "iloc") else None)
        try:
            import polars as pl
        except ImportError:
            raise UnevenError("set_output(transform='polars') needs polars, which is not installed") from None
        return pl.DataFrame(matrix, schema=names)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the matrix.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X, if X is not a table.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "kind_")
        if self.kind_ == FRAME:
            blocks = [block for _, block, names in self.blocks_.transformers_ if len(names)]
            return np.concatenate([block.get_feature_names_out() for block in blocks])
        names = [f"x{k}" for k in range(self.n_features_in_)] if input_features is None else list(input_features)
        if len(names) != self.n_features_in_:
            raise UnevenError(f"input_features should have length equal to {self.n_features_in_}, got {len(names)}")
        if isinstance(self.blocks_, NumberScaler):
            return self.blocks_.get_feature_names_out(names)
        return np.array(names, dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        """The state, with all columns and names as one text: a model file takes long for each object."""
        state = {**super().__getstate__()}
        if "columns_" in state:
            state["columns_"] = json.dumps([column.to_dict() for column in self.columns_])
            state["_names"] = json.dumps(self._names) if _are_texts(self._names) else self._names
            if isinstance(state["_names"], str):
                state.pop("feature_names_in_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(state.get("_names"), str):
            self._names = json.loads(state["_names"])
            if self.kind_ == FRAME:
                self.feature_names_in_ = np.array(self._names, dtype=object)
        if isinstance(state.get("columns_"), str):
            self.columns_ = [Column(**one) for one in json.loads(state["columns_"])]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- tables -----------------------------------------------------------------------------------------------------

    def _blocks(self, typed: Any) -> Blocks:
        """The encoders of the typed columns by their roles."""
        rows, made = len(typed), list(typed.columns)
        few, many, texts = (
            [column.name for column in self.columns_ if column.role in roles]
            for roles in ((CATEGORY,), (MANY, TEXT), (TEXT,))
        )
        numeric, categories = typed_names(self.columns_)
        if self.view == LINEAR:
            words = [column.name for column in self.columns_ if column.words]
            all_different = [column.name for column in self.columns_ if not column.counted]
            counted = [name for name in categories if name not in {*all_different}]
            uncounted = [
                name for name in all_different if typed[name].isna().any()
            ]  # scikit-learn stacks no empty block
            return Blocks(
                positions(
                    made,
                    ("numbers", NumberScaler(sparse=bool(words)), numeric),
                    ("categories", CategoryEncoder(min_rows=rare_below(rows), most=MOST_CATEGORIES), counted),
                    ("uncounted", CategoryEncoder(most=0), uncounted),
                    *((f"words {k}", WordEncoder(self.buckets), [name]) for k, name in enumerate(words)),
                ),
                sparse_threshold=1.0 if words else SPARSE_BELOW,
            )
        own = {*few, *many}
        numeric += [name for name in categories if name not in own]
        few_encoder = CategoryEncoder(min_rows=rare_below(rows), most=MOST_CATEGORIES, dtype="float32")
        return Blocks(
            positions(
                made,
                ("numbers", FloatNumbers(), numeric),
                ("categories", few_encoder, few),
                ("many", ManyCategoriesEncoder(random_state=self.random_state), many),
                ("texts", LatentTextEncoder(random_state=self.random_state), texts),
            ),
            sparse_threshold=0,
        )

    def _for_view(self, typed: Any) -> Any:
        """For trees the month, the day of the week and the hour are numbers."""
        if self.view == TREES:
            own = {column.name for column in self.columns_}
            for name in typed.columns:
                if name not in own and hasattr(typed[name], "cat"):
                    codes = typed[name].cat.codes.to_numpy()
                    typed[name] = np.where(codes < 0, np.nan, codes)
        return typed

    def _as_frame(self, kind: str, table: Any) -> Any:
        """Rows as a data frame with the names of the fit; those without names of their own go by position."""
        if kind == FRAME and hasattr(self, "feature_names_in_"):
            return table
        self._require_width(table)
        if kind == FRAME:
            return table.set_axis(self._names, axis=1)
        import pandas as pd

        return pd.DataFrame(table.toarray() if kind == SPARSE else table, columns=self._names)

    def _remember_names(self, table: Any) -> None:
        self.n_features_in_ = table.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        self._names = list(table.columns) if self.kind_ == FRAME else []
        if self.kind_ == FRAME:
            self.feature_names_in_ = np.array(self._names, dtype=object)

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _numbers(self, table: Any) -> Any:
        if self.kind_ == SPARSE and (self.view == LINEAR or not self.densified_):
            table = _without_nan(table)
        if self.view == LINEAR:
            with config_context(transform_output="default"):
                return self.blocks_.transform(table)
        return table.toarray() if self.densified_ else table

    def _require_width(self, table: Any) -> None:
        if table.shape[1] != self.n_features_in_:
            raise UnevenError(
                f"X has {table.shape[1]} features, but FrameEncoder is expecting {self.n_features_in_} features as "
                "input"
            )


def _are_texts(names: list[Any]) -> bool:
    return all(type(name) is str for name in names)


def _without_nan(X: Any) -> Any:
    """A sparse matrix with 0 in place of NaN."""
    if X.dtype.kind != "f" or not np.isnan(X.data).any():
        return X
    X = X.copy()
    X.data[np.isnan(X.data)] = 0.0
    return X
