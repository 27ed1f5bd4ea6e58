"""
A loss of your own
==================

Write the loss as a formula in t. The library says for which costs it is calibrated, makes the version that is
calibrated for yours, proves it, bounds what a small training loss guarantees, and fits a classifier with it.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import uneven

# %%
# A positive example with decision value t has the loss phi(t). A negative one has phi(-gamma t)/gamma, where gamma
# says how uneven the margins are. This phi is the logistic loss with a penalty for values on the wrong side. It is not
# in the library.

mine = uneven.phi("log(1 + exp(-t)) + relu(-t)**2/2")
print(mine.text, "convex:", mine.convex)

# %%
# A missed positive costs nine false alarms: alpha = 1/10. The verdict is a proof, not a computation in floats.

loss = uneven.calibrated_loss(mine, alpha="1/10", gamma=2)
analysis = uneven.analyze(loss)
print(analysis.report())

# %%
# The proof as a file that can be checked without trusting the program that found it:

certificate = uneven.certify(loss)
print(certificate)
print(bool(uneven.verify(certificate.to_json())))

# %%
# What the loss guarantees beside two well-known ones: how large the cost regret can be for a given surrogate regret.

figure = uneven.figures.regret_bound(losses=("logistic", "hinge", loss), alpha="1/10")

# %%
# And a classifier that minimises it, with a proved bound of how far it is from the optimum:

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
model = uneven.UnevenLinearClassifier(mine, fp_cost=1, fn_cost=9, margin_gamma=2, pos_label=0).fit(X, y)
print(
    f"missed tumours: {np.sum((model.predict(X) == 1) & (y == 0))}, needless alarms: "
    f"{np.sum((model.predict(X) == 0) & (y == 1))}; at most {model.duality_gap_ / model.objective_:.1e} above the best"
)
