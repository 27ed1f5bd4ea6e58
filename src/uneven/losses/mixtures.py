"""Mixtures of losses: weighted means that stay sentences of the language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import overload

from uneven import inputs
from uneven.errors import ParameterError
from uneven.expression import Node, to_text
from uneven.expression.algebra import add, mul
from uneven.expression.tree import Number
from uneven.inputs import Exact, brief
from uneven.losses.loss import Loss, UnevenMarginLoss, as_loss
from uneven.losses.margin_function import Phi, phi
from uneven.losses.partial import Partial


@overload
def mixture(parts: Sequence[str | Phi], weights: Iterable[Exact] | None = None) -> Phi: ...


@overload
def mixture(parts: Sequence[str | Phi | Loss], weights: Iterable[Exact] | None = None) -> Phi | Loss: ...


def mixture(parts: Sequence[str | Phi | Loss], weights: Iterable[Exact] | None = None) -> Phi | Loss:
    r"""The weighted mean of several phis, or of several losses.

    If every part is convex and calibrated for the same alpha, so is the mixture, for all weights (Theorem N in
    docs/theory.md). This is also true if t = 0 minimises the conditional risk of every part at alpha and Theorem T
    applies, as for the focal loss. It is not true of all calibrated losses. :func:`uneven.analyze` decides.

    Parameters
    ----------
    parts : list of str, Phi or Loss
        Phis or their names, or losses. If one is a loss, a phi stands for its margin loss with gamma = 1.
    weights : list of positive numbers, optional
        They are scaled to sum to 1, exactly. By default all are equal.

    Returns
    -------
    Phi or Loss
        A phi, if all parts are phis: learners and :class:`uneven.UnevenMarginLoss` take it with any gamma. Else a
        loss; it keeps the alpha that all parts are weighted by.

    Examples
    --------
    >>> import uneven
    >>> uneven.losses.mixture(["hinge", "logistic"], ["1/4", "3/4"])
    uneven.phi('0.75*softplus(-t) + 0.25*relu(1 - t)')

    Losses with different margins:

    >>> narrow, wide = (uneven.UnevenMarginLoss("logistic", gamma=gamma, alpha="1/11") for gamma in (1, 5))
    >>> loss = uneven.losses.mixture([narrow, wide])
    >>> loss.alpha, uneven.analyze(loss).verdict.status
    (0.09090909090909091, 'calibrated')
    """
    if isinstance(parts, str | Phi | Loss) or not isinstance(parts, Iterable) or not list(parts):
        raise ParameterError(f"parts must be a list of phis or losses, got {brief(parts)}")
    chosen = list(parts)
    shares = _shares(len(chosen), weights)
    if not any(isinstance(part, Loss) for part in chosen):
        return _mix_phis([phi(part) for part in chosen if not isinstance(part, Loss)], shares)
    losses = [as_loss(part) for part in chosen]
    margins = [loss for loss in losses if isinstance(loss, UnevenMarginLoss)]
    same = len({(loss.exact_gamma, loss.exact_beta, loss.exact_alpha) for loss in margins}) == 1
    if same and len(margins) == len(losses):
        first = margins[0]
        beta = None if first.exact_beta * first.exact_gamma == 1 else first.exact_beta
        mixed = _mix_phis([loss.phi for loss in margins], shares)
        return UnevenMarginLoss(mixed, gamma=first.exact_gamma, beta=beta, alpha=first.exact_alpha)
    alphas = {loss.exact_alpha for loss in losses}
    alpha = alphas.pop() if len(alphas) == 1 else None
    factors = (Fraction(1), Fraction(1)) if alpha is None else (1 / (1 - alpha), 1 / alpha)  # the weights taken out
    positive, negative = (
        _sum(shares, [_formula(loss.partials[k].scaled(factors[k])) for loss in losses]) for k in (0, 1)
    )
    return Loss(positive, negative, alpha=alpha)


def _shares(count: int, weights: Iterable[Exact] | None) -> list[Fraction]:
    """The weights, scaled to sum to 1."""
    if weights is not None and not isinstance(weights, Iterable):
        raise ParameterError(f"weights must be a list of positive numbers, got {brief(weights)}")
    given = [Fraction(1)] * count if weights is None else [inputs.positive("each weight", w) for w in weights]
    if len(given) != count:
        raise ParameterError(f"there must be one weight for each part, got {count} parts and {len(given)} weights")
    total = sum(given, Fraction(0))
    return [weight / total for weight in given]


def _mix_phis(phis: list[Phi], shares: list[Fraction]) -> Phi:
    return phis[0] if len(phis) == 1 else _sum(shares, [function.tree for function in phis])


def _formula(partial: Partial) -> Node:
    partial.require_phi("mixture")
    return partial.tree


def _sum(shares: list[Fraction], trees: list[Node]) -> Phi:
    return phi(to_text(add(*(mul(Number(share), tree) for share, tree in zip(shares, trees, strict=True)))))
