"""A loss for label-dependent costs: two partial losses, one per label; and the uneven margin loss (definition 4)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import LossError, ParameterError
from uneven.expression import to_text
from uneven.inputs import Exact, to_float
from uneven.losses import margin_function
from uneven.losses.margin_function import Phi, phi
from uneven.losses.notebook import block, loss_latex
from uneven.losses.partial import Partial

PartialLoss = str | Phi | Callable[[Any], Any]


class Loss:
    r"""Any two partial losses: L(1, t) = positive(t), L(-1, t) = negative(t).

    Parameters
    ----------
    positive, negative : str, Phi or callable
        An expression in t, a phi, or a function from arrays to arrays of the same shape. A function has values only: no
        slope, curvature, proof or exact derivative at 0.
    alpha : number in (0, 1), optional
        Weight the loss for these costs: :math:`L_\alpha = ((1 - \alpha) L_1, \alpha L_{-1})`.

    Notes
    -----
    A loss is immutable, hashable and comparable. It can be pickled, unless a Python function in it cannot. At a kink,
    ``slope`` is a fixed value between the one-sided slopes: 0 for relu and abs, the selected branch for where, max and
    min.

    Examples
    --------
    >>> import uneven
    >>> loss = uneven.Loss("relu(1 - t)", "relu(1 + 2*t)")
    >>> loss(-1, 0.5), loss.slope(-1, 0.5), loss.conditional_risk(0.25, 0.5)
    (2.0, 2.0, 1.625)
    """

    __slots__ = ("_alpha", "_negative", "_positive")
    _alpha: Fraction | None
    _positive: Partial
    _negative: Partial

    def __init__(self, positive: PartialLoss, negative: PartialLoss, *, alpha: Exact | None = None) -> None:
        weight = None if alpha is None else inputs.between_0_and_1("alpha", alpha)
        self._set(_partial("positive", positive), _partial("negative", negative), weight)

    @classmethod
    def from_slopes(cls, positive: str, negative: str) -> Loss:
        r"""A loss given by its slopes :math:`L_1'(t)` and :math:`L_{-1}'(t)`, each up to a constant.

        For a library that multiplies a loss by a weight and detaches the weight from the gradient. Training then
        follows the gradient: what it minimises is the integral of the gradient, not the value that the library prints.

        Parameters
        ----------
        positive, negative : str
            Slopes, as expressions in t. They may change sign, jump and be negative.

        Returns
        -------
        Loss
            Its slopes are the given ones. Each constant is chosen so that the loss is nowhere negative. A constant
            changes no minimiser, no conditional regret and no order of two decisions, so verdicts, implied costs and
            regret bounds are statements about the slopes alone.

            Quotients of polynomials in expit(t), also piecewise, are integrated exactly, as expressions: such a
            loss has proofs and certificates. Others are integrated numerically, to about 12 digits: then the loss is a
            Python function, with values only, and its alpha is found without proof.

        Raises
        ------
        LossError
            If a loss with these slopes has no lower bound.

        Examples
        --------
        The focal loss with exponent 1, its weight detached:

        >>> import uneven
        >>> uneven.Loss.from_slopes("-expit(-t)**2", "expit(t)**2")
        uneven.Loss('-expit(-t) + softplus(-t)', '-expit(t) + softplus(t)')
        """
        from uneven.losses.from_slopes import from_slope

        return Loss(from_slope("positive", positive), from_slope("negative", negative))

    def _set(self, positive: Partial, negative: Partial, alpha: Fraction | None) -> None:
        if alpha is not None:
            positive, negative = positive.scaled(1 - alpha), negative.scaled(alpha)
        object.__setattr__(self, "_positive", positive)
        object.__setattr__(self, "_negative", negative)
        object.__setattr__(self, "_alpha", alpha)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a loss is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a loss is frozen")

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self._positive.key, self._negative.key, self._alpha)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loss) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt, (self._positive, self._negative, self._alpha))

    def __repr__(self) -> str:
        unweighted = (self._positive, self._negative)
        if self._alpha is not None:
            unweighted = (self._positive.scaled(1 / (1 - self._alpha)), self._negative.scaled(1 / self._alpha))
        parts = ", ".join(map(_shown, unweighted))
        weight = "" if self._alpha is None else f", alpha={inputs.shown(self._alpha)}"
        return f"uneven.Loss({parts}{weight})"

    def _repr_latex_(self) -> str | None:
        """Both formulas, for a notebook; None if a partial loss is a Python function."""
        return loss_latex(self)

    def _repr_html_(self) -> str:
        """The repr and both formulas, for a notebook."""
        return block(repr(self), loss_latex(self))

    @property
    def alpha(self) -> float | None:
        """The weight of L_alpha, or None for an unweighted loss."""
        return None if self._alpha is None else float(self._alpha)

    @property
    def exact_alpha(self) -> Fraction | None:
        """The weight as a rational."""
        return self._alpha

    @property
    def partials(self) -> tuple[Partial, Partial]:
        """The partial losses of the positive and of the negative class."""
        return self._positive, self._negative

    @property
    def symbolic(self) -> bool:
        """Whether both partial losses are expressions, not Python functions."""
        return self._positive.symbolic and self._negative.symbolic

    def positive(self, t: Any) -> Any:
        """L(1, t), the loss of a positive example."""
        return _apply(self._positive.value, t)

    def negative(self, t: Any) -> Any:
        """L(-1, t), the loss of a negative example."""
        return _apply(self._negative.value, t)

    def __call__(self, y: Any, t: Any) -> Any:
        """L(y, t) for labels -1 and +1; arrays broadcast."""
        return self._by_label(y, t, self._positive.value, self._negative.value)

    def slope(self, y: Any, t: Any) -> Any:
        """dL(y, t)/dt."""
        return self._by_label(y, t, self._positive.slope, self._negative.slope)

    def curvature(self, y: Any, t: Any) -> Any:
        """d2L(y, t)/dt2."""
        return self._by_label(y, t, self._positive.curvature, self._negative.curvature)

    def _by_label(
        self, y: Any, t: Any, positive: Callable[[np.ndarray], np.ndarray], negative: Callable[[np.ndarray], np.ndarray]
    ) -> Any:
        labels = inputs.signs("y", y)
        array, scalar = inputs.float_array("t", t)
        scalar = scalar and labels.ndim == 0
        labels, array = _broadcast("y", labels, array)
        result = np.empty(array.shape, array.dtype)
        for sign, function in ((1, positive), (-1, negative)):
            chosen = labels == sign
            if chosen.any():
                result[chosen] = function(array[chosen])
        return inputs.unwrapped(result, scalar)

    def conditional_risk(self, eta: Any, t: Any) -> Any:
        """The expected loss where P(Y = 1) = eta: C(eta, t) = eta L(1, t) + (1 - eta) L(-1, t).

        A term of weight 0 is left out, even if it is infinite. Arrays broadcast.
        """
        probability, scalar_eta = inputs.probabilities("eta", eta)
        array, scalar_t = inputs.float_array("t", t)
        if scalar_eta:
            probability = probability.astype(array.dtype)
        probability, array = _broadcast("eta", probability, array)
        with np.errstate(invalid="ignore"):
            on_positive = np.where(probability > 0, probability * self._positive.value(array), 0)
            on_negative = np.where(probability < 1, (1 - probability) * self._negative.value(array), 0)
        return inputs.unwrapped(on_positive + on_negative, scalar_eta and scalar_t)

    def weighted(self, alpha: Exact) -> Loss:
        r"""The weighted loss :math:`L_\alpha`: positives times 1 - alpha, negatives times alpha."""
        weight = inputs.between_0_and_1("alpha", alpha)
        return _rebuilt(self._positive.scaled(1 - weight), self._negative.scaled(weight), weight)

    def clipped(self, score_bound: Exact) -> Loss:
        r"""The loss of scores within a bound: :math:`L(y, \max(-\Lambda, \min(\Lambda, t)))`.

        Its infima over t > 0 and over t <= 0 are those of this loss over (0, score_bound] and [-score_bound, 0]. So
        what is proved about it is true of this loss for scores within the bound.

        Parameters
        ----------
        score_bound : positive number

        Examples
        --------
        >>> import uneven
        >>> loss = uneven.UnevenMarginLoss("exponential", gamma=2, alpha=0.25).clipped(3)
        >>> loss
        uneven.Loss('exp(-max(-3, min(3, t)))', '0.5*exp(-max(-6, min(6, -2*t)))', alpha=0.25)
        >>> loss.positive([-9.0, -3.0]).round(6)
        array([15.064153, 15.064153])
        """
        bound = inputs.positive("score_bound", score_bound)
        return _rebuilt(self._positive.clipped(bound), self._negative.clipped(bound), self._alpha)

    def inverse_link(self, t: Any) -> Any:
        """The probability P(Y = 1) that a decision value t stands for: t minimises the conditional risk there.

        A t beyond every minimiser (such as t > 1 for the squared loss) gives 0 or 1.

        Raises
        ------
        LossError
            If the loss does not identify probabilities: one minimiser belongs to many probabilities (hinge: the only
            minimisers are -1/gamma and 1).

        Examples
        --------
        >>> import uneven
        >>> uneven.UnevenMarginLoss("logistic", alpha=0.1).inverse_link(0.0)
        0.1
        """
        return _apply(lambda array: margin_function.inverse_link(self, array), t)

    def link(self, probability: Any) -> Any:
        """The decision value that stands for a probability: the largest t whose ``inverse_link`` is not above it.

        Predicting positive where the score is above ``link(alpha)`` is predicting positive where P(Y = 1) > alpha. The
        value is infinite if every t, or none, stands for a probability above it.

        Raises
        ------
        LossError
            If the loss does not identify probabilities.

        Examples
        --------
        >>> import uneven
        >>> round(uneven.UnevenMarginLoss("logistic").link(0.9), 12)          # the log-odds: log 9
        2.197224577336
        """
        array, scalar = inputs.probabilities("probability", probability)
        return inputs.unwrapped(margin_function.link(self, array), scalar)


def _partial(name: str, function: PartialLoss) -> Partial:
    if isinstance(function, str | Phi):
        return Partial(phi(function))
    if not callable(function):
        raise ParameterError(f"{name} must be an expression, a phi or a function of t, got {function!r}")
    partial = Partial(function)
    at_zero = partial.value(np.linspace(-2.0, 2.0, 5))[2]
    if np.isinf(at_zero):
        raise LossError(f"a loss must be finite at t = 0, but the {name} function returns {at_zero} there")
    return partial


def _rebuilt(positive: Partial, negative: Partial, alpha: Fraction | None) -> Loss:
    """A loss from partial losses that are already weighted."""
    loss = object.__new__(Loss)
    Loss._set(loss, positive, negative, None)
    object.__setattr__(loss, "_alpha", alpha)
    return loss


def _shown(partial: Partial) -> str:
    if isinstance(partial.function, Phi):
        named = partial.function.name is not None and partial.weight == partial.inner == 1
        return repr(partial.function) if named else repr(to_text(partial.tree))
    factor = "" if partial.weight == 1 else f"{partial.weight} * "
    return f"{factor}{getattr(partial.function, '__qualname__', repr(partial.function))}"


def _broadcast(name: str, first: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
    try:
        return list(np.broadcast_arrays(first, t))
    except ValueError:
        raise ParameterError(f"shapes do not broadcast: {name} has {first.shape}, t has {t.shape}") from None


def _apply(function: Callable[[np.ndarray], np.ndarray], t: Any) -> Any:
    array, scalar = inputs.float_array("t", t)
    return inputs.unwrapped(function(array), scalar)


def cost_loss(alpha: Exact) -> Loss:
    r"""The cost itself as a loss: a false positive costs alpha, a false negative 1 - alpha.

    This is :math:`U_\alpha` in the paper. t = 0 is a negative decision.

    Examples
    --------
    >>> import uneven
    >>> loss = uneven.cost_loss(0.25)
    >>> loss(1, 0.0), loss(-1, 0.0), loss(-1, 2.0)
    (0.75, 0.0, 0.25)
    """
    return Loss("1 - step(t)", "step(t)", alpha=alpha)


class UnevenMarginLoss(Loss):
    r"""L(1, t) = phi(t), L(-1, t) = beta phi(-gamma t), or its weighted form :math:`L_\alpha`.

    Parameters
    ----------
    phi : str or Phi
        A registered name, an expression in t, or a phi.
    gamma : positive number
        Margin asymmetry: the margin of the negative class is 1/gamma times that of the positive class. For convex phi
        and beta = 1/gamma, it does not change the costs for which the loss is calibrated.
    beta : positive number, optional
        Factor of the negative loss. None means exactly 1/gamma, which keeps a convex loss calibrated for the same
        costs; a float might not be exact (0.1 is not exactly 1/10).
    alpha : number in (0, 1), optional
        Weight the loss for these costs: positives times 1 - alpha, negatives times alpha.

    Notes
    -----
    Numbers given as strings or Fractions are exact (``gamma="1/3"``).

    Examples
    --------
    >>> import uneven
    >>> loss = uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25)
    >>> loss
    uneven.UnevenMarginLoss('hinge', gamma=2.0, alpha=0.25)
    >>> loss.positive(0.0), loss.negative([0.0, 1.0])
    (0.75, array([0.125, 0.375]))
    """

    __slots__ = ("_beta", "_gamma", "phi")
    phi: Phi
    _gamma: Fraction
    _beta: Fraction | None

    def __init__(
        self, phi: str | Phi, *, gamma: Exact = 1.0, beta: Exact | None = None, alpha: Exact | None = None
    ) -> None:
        function = margin_function.phi(phi)
        exact_gamma = inputs.positive("gamma", gamma)
        exact_beta = None if beta is None else inputs.positive("beta", beta)
        weight = None if alpha is None else inputs.between_0_and_1("alpha", alpha)
        object.__setattr__(self, "phi", function)
        object.__setattr__(self, "_gamma", exact_gamma)
        object.__setattr__(self, "_beta", exact_beta)
        self._set(Partial(function), Partial(function, self.exact_beta, -exact_gamma), weight)

    @classmethod
    def from_rho(
        cls, phi: str | Phi, *, rho: Exact, beta: Exact | None = None, alpha: Exact | None = None
    ) -> UnevenMarginLoss:
        r"""The loss :math:`\varphi((1-\rho)t)`, :math:`\beta\varphi(-\rho t)`, in which gamma is given as a share.

        It is the loss with gamma = rho/(1 - rho) at the decision value (1 - rho) t. The factor changes no decision, no
        regret and no alpha. What is returned uses the scale of gamma: its t is (1 - rho) times the t of this form.

        Parameters
        ----------
        phi : str or Phi
            A registered name, an expression in t, or a phi.
        rho : number in (0, 1)
            1/2 for equal margins. Exchanging the classes exchanges rho and 1 - rho.
        beta : positive number, optional
            Factor of the negative loss. None means exactly (1 - rho)/rho, which is 1/gamma.
        alpha : number in (0, 1), optional
            Weight the loss for these costs: positives times 1 - alpha, negatives times alpha.

        Examples
        --------
        >>> import uneven
        >>> loss = uneven.UnevenMarginLoss.from_rho("hinge", rho="3/4", alpha="1/10")
        >>> loss, loss.exact_rho
        (uneven.UnevenMarginLoss('hinge', gamma=3.0, alpha='1/10'), Fraction(3, 4))
        >>> t = 0.5
        >>> loss.positive((1 - loss.rho) * t) == 0.9 * uneven.phi("hinge")((1 - loss.rho) * t)
        True
        """
        share = inputs.between_0_and_1("rho", rho)
        return cls(phi, gamma=share / (1 - share), beta=beta, alpha=alpha)

    @property
    def rho(self) -> float:
        """gamma as a share of its sum with 1: gamma/(1 + gamma)."""
        return to_float(self.exact_rho)

    @property
    def exact_rho(self) -> Fraction:
        """rho as a rational number."""
        return self._gamma / (1 + self._gamma)

    @property
    def gamma(self) -> float:
        """How uneven the margins are, as a float."""
        return to_float(self._gamma)

    @property
    def beta(self) -> float | None:
        """beta as given; None means exactly 1/gamma."""
        return None if self._beta is None else to_float(self._beta)

    @property
    def exact_gamma(self) -> Fraction:
        """gamma as a rational number."""
        return self._gamma

    @property
    def exact_beta(self) -> Fraction:
        """The factor of the negative partial loss: beta, or exactly 1/gamma."""
        return 1 / self._gamma if self._beta is None else self._beta

    def weighted(self, alpha: Exact) -> Loss:
        weight = inputs.between_0_and_1("alpha", alpha)
        if self._alpha is None:
            return UnevenMarginLoss(self.phi, gamma=self._gamma, beta=self._beta, alpha=weight)
        return super().weighted(weight)

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.phi, self._gamma, self._beta, self._alpha)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.phi, self._gamma, self._beta, self._alpha))

    def __repr__(self) -> str:
        plain = self.phi.name is not None and not self.phi.parameters
        parts = [repr(self.phi.name) if plain else repr(self.phi) if self.phi.name else repr(self.phi.text)]
        for name, value in (("gamma", self._gamma), ("beta", self._beta), ("alpha", self._alpha)):
            if value is not None:
                parts.append(f"{name}={inputs.shown(value)}")
        return f"uneven.UnevenMarginLoss({', '.join(parts)})"


def _restored(phi: Phi, gamma: Fraction, beta: Fraction | None, alpha: Fraction | None) -> UnevenMarginLoss:
    return UnevenMarginLoss(phi, gamma=gamma, beta=beta, alpha=alpha)


def as_loss(loss: Loss | Phi | str) -> Loss:
    """The loss itself, or the margin loss with gamma = 1 of a phi or its name."""
    return loss if isinstance(loss, Loss) else UnevenMarginLoss(phi(loss))
