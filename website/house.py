"""Draws the rooms of the library as floors, from the import contract of pyproject.toml: python website/house.py.

The picture is ``docs/images/house.png``; a room imports only from floors below it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "house.png"
QUESTIONS = {
    "app": "How does a person use it?",
    "figures": "What does it look like?",
    "monitor": "What does it cost in use?",
    "adapters": "How do other libraries use it?",
    "learners": "What does scikit-learn need?",
    "zoo": "What do others' losses assume?",
    "parts": "Rows that nobody holds at once",
    "tables": "What are these columns?",
    "decisions": "Probabilities and costs: what is done?",
    "calibration": "What is true of a loss?",
    "solvers": "How is it minimised?",
    "losses": "What is a loss?",
    "shape": "What is a function like?",
    "ops": "How do numbers behave?",
    "expression": "What is written?",
}
GROUND = (("metrics", "What did it cost?"), ("costs, labels, inputs, errors", "What was given?"))


def floors() -> list[list[str]]:
    """The rooms of each floor, from the top, as the contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["name"] == "Imports point one way")
    return [[room.strip().removeprefix("uneven.") for room in layer.split("|")] for layer in layers]


def draw() -> None:
    """Write the picture."""
    levels = [[(room, QUESTIONS[room]) for room in floor] for floor in floors()]
    levels += [[GROUND[0]], [GROUND[1]]]
    figure, axes = plt.subplots(figsize=(9, 6.2), layout="constrained")
    for k, floor in enumerate(reversed(levels)):
        width = 10 / len(floor)
        for column, (room, question) in enumerate(floor):
            ground = k < len(GROUND)
            box = FancyBboxPatch(
                (column * width + 0.06, k + 0.08),
                width - 0.12,
                0.84,
                boxstyle="round,pad=0,rounding_size=0.08",
                facecolor="#e8eef7" if not ground else "#f3ede1",
                edgecolor="#5b6b84" if not ground else "#8a7a58",
            )
            axes.add_patch(box)
            middle = (column + 0.5) * width
            axes.text(middle, k + 0.63, room, ha="center", va="center", weight="bold", fontsize=10)
            axes.text(middle, k + 0.3, question, ha="center", va="center", fontsize=8.5, color="#333333")
    axes.set(xlim=(0, 10), ylim=(0, len(levels)))
    axes.axis("off")
    figure.savefig(PICTURE, dpi=130)


if __name__ == "__main__":
    draw()
