"""Which model is saved, and what is said about it."""

from __future__ import annotations

import pytest

from uneven.app.report.sentences import Choice
from uneven.metrics import CostEstimate


def choice(free: bool, wide: float, **costs: float) -> Choice:
    """A choice whose paired intervals reach so far to both sides; underscores in names become spaces."""
    first = next(iter(costs.values()))
    rows = [
        CostEstimate(
            *(name.replace("_", " "), x, x - 1, x + 1, 0, 0, x - first, x - first - wide, x - first + wide),
            rough=False,
            difference_rough=False,
        )
        for name, x in costs.items()
    ]
    return Choice(rows, free, "EUR")


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            choice(True, 0.1, ensemble=1.0, moved=1.25, flag_everyone=1.5, flag_no_one=9.0),
            "Cheapest of 2 models: ensemble. Per 1,000 rows it costs 250 EUR (20 %) less than moved, the next (95 % "
            "interval 150 to 350).",
        ),
        (
            choice(True, 0.3, moved=1.0, ensemble=1.25, weighted=2.0, flag_everyone=1.5, flag_no_one=9.0),
            "Cheapest of 3 models: moved. Per 1,000 rows it costs 250 EUR (20 %) less than ensemble, the next (95 % "
            "interval -50 to 550; the difference may be chance).",
        ),
        (
            choice(True, 0.0, moved=1.0, ensemble=1.0, flag_everyone=1.5, flag_no_one=9.0),
            "Cheapest of 2 models: moved, at the same cost as ensemble; the simpler one is saved.",
        ),
        (
            choice(False, 0.1, linear=1.0, moved=0.5, flag_everyone=1.5, flag_no_one=9.0),
            "Cheapest of 2 models: moved, not linear. Per 1,000 rows it costs 500 EUR (50 %) less (95 % interval 400 "
            "to 600). --learner auto saves the cheapest.",
        ),
        (
            choice(True, 0.1, ensemble=0.0, moved=0.5, flag_everyone=1.5, flag_no_one=9.0),
            "Cheapest of 2 models: ensemble. Per 1,000 rows it costs 500 EUR less than moved, the next (95 % interval "
            "400 to 600).",
        ),
    ],
)
def test_the_choice_in_words(found: Choice, sentence: str) -> None:
    assert found.in_words() == sentence
    assert not found.useless
    assert found.warning() == ""


@pytest.mark.parametrize(
    ("found", "beginning"),
    [
        (
            choice(True, 0.1, ensemble=1.0, moved=1.5, flag_no_one=0.75, flag_everyone=9.0),
            "WARNING: no model beats flagging no one. The cheapest model, ensemble, costs 250 EUR more per 1,000 rows "
            "(95 % interval 150 to 350). Rather do that,",
        ),
        (
            choice(True, 0.0, moved=1.0, flag_everyone=1.0, flag_no_one=9.0),
            "WARNING: no model beats flagging everyone. The cheapest model, moved, costs as much per 1,000 rows (95 % "
            "interval 0 to 0; the difference may be chance).",
        ),
        (
            choice(False, 0.3, linear=1.0, moved=0.5, flag_everyone=0.75, flag_no_one=9.0),
            "WARNING: linear does not beat flagging everyone. It costs 250 EUR more per 1,000 rows (95 % interval -50 "
            "to 550; the difference may be chance).",
        ),
    ],
)
def test_a_model_that_beats_no_constant_rule(found: Choice, beginning: str) -> None:
    assert found.useless
    assert found.warning().startswith(beginning)


@pytest.mark.parametrize(
    ("free", "subject"), [(True, "no model is shown to beat"), (False, "ensemble is not shown to beat")]
)
def test_a_model_that_may_be_cheaper_by_chance(free: bool, subject: str) -> None:
    found = choice(free, 0.3, ensemble=1.0, moved=1.5, flag_no_one=1.25, flag_everyone=9.0)
    assert not found.useless
    assert found.warning() == (
        f"WARNING: {subject} flagging no one. Ensemble saves 250 EUR per 1,000 rows (95 % interval -50 to 550): this "
        "may be chance."
    )
