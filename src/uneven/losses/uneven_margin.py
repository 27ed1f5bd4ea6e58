"""The uneven margin loss (definition 4): one phi with a different margin for each class."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact, to_float
from uneven.losses import margin_function
from uneven.losses.loss import Loss
from uneven.losses.margin_function import Phi
from uneven.losses.partial import Partial


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
        exact_gamma = _inputs.positive("gamma", gamma)
        exact_beta = None if beta is None else _inputs.positive("beta", beta)
        weight = None if alpha is None else _inputs.between_0_and_1("alpha", alpha)
        object.__setattr__(self, "phi", function)
        object.__setattr__(self, "_gamma", exact_gamma)
        object.__setattr__(self, "_beta", exact_beta)
        self._set(Partial(function), Partial(function, self.exact_beta, -exact_gamma), weight)

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
        weight = _inputs.between_0_and_1("alpha", alpha)
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
                parts.append(f"{name}={_inputs.shown(value)}")
        return f"uneven.UnevenMarginLoss({', '.join(parts)})"


def _restored(phi: Phi, gamma: Fraction, beta: Fraction | None, alpha: Fraction | None) -> UnevenMarginLoss:
    return UnevenMarginLoss(phi, gamma=gamma, beta=beta, alpha=alpha)
