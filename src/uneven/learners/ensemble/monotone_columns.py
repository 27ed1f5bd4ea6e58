"""Columns with which a probability may only rise, or only fall: what a user asks for, and what members are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from uneven.errors import ParameterError
from uneven.inputs import brief
from uneven.learners.ensemble.members import FAMILIES, Family
from uneven.tables import FrameEncoder
from uneven.tables.columns import NUMBER


def read_monotone(monotone: Any) -> dict[Any, int]:
    """Signs by column; an error says what is none."""
    if monotone is None:
        return {}
    if not isinstance(monotone, Mapping):
        raise ParameterError(f"monotone must be a dictionary such as {{'income': -1}}, got {brief(monotone)}")
    for name, sign in monotone.items():
        if isinstance(sign, bool) or not isinstance(sign, Integral) or int(sign) not in (-1, 1):
            raise ParameterError(
                f"monotone must give 1 (P(positive) may only rise with the column) or -1 (only fall), got "
                f"{brief(sign)} for {brief(name)}"
            )
    return {name: int(sign) for name, sign in monotone.items()}


def named_columns(monotone: Mapping[Any, int], X: Any) -> dict[str, int]:
    """Signs by the names that encoders give to columns: those of a table, or x0, x1, ... of an array."""
    known = {str(name): str(name) for name in X.columns} if hasattr(X, "columns") else {}
    if not known:
        known = {key: f"x{k}" for k in range(X.shape[1]) for key in (str(k), f"x{k}")}
    unknown = [name for name in monotone if str(name) not in known]
    if unknown:
        listed = brief([str(name) for name in X.columns]) if hasattr(X, "columns") else f"0 to {X.shape[1] - 1}"
        raise ParameterError(f"monotone names the column {brief(unknown[0])}, and X has none such; it has {listed}")
    return {known[str(name)]: sign for name, sign in monotone.items()}


def signs_of_columns(encoder: FrameEncoder, monotone: Mapping[str, int]) -> tuple[int, ...]:
    """A sign for each column of the encoder's matrix; 0: any. An error says which column holds no numbers."""
    for column in encoder.columns_:
        if column.name in monotone and column.role != NUMBER:
            raise ParameterError(
                f"monotone is for columns of numbers, and {column.name!r} holds {_KINDS[column.role]}; leave it out, "
                "or write it as a number whose order means something"
            )
    return tuple(monotone.get(str(name), 0) for name in encoder.get_feature_names_out())


_KINDS = {"category": "categories", "many": "many categories", "text": "texts", "date": "dates"}


def keep_monotone(families: Sequence[Family], monotone: Mapping[Any, int]) -> tuple[list[Family], dict[str, str]]:
    """The families that can keep what is asked, and why the others are left out."""
    if not monotone:
        return list(families), {}
    able = [family for family in families if family.monotone]
    if not able:
        possible = ", ".join(name for name, family in FAMILIES.items() if family.monotone)
        raise ParameterError(
            f"none of the members {', '.join(family.name for family in families)} can be monotone; {possible} can"
        )
    return able, {family.name: "cannot be monotone" for family in families if not family.monotone}
