"""
Bank: whom to call
==================

A bank sells a deposit by telephone. A call costs 1 EUR. A client who would have subscribed and is not called costs the
interest that the bank does not earn, which depends on the balance. The table is real and comes with the library
(:doc:`/example-table`).
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline

import uneven
from uneven.figures import CapacityCostDisplay
from uneven.metrics import compare_predictions
from uneven.tables import FrameEncoder

X, y, costs = uneven.load_example("train")
X_new, y_new, new_costs = uneven.load_example("test")
print(f"{len(X):,} clients to learn from, {len(X_new):,} new ones; {np.mean(y):.1%} subscribed")
print(f"a missed client costs {costs['fn_cost'].min():.0f} to {costs['fn_cost'].max():.0f} EUR")

# %%
# One model, three ways to decide: at one half, at one threshold for the mean costs, and each client by his own costs.

trees = make_pipeline(
    FrameEncoder(view="trees"),
    uneven.UnevenThresholdClassifierCV(
        HistGradientBoostingClassifier(max_iter=60, learning_rate=0.1, max_leaf_nodes=15, random_state=0),
        fp_cost=1,
        fn_cost=float(costs["fn_cost"].mean()),
        tp_cost=1,
    ),
).fit(X, y)
probability = trees.predict_proba(X_new)[:, 1]
decisions = {
    "at one half": probability > 0.5,
    "one threshold": trees.predict(X_new) == 1,
    "each client": trees.predict(X_new, **new_costs) == 1,
}
found = compare_predictions(y_new, decisions, **new_costs)
for row in found:
    print(
        f"{row.name:14s} {1000 * row.cost:6.0f} EUR per 1,000 clients ({1000 * row.low:.0f} to {1000 * row.high:.0f})"
    )

# %%
# If only so many calls can be made: the first call is worth most, and after some hundreds a further one loses money.

display = CapacityCostDisplay.from_predictions(y_new, probability, at_most=500, unit="EUR", **new_costs)
display.figure_.suptitle("What a limit on calls costs")
plt.show()

# %%
# Why these clients? The columns that spoke most for a call, in money.

some = X_new.iloc[:40]
why = uneven.explain(trees, some, X_new.iloc[40:140], **{k: v[:40] if np.ndim(v) else v for k, v in new_costs.items()})
first = int(np.argmax(np.where(why.flagged, why.saving, -np.inf)))
print(why.sentences(2, unit="EUR")[first])
