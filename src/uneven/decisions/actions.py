r"""More than two actions for a binary label: pass, send to a person, block.

Action a costs :math:`c(a, 1)` on a positive and :math:`c(a, 0)` on a negative, so its expected cost is a line in
:math:`\eta = P(Y = 1)`. The lowest lines are the *envelope*. Where one takes over from another there is a *break*, and
each break is a problem with two actions: alpha is the break, its weight the *mass*. docs/theory.md, "More than two
actions", has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.costs import money
from uneven.decisions.action_costs import (
    ActionCost,
    Envelope,
    are_equal,
    in_floats,
    lower_envelope,
    read_actions,
    read_one,
    read_share,
    room_below,
    together,
)
from uneven.errors import CostError, did_you_mean
from uneven.inputs import Exact, brief

if TYPE_CHECKING:
    from uneven.calibration import Analysis, Certificate
    from uneven.losses import Loss, Phi

__all__ = ["Actions"]


class Actions:
    r"""Actions and what each costs on a positive and on a negative.

    Parameters
    ----------
    **costs : pair of numbers or arrays
        For each action its name, with what it costs on a positive and on a negative: numbers, or one for each row.
        Benefits are negative costs. Name first the action that does nothing: ties go to the action that is named first.

    Attributes
    ----------
    names : tuple of str
        In the order in which they were named.
    rows : int or None
        Number of rows if costs differ from row to row; None if all are numbers.

    Notes
    -----
    :meth:`choose` compares expected costs in double precision, as predictions with two classes do: with two actions,
    the second is taken iff :math:`\eta\,(c_{FN} - c_{TP}) > (1 - \eta)(c_{FP} - c_{TN})`. Breaks, masses and prices are
    exact for numbers; a float stands for its binary value, a string such as ``"1/3"`` for what it says.

    Examples
    --------
    >>> import uneven
    >>> actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
    >>> print(actions.in_words())
    clear up to probability 0.05155, review up to 0.6522, block above.
    >>> actions.choose([0.01, 0.3, 0.9]).tolist()
    ['clear', 'review', 'block']
    >>> [round(mass, 12) for mass in actions.masses]
    [97.0, 23.0]
    >>> print(uneven.Actions(clear=(100, 0), review=(30, 18), block=(0, 20)).in_words())
    clear up to probability 0.1667, block above. review never pays; it would if both of its costs were lower by more
    than 3.333.
    """

    def __init__(self, /, **costs: Any) -> None:
        self._costs, self.rows = read_actions(costs)
        self.names: tuple[str, ...] = tuple(self._costs)

    @classmethod
    def refer(
        cls,
        *,
        fp_cost: Any,
        fn_cost: Any,
        price: Any,
        misses: Any = 0,
        false_alarms: Any = 0,
        tp_cost: Any = 0,
        tn_cost: Any = 0,
        names: tuple[str, str, str] = ("clear", "review", "block"),
    ) -> Actions:
        r"""Two classes and a person who decides for a price, and errs.

        A person who misses a share :math:`e_1` of the positives and takes a share :math:`e_0` of the negatives for
        positive, at a price d, is asked where

        .. math:: \frac{d + c_0 e_0}{c_1 (1 - e_1) + c_0 e_0} < P(Y = 1) <
           \frac{c_0 (1 - e_0) - d}{c_0 (1 - e_0) + c_1 e_1},

        with :math:`c_0` and :math:`c_1` the regrets of a false positive and of a false negative. Without errors and
        with equal costs this is Chow's rule.

        Parameters
        ----------
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like
            What the four outcomes cost, whoever decides.
        price : number or array-like
            What it costs to ask.
        misses, false_alarms : number or array-like
            Shares in [0, 1] of the positives and of the negatives that the person gets wrong.
        names : three str
            Of the negative decision, the question and the positive decision.

        Examples
        --------
        >>> import uneven
        >>> chow = uneven.Actions.refer(fp_cost=1, fn_cost=1, price="1/5")
        >>> chow.breaks
        (0.2, 0.8)
        >>> actions = uneven.Actions.refer(fp_cost=20, fn_cost=100, price=5, misses=0.1, false_alarms=0.02)
        >>> [round(alpha, 4) for alpha in actions.breaks], round(float(actions.price_at_which("review")), 3)
        ([0.0597, 0.4932], 9.667)
        """
        four = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        read = [read_one(name, value) for name, value in {**four, "price": price}.items()]
        read += [read_share("misses", misses), read_share("false_alarms", false_alarms)]
        rows = next((cost.size for cost in read if isinstance(cost, np.ndarray)), None)
        if rows is not None and any(isinstance(cost, np.ndarray) and cost.size != rows for cost in read):
            raise CostError("costs, price and shares of each row must be of the same rows")
        fp, fn, tp, tn, asked, missed, alarmed = together(tuple(read), rows)
        in_between = (asked + missed * fn + (1 - missed) * tp, asked + alarmed * fp + (1 - alarmed) * tn)
        given = inputs.entries(names, 3)
        if given is None or not all(isinstance(name, str) for name in given) or len(set(given)) != 3:
            raise CostError(f"names must be three different names, got {brief(names)}")
        return cls(**dict(zip(names, ((fn, tn), in_between, (tp, fp)), strict=True)))

    @classmethod
    def binary(
        cls,
        *,
        fp_cost: Any,
        fn_cost: Any,
        tp_cost: Any = 0,
        tn_cost: Any = 0,
        names: tuple[str, str] = ("negative", "positive"),
    ) -> Actions:
        """The two actions of a classifier: predict the negative or the positive class.

        Examples
        --------
        >>> import uneven
        >>> uneven.Actions.binary(fp_cost=1, fn_cost=9).breaks
        (0.1,)
        """
        return cls(**dict(zip(names, ((fn_cost, tn_cost), (tp_cost, fp_cost)), strict=True)))

    # -- what was given ---------------------------------------------------------------------------------------------

    @property
    def costs(self) -> dict[str, tuple[float | np.ndarray, float | np.ndarray]]:
        """For each action what it costs on a positive and on a negative, in floats."""
        return {name: (in_floats(one), in_floats(other)) for name, (one, other) in self._costs.items()}

    def exact_costs(self, name: str) -> tuple[Fraction, Fraction]:
        """What an action costs on a positive and on a negative, as rationals."""
        self._require_numbers("exact_costs")
        one, other = self._costs[self._known(name)]
        return Fraction(one), Fraction(other)  # type: ignore[arg-type]

    def row(self, number: int) -> Actions:
        """The actions with the costs of one row, as numbers."""
        return self.take(np.array([number]))._with(_first)

    def take(self, rows: np.ndarray) -> Actions:
        """The actions with the costs of some rows, given by their numbers or by a Boolean for each."""
        return self._with(lambda cost: cost[rows] if isinstance(cost, np.ndarray) else cost)

    def reprice(self, name: str, change: Exact) -> Actions:
        """The actions, one of them dearer by ``change`` on both kinds of rows; cheaper if it is negative."""
        by, which = inputs.exact("change", change, CostError), self._known(name)
        return Actions(
            **{
                one: (_sum(pair[0], by), _sum(pair[1], by)) if one == which else pair
                for one, pair in self._costs.items()
            }
        )

    def _with(self, change: Callable[[ActionCost], ActionCost]) -> Actions:
        return Actions(**{name: (change(one), change(other)) for name, (one, other) in self._costs.items()})

    def _known(self, name: str) -> str:
        if isinstance(name, str) and name in self._costs:
            return name
        hint = did_you_mean(str(name), dict.fromkeys(self.names, ()), f"the actions are {', '.join(self.names)}")
        raise CostError(f"there is no action {brief(name)}; {hint}")

    def _require_numbers(self, what: str) -> None:
        if self.rows is not None:
            raise CostError(
                f"the costs of these actions differ from row to row, and so does {what}; row(0) has those of the first "
                "row"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Actions) or self.names != other.names or self.rows != other.rows:
            return False
        return all(map(are_equal, self._costs.values(), other._costs.values()))

    def __hash__(self) -> int:
        self._require_numbers("a hash")
        return hash(tuple(self._costs.items()))

    def __getstate__(self) -> dict[str, Any]:
        """What was given, without what was found from it."""
        return {"_costs": self._costs, "names": self.names, "rows": self.rows}

    def __repr__(self) -> str:
        def shown(cost: ActionCost) -> str:
            return inputs.shown(cost) if isinstance(cost, Fraction) else brief(cost)

        pairs = (f"{name}=({shown(one)}, {shown(other)})" for name, (one, other) in self._costs.items())
        return f"uneven.Actions({', '.join(pairs)})"

    # -- the envelope -----------------------------------------------------------------------------------------------

    @cached_property
    def _envelope(self) -> Envelope:
        self._require_numbers("the envelope")
        return lower_envelope([self.exact_costs(name) for name in self.names])

    @property
    def envelope(self) -> tuple[str, ...]:
        """The actions that pay, each at some probability, from probability 0 to 1."""
        return tuple(self.names[k] for k in self._envelope.kept)

    @property
    def exact_breaks(self) -> tuple[Fraction, ...]:
        """The probabilities at which the next action of the envelope takes over, as rationals."""
        return self._envelope.breaks

    @property
    def breaks(self) -> tuple[float, ...]:
        """The probabilities at which the next action of the envelope takes over: one less than it has actions."""
        least, most = math.ulp(0.0), math.nextafter(1.0, 0.0)
        return tuple(min(max(inputs.to_float(at), least), most) for at in self.exact_breaks)

    @property
    def exact_masses(self) -> tuple[Fraction, ...]:
        """For each break, the weight of its two-action problem, as a rational."""
        return self._envelope.masses

    @property
    def masses(self) -> tuple[float, ...]:
        """For each break, the sum of the two costs of its two-action problem: alpha is the break."""
        return tuple(map(inputs.to_float, self.exact_masses))

    @property
    def regions(self) -> dict[str, tuple[float, float]]:
        """For each action that pays, the probabilities between which it is the cheapest."""
        edges = (0.0, *self.breaks, 1.0)
        return {name: (edges[k], edges[k + 1]) for k, name in enumerate(self.envelope)}

    @property
    def dominated(self) -> tuple[str, ...]:
        """The actions that never pay: at no probability, and in no row, is one cheaper than all others."""
        if self.rows is None:
            return tuple(name for name in self.names if name not in self.envelope)
        twins = [
            name
            for k, name in enumerate(self.names)
            if any(are_equal(self._costs[name], self._costs[other]) for other in self.names[:k])
        ]
        single = {name: pair for name, pair in self._costs.items() if name not in twins}
        if len(single) == 1:
            return tuple(twins)
        alone = Actions(**single)
        never = [name for name in single if not (alone.price_at_which(name) > 0).any()]
        return tuple(name for name in self.names if name in twins or name in never)

    def price_at_which(self, name: str, pays: Any = True) -> Any:
        """By how much an action may become dearer and still pay.

        Parameters
        ----------
        name : str
        pays : True or "always"
            True: it pays, at some probability, if its price changes by less than the answer. "always": it is the
            cheapest action at every probability if its price changes by less than the answer.

        Returns
        -------
        Fraction, or ndarray with a number for each row
            The change of both of its costs. It is negative, or 0, if the action does not pay at its price: then it pays
            if it becomes cheaper by more than that.

        Examples
        --------
        >>> import uneven
        >>> actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
        >>> actions.price_at_which("review"), actions.price_at_which("review", pays="always")
        (Fraction(67, 6), Fraction(-8, 1))
        """
        which = self._known(name)
        if pays is not True and pays != "always":
            raise CostError(f"pays must be True or 'always', got {brief(pays)}")
        if self.rows is not None:
            self._above_right  # noqa: B018 - raises if a difference of two costs is no double
        others = [pair for one, pair in self._costs.items() if one != which]
        return room_below(others, self._costs[which], self.rows, somewhere=pays is True)

    def in_words(self, unit: str | None = None) -> str:
        """Where each action is the cheapest, and which ones never pay, with the price at which they would."""
        if self.rows is None:
            kept, breaks = self.envelope, self.breaks
            if not breaks:
                first = f"{kept[0]} is the cheapest action at every probability."
            else:
                parts = [f"{name} up to {at:.4g}" for name, at in zip(kept, breaks, strict=False)]
                parts[0] = parts[0].replace(" up to ", " up to probability ")
                first = f"{', '.join(parts)}, {kept[-1]} above."
        else:
            first = f"Each of the {self.rows:,} rows has costs of its own."
        sentences = [first]
        for name in self.dominated:
            missing = -float(np.max(np.asarray(self.price_at_which(name), dtype=np.float64)))
            where = "" if self.rows is None else ", in no row"
            if missing:
                would = f"it would if both of its costs were lower by more than {money(missing, unit)}"
            else:
                would = "it would if both of its costs were a little lower"
            sentences.append(f"{name} never pays{where}; {would}.")
        return " ".join(sentences)

    # -- deciding ---------------------------------------------------------------------------------------------------

    def expected_costs(self, probability: Any) -> np.ndarray:
        """What each action costs on average at these probabilities of the positive class.

        Parameters
        ----------
        probability : number or array-like
            P(Y = 1); one for each row if the costs are.

        Returns
        -------
        ndarray of shape (n, actions), or (actions,) for a number
            Columns in the order of ``names``.
        """
        p, scalar = self._probabilities(probability)
        found = np.stack([p * one + (1 - p) * other for one, other in self.costs.values()], axis=1)
        return found[0] if scalar else found

    def regrets(self, probability: Any) -> np.ndarray:
        """Expected costs above those of the right action for the label, which nobody knows.

        Differences of large costs are taken before the probabilities come in: the comparison of two actions is then
        that of :meth:`RowCosts.prefers_positive`, bit for bit. Same shape as :meth:`expected_costs`.
        """
        p, scalar = self._probabilities(probability)
        found = np.stack([p * one + (1 - p) * other for one, other in self._above_right], axis=1)
        return found[0] if scalar else found

    def savings(self, probability: Any) -> np.ndarray:
        """How much less each action costs on average than the one named first; same shape as :meth:`expected_costs`."""
        regret = self.regrets(probability)
        return regret[..., :1] - regret

    def choose(self, probability: Any) -> Any:
        """The name of the cheapest action at each probability; of several, the one named first."""
        names = np.asarray(self.names)[np.argmin(self.regrets(probability), axis=-1)]
        return str(names) if np.ndim(probability) == 0 else names

    @cached_property
    def _above_right(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each action what it costs more than the cheapest one on a positive, and on a negative."""
        ones, others = zip(*self.costs.values(), strict=True)
        with np.errstate(over="ignore"):
            least, lowest = (
                np.minimum.reduce(np.broadcast_arrays(*ones)),
                np.minimum.reduce(np.broadcast_arrays(*others)),
            )
            found = [(np.subtract(one, least), np.subtract(other, lowest)) for one, other in self.costs.values()]
        if not all(np.isfinite(part).all() for pair in found for part in pair):
            raise CostError("the difference of two costs is too large for double precision; use another unit")
        return found

    def _probabilities(self, probability: Any) -> tuple[np.ndarray, bool]:
        p, scalar = inputs.probabilities("probability", probability, CostError)
        if p.ndim != 1 or (self.rows is not None and p.size != self.rows):
            wanted = (
                "numbers in one row" if self.rows is None else f"{self.rows} numbers, one for each row of the costs"
            )
            raise CostError(f"probability must be {wanted}, got shape {np.shape(probability)}")
        return p.astype(np.float64, copy=False), scalar

    # -- theory -----------------------------------------------------------------------------------------------------

    def loss(self) -> Loss:
        """The double hinge of these actions: a convex loss in their unit; see :attr:`thresholds`.

        Its regret, times 2, is at least the cost regret of the actions that its thresholds choose. For two actions it
        is a hinge, for Chow's rule that of Bartlett and Wegkamp (2008).

        Examples
        --------
        >>> import uneven
        >>> uneven.Actions.refer(fp_cost=1, fn_cost=1, price="1/5").loss()
        uneven.Loss('0.6*relu(-t) + 0.2*relu(1 - t)', '0.6*relu(t) + 0.2*relu(1 + t)')
        """
        from uneven.decisions.action_loss import double_hinge

        return double_hinge(self)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """For each break, the score of :meth:`loss` above which the next action is taken: the middle of its step."""
        from uneven.decisions.action_loss import middles

        return tuple(map(inputs.to_float, middles(self)))

    def certificates(self) -> tuple[Certificate, ...]:
        """For each break a proof that :meth:`loss`, moved so that the threshold is 0, is calibrated for it.

        Examples
        --------
        >>> import uneven
        >>> for certificate in uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20)).certificates():
        ...     print(certificate)
        proved: The loss is calibrated for alpha = 5/97 and for no other alpha.
        proved: The loss is calibrated for alpha = 15/23 and for no other alpha.
        """
        from uneven.decisions.action_loss import certificates

        return certificates(self)

    def regret_bound(self, loss: Loss | Phi | str | Analysis, surrogate_regret: Any, *, thresholds: Any = None) -> Any:
        r"""A proved upper bound of the cost regret of the actions that a score chooses, given the regret of its loss.

        It is :math:`\sum_i m_i \psi_{e_i}^{-1}(r)` over breaks :math:`e_i` with masses :math:`m_i`, rounded up; for
        :meth:`loss` itself it is also at most 2 r.

        Parameters
        ----------
        loss : Loss, Phi, str or Analysis
            The loss that the score minimises.
        surrogate_regret : number or array-like
            Its expected value above the smallest possible one.
        thresholds : sequence of numbers, optional
            For each break, the score above which the next action is taken; by default those of the loss's link, which
            a loss has that identifies probabilities, and :attr:`thresholds` for :meth:`loss`.

        Returns
        -------
        float or ndarray
            In the unit of the costs, per row.

        Examples
        --------
        >>> import uneven
        >>> actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
        >>> actions.regret_bound(actions.loss(), 0.5), round(actions.regret_bound("logistic", 0.01), 2)
        (1.0, 4.93)
        """
        from uneven.decisions.action_loss import regret_bound

        return regret_bound(self, loss, surrogate_regret, thresholds)

    def plot(self, ax: Any = None, *, unit: str | None = None) -> Any:
        """Draw the expected costs with envelope and regions; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib axes, optional
        unit : str, optional
            Unit of the costs, such as ``"EUR"``.

        Returns
        -------
        matplotlib axes
        """
        self._require_numbers("the picture")
        from uneven.figures.displays.action_regions import ActionRegionsDisplay

        return ActionRegionsDisplay(self, unit=unit).plot(ax).ax_


def _first(cost: ActionCost) -> ActionCost:
    return Fraction(float(cost[0])) if isinstance(cost, np.ndarray) else cost


def _sum(cost: ActionCost, change: Fraction) -> ActionCost:
    return cost + float(change) if isinstance(cost, np.ndarray) else cost + change
