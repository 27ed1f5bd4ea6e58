r"""Which positive curvature a tree learner is given for a phi.

- Smooth and convex: :math:`\varphi''`, but at least :math:`|\varphi'| / 4`, so that the Newton step of no row is longer
  than four margins. Where phi is nearly straight, its own curvature would allow a step of any length, after which the
  rows of the other class step back by as much. This happens quickly if the margins of the classes differ. (The plain
  logistic loss keeps its curvature, as the libraries have it.)
- Smooth, not convex: :math:`\varphi''` can be negative. A bound :math:`B \ge \sup \varphi''`, found by interval
  arithmetic from the tree, makes

  .. math:: \varphi(t + s) \le \varphi(t) + \varphi'(t) s + \tfrac12 B s^2 \quad \text{for all } s,

  so a leaf value that minimises the right side never raises the loss.
- With kinks: the mean of phi over :math:`[t - \delta, t + \delta]` takes its place. It is smooth, its slope is the
  difference quotient of phi and its curvature that of phi'; away from a kink of straight pieces it is phi itself.
"""

from __future__ import annotations

import math
from functools import lru_cache

from uneven.errors import LossError
from uneven.expression import derivative
from uneven.expression.algebra import neg
from uneven.losses import Phi
from uneven.shape.structure import is_continuous
from uneven.shape.upper_bound import upper_bound

#: Half width of the mean of a phi with kinks; less if a kink is closer to 0, so that the slope at 0 stays.
_HALF_WIDTH = 0.25
#: One over the longest Newton step of a row, in margins.
_SHORTEST = 0.25


@lru_cache(maxsize=256)
def rule(phi: Phi) -> tuple[float, float, float]:
    """Half width of the mean (0: phi itself), constant curvature (0: its own), least ratio of its own to the slope."""
    name = phi.name or phi.text
    if not is_continuous(phi.tree):
        raise LossError(f"boosted trees follow the slope of a loss, but {name!r} jumps; 'sigmoid' or 'beta' would work")
    half = 0.0
    if phi.kinks:
        half = min(_HALF_WIDTH, *(abs(kink) / 2 for kink in phi.kinks if kink != 0), math.inf)
    if phi.convex:
        return half, 0.0, _SHORTEST
    slope = derivative(phi.tree)
    jump = (upper_bound(slope) + upper_bound(neg(slope))) / (2 * half) if half else 0.0
    largest = jump or upper_bound(derivative(slope))
    if not math.isfinite(largest):
        raise LossError(
            f"{name!r} is not known to be convex and no bound of its curvature was found, so no step is known to "
            "descend; a convex loss such as 'logistic' would work"
        )
    return half, largest, 0.0
