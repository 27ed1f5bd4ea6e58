"""
Churn: 500 calls
================

A campaign can call 500 of 10,000 customers. A call costs 4 EUR; one in three customers who are about to leave stays
after a call, and is then worth a year's margin. The table is made up, so that this runs anywhere: put yours in its
place.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import uneven
from uneven.figures import CapacityCostDisplay
from uneven.metrics import cost_by_capacity, lift

random, rows = np.random.default_rng(2), 20_000
X = pd.DataFrame(
    {
        "months": random.integers(1, 72, rows),
        "complaints": random.poisson(0.4, rows),
        "contract": random.random(rows) < 0.5,
    }
).astype(float)
margin = np.round(np.exp(random.normal(4.6, 0.7, rows)))
log_odds = -2 - 0.03 * X["months"] + 0.9 * X["complaints"] - 1.2 * X["contract"]
leaves = np.where(random.random(rows) < 1 / (1 + np.exp(-log_odds)), "leaves", "stays")
past, new = slice(0, 10_000), slice(10_000, rows)

# %%
# The model learns who leaves. What a call earns stands in the costs: a benefit is a negative cost.

model = uneven.UnevenLinearClassifier("logistic", pos_label="leaves").fit(X[past], leaves[past])
money = {"fp_cost": 4, "tp_cost": 4 - margin[new] / 3, "fn_cost": 0, "tn_cost": 0}
calls = model.decide(X[new], at_most=500, **money)
print(calls.summary("EUR"))

# %%
# The 500 who are worth most are not the 500 who are most likely to leave.

probability = model.predict_proba(X[new])[:, list(model.classes_).index("leaves")]
left = leaves[new] == "leaves"
by_money, by_probability = (cost_by_capacity(left, probability, by=by, **money) for by in ("saving", "score"))
profits = {}
for limit in (250, 500, 1000, 2000):
    profits[limit] = [-len(left) * curve.at(limit) for curve in (by_money, by_probability)]
    ours, theirs = profits[limit]
    more = lift(left, probability, at_most=limit)
    print(f"{limit:5} calls: profit {ours:5.0f} EUR, by probability {theirs:5.0f}; lift {more:.1f}")

# %%
# The profit curve, upside down: the lowest point is the number of calls that earns most.

display = CapacityCostDisplay.from_predictions(left, probability, at_most=500, unit="EUR", **money)
plt.show()
