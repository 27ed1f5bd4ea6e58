r"""The uneven hinge with a free intercept in the coordinates of the ordinary one.

With :math:`a = (1 + 1/\gamma)/2` and :math:`c = (1 - 1/\gamma)/2`, :math:`f = a h + c` turns the uneven hinge of f into
a times the ordinary hinge of h. So the minimiser for (gamma, C) is a h + c with h the minimiser for (1, C/a): all
gammas at one effective C/a are one fit.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC, affine
from uneven.solvers.kernel.gram import Buffer, Stored, gram

#: Up to so many rows, all of K in memory that is there costs less than the rows that one fit needs, one by one.
_FEW_ROWS = 4000


def is_one_fit(learner: Any, loss: Any) -> bool:
    """Whether all gammas of a learner at one effective C are one fit."""
    if type(learner) is UnevenSVC:
        return True
    return (
        type(learner) is UnevenLinearClassifier
        and isinstance(loss, str)
        and loss.strip() == "hinge"
        and learner.penalty == "l2"
        and bool(learner.fit_intercept)
    )


def own_c(effective: Exact, margin_gamma: Exact) -> float:
    """C of the learner with this gamma whose effective C is given."""
    return _inputs.to_float(_inputs.positive("C", effective) * _inputs.exact("", affine(margin_gamma)[0]))


def moved(model: Any, margin_gamma: Exact, C: float) -> Any:
    """A copy of a learner fitted at gamma = 1, as the learner fitted at another gamma and the same effective C."""
    a, c = affine(margin_gamma)
    other = copy.copy(model)
    other.margin_gamma, other.C = margin_gamma, C
    sign = 1.0 if model._positive == 1 else -1.0
    name = "dual_coef_" if isinstance(model, UnevenSVC) else "coef_"
    setattr(other, name, a * getattr(model, name))
    other.intercept_ = a * model.intercept_ + sign * c
    other.objective_ = a * a * model.objective_
    if model.duality_gap_ is not None:
        other.duality_gap_ = a * a * model.duality_gap_
    loss, fp_cost, fn_cost, _ = model._fitted_with
    other._fitted_with = (loss, fp_cost, fn_cost, margin_gamma)
    return other


def svc_fits(
    learner: UnevenSVC, X: Any, y: Any, sample_weight: Any, Cs: list[Any], buffer: Buffer
) -> Iterator[UnevenSVC]:
    """Fits at gamma = 1 for many C: the data are read once, the kernel matrix made once where it fits and pays."""
    learner.set_params(margin_gamma=1.0, C=Cs[0], warm_start=True)
    learner._read_parameters()
    problem = learner._read(X, y, sample_weight)
    kernel = learner._read_kernel(problem)
    K = gram(kernel, problem.X)
    fits = learner.solver == "smo" and 8 * K.n**2 <= float(learner.cache_size) * 2**20
    if fits and (len(Cs) > 1 or K.n <= _FEW_ROWS):
        K = Stored(K.whole(buffer))
    before = None
    for C in Cs:
        model = copy.copy(learner).set_params(C=C)
        model._read_parameters()
        model._fit(problem, kernel, K, before)
        before = model._warm
        del model._warm
        model.warm_start = False
        yield model
