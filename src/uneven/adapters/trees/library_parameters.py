"""What passes between an estimator and its tree library: parameters, sparse matrices, and facts in model files.

scikit-learn reads the parameters of an estimator from the signature of its ``__init__``. Ours takes ``**library``, and
gets a signature that also lists the parameters of the installed library with their defaults.
"""

from __future__ import annotations

import inspect
import json
import numbers as abstract
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from uneven.errors import ParameterError, did_you_mean
from uneven.expression import to_text
from uneven.inputs import brief
from uneven.losses import CostPrior, Loss, Phi, UnevenMarginLoss, phi
from uneven.losses.ratio_distributions import BetaAlpha, LogNormal, LogUniform

C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class LibraryParameters:
    """What a library calls its parameters.

    Attributes
    ----------
    name : str
        The library, for messages.
    defaults : mapping
        Parameters that are listed, with their defaults.
    refused : mapping
        Parameters that would break our objective, each with a clause that says what to use instead.
    more : callable
        Names that the library knows and that are not listed; None if it does not tell, so that all are taken.
    own : frozenset
        Our own parameters, for suggestions.
    """

    name: str
    defaults: Mapping[str, Any]
    refused: Mapping[str, str]
    more: Callable[[], Collection[str] | None] = tuple
    own: frozenset[str] = frozenset()

    def check(self, given: Iterable[str]) -> None:
        """Raise for names that are refused or unknown."""
        for name in given:
            if name in self.refused:
                raise ParameterError(f"{name} of {self.name} cannot be set here: {self.refused[name]}")
            more = () if name in self.defaults else self.more()
            if name not in self.defaults and more is not None and name not in more:
                known = dict.fromkeys([*self.own, *self.defaults, *more], ())
                hint = did_you_mean(name, known, f"see the parameters of {self.name}")
                raise ParameterError(f"{self.name} has no parameter {name!r}; {hint}")


def parameters_of(signatures: Iterable[Callable[..., Any]], without: Iterable[str]) -> dict[str, Any]:
    """Names and defaults of keyword parameters, those of later signatures first."""
    skipped = {"self", *without}
    found: dict[str, Any] = {}
    for function in signatures:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                found[parameter.name] = None if parameter.default is parameter.empty else parameter.default
    return {name: default for name, default in found.items() if name not in skipped}


def takes(parameters: LibraryParameters) -> Callable[[C], C]:
    """A class decorator: ``__init__`` and the docstring list the parameters of the library and our own."""

    def listed(estimator: C) -> C:
        own = inspect.signature(estimator.__init__)  # type: ignore[misc]
        kept = [p for p in own.parameters.values() if p.kind != p.VAR_KEYWORD]
        names = {p.name for p in kept}
        theirs = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in parameters.defaults.items()
            if name not in names
        ]

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it becomes the class's own
            estimator._take(self, *args, **kwargs)  # type: ignore[attr-defined]

        __init__.__signature__ = own.replace(parameters=[*kept, *theirs])  # type: ignore[attr-defined]
        __init__.__doc__ = estimator.__init__.__doc__  # type: ignore[misc]
        estimator._take = estimator.__init__  # type: ignore[attr-defined, misc]
        estimator.__init__ = __init__  # type: ignore[misc]
        estimator._library = replace(parameters, own=frozenset(names - {"self"}))  # type: ignore[attr-defined]
        if estimator.__doc__:  # Python leaves it out with -OO
            estimator.__doc__ = _with_shared_sections(estimator.__doc__, estimator.__mro__[1].__doc__ or "")
        return estimator

    return listed


def _with_shared_sections(own: str, base: str) -> str:
    """A docstring in which the base class says what the parameters and attributes of all libraries are."""
    _, parameters, attributes = re.split(r"\n\n(?:Parameters|Attributes)\n-+\n", inspect.cleandoc(base))
    return inspect.cleandoc(own).replace("{parameters}", parameters).replace("{attributes}", attributes)


# Sparse matrices in the form that LightGBM and CatBoost know.


