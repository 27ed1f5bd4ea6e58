"""The zoo: losses of other libraries, found as files in the folder ``libraries``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from uneven.errors import LossError, ParameterError, did_you_mean
from uneven.expression import Node, parse, to_text
from uneven.expression.tree import Number, put
from uneven.inputs import brief
from uneven.losses import Loss
from uneven.zoo.zoo_loss import REQUIRED, Formula, Library, PerClass, Read, ZooLoss, shown


@lru_cache(maxsize=1)
def all_libraries() -> tuple[Library, ...]:
    """Every library of the folder ``libraries``, by name."""
    files = pkgutil.iter_modules([str(Path(__file__).parent / "libraries")])
    return tuple(
        importlib.import_module(f"uneven.zoo.libraries.{name}").LIBRARY for name in sorted(f.name for f in files)
    )


@lru_cache(maxsize=1)
def _losses() -> dict[str, ZooLoss]:
    return {one.name: one for library in all_libraries() for one in library.losses}


def names() -> tuple[str, ...]:
    """Names of every loss of the zoo, as users of its library write them.

    Examples
    --------
    >>> import uneven
    >>> "torch.nn.CrossEntropyLoss" in uneven.zoo.names()
    True
    """
    return tuple(sorted(_losses()))


@lru_cache(maxsize=1)
def outside() -> Mapping[str, str]:
    """Losses for which no alpha can be given, and why: most couple the examples of a batch.

    Examples
    --------
    >>> import uneven
    >>> "batch" in uneven.zoo.outside()["keras.losses.Dice"]
    True
    """
    return {one.name: one.reason for library in all_libraries() for one in library.outside}


def library_of(one: ZooLoss) -> Library:
    """The library that a loss belongs to."""
    return next(library for library in all_libraries() if one in library.losses)


def declared(name: str) -> ZooLoss:
    """The declaration of a loss; for an unknown name, an error with the nearest known ones."""
    if not isinstance(name, str):
        raise ParameterError(f"the name of a loss is a text such as 'torch.nn.CrossEntropyLoss', got {brief(name)}")
    losses = _losses()
    if name in losses:
        return losses[name]
    for one in losses.values():
        if name in one.also_called:
            return one
    if name in outside():
        raise LossError(f"{name} has no alpha: {outside()[name]}")
    raise LossError(f"there is no loss named {brief(name)} in the zoo; {_nearest(name)}")


def _nearest(name: str) -> str:
    """Known names that end alike, else the most similar one, else where to look."""
    last = name.rpartition(".")[2].lower()
    everything = [*names(), *outside()]
    same = [known for known in everything if known.rpartition(".")[2].lower() == last]
    if same:
        return f"did you mean {' or '.join(map(repr, same[:4]))}?"
    spelled = {known: (known.lower(), known.rpartition(".")[2].lower()) for known in everything}
    return did_you_mean(name, spelled, "`uneven zoo` lists them all")


def read(one: ZooLoss, given: Mapping[str, Any]) -> dict[str, Read]:
    """Values of all parameters of a loss, defaults filled in."""
    known = {parameter.name: parameter for parameter in one.parameters}
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes no parameters here"
            hint = did_you_mean(name, dict.fromkeys(known, ()), takes)
            raise ParameterError(f"{one.name} has no parameter {brief(name)} in the zoo; {hint}")
    values = {}
    for name, parameter in known.items():
        value = given.get(name, parameter.default)
        if isinstance(value, str) and value == REQUIRED:
            raise ParameterError(f"{one.name} needs the parameter {name}, which has no default")
        values[name] = parameter.read(value)
    return values


def chosen(one: ZooLoss, values: Mapping[str, Read]) -> Formula:
    """The formula that holds for these values."""
    known = {parameter.name: parameter for parameter in one.parameters}
    for formula in one.formulas:
        if all(values[name] == known[name].read(value) for name, value in formula.when.items()):
            return formula
    raise ParameterError(f"{one.name} has no formula for these parameters")


def loss(name: str, /, **parameters: Any) -> Loss:
    """A loss of another library, with its defaults unless parameters are given.

    Parameters
    ----------
    name : str
        As its users write it; :func:`uneven.zoo.names` lists all.
    **parameters
        As its users write them. A float stands for the decimal number that it prints (0.1 is one tenth); texts such
        as ``"1/3"``, Fractions and Decimals are exact. Parameters that change no alpha, such as ``reduction``, are not
        taken.

    Returns
    -------
    Loss
        In exact arithmetic, per example: without the sum or mean over a batch.

    Raises
    ------
    LossError
        If the name is not known (the message has the nearest ones), or the loss has no alpha.
    ParameterError
        If a parameter is not known, is missing, or has a value that the library does not take.

    Examples
    --------
    >>> import uneven
    >>> loss = uneven.zoo.loss("torch.nn.CrossEntropyLoss", weight=(1, 10), label_smoothing=0.1)
    >>> uneven.implied_alpha(loss).exact                      # not 10 : 1 but 21 : 1
    Fraction(1, 22)
    """
    one = declared(name)
    return built(one, read(one, parameters))


def built(one: ZooLoss, values: Mapping[str, Read]) -> Loss:
    """The loss for values that are read."""
    formula = chosen(one, values)
    for parameter in one.parameters:
        used = f"{parameter.name}_0" in formula.positive + formula.negative
        if used and values[parameter.name] is None and isinstance(parameter, PerClass) and parameter.facts:
            given = ", ".join(f"{name}={shown(value)}" for name, value in formula.when.items())
            raise ParameterError(
                f"{one.name} needs {parameter.name}, the numbers of negatives and positives such as (900, 100)"
                + (f", with {given}" if given else "")
            )
    numbers: dict[str, Node] = {key: Number(n) for p in one.parameters for key, n in p.bind(values[p.name]).items()}
    positive, negative = (
        to_text(put(parse(text, list(numbers)), numbers)) for text in (formula.positive, formula.negative)
    )
    return Loss.from_slopes(positive, negative) if formula.slopes else Loss(positive, negative)
