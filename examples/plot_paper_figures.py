"""
The seven figures of the paper
==============================

The theory of this library is C. Scott, *Calibrated Surrogate Losses for Classification with Label-Dependent Costs*.
Its figures, drawn again with the corrected formulas. Every function also takes other losses and other costs, for
example ``uneven.figures.draw("hinge", alphas=("1/3",), gammas=(1, 4))``.

Symbols: eta is the probability of a positive at a point, t the decision value there, alpha the cost of a false
positive where both costs sum to 1. gamma says how uneven the margins are.
"""

from __future__ import annotations

from uneven import figures

# %%
# Partial losses
# --------------
# The loss of a positive and of a negative example, as functions of t, for several gammas.

partial_losses = figures.draw("partial-losses")

# %%
# The uneven hinge
# ----------------
# H(eta) is the smallest excess loss of a wrong decision at eta. It is 0 at alpha only: the loss is calibrated for
# alpha. nu(eps) is the smaller one of its two values at distance eps from alpha; its convex hull, psi, gives the
# regret bound.

hinge = figures.draw("hinge")

# %%
# The uneven squared error
# ------------------------

squared = figures.draw("squared")

# %%
# The uneven exponential loss
# ---------------------------

exponential = figures.draw("exponential")

# %%
# The conditional risk of the uneven sigmoid
# ------------------------------------------
# The sigmoid is not convex: its risk can have a minimum on one side of t = 0 and a limit at infinity on the other.
# Which of them is lower decides.

sigmoid_risk = figures.draw("sigmoid-risk")

# %%
# The two sides of the uneven sigmoid
# -----------------------------------
# The smallest risk of a positive decision and of a negative one. They cross at the alpha for which the loss is
# calibrated.

sigmoid_sides = figures.draw("sigmoid-sides")

# %%
# The alpha of the uneven sigmoid
# -------------------------------
# For a convex loss the alpha does not depend on gamma. For the sigmoid it does; ``uneven.calibrated_loss`` corrects
# for it.

alpha_of_gamma = figures.draw("alpha-of-gamma")
