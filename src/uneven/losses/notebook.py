"""How losses look in a notebook: their formulas in LaTeX, and HTML without colours, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from uneven.expression import to_text
from uneven.expression.latex import to_latex

if TYPE_CHECKING:
    from uneven.expression import Node
    from uneven.losses.loss import Loss
    from uneven.losses.margin_function import Phi

_LONGEST = 300  # characters of a formula in the little language; a longer one would fill the page


def phi_latex(phi: Phi) -> str | None:
    r"""The formula of a phi between dollar signs; None if it is long.

    Examples
    --------
    >>> import uneven
    >>> from uneven.losses.notebook import phi_latex
    >>> print(phi_latex(uneven.phi("exponential")))
    $\displaystyle \varphi(t) = e^{-t}$
    """
    return rf"$\displaystyle \varphi(t) = {to_latex(phi.tree)}$" if _is_short(phi.tree) else None


def loss_latex(loss: Loss) -> str | None:
    """Both partial losses between dollar signs; None if a formula is long, or is a Python function."""
    if not loss.symbolic:
        return None
    trees = [partial.tree for partial in loss.partials]
    if not all(map(_is_short, trees)):
        return None
    positive, negative = map(to_latex, trees)
    return rf"$\displaystyle \begin{{aligned}} L(1, t) &= {positive} \\ L(-1, t) &= {negative} \end{{aligned}}$"


def block(code: str, formula: str | None, lines: Iterable[tuple[str, str]] = ()) -> str:
    """HTML of a thing: its repr as code, its formula, and lines of a name and a sentence; everything is escaped."""
    short = code if len(code) <= _LONGEST else code[: _LONGEST - 3] + "..."
    parts = [f"<code>{html.escape(short)}</code>"]
    if formula is not None:
        parts.append(html.escape(formula, quote=False))
    parts += [f"<b>{html.escape(name)}</b>: {html.escape(text)}" for name, text in lines]
    return "".join(f'<div style="margin: .3em 0">{part}</div>' for part in parts)


def _is_short(tree: Node) -> bool:
    return len(to_text(tree)) <= _LONGEST
