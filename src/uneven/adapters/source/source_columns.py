"""The columns that a model sees, in terms of those of a table: what encoders and scalers make of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from uneven.adapters.source.source_writer import SourceWriter
from uneven.errors import ParameterError
from uneven.inputs import brief
from uneven.tables import FrameEncoder
from uneven.tables.category_columns import CategoryEncoder
from uneven.tables.columns import DATE, NUMBER, Column, part_name
from uneven.tables.dates import date_part
from uneven.tables.frame_encoder import FRAME, LINEAR
from uneven.tables.number_columns import FloatNumbers, NumberScaler


@dataclass(frozen=True)
class NumberFeature:
    """(value - centre) / scale.

    Attributes
    ----------
    value : str
        A number of the table; it may be missing.
    centre, scale : float
    filled : bool
        Whether missing values become 0; else they stay missing.
    single : bool
        Whether the number is rounded to single precision.
    name : str
        The column of the table, if the model may refuse missing values.
    """

    value: str
    centre: float = 0.0
    scale: float = 1.0
    filled: bool = False
    single: bool = False
    name: str = ""


@dataclass(frozen=True)
class FlagFeature:
    """(1 - centre) / scale where the value is missing, else -centre / scale."""

    value: str
    centre: float
    scale: float


#: The two categories that no text names.
MISSING, OTHER = "missing", "other"


@dataclass(frozen=True)
class CategoryFeature:
    """1 where the value is one category, else 0.

    Attributes
    ----------
    value : str
    category : str
        A literal; or :data:`MISSING` or :data:`OTHER`, with ``is_literal`` False.
    is_literal : bool
    known : tuple of str
        The literals of all categories of the column that have a feature.
    """

    value: str
    category: str
    is_literal: bool
    known: tuple[str, ...]


Feature = NumberFeature | FlagFeature | CategoryFeature


@dataclass(frozen=True)
class Inputs:
    """The columns of a table, for a model that is written.

    Attributes
    ----------
    writer : SourceWriter
    names : list of str or None
        Names of the columns of an array; None: x0, x1 and so on, if the model knows no names.
    reading : dict of Column
        How columns are written in the table, if that is known better than by the model.
    """

    writer: SourceWriter
    names: list[str] | None
    reading: dict[str, Column]

    def numbers(self, model: Any) -> list[Feature]:
        """The columns of an array, as numbers."""
        count = model.n_features_in_
        own = getattr(model, "feature_names_in_", None)
        names = self.names
        if names is None:
            names = [str(name) for name in own] if own is not None else [f"x{k}" for k in range(count)]
        if len(names) != count or len(set(names)) != count:
            raise ParameterError(
                f"columns must be {count} different names, as many as the model has, got {brief(names)}"
            )
        return [NumberFeature(self.writer.number_column(name), name=name) for name in names]

    def read(self, column: Column) -> Column:
        known = self.reading.get(column.name)
        return column if known is None else replace(column, marks=known.marks, format=known.format)


def transform(inputs: Inputs, step: Any, features: list[Feature] | None) -> list[Feature]:
    """What a fitted transformer makes of features; None are the columns of the table."""
    if type(step) not in TRANSFORMERS:
        names = ", ".join(kind.__name__ for kind in TRANSFORMERS)
        raise ParameterError(f"{type(step).__name__} cannot be written in {inputs.writer.language}; {names} can")
    return TRANSFORMERS[type(step)](inputs, step, features)


def _scaled(inputs: Inputs, step: Any, features: list[Feature] | None) -> list[Feature]:
    features = inputs.numbers(step) if features is None else features
    centres = step.mean_ if step.with_mean else np.zeros(len(features))
    scales = step.scale_ if step.with_std else np.ones(len(features))
    found: list[Feature] = []
    for feature, centre, scale in zip(features, centres, scales, strict=True):
        if not isinstance(feature, NumberFeature) or (feature.centre, feature.scale, feature.filled) != (0, 1, False):
            raise ParameterError(
                f"a StandardScaler of columns that are encoded already cannot be written in {inputs.writer.language}; "
                "FrameEncoder(view='linear') scales numbers itself"
            )
        found.append(replace(feature, centre=float(centre), scale=float(scale)))
    return found


# -- tables ------------------------------------------------------------------------------------------------------------


def _encoded(inputs: Inputs, encoder: Any, features: list[Feature] | None) -> list[Feature]:
    if features is not None:
        raise ParameterError(f"a FrameEncoder after other steps cannot be written in {inputs.writer.language}")
    if encoder.kind_ != FRAME:
        numbers = inputs.numbers(encoder)
        return (
            numbers if encoder.view != LINEAR else _numbers_of_scaler(encoder.blocks_, [_value(one) for one in numbers])
        )
    typed = {name: make for column in encoder.columns_ for name, make in _typed(inputs, column).items()}
    found: list[Feature] = []
    for _, block, places in encoder.blocks_.transformers_:
        if not len(places):
            continue
        if isinstance(block, NumberScaler):
            found += _numbers_of_scaler(block, [typed[str(name)]()[0] for name in block.names_])
        elif isinstance(block, FloatNumbers):
            found += [NumberFeature(typed[str(name)]()[0], single=True) for name in block.names_]
        elif isinstance(block, CategoryEncoder):
            found += _categories(block, typed)
        else:
            name = str(block.names_[0])
            what = "words of its texts" if encoder.view == LINEAR else "hashes of its texts"
            raise ParameterError(
                f"the model uses {what} in column {name!r}, which cannot be written in {inputs.writer.language}; leave "
                "the column out of the fit, or predict with the model itself"
            )
    return found


def _value(feature: Feature) -> str:
    return feature.value


#: What a typed column is called in the language, and how its categories are written.
Typed = tuple[str, Callable[[str], str]]


def _typed(inputs: Inputs, column: Column) -> dict[str, Callable[[], Typed]]:
    """What a column of the table becomes, by the names of its typed columns.

    Functions, because only columns that the model uses are to be read.
    """
    writer, read = inputs.writer, inputs.read(column)
    if column.role == NUMBER:
        return {column.name: lambda: (writer.number_column(column.name), writer.text)}
    if column.role != DATE:
        return {column.name: lambda: (writer.text_column(read), writer.text)}
    first = np.datetime64(column.first, "s")

    def part_of(part: str) -> Typed:
        codes = {name: str(code) for code, name in enumerate(date_part(np.array([first]), part, first)[1])}
        return writer.date_part(read, part), codes.__getitem__

    return {part_name(column, part): (lambda part=part: part_of(part)) for part in column.parts}  # type: ignore[misc]


def _numbers_of_scaler(block: NumberScaler, values: list[str]) -> list[Feature]:
    numbers: list[Feature] = [
        NumberFeature(value, float(block.mean_[k]), float(block.scale_[k]), filled=True)
        for k, value in enumerate(values)
    ]
    flags = [
        FlagFeature(values[at], float(block.mean_[len(values) + k]), float(block.scale_[len(values) + k]))
        for k, at in enumerate(block.flagged_)
    ]
    return [*numbers, *flags]


def _categories(block: CategoryEncoder, typed: dict[str, Callable[[], Typed]]) -> list[Feature]:
    found: list[Feature] = []
    for name, kept, missing, other in zip(block.names_, block.categories_, block.missing_, block.other_, strict=True):
        value, literal = typed[name]()
        literals = tuple(literal(category) for category in kept)
        found += [CategoryFeature(value, one, True, literals) for one in literals]
        found += [CategoryFeature(value, MISSING, False, literals)] * missing
        found += [CategoryFeature(value, OTHER, False, literals)] * other
    return found


TRANSFORMERS: dict[type, Callable[[Inputs, Any, list[Feature] | None], list[Feature]]] = {
    FrameEncoder: _encoded,
    StandardScaler: _scaled,
}
