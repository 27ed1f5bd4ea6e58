"""
The right threshold for any classifier
======================================

A random forest says how likely a customer is to leave. A lost customer costs 15, a call costs 1, so a call pays above a
probability of 1/16. But the forest's probabilities are not right down there, and the cheapest threshold on some
thousand rows is partly luck. ``UnevenThresholdClassifierCV`` finds a correction that is neither.
"""

from __future__ import annotations

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import uneven
from uneven.metrics import expected_cost

COSTS = {"fp_cost": 1, "fn_cost": 15}
X, y = make_classification(
    5500, 20, n_informative=6, n_clusters_per_class=3, weights=[0.92], flip_y=0.03, class_sep=0.7, random_state=3
)
X, X_new, y, y_new = train_test_split(X, y, test_size=4000, stratify=y, random_state=0)
forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=0)

# %%
# The forest as it is, the forest cut at the probability 1/16 that the costs ask for, the threshold that was cheapest
# on the out-of-fold rows, and the corrected one. The costs are those of 4,000 new customers.

methods = {"cut at 1/16": "none", "cheapest threshold of the folds": "cost", "corrected": "gibbs"}
models = {
    name: uneven.UnevenThresholdClassifierCV(forest, method=method, **COSTS).fit(X, y)
    for name, method in methods.items()
}
new_costs = {"decided at 1/2": expected_cost(y_new, forest.fit(X, y).predict(X_new), **COSTS)}
new_costs |= {name: expected_cost(y_new, model.predict(X_new), **COSTS) for name, model in models.items()}
for name, cost in new_costs.items():
    print(f"{name:32s} {cost:.3f} per customer")

# %%
# The picture shows how the correction is found. The staircase is what the out-of-fold decisions would have cost at
# each shift of the forest's log-odds. The smooth curve is a loss that is calibrated for these costs and looks only at
# rows near the threshold. At the foot is the posterior of the shift, whose mean is used.

display = models["corrected"].plot()

# %%
# Other costs need no new fit. Here a call costs 3.

calls = {cost: int(models["corrected"].predict(X_new, fp_cost=cost).sum()) for cost in (1, 3)}
print(calls)
