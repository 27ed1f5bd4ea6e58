"""
A calibrated loss and one that is not
=====================================

If a loss is calibrated for the costs, its regret and the cost regret go to 0 together (corollary 1). The *surrogate
regret* is the expected loss minus the smallest possible one, the *cost regret* the expected cost minus the smallest
possible one.

Nothing is fitted. A sequence of decision functions approaches the minimiser of the expected loss on a finite
distribution. If the loss is calibrated for the costs, the cost regret goes to 0 as well and stays below the bound of
theorem 1. If it assumes other costs, the regret of the loss goes to 0 but the cost regret does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import uneven
from uneven.calibration import FiniteDistribution
from uneven.calibration.half_lines import HalfLineSolver

ALPHA = 0.2  # a false positive costs 0.2, a false negative 0.8
ETAS = (np.arange(20_000) + 0.5) / 20_000  # all probabilities, so that some points lie close to the decision threshold

# %%
# The best decision value at each point minimises the conditional risk there. We start with every decision wrong and
# halve the distance to the minimiser at each step.


@dataclass(frozen=True)
class Path:
    """Regrets along the sequence of decision functions, and the bound on the cost regret."""

    name: str
    surrogate: np.ndarray
    cost: np.ndarray
    bound: np.ndarray


def minimisers(loss: uneven.Loss) -> np.ndarray:
    """A minimiser of the conditional risk at each eta; +-30 if it is infinite."""
    solver = HalfLineSolver(loss)
    sides = [solver.minimum(side, ETAS, 1 - ETAS) for side in (1, -1)]
    at = np.where(sides[0].value < sides[1].value, sides[0].at, sides[1].at)
    return np.clip(at, -30, 30)


def path(name: str, loss: uneven.Loss, steps: int = 10) -> Path:
    """Regrets on the way from all wrong to the minimiser of the loss."""
    world = FiniteDistribution(np.ones(ETAS.size), ETAS)
    analysis = uneven.analyze(loss, ALPHA)
    end = minimisers(loss)
    start = np.where(ETAS > ALPHA, -1.0, 1.0)
    regrets = []
    for k in range(steps):
        f = end + (start - end) * 0.5**k
        regrets.append((world.surrogate_regret(loss, f), world.cost_regret(f, alpha=ALPHA)))
    surrogate, cost = np.array(regrets).T
    return Path(name, surrogate, cost, analysis.psi_inverse(surrogate))


# %%
# The first loss is calibrated for these costs. The second one differs in one number, beta, and assumes other costs:

calibrated = uneven.UnevenMarginLoss("logistic", gamma=3, alpha=ALPHA)
miscalibrated = uneven.UnevenMarginLoss("logistic", gamma=3, beta=1, alpha=ALPHA)
for loss in (calibrated, miscalibrated):
    print(uneven.implied_alpha(loss).in_words(reason=False))

# %%
# Both surrogate regrets go to 0. Only one cost regret does:

found = [path("calibrated", calibrated), path("not calibrated", miscalibrated)]
for one in found:
    print(f"{one.name}: surrogate regret, cost regret, bound on the cost regret (theorem 1)")
    for row in zip(one.surrogate, one.cost, one.bound, strict=True):
        print("  {:10.3e} {:10.3e} {:10.3e}".format(*row))

# %%

figure, axes = plt.subplots(1, len(found), figsize=(9, 4), sharey=True, layout="constrained")
for axis, one in zip(axes, found, strict=True):
    axis.loglog(one.surrogate, one.bound, "k--", label="bound of theorem 1")
    axis.loglog(one.surrogate, one.cost, "o-", color="#0072B2", label="cost regret")
    axis.set(title=one.name, xlabel="surrogate regret")
    axis.legend(loc="lower right")
axes[0].set_ylabel("cost regret")
