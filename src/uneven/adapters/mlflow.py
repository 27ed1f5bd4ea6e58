"""Models in MLflow: logged, registered, loaded and served, with the costs as optional parameters; without pickle."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from uneven.costs import COSTS
from uneven.errors import ParameterError, needs_extra
from uneven.inputs import brief, require_choice
from uneven.learners.trusted_types import trusted_types

__all__ = ["FLAVOR_NAME", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "uneven"
#: What a served model answers, by the parameter ``method``.
METHODS = ("predict", "predict_proba", "decision_function")
_FILE = "model.skops"
#: What every saved model needs, and what some do, by the package of their types.
_ALWAYS = ("numpy", "pandas", "scikit-learn", "skops")
_SOMETIMES = ("catboost", "lightgbm", "xgboost")


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    signature: Any = None,
    trusted: Iterable[str] = (),
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    mlflow_model: Any = None,
) -> None:
    """Save a fitted classifier, or a pipeline that ends in one, as an MLflow model in a folder.

    Parameters
    ----------
    model : estimator
    path : str
        The folder; it must not exist, or be empty.
    X : DataFrame or ndarray, optional
        Some rows, from which the signature is inferred.
    signature : mlflow.models.ModelSignature, optional
        In place of the inferred one. Without it and X, the inputs are not described.
    trusted : iterable of str, optional
        Types that ``uneven.trusted_types()`` does not have, such as that of a classifier of another library. Who loads
        the model makes objects of these types: name only those that you know.
    pip_requirements : list of str, optional
        By default the versions here of uneven, skops, scikit-learn, NumPy, pandas and the model's boosting library.
    metadata : dict, optional
        Kept by MLflow with the model.
    mlflow_model : mlflow.models.Model, optional
        For MLflow itself.
    """
    models, pyfunc = _mlflow()
    data, types = _to_bytes(model, trusted)
    found = models.Model() if mlflow_model is None else mlflow_model
    found.add_flavor(FLAVOR_NAME, uneven_version=version("uneven"), trusted_types=sorted(trusted))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / _FILE
        file.write_bytes(data)
        Path(folder, "trusted.txt").write_text("\n".join(sorted(trusted)), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*input example")  # rows of customers stay out of the model
            pyfunc.save_model(
                path=os.fspath(path),
                loader_module=__name__,
                data_path=folder,
                mlflow_model=found,
                signature=_signature(model, X) if signature is None else signature,
                pip_requirements=_requirements(types) if pip_requirements is None else pip_requirements,
                metadata=metadata,
            )


def log_model(model: Any, name: str, *, registered_model_name: str | None = None, **others: Any) -> Any:
    """Log a fitted classifier in the current run; its parameters are those of :func:`save_model` but ``path``.

    Parameters
    ----------
    model : estimator
    name : str
        Of the model in the run.
    registered_model_name : str, optional
        Also register it under this name.
    **others
        ``X``, ``signature``, ``trusted``, ``pip_requirements``, ``metadata``, as in :func:`save_model`.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    models, _ = _mlflow()
    return models.Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        model=model,
        **others,
    )


