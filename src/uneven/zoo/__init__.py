"""Losses of other libraries: what they assume, proved.

One file per library in ``libraries``; ``certificates`` holds a proof for every loss at its defaults and at other
parameters worth knowing.
"""

from uneven.zoo.catalogue import all_libraries, declared, loss, names, outside
from uneven.zoo.parameters_for import Recipe, parameters_for
from uneven.zoo.zoo_loss import Case, Choice, Flag, Formula, Knob, Library, Number, Outside, PerClass, ZooLoss

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
