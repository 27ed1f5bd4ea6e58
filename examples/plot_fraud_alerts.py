"""
Fraud: 40 alerts a day
======================

A team can look at 40 payments a day. An alert costs 6 EUR, a missed fraud its amount. So a likely fraud of 12 EUR is
worth less than a possible one of 2,000. The table is made up, so that this runs anywhere: put yours in its place.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import uneven
from uneven.figures import CapacityCostDisplay
from uneven.metrics import total_cost

random, days, a_day = np.random.default_rng(1), 12, 1000
rows = days * a_day
amount = np.round(np.exp(random.normal(3.8, 1.2, rows)), 2)
X = pd.DataFrame(
    {
        "new_device": random.random(rows) < 0.1,
        "abroad": random.random(rows) < 0.2,
        "log_amount": np.log(amount),
    }
).astype(float)
log_odds = -6 + 2.2 * X["new_device"] + 1.5 * X["abroad"] + 0.4 * X["log_amount"]
fraud = np.where(random.random(rows) < 1 / (1 + np.exp(-log_odds)), "fraud", "fine")
day = np.repeat(np.arange(days), a_day)
past, new = day < 8, day >= 8

# %%
# Rows stand in the order of time, so the model learns from the first eight days and decides about the last four. It
# knows each day as a whole here.

model = uneven.UnevenLinearClassifier("logistic", pos_label="fraud").fit(X[past], fraud[past])
money = {"fp_cost": 6, "tp_cost": 6, "fn_cost": amount[new]}
alerts = model.decide(X[new], at_most=40, per=day[new], **money)
print(alerts.summary("EUR"))

# %%
# On the day itself nobody knows what is still to come. ``Stream`` decides a few payments at a time, never exceeds the
# 40, and finds its price from past days.

known = {"fp_cost": 6, "tp_cost": 6, "fn_cost": amount[past]}
stream = uneven.Stream(model.decide(X[past], **known), at_most=40, rows_per_period=a_day)
first, streamed = 8 * a_day, []
for start in range(first, rows, 20):
    some = slice(start, start + 20)
    arrived = model.decide(X[some], fp_cost=6, tp_cost=6, fn_cost=amount[some])
    streamed += stream.decide(arrived, period=day[start]).action.tolist()

# %%
# What the days cost: without alerts, the 40 most probable, 20 payments at a time, and with the whole day known.

probability = model.predict_proba(X[new])[:, list(model.classes_).index("fraud")]
rank = pd.Series(probability).groupby(day[new]).rank(ascending=False, method="first").to_numpy()
said = {
    "no alerts": np.full(len(streamed), "fine"),
    "the 40 most probable": np.where(rank <= 40, "fraud", "fine"),
    "20 at a time": np.array(streamed),
    "the whole day known": alerts.action,
}
found = {name: total_cost(fraud[new], one, pos_label="fraud", **money) / 4 for name, one in said.items()}
for name, cost in found.items():
    print(f"{name:22s} {cost:6.0f} EUR a day, {np.mean(said[name] == 'fraud') * a_day:.0f} alerts")

# %%
# To know the whole day is cheaper on average; on four days chance decides which of the last two is. How many alerts
# would pay?

display = CapacityCostDisplay.from_predictions(
    fraud[new], probability, at_most=40, per=day[new], period="day", unit="EUR", pos_label="fraud", **money
)
plt.show()
