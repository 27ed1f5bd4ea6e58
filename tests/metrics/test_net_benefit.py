"""Decision curves: the definition, and the identity with expected cost."""

from __future__ import annotations

import numpy as np
import pytest
from row_costs import sample

from uneven.errors import CostError
from uneven.metrics import expected_cost, net_benefit


def test_net_benefit_is_that_of_the_definition() -> None:
    rows = sample(20, 200)
    found = net_benefit(rows.y, rows.probability, thresholds=[0.0, 0.125, 0.5, 0.72])
    for k, t in enumerate(found.threshold):
        treated = rows.probability > t
        odds = t / (1 - t)
        by_hand = (treated & (rows.y == 1)).mean() - odds * (treated & (rows.y == 0)).mean()
        assert found.net_benefit[k] == pytest.approx(by_hand, abs=1e-12)
        assert found.treat_all[k] == pytest.approx(rows.y.mean() - odds * (1 - rows.y.mean()), abs=1e-12)
    assert found.treat_none.tolist() == [0.0] * 4
    assert net_benefit(rows.y, rows.probability).threshold == pytest.approx(np.linspace(0.01, 0.99, 99))


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_net_benefit_is_cost_saved_against_treating_nobody(seed: int, pays: bool) -> None:
    rows = sample(30 + seed, pays=pays)
    a, b = rows.costs["fp_cost"] - rows.costs["tn_cost"], rows.costs["fn_cost"] - rows.costs["tp_cost"]
    mean_a, mean_b = np.average(a, weights=rows.weight), np.average(b, weights=rows.weight)
    found = net_benefit(rows.y, rows.probability, sample_weight=rows.weight, **rows.costs)
    for k in range(0, 99, 9):
        t = found.threshold[k]
        costs = {"fp_cost": t * a / mean_a, "fn_cost": (1 - t) * b / mean_b, "sample_weight": rows.weight}
        treated = rows.probability * costs["fn_cost"] > (1 - rows.probability) * costs["fp_cost"]
        nobody, ours, all_ = (
            expected_cost(rows.y, said, **costs) for said in (0 * rows.y, treated.astype(int), 0 * rows.y + 1)
        )
        assert (1 - t) * found.net_benefit[k] == pytest.approx(nobody - ours, abs=1e-12)
        assert (1 - t) * found.treat_all[k] == pytest.approx(nobody - all_, abs=1e-12)


def test_net_benefit_at_the_given_costs_is_money() -> None:
    rows = sample(41)
    given = {"sample_weight": rows.weight, **rows.costs}
    own = net_benefit(rows.y, rows.probability, **given).own_threshold
    found = net_benefit(rows.y, rows.probability, thresholds=[own], **given)
    saved = expected_cost(rows.y, 0 * rows.y, **given) - expected_cost(rows.y, 0 * rows.y + 1, **given)
    assert found.treat_all[0] * found.unit == pytest.approx(saved)


def test_decisions_have_one_net_benefit_line() -> None:
    rows = sample(42)
    found = net_benefit(rows.y, rows.guess, fp_cost=1, fn_cost=9)
    hits, alarms = (rows.guess & rows.y).mean(), (rows.guess & (1 - rows.y)).mean()
    assert found.net_benefit == pytest.approx(hits - alarms * found.threshold / (1 - found.threshold))
    assert (found.own_threshold, found.unit) == pytest.approx((0.1, 9.0))
    assert repr(found) == "<NetBenefit: 99 thresholds from 0.01 to 0.99>"


@pytest.mark.parametrize(
    ("probability", "thresholds", "says"),
    [
        ([0.1, 1.5], None, r"y_prob must lie in \[0, 1\], got 1.5"),
        ([0.1], None, "y_true and y_prob must have the same length"),
        ([0.1, 0.2], [1.0], "thresholds must be below 1"),
        ([0.1, 0.2], [-0.5], r"thresholds must lie in \[0, 1\]"),
        ([0.1, 0.2], "abc", "thresholds must hold numbers"),
        (["a", "b"], None, "y_prob must hold numbers"),
    ],
)
def test_bad_probabilities(probability: object, thresholds: object, says: str) -> None:
    with pytest.raises(CostError, match=says):
        net_benefit([0, 1], probability, thresholds=thresholds)
