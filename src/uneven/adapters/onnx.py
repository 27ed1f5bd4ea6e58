"""Fitted learners as ONNX models: label, score and probability; needs the extra ``export``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from uneven.errors import ParameterError, UnevenError, needs_extra
from uneven.inputs import brief

with needs_extra("ONNX models", "export"):
    import skl2onnx
    from onnx import TensorProto
    from skl2onnx._parse import _parse_sklearn
    from skl2onnx.common import data_types
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

from uneven.adapters import onnx_converters
from uneven.adapters.onnx_check import difference
from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.adapters.onnx_members import name_trees, order_columns
from uneven.learners.base import UnevenClassifier
from uneven.learners.classifier_cv import UnevenClassifierCV

__all__ = ["register", "to_onnx"]

_LABEL_TYPES = {
    "b": data_types.BooleanTensorType,
    "i": data_types.Int64TensorType,
    "u": data_types.Int64TensorType,
    "f": data_types.DoubleTensorType,
    "U": data_types.StringTensorType,
    "O": data_types.StringTensorType,
}


def to_onnx(model: Any, X: Any, *, sample: Any = None, **options: Any) -> Any:
    """A fitted learner, or a pipeline that ends in one, as an ONNX model.

    Its outputs are ``label`` (of shape (n,), in the type of ``classes_``, or of the actions of a cost matrix),
    ``score`` (of shape (n,), like ``decision_function``: positive values favour ``classes_[1]``; of shape
    (n, n_actions) if there are more than two) and, if the learner has probabilities, ``probability`` (of shape
    (n, n_classes), columns in the order of ``classes_``). The costs of the fit decide. Our own steps are computed in
    double precision, others by skl2onnx in the precision of the input.

    Before it is returned, the exported model is compared with Python, in onnxruntime. If it gives other labels, it is
    refused, with the number of rows: the converters of skl2onnx do not compute every classifier as scikit-learn does.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        UnevenLinearClassifier, UnevenMultinomialClassifier, UnevenSVC, UnevenPerceptron, UnevenAdaBoostClassifier,
        UnevenThresholdClassifierCV around a classifier that skl2onnx or we can export, a fitted UnevenClassifierCV of
        these, or a learner given to :func:`register`. Other steps of a pipeline must be known to skl2onnx.
    X : array-like of shape (n_samples, n_features)
        Some rows, from which type and number of columns are read: float32 or float64. They are also compared.
    sample : array-like of shape (n_samples, n_features), optional
        More rows to compare, in the manner of X; best some hundred rows of the kind that the model will see. Up to
        2,000 rows of X and sample are compared, and about 1,800 that are made up from them: around them, far from them,
        at numbers where trees split, and towards the threshold between rows with different labels.
    **options
        Further arguments of ``skl2onnx.to_onnx``, such as ``target_opset``.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    UnevenError
        If something cannot be exported, or the exported model gives other labels; the message says what, and what would
        work.

    Notes
    -----
    Python and ONNX get the same numbers: for a model with float32 input, rows are rounded to float32 before both see
    them. So a row that the rounding moves over the threshold is no difference. A label that differs counts, except
    where the score is within a share of 1e-4 of the usual scores from 0 but not 0: single precision cannot tell
    these sides. A probability that is exactly at the threshold, which forests have often, does count.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from uneven.adapters.onnx import to_onnx
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(fn_cost=20, pos_label=0)).fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model, X[:1]).SerializeToString())
    >>> label, score, probability = session.run(["label", "score", "probability"], {"X": X})
    >>> bool((label == model.predict(X)).all()), bool(np.allclose(probability, model.predict_proba(X), atol=1e-5))
    (True, True)
    """
    fitted = _require_model(model)
    for converter in converters():
        _tell_skl2onnx(converter)
    if isinstance(X, np.ndarray) and X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    exported = _convert(fitted, X, options)
    found = _compare(model, exported, X, sample)
    if found is None:
        return exported
    works = "another classifier or other steps may work"
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        single = X.astype(np.float32)
        if _compare(model, _convert(fitted, single, options), single, sample) is None:
            works = "with X of float32, to_onnx(model, X.astype(numpy.float32)), it gives the same labels"
    raise ParameterError(f"{_in_words(fitted)} is not exported to ONNX: {found}; {works}")


def _convert(fitted: Any, X: Any, options: dict[str, Any]) -> Any:
    try:
        return name_trees(skl2onnx.to_onnx(fitted, X, **options))
    except UnevenError:
        raise
    except (MissingShapeCalculator, MissingConverter) as error:
        reason = f"skl2onnx knows no converter for a part of it ({_first_line(error)})"
    except Exception as error:  # its converters raise errors of every kind for what they do not know
        reason = f"skl2onnx fails with {type(error).__name__} ({_first_line(error)})"
    raise ParameterError(f"{_in_words(fitted)} cannot be exported to ONNX: {reason}")


def _first_line(error: Exception) -> str:
    return brief((str(error).splitlines() or [""])[0])


def _compare(model: Any, exported: Any, X: Any, sample: Any) -> str | None:
    rows = X
    if sample is not None:
        if np.shape(sample)[1:] != np.shape(X)[1:]:
            shapes = f"{np.shape(sample)} and {np.shape(X)}"
            raise ParameterError(f"sample must have the columns of X, got the shapes {shapes}")
        rows = type(X)(np.concatenate([X, sample]), columns=X.columns) if hasattr(X, "columns") else [*X, *sample]
    learner = _last(model)
    converter = _known()[type(learner)]
    return difference(model, exported, rows, ties=converter.ties and converter.labels_of(learner) is None)


def _last(model: Any) -> Any:
    """The learner that decides."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    return last.best_estimator_ if isinstance(last, UnevenClassifierCV) else last


