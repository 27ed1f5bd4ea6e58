"""What the theory says about one loss and one alpha."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from uneven import inputs
from uneven.calibration.calibrated_losses import kept_property
from uneven.calibration.conditional_risk import ConditionalRisk, FiniteDistribution, Probabilities
from uneven.calibration.implied_costs import (
    ImpliedAlpha,
    Prescription,
    costs_in_words,
    implied_alpha,
    prescribe,
)
from uneven.calibration.regret_curves import RegretCurves, falls_and_rises
from uneven.calibration.search.prover import for_scores_within
from uneven.calibration.search.psi_search import PsiBounds
from uneven.calibration.trusted.claims import CALIBRATED, UNDECIDED
from uneven.calibration.verdict import Verdict, verdict
from uneven.errors import LossError, ParameterError
from uneven.inputs import Exact, round_down, round_up
from uneven.losses import CostPrior, Loss, Phi
from uneven.losses.loss import as_loss
from uneven.losses.notebook import block, loss_latex
from uneven.shape.structure import is_convex

if TYPE_CHECKING:
    from uneven.calibration.prior_analysis import PriorAnalysis

_TABLE = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)  # cost regrets in a report, as shares of the largest one


@dataclass(frozen=True)
class TightDistribution:
    """A distribution on at most two points for which theorem 1 holds with equality (up to 1e-9).

    Every loss has one for every cost regret: no better bound than theorem 1 holds for all distributions.

    Attributes
    ----------
    weights, etas, decisions : ndarray
        For each point x: its probability, P(Y = 1 | x), and the decision value f(x).
    cost_regret, surrogate_regret : float
        The regrets of these decisions.
    """

    weights: np.ndarray
    etas: np.ndarray
    decisions: np.ndarray
    cost_regret: float
    surrogate_regret: float


class Analysis:
    """What a loss guarantees for a cost parameter alpha; made by :func:`analyze`.

    The cost regret is the expected cost minus the smallest possible one; a false positive costs alpha, a false negative
    1 - alpha. The surrogate regret is the expected loss minus the smallest possible one.

    Attributes
    ----------
    loss : Loss
    alpha : float
    score_bound : float or None
        If given, all scores t lie in [-score_bound, score_bound], and every "smallest" and "best" is over these t. The
        surrogate regret is then the expected loss minus that of the best score within the bound at each x.
    largest_regret : float
        The largest possible cost regret, B_alpha = max(alpha, 1 - alpha).
    """

    def __init__(self, loss: Loss, alpha: Fraction, score_bound: Fraction | None = None) -> None:
        self.loss = loss
        self.exact_alpha = alpha
        self.exact_score_bound = score_bound
        self.alpha = float(alpha)
        self.score_bound = None if score_bound is None else float(score_bound)
        self.largest_regret = float(max(alpha, 1 - alpha))
        self._bounded = loss if score_bound is None else loss.clipped(score_bound)
        risk = ConditionalRisk(self._bounded)
        # If L1 falls up to a minimiser and rises after it, so does L1 clipped.
        self._curves = RegretCurves(risk, alpha, monotone=falls_and_rises(loss))

    def __repr__(self) -> str:
        bound = self.exact_score_bound
        within = "" if bound is None else f", score_bound={inputs.shown(bound)}"
        return f"uneven.analyze({self.loss!r}, alpha={inputs.shown(self.exact_alpha)}{within})"

    def _repr_html_(self) -> str:
        """The loss, the costs and the verdict, for a notebook.

        A display must not start a long proof: the verdict is shown if it was asked for before, or if the loss is
        written as convex functions, for which the proof takes milliseconds.
        """
        lines = [("Costs", f"alpha = {self.alpha:.6g}, {costs_in_words(self.exact_alpha)}")]
        if self.score_bound is not None:
            lines.append(("Scores", self._range_in_words()))
        convex = self.loss.symbolic and all(is_convex(partial.tree) for partial in self.loss.partials)
        if convex or "verdict" in self.__dict__:
            lines.append(("Verdict", str(self.verdict)))
        else:
            lines.append(("Verdict", "not asked for yet; .verdict proves it"))
        return block(repr(self.loss), loss_latex(self.loss), lines)

    def _repr_latex_(self) -> str | None:
        """Both formulas and alpha; None if a partial loss is a Python function."""
        formulas = loss_latex(self.loss)
        return formulas and f"{formulas} at $\\alpha = {self.alpha:.6g}$"

    @kept_property
    def verdict(self) -> Verdict:
        """Whether the loss is calibrated for alpha (definition 3 of the paper), and why; if not, with a witness."""
        return verdict(self.loss, self.exact_alpha, self.exact_score_bound)

    @kept_property
    def implied_alpha(self) -> ImpliedAlpha:
        """The costs that the loss assumes: the only alpha for which it is calibrated."""
        return implied_alpha(for_scores_within(self.loss, self.exact_score_bound))

    @kept_property
    def prescription(self) -> Prescription | None:
        """If the loss is not calibrated for alpha: weights, or another loss, proved to be; None if none is known.

        Examples
        --------
        >>> import uneven
        >>> remedy = uneven.analyze("logistic", alpha="1/12").prescription
        >>> remedy.words, remedy.loss, remedy.status
        ('weight the positives by 11', uneven.UnevenMarginLoss('logistic', gamma=1.0, alpha='1/12'), 'calibrated')
        """
        return prescribe(self.loss, self.exact_alpha, self.exact_score_bound)

    def _range_in_words(self) -> str:
        assert self.score_bound is not None
        return f"from {-self.score_bound:.6g} to {self.score_bound:.6g}"

    def _over_eta(self, function: Callable[[Probabilities], np.ndarray], eta: Any) -> Any:
        probability, scalar = inputs.probabilities("eta", eta)
        flat = function(Probabilities(Fraction(0), probability.astype(float).ravel()))
        return inputs.unwrapped(flat.reshape(probability.shape), scalar)

    def _over_eps(self, function: Callable[[np.ndarray], np.ndarray], eps: Any) -> Any:
        values, scalar = inputs.float_array("eps", eps)
        values = values.astype(float)
        largest = self.largest_regret * (1 + 4 * 2.0**-52)
        outside = values[(values < 0) | (values > largest)]
        if outside.size:
            raise ParameterError(
                f"eps must lie in [0, {self.largest_regret!r}] (the largest cost regret at alpha = {self.alpha!r}), "
                f"got {float(outside.flat[0])!r}"
            )
        flat = function(np.minimum(values.ravel(), self.largest_regret))
        return inputs.unwrapped(flat.reshape(values.shape), scalar)

    def optimal_risk(self, eta: Any) -> Any:
        """C*(eta): the smallest expected loss where P(Y = 1) = eta, over all t."""

        def value(points: Probabilities) -> np.ndarray:
            sides = self._curves.risk.sides(points)
            return np.minimum(sides.positive, sides.negative)

        return self._over_eta(value, eta)

    def wrong_side_risk(self, eta: Any) -> Any:
        """C^-(eta): the smallest expected loss of a wrong decision: over t > 0 below alpha, over t <= 0 above."""

        def value(points: Probabilities) -> np.ndarray:
            sides = self._curves.risk.sides(points)
            distance = points.minus(self.exact_alpha)
            best = np.minimum(sides.positive, sides.negative)
            return np.where(distance < 0, sides.positive, np.where(distance > 0, sides.negative, best))

        return self._over_eta(value, eta)

    def H(self, eta: Any) -> Any:  # noqa: N802 - the paper's symbol
        """C^-(eta) - C*(eta): the least surrogate regret of a wrong decision where P(Y = 1) = eta."""
        return self._over_eta(self._curves.H, eta)

    def nu(self, eps: Any) -> Any:
        """The smaller of H(alpha - eps) and H(alpha + eps); where nu jumps, its smaller value."""
        return self._over_eps(self._curves.nu, eps)

    def mu(self, eps: Any) -> Any:
        """The infimum of H over ``|eta - alpha| >= eps`` (section 3 with correction A5)."""
        return self._over_eps(self._curves.mu, eps)

    def psi(self, eps: Any) -> Any:
        """The convex hull of nu; theorem 1 says psi(cost regret) <= surrogate regret."""
        return self._over_eps(self._curves.psi, eps)

    def psi_inverse(self, r: Any) -> Any:
        """sup{eps: psi(eps) <= r}, computed in floats; :meth:`regret_bound` is a proved upper bound of it."""
        values, scalar = self._regrets(r)
        return inputs.unwrapped(self._curves.psi_inverse(values.ravel()).reshape(values.shape), scalar)

    def _regrets(self, r: Any) -> tuple[np.ndarray, bool]:
        return inputs.regrets(r)

    @cached_property
    def _psi_bounds(self) -> PsiBounds:
        if not self.loss.symbolic:
            raise LossError(
                "a rigorous bound needs the loss as expressions in t; for a loss given as Python functions use psi and "
                "psi_inverse, which are numeric"
            )
        return PsiBounds(self.loss, self.exact_alpha, self.exact_score_bound)

    def psi_bounds(self, eps: Any) -> tuple[Any, Any]:
        """Proved lower and upper bounds of psi."""

        bounds: list[tuple[Fraction, Fraction]] = []

        def lower(flat: np.ndarray) -> np.ndarray:
            with self._psi_bounds.turn() as psi:
                bounds[:] = [psi.bounds(min(Fraction(x), self._curves.largest)) for x in flat.tolist()]
            return np.array([round_down(pair[0]) for pair in bounds])

        least = self._over_eps(lower, eps)
        return least, self._over_eps(lambda flat: np.array([round_up(pair[1]) for pair in bounds]), eps)

    def regret_bound(self, surrogate_regret: Any) -> Any:
        """A proved upper bound of the cost regret, given the surrogate regret.

        This is the inverse of the proved lower bound of psi, rounded up, and at most :attr:`largest_regret`. The
        surrogate regret may be infinite. For a calibrated loss the bound is 0 if and only if the surrogate regret is 0.

        Examples
        --------
        >>> import uneven
        >>> hinge = uneven.analyze(uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25))
        >>> hinge.regret_bound([0.0, 0.125, float("inf")])
        array([0.  , 0.25, 0.75])
        """
        values, scalar = self._regrets(surrogate_regret)
        with self._psi_bounds.turn() if self.loss.symbolic else nullcontext():
            flat = np.array([self._one_bound(r) for r in values.ravel().tolist()])
        return inputs.unwrapped(flat.reshape(values.shape), scalar)

    def _one_bound(self, r: float) -> float:
        if r == 0 and self.verdict.status == CALIBRATED:
            return 0.0
        if math.isinf(r):
            return round_up(self._curves.largest)
        return round_up(self._psi_bounds.inverse_of_lower(Fraction(r)))

    def calibration_function(self, eps: Any, eta: Any) -> Any:
        """delta(eps, eta) of the paper: H(eta) if ``eps <= |eta - alpha|``, else infinite (theorem 7, for every loss).

        It is the largest delta such that, at eta, an excess loss below delta forces a cost regret below eps.

        Examples
        --------
        >>> import uneven
        >>> cost = uneven.analyze(uneven.cost_loss("1/4"))                       # the cost itself as a loss
        >>> round(cost.calibration_function(0.1, 0.05), 12), round(cost.uniform_calibration_function(0.1), 12)
        (0.2, 0.1)
        """
        wanted, scalar_eps = inputs.float_array("eps", eps)
        probability, scalar_eta = inputs.probabilities("eta", eta)
        if (wanted < 0).any():
            raise ParameterError(f"eps must be at least 0, got {float(wanted.min())!r}")
        wanted, probability = np.broadcast_arrays(wanted.astype(float), probability.astype(float))
        points = Probabilities(Fraction(0), probability.ravel())
        distance = np.abs(points.minus(self.exact_alpha)).reshape(probability.shape)
        value = self._curves.H(points).reshape(probability.shape)
        return inputs.unwrapped(np.where(wanted <= distance, value, np.inf), scalar_eps and scalar_eta)

    def uniform_calibration_function(self, eps: Any) -> Any:
        """delta(eps) of the paper: mu(eps) up to B_alpha, infinite beyond (theorem 7, for every loss)."""
        values, scalar = inputs.float_array("eps", eps)
        if (values < 0).any():
            raise ParameterError(f"eps must be at least 0, got {float(values.min())!r}")
        values = values.astype(float).ravel()
        result = np.full(values.shape, np.inf)
        inside = values <= self.largest_regret
        result[inside] = self._curves.mu(values[inside])
        return inputs.unwrapped(result.reshape(np.shape(eps) or (1,)), scalar)

    def tight_distribution(self, eps: float) -> TightDistribution:
        """A distribution with cost regret eps and surrogate regret psi(eps), up to 1e-9, on at most two points.

        There is one for every loss and every eps. Where psi is a limit, the decisions come close to it.

        Raises
        ------
        LossError
            If floats do not come that close, for example because the loss is larger than 1e6.
        """
        if not isinstance(self.psi(eps), float):  # psi raises an error for an eps out of range
            raise ParameterError(f"tight_distribution takes one number, got {inputs.brief(eps)}")
        end = min(float(eps), self.largest_regret)
        pairs = [(end, 1.0)]
        for gap in self._curves.gaps:
            if gap.left < end < gap.right:
                share = (gap.right - end) / (gap.right - gap.left)
                pairs = [(gap.left, share), (gap.right, 1 - share)]
        weights = np.array([share for _, share in pairs])
        etas, decisions = np.array([self._worst(distance) for distance, _ in pairs]).T
        world = FiniteDistribution(weights, etas)
        cost = world.cost_regret(decisions, alpha=self.exact_alpha)
        surrogate = world.surrogate_regret(self._bounded, decisions)
        psi = float(self._curves.psi(np.array([end]))[0])
        if abs(cost - end) > 1e-9 or surrogate > psi + 1e-9:
            raise LossError(
                f"the best distribution found for {self.loss!r} has cost regret {cost!r} and surrogate regret "
                f"{surrogate!r}; in floats that is not close enough to {end!r} and psi({end!r}) = {psi!r}"
            )
        return TightDistribution(weights, etas, decisions, cost, surrogate)

    def _worst(self, distance: float) -> tuple[float, float]:
        """The eta of alpha +- distance with the smaller H, and a wrong decision t that attains it or comes close."""
        solver = self._curves.risk.solver
        if distance == 0:  # no decision is wrong at alpha: take the one with the smaller risk
            at_alpha = Probabilities(self.exact_alpha, np.zeros(1))
            best = [solver.minimum(-s, at_alpha.eta, at_alpha.complement).value[0] for s in (1, -1)]
            sign = 1 if best[0] <= best[1] else -1
        else:
            up, down = (branch[0] for branch in self._curves.branches(np.array([distance])))
            sign = 1 if up <= down else -1
        points = Probabilities(self.exact_alpha, np.array([sign * distance]))
        eta, complement = points.eta, points.complement
        at = float(solver.minimum(-sign, eta, complement).at[0])
        widths = [1 / abs(float(partial.inner)) for partial in self.loss.partials]
        places = np.array([at])
        if math.isinf(at):  # a limit: how far to go depends on the loss
            places = np.copysign([1e6 * max(widths), 1e12 * max(widths), 1e100, 1e300], at)
        elif at == 0 and sign < 0 and distance > 0:  # t = 0 is a negative decision: take a tiny positive t
            places = np.array([1e-12 * min(widths), solver.tiny])
        if self.score_bound is not None:
            places = np.clip(places, -self.score_bound, self.score_bound)
        risks = solver.risk(eta, complement, places)
        return float(eta[0]), float(places[np.argmin(risks)])

    def to_dict(self) -> dict[str, Any]:
        """The content of the report as a dictionary that JSON can hold."""
        eps = [share * self.largest_regret for share in _TABLE]
        found, implied, remedy = self.verdict, self.implied_alpha, self.prescription
        return {
            "loss": repr(self.loss),
            "alpha": self.alpha,
            "fn_to_fp_cost": float((1 - self.exact_alpha) / self.exact_alpha),
            "largest_regret": self.largest_regret,
            **({} if self.score_bound is None else {"score_bound": self.score_bound}),
            "verdict": {
                "status": found.status,
                "reason": found.reason,
                "witness": found.witness,
                "extra_regret": found.extra_regret,
                "definition_1": found.definition_1,
            },
            "remedy": None if remedy is None else {"words": remedy.words, "loss": repr(remedy.loss)},
            "implied": {
                "alpha": implied.alpha,
                "interval": None if implied.interval is None else list(implied.interval),
                "exact": None if implied.exact is None else str(implied.exact),
                "fn_to_fp_cost": implied.cost_ratio,
                "reason": implied.reason,
            },
            "psi": [{"cost_regret": e, "psi": p} for e, p in zip(eps, self.psi(eps).tolist(), strict=True)],
        }

    def report(self, *, remedy_by: str | None = None) -> str:
        """A page of text for a person to read.

        Parameters
        ----------
        remedy_by : str, optional
            How to get the loss of :attr:`prescription`, where that is not done in Python.
        """
        data = self.to_dict()
        found = self.verdict
        scope = "" if found.status == UNDECIDED else " for these costs"
        lines = [
            f"Loss      {data['loss']}",
            f"Costs     alpha = {self.alpha:.6g}: {costs_in_words(self.exact_alpha)}",
            *([] if self.score_bound is None else [f"Scores    {self._range_in_words()}"]),
            f"Verdict   {found.status.upper()}{scope}: {found.reason}",
        ]
        if found.witness is not None:
            lines.append(
                f"Witness   where P(Y = 1) = {found.witness:.6g}, the costlier decision is at least as good for "
                "the loss as the cheaper one (H = 0)"
            )
        remedy = self.prescription
        if remedy is not None:
            how = repr(remedy.loss) if remedy_by is None else remedy_by
            lines.append(f"Remedy    {remedy.words} ({how}), which is {remedy.status} for these costs")
        lines += [
            f"Implied   {self.implied_alpha.in_words(reason=False)}",
            "",
            "Cost regret is the expected cost minus the smallest possible one; the two costs are scaled to sum to 1.",
            "Surrogate regret is the expected loss minus the smallest possible one"
            f"{'.' if self.score_bound is None else ' of scores in this range.'}",
            "",
            "cost regret   needs a surrogate regret of at least",
        ]
        lines += [f"  {row['cost_regret']:10.4g}   {row['psi']:.6g}" for row in data["psi"]]
        regrets = [10.0**-k for k in (1, 2, 3, 4)]
        lines += ["", "surrogate regret   allows a cost regret of at most (computed; regret_bound proves a bound)"]
        lines += [f"  {r:15.4g}   {e:.6g}" for r, e in zip(regrets, self.psi_inverse(regrets), strict=True)]
        return "\n".join(lines)


@overload
def analyze(loss: Loss | Phi | str, alpha: Exact | None = None, *, score_bound: Exact | None = None) -> Analysis: ...
@overload
def analyze(loss: Loss | Phi | str, alpha: CostPrior, *, score_bound: None = None) -> PriorAnalysis: ...
def analyze(
    loss: Loss | Phi | str, alpha: Exact | CostPrior | None = None, *, score_bound: Exact | None = None
) -> Analysis | PriorAnalysis:
    """What a loss guarantees for given costs, and for scores within a bound if there is one.

    Parameters
    ----------
    loss : Loss, Phi or str
        A phi or its name stands for the margin loss with gamma = 1.
    alpha : number in (0, 1), optional
        Cost parameter: a false positive costs alpha, a false negative 1 - alpha. By default the alpha that the loss is
        weighted by, or 1/2 for an unweighted loss. A :class:`~uneven.CostPrior` stands for costs that are not known
        exactly; the loss must then be the one of the prior.
    score_bound : positive number, optional
        Decision values lie in [-score_bound, score_bound], as those of a linear model with bounded coefficients, or of
        one whose scores are clipped. By default they may be any number.

    Returns
    -------
    Analysis
        For a prior, a :class:`~uneven.calibration.PriorAnalysis`.

    Examples
    --------
    >>> import uneven
    >>> a = uneven.analyze(uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25))
    >>> a.verdict.status, a.psi(0.25), round(a.psi_inverse(0.125), 12)
    ('calibrated', 0.125, 0.25)
    >>> print(uneven.analyze("perceptron").verdict.status)
    not calibrated

    Scores within [-1, 1]:

    >>> bounded = uneven.analyze("logistic", score_bound=1)
    >>> bounded.verdict.status, round(bounded.psi(0.5), 6), round(uneven.analyze("logistic").psi(0.5), 6)
    ('calibrated', 0.379885, 0.693147)
    """
    chosen = as_loss(loss)
    if isinstance(alpha, CostPrior):
        from uneven.calibration.prior_analysis import PriorAnalysis

        if score_bound is not None:
            raise ParameterError("score_bound is for one alpha; analyze(loss, prior) has bounds for all scores only")
        return PriorAnalysis(chosen, alpha)
    default = chosen.exact_alpha or Fraction(1, 2)
    return Analysis(
        chosen,
        default if alpha is None else inputs.between_0_and_1("alpha", alpha),
        None if score_bound is None else inputs.positive("score_bound", score_bound),
    )
