"""
Three outcomes, 20 reviews a day, at least 90 % found
=====================================================

Payments are cleared, reviewed or blocked. A missed fraud costs the amount, a blocked honest payment 20, a review 5;
reviewers miss one fraud in twenty. They can look at 20 payments of 1,000 a day.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import uneven

rng = np.random.default_rng(0)
n = 30_000
X = rng.normal(size=(n, 3))
fraud = rng.random(n) < 1 / (1 + np.exp(5.2 - 2.2 * X[:, 0] - 0.8 * X[:, 1]))
amount = np.round(np.exp(4 + 0.8 * rng.normal(size=n) + 0.3 * X[:, 1]), 2)
day = rng.integers(0, 10, n)
learn, past, new = np.arange(10_000), np.arange(10_000, 20_000), np.arange(20_000, n)
model = uneven.UnevenLinearClassifier("logistic", fp_cost=20, fn_cost=60).fit(X[learn], fraud[learn])


def actions_for(rows: np.ndarray) -> uneven.Actions:
    """What can be done with these payments."""
    return uneven.Actions.refer(fp_cost=20, fn_cost=amount[rows], price=5, misses=0.05)


# %%
# Which action is the cheapest depends on the probability of fraud and on the amount. For a payment of 100:

picture = uneven.Actions.refer(fp_cost=20, fn_cost=100, price=5, misses=0.05)
print(picture.in_words("EUR"))
found: dict[str, Any] = {"regions": picture.plot(unit="EUR")}

# %%
# Without a limit, and with 20 reviews a day (these are 1,000 payments a day):

free = model.decide(X[new], actions=actions_for(new))
print(free.summary("EUR"))
made = model.decide(X[new], actions=actions_for(new), at_most={"review": 20}, per=day[new])
print(made.summary("EUR"))
found["gains"] = made.plot(unit="EUR")

# %%
# At least 90 % of the frauds must not be cleared. The model's own probabilities say what that costs; held-out rows
# guarantee it.

ninety = model.decide(X[new], actions=actions_for(new), at_most={"review": 20}, per=day[new], recall_at_least=0.9)
print(ninety.summary("EUR"))
sure = model.decide(
    X[new], actions=actions_for(new), recall_at_least=0.9, held_out=(X[past], fraud[past], actions_for(past))
)
print(sure.guarantee)
caught = sure.flagged[fraud[new]].mean()
print(f"of the frauds on the new days, {100 * caught:.1f} % were not cleared")

# %%
# One payment at a time, and never more than 20 reviews a day:

reference = model.decide(X[past], actions=actions_for(past))
stream = uneven.Stream(reference, at_most={"review": 20}, rows_per_period=1000)
reviews = []
for date in range(10):
    today = new[day[new] == date]
    decided = stream.decide(model.decide(X[today], actions=actions_for(today)), period=date)
    reviews.append(int((decided.action == "review").sum()))
print("reviews a day:", reviews)
table = made.to_frame()
print(table.loc[table["action"] == "review", ["action", "probability", "saving", "rank", "group"]].head())

# %%
# ``python examples/plot_three_outcomes.py FOLDER`` also writes the pictures.

if len(sys.argv) > 1:
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for name, axes in found.items():
        axes.figure.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=110)