def _in_words(fitted: Any) -> str:
    """The model for a message, with what it wraps."""
    last = _last(fitted)
    inner = getattr(last, "estimator_", None)
    return type(last).__name__ + ("" if inner is None else f" around {type(inner).__name__}")


def register(converter: Converter) -> None:
    """Let :func:`to_onnx` export learners of one more class.

    Parameters
    ----------
    converter : Converter
        Its ``learner`` and ``scores``: from (graph, fitted learner, name of the input) to the name of the positive
        class's scores. Learners of this library have theirs in a file of ``uneven/adapters/onnx_converters``.
    """
    if not isinstance(converter, Converter):
        raise ParameterError(f"a converter is an uneven.adapters.onnx_graph.Converter, got {brief(converter)}")
    _known()[converter.learner] = converter


def converters() -> list[Converter]:
    """All known converters."""
    return list(_known().values())


@lru_cache(maxsize=1)
def _known() -> dict[type, Converter]:
    found = {}
    for module in iter_modules(onnx_converters.__path__):
        for converter in import_module(f"{onnx_converters.__name__}.{module.name}").CONVERTERS:
            found[converter.learner] = converter
    return found


def _require_model(model: Any) -> Any:
    """The model to export, or an error that says why it cannot be."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    try:
        check_is_fitted(last)
    except (NotFittedError, TypeError):
        raise ParameterError(f"to_onnx needs a fitted model, got {brief(model)}") from None
    if isinstance(last, UnevenClassifierCV):
        chosen = last.best_estimator_
        if isinstance(model, Pipeline):
            return _require_model(Pipeline([*model.steps[:-1], (model.steps[-1][0], chosen)]))
        return _require_model(chosen)
    if getattr(last, "_in_use", None) is not None and isinstance(last, UnevenClassifier):
        raise ParameterError(
            "to_onnx exports a learner of a loss at the costs of its fit, got one of with_costs; "
            "UnevenThresholdClassifierCV around it can be exported at other costs"
        )
    if type(last) not in _known():
        names = ", ".join(sorted(learner.__name__ for learner in _known()))
        raise ParameterError(
            f"{type(last).__name__} cannot be exported to ONNX; {names} and pipelines that end in one of them can"
        )
    return model


# -- what skl2onnx asks for -------------------------------------------------------------------------------------------


def _tell_skl2onnx(converter: Converter) -> None:
    skl2onnx.update_registered_converter(
        converter.learner,
        f"Uneven{converter.learner.__module__}.{converter.learner.__qualname__}".replace(".", ""),
        lambda operator: None,  # the parser declares types and shapes
        _nodes_of(converter),
        parser=_parser_of(converter),
        options={"zipmap": [True, False]},
    )


def _parser_of(converter: Converter) -> Callable[..., Any]:
    """What declares the inputs and outputs of a learner."""

    def parser(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:
        inner = converter.classifier_inside(model)
        if inner is not None:
            scope.add_options(id(inner), {"zipmap": False})
            outputs = _parse_sklearn(scope, inner, inputs, custom_parsers=custom_parsers)
            inputs = [outputs[-1]]
        number = data_types.guess_tensor_type(inputs[0].type)
        alias = skl2onnx._supported_operators._get_sklearn_operator_name(type(model))
        operator = scope.declare_local_operator(alias, model)
        operator.inputs = inputs
        actions = converter.labels_of(model)
        labels = model.classes_ if actions is None else actions
        shapes: dict[str, tuple[Any, list[int | None]]] = {
            "label": (_label_type(labels), [None]),
            "score": (type(number), [None] if len(labels) == 2 else [None, len(labels)]),
        }
        if converter.has_probability(model):
            shapes["probability"] = (type(number), [None, len(model.classes_)])
        for name, (kind, shape) in shapes.items():
            operator.outputs.append(scope.declare_local_variable(name, kind(shape)))
        return operator.outputs

    return parser


def _label_type(labels: np.ndarray) -> Any:
    kind = labels.dtype.kind
    if kind not in _LABEL_TYPES or (kind == "O" and not all(isinstance(label, str) for label in labels)):
        raise ParameterError(
            f"labels of a model to export must be numbers, truth values or texts, got {brief(labels.tolist())}"
        )
    return _LABEL_TYPES[kind]


def _nodes_of(converter: Converter) -> Callable[..., None]:
    """What adds the nodes of a learner to the graph."""

    def convert(scope: Any, operator: Any, container: Any) -> None:
        graph, model = SkGraph(scope, container), operator.raw_operator
        names = [variable.full_name for variable in operator.outputs]
        single = isinstance(operator.outputs[1].type, data_types.FloatTensorType)
        number = TensorProto.FLOAT if single else TensorProto.DOUBLE
        values = graph.double(operator.inputs[0].full_name)
        inner = converter.classifier_inside(model)
        actions = converter.labels_of(model)
        if inner is not None and actions is not None:
            values = order_columns(graph, values, inner.classes_.tolist(), model.classes_)
        elif inner is not None:
            column = graph.constant(np.int64(inner.classes_.tolist().index(model._classes.pos_label)))
            values = graph.node("Gather", values, column, axis=1)
        score = converter.scores(graph, model, values)
        if actions is not None:
            probability = converter.probability(graph, model, values) if len(names) > 2 else None
            _several(graph, actions, score, probability, names, number)
            return
        in_order = model._classes.in_order
        labels = graph.constant(model._classes.label(np.array([0, 1])))  # of a negative and of a positive decision
        positive = graph.node("Cast", graph.node("Greater", score, graph.number(0.0)), to=TensorProto.INT64)
        graph.into(names[:1], "Gather", labels, positive)
        turned = score if model._positive == 1 else graph.node("Neg", score)
        graph.into(names[1:2], "Cast", turned, to=number)
        if len(names) > 2:
            probability = graph.node("Unsqueeze", converter.probability(graph, model, score), graph.constant([1]))
            other = graph.node("Sub", graph.number(1.0), probability)
            both = graph.node("Concat", *in_order(other, probability), axis=1)
            graph.into(names[2:], "Cast", both, to=number)

    return convert


def _several(
    graph: SkGraph, actions: np.ndarray, score: str, probability: str | None, names: list[str], number: int
) -> None:
    """Add the outputs of a learner that chooses the largest of several scores."""
    place = graph.node("ArgMax", score, axis=1, keepdims=0)
    graph.into(names[:1], "Gather", graph.constant(actions), place)
    if len(actions) == 2:  # as decision_function: the second less the first
        score = graph.node("MatMul", score, graph.constant(np.array([-1.0, 1.0])))
    graph.into(names[1:2], "Cast", score, to=number)
    if probability is not None:
        graph.into(names[2:], "Cast", probability, to=number)