def load_model(model_uri: str, *, trusted: Iterable[str] = ()) -> Any:
    """The estimator of a saved or logged model.

    Parameters
    ----------
    model_uri : str
        Such as "runs:/RUN/NAME", "models:/NAME/1" or a folder.
    trusted : iterable of str, optional
        Types that you trust besides ``uneven.trusted_types()``. What the model itself names as trusted does not count
        here; it does for ``mlflow.pyfunc.load_model``.

    Returns
    -------
    estimator

    Examples
    --------
    >>> import tempfile
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> from uneven.adapters.mlflow import load_model, save_model
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=20, pos_label=0, tol=1e-3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model", X=X)
    ...     again = load_model(f"{folder}/model")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    models, _ = _mlflow()
    from mlflow.artifacts import download_artifacts

    folder = Path(download_artifacts(artifact_uri=os.fspath(model_uri)))
    flavors = models.Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ParameterError(
            f"{model_uri} is not a model of uneven; it has the flavors {', '.join(sorted(flavors))}, and "
            "mlflow.pyfunc.load_model opens it"
        )
    return _from_file(folder / flavors["python_function"]["data"] / _FILE, trusted)


def _load_pyfunc(path: str) -> _Served:
    """For MLflow: what answers requests."""
    trusted = Path(path, "trusted.txt").read_text(encoding="utf-8").split()
    return _Served(_from_file(Path(path) / _FILE, trusted))


class _Served:
    """A model as MLflow serves it: the parameters are the costs, and the method that answers."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        """The estimator, for ``unwrap_python_model`` and the like."""
        return self.model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> np.ndarray:
        """Labels, probabilities or scores of rows, at the costs of the fit or at those given."""
        given = dict(params or {})
        method = given.pop("method", None) or METHODS[0]
        require_choice("method", method, METHODS)
        unknown = set(given) - set(COSTS)
        if unknown:
            raise ParameterError(f"a served model takes {', '.join((*COSTS, 'method'))}, got {brief(min(unknown))}")
        costs = {name: value for name, value in given.items() if value is not None and not _is_nan(value)}
        if not hasattr(self.model, method):
            raise ParameterError(f"this {type(self.model).__name__} has no {method}; {METHODS[0]} would work")
        return np.asarray(getattr(self.model, method)(model_input, **costs))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _mlflow() -> tuple[Any, Any]:
    with needs_extra("models in MLflow", "mlflow"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow warns about its own types when it is imported
        models, pyfunc = import_module("mlflow.models"), import_module("mlflow.pyfunc")
    return models, pyfunc


def _to_bytes(model: Any, trusted: Iterable[str]) -> tuple[bytes, list[str]]:
    """The model in skops' format, and the types in it; an error if loading would refuse one of them."""
    import skops.io
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    foreign = sorted(set(types) - set(trusted_types()) - set(trusted))
    if foreign:
        raise ParameterError(
            f"this model holds types that loading would refuse: {', '.join(foreign[:4])}; if you know them, pass "
            f"trusted={foreign[:4]!r}"
        )
    return data, types


def _from_file(path: Path, trusted: Iterable[str]) -> Any:
    import skops.io

    known = {*trusted_types(), *trusted}
    foreign = sorted(set(skops.io.get_untrusted_types(file=path)) - known)
    if foreign:
        raise ParameterError(
            f"the model is not opened: it holds types that are not trusted, {', '.join(foreign[:4])}; if you know "
            f"them, pass trusted={foreign[:4]!r}"
        )
    return skops.io.load(path, trusted=sorted(known))


def _requirements(types: list[str]) -> list[str]:
    packages = {name.partition(".")[0] for name in types}
    names = [*_ALWAYS, *(name for name in _SOMETIMES if name in packages)]
    return [f"uneven=={version('uneven')}", *(f"{name}=={version(name)}" for name in names)]


def _signature(model: Any, X: Any) -> Any:
    """Columns and labels, and the costs as optional parameters."""
    from mlflow.models import ModelSignature, infer_signature
    from mlflow.types.schema import AnyType, ColSpec, ParamSchema, ParamSpec, Schema

    params = [ParamSpec(name, "double", None) for name in COSTS]
    schema = ParamSchema([*params, ParamSpec("method", "string", METHODS[0])])
    if X is None:
        return ModelSignature(params=schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its hint about whole numbers with gaps; docs/production.md has it
        inferred = infer_signature(X, np.asarray(model.predict(X)))
    inputs = inferred.inputs
    categories = {name for name in getattr(X, "columns", ()) if hasattr(X[name], "cat")}
    if categories:  # as texts, MLflow would refuse them where they have gaps
        columns = zip(X.columns, inputs.inputs, strict=True)
        anything: Any = AnyType  # it has no types
        inputs = Schema(
            [ColSpec(anything(), name, required=False) if name in categories else one for name, one in columns]
        )
    return ModelSignature(inputs=inputs, outputs=inferred.outputs, params=schema)
