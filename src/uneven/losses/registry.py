"""The registered phis: found as files in the folder ``phis``, or added at run time."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from pathlib import Path

from uneven import inputs
from uneven.errors import LossError, ParameterError, did_you_mean
from uneven.losses.declaration import Declaration, Parameter, require_name

_added: dict[str, Declaration] = {}
#: How often the registry changed in this process; what is kept by the name of a phi is valid until it does.
changes = 0


@lru_cache(maxsize=1)
def files() -> frozenset[str]:
    """Names declared by a file in the folder ``phis``, which is listed once: every fit asks for them."""
    return frozenset(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent / "phis")]))


def names() -> tuple[str, ...]:
    """Names of every registered phi, in alphabetical order.

    Examples
    --------
    >>> import uneven
    >>> "hinge" in uneven.losses.names()
    True
    """
    return tuple(sorted({*files(), *_added}))


def declared(name: str) -> Declaration:
    """The declaration registered under a name."""
    _require_text(name)
    if name in _added:
        return _added[name]
    if name in files():
        module = importlib.import_module(f"uneven.losses.phis.{name}")
        found: Declaration = module.declaration
        return found
    other_names = {one: declared(one).also_called for one in names()}
    hint = did_you_mean(name, other_names, f"registered are {', '.join(names())}")
    raise LossError(f"there is no phi named {name!r}; {hint}")


def register(
    name: str,
    sentence: str,
    *,
    parameters: tuple[Parameter, ...] = (),
    convex: bool | None = None,
    limits: tuple[str, str] | None = None,
    minimiser: float | None = None,
    minimum: str | None = None,
    doc: str = "",
) -> None:
    """Register a phi under a name, for this process; everything that works for ``hinge`` works for it.

    Declared facts are optional. Each is tested numerically before the phi is registered.

    Parameters
    ----------
    name : str
        A lower-case identifier that is not taken.
    sentence : str
        phi(t) in the little language.
    parameters, convex, limits, minimiser, minimum, doc
        See :class:`uneven.losses.Declaration`.

    Examples
    --------
    >>> import uneven
    >>> uneven.losses.register("cubed_hinge", "relu(1 - t)**3", convex=True)
    >>> uneven.phi("cubed_hinge")(-1.0)
    8.0
    >>> uneven.losses.unregister("cubed_hinge")
    """
    from uneven.losses import margin_function
    from uneven.losses import margin_function as facts

    require_name("phi", name)
    if name in names():
        raise ParameterError(f"the name {name!r} is taken; choose another")
    new = Declaration(
        sentence=sentence,
        parameters=parameters,
        convex=convex,
        limits=limits,
        minimiser=minimiser,
        minimum=minimum,
        doc=doc,
    )
    facts.require_true(margin_function.from_declaration(name, new, {}))
    _change()
    _added[name] = new


def unregister(name: str) -> None:
    """Forget a phi registered at run time."""
    _require_text(name)
    if name not in _added:
        raise ParameterError(f"no phi named {name!r} was registered at run time")
    _change()
    del _added[name]


def _change() -> None:
    global changes  # noqa: PLW0603 - the registry is this module
    changes += 1


def _require_text(name: object) -> None:
    if not isinstance(name, str):
        raise ParameterError(f"the name of a phi is a text such as 'hinge', got {inputs.brief(name)}")
