"""Losses of other libraries: what they assume, proved.

One file per library in ``libraries``; ``certificates`` holds a proof for every loss at its defaults and at other
parameters worth knowing.
"""

from uneven.zoo.declaration import Case, Formula, Knob, Library, Outside, ZooLoss
from uneven.zoo.parameters import Choice, Flag, Number, PerClass
from uneven.zoo.parameters_for import Recipe, parameters_for
from uneven.zoo.registry import all_libraries, declared, loss, names, outside

__all__ = [
    "Case",
    "Choice",
    "Flag",
    "Formula",
    "Knob",
    "Library",
    "Number",
    "Outside",
    "PerClass",
    "Recipe",
    "ZooLoss",
    "all_libraries",
    "declared",
    "loss",
    "names",
    "outside",
    "parameters_for",
]
