"""The little language: text to tree, normal form, derivative, canonical text, LaTeX."""

from uneven.expression.algebra import affine, simplify, substitute
from uneven.expression.derivative import derivative
from uneven.expression.latex import to_latex
from uneven.expression.parse import parse
from uneven.expression.text import to_text
from uneven.expression.tree import Node

__all__ = ["Node", "affine", "derivative", "parse", "simplify", "substitute", "to_latex", "to_text"]
