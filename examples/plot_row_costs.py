"""
A cost for each row
===================

A missed fraud costs the amount of the transaction, a check costs 5. So the same probability of fraud means "check" for
a large amount and "let it pass" for a small one. This example makes such data and decides in three ways.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import uneven
from uneven.metrics import expected_cost, savings_score

random = np.random.default_rng(0)
X = random.normal(size=(6000, 4))
fraud = random.random(6000) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))
amount = np.round(np.exp(3 + random.normal(size=6000) + X[:, 1]), 2)
old, new = slice(0, 4000), slice(4000, None)
CHECK = 5

# %%
# *Average costs*: one number for all rows, the mean amount of a fraud. *Learn*: the rows are weighted by what their
# mistake costs, the decision is at 0. *Decide*: the model learns probabilities, and each row is decided by its own
# costs.

mean = float(amount[old][fraud[old]].mean())
average = uneven.UnevenLinearClassifier("logistic", fp_cost=CHECK, fn_cost=mean).fit(X[old], fraud[old])
learn = uneven.UnevenLinearClassifier("logistic", fp_cost=CHECK).fit(X[old], fraud[old], fn_cost=amount[old])
decide = uneven.UnevenLinearClassifier("logistic").fit(X[old], fraud[old])
checked = {
    "average costs": average.predict(X[new]),
    "learn": learn.predict(X[new]),
    "decide": decide.predict(X[new], fp_cost=CHECK, fn_cost=amount[new]),
}
money = {"fp_cost": CHECK, "fn_cost": amount[new]}
for name, said in checked.items():
    cost, saved = expected_cost(fraud[new], said, **money), savings_score(fraud[new], said, **money)
    print(f"{name:14s} {cost:5.2f} per transaction, saves {saved:.0%} of the better constant; checks {said.mean():.1%}")

# %%
# Where the amount is known at the decision, using it is the cheapest. The curve is the probability above which a check
# pays: the cost of a check over the sum of both costs.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
probability = decide.predict_proba(X[new])[:, 1]
for flag, color, label in ((False, "0.75", "passes"), (True, "#D55E00", "is checked")):
    rows = checked["decide"] == flag
    ax.scatter(amount[new][rows], probability[rows], s=5, color=color, label=label)
grid = np.geomspace(amount.min(), amount.max(), 200)
ax.plot(grid, CHECK / (CHECK + grid), color="black", lw=1)
ax.set(xscale="log", yscale="log", ylim=(1e-4, 1.2), xlabel="amount of the transaction", ylabel="probability of fraud")
ax.legend(loc="lower left", markerscale=3)