def known_sparse(X: Any) -> Any:
    """A sparse array as a CSR matrix with short indices; anything else as it is."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X)
    if X.indices.dtype != np.int32 and max(X.shape[1], X.nnz) < 2**31:
        X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X


# What a model file holds beside the trees: loss, costs, labels and parameters, as JSON.

_FORMAT = 1
#: Distributions of the cost ratio that are a few numbers.
_PRIORS = {kind.__name__: kind for kind in (LogUniform, LogNormal, BetaAlpha)}
_OWN = (
    "fp_cost",
    "fn_cost",
    "tp_cost",
    "tn_cost",
    "margin_gamma",
    "eval_metric",
    "warmup_rounds",
    "pos_label",
    "neg_label",
    "cost_range",
)
_FITTED = (
    "n_features_in_",
    "cost_scale_",
    "start_",
    "evals_result_",
    "best_iteration_",
    "_costs_of_fit",
    "_positive",
    "_constant_sums",
    "probability_ratio_",
    "_checked_on",
    "_range_of_fit",
)


def facts_of(model: Any) -> str:
    """The facts of a fitted model."""
    loss, regrets, margin_gamma = model._fitted_with
    library = {
        name: value
        for name, value in model._library_values().items()
        if value is not model._library.defaults.get(name) and _is_plain(value)
    }
    names = getattr(model, "feature_names_in_", None)
    facts = {
        "format": _FORMAT,
        "estimator": type(model).__name__,
        "loss": _described(model.loss),
        "own": {name: _plain(name, getattr(model, name)) for name in _OWN},
        "library": {name: _plain(name, value) for name, value in library.items()},
        "fitted": {name: _plain(name, getattr(model, name)) for name in _FITTED},
        "fitted_with": {"loss": _described(loss), "regrets": regrets, "gamma": _plain("margin_gamma", margin_gamma)},
        "classes": {"labels": model.classes_.tolist(), "dtype": model.classes_.dtype.str},
        "columns": None if names is None else [str(name) for name in names],
    }
    return json.dumps(facts, allow_nan=False)


def restored(estimator: Any, text: str) -> Any:
    """A fitted model from its facts, without its trees."""
    facts = json.loads(text)
    if facts.get("format") != _FORMAT or facts.get("estimator") != estimator.__name__:
        raise ParameterError(
            f"the file holds a {facts.get('estimator')} (format {facts.get('format')}), not a {estimator.__name__} "
            f"(format {_FORMAT})"
        )
    own, fitted = ({name: _made(value) for name, value in facts[part].items()} for part in ("own", "fitted"))
    model = estimator(_made(facts["loss"]), **own, **facts["library"])
    for name, value in fitted.items():
        setattr(model, name, value)
    given = facts["fitted_with"]
    model._fitted_with = (_made(given["loss"]), given["regrets"], given["gamma"])
    dtype = np.dtype(facts["classes"]["dtype"])
    model.classes_ = np.array(facts["classes"]["labels"], dtype=dtype)
    if facts["columns"] is not None:
        model.feature_names_in_ = np.array(facts["columns"], dtype=object)
    return model


def _described(loss: Any) -> Any:
    """A loss as JSON: a name or expression, a phi with its parameters, or what a loss is made from."""
    if isinstance(loss, str):
        return loss
    if isinstance(loss, Phi):
        if loss.name is None:
            return loss.text
        return {"name": loss.name, "parameters": {name: str(value) for name, value in loss.exact_parameters.items()}}
    if isinstance(loss, UnevenMarginLoss):
        exact = {"gamma": loss.exact_gamma, "beta": None if loss.beta is None else loss.exact_beta}
        exact["alpha"] = loss.exact_alpha
        numbers = {name: None if value is None else str(value) for name, value in exact.items()}
        return {"phi": _described(loss.phi), **numbers}
    if isinstance(loss, Loss):
        return {"partial": [to_text(partial.tree) for partial in loss.partials]}
    raise ParameterError(f"loss={brief(loss)} cannot be written to a file; a name or an expression can")


def _made(described: Any) -> Any:
    """The loss or prior that was described; anything else as it is."""
    match described:
        case {"ratios": kind, "numbers": numbers, "weight": weight}:
            return CostPrior(_PRIORS[kind](**{name: Fraction(number) for name, number in numbers.items()}), weight)
        case {"name": name, "parameters": parameters}:
            return phi(name, **parameters)
        case {"phi": inner, "gamma": gamma, "beta": beta, "alpha": alpha}:
            return UnevenMarginLoss(_made(inner), gamma=gamma, beta=beta, alpha=alpha)
        case {"partial": partials}:
            return Loss(*partials)
    return described


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(_plain("", value))
    except (TypeError, ValueError, ParameterError):
        return False
    return True


def _plain(name: str, value: Any) -> Any:
    """A value as JSON knows it; exact numbers as texts."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str | dict | list | tuple):
        return value
    if isinstance(value, Fraction | Decimal | abstract.Rational):
        return str(value)
    if isinstance(value, CostPrior) and isinstance(value.ratios, LogUniform | LogNormal | BetaAlpha):
        numbers = {field.name: str(getattr(value.ratios, field.name)) for field in fields(value.ratios)}
        return {"ratios": type(value.ratios).__name__, "numbers": numbers, "weight": value.weight}
    raise ParameterError(f"{name}={brief(value)} cannot be written to a file; a number or a text can")
