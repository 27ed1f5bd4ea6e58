"""The little language: text to tree, normal form, derivative, canonical text. LaTeX is in ``expression.latex``."""

from uneven.expression.algebra import affine, simplify, substitute
from uneven.expression.calculus import derivative
from uneven.expression.parse import parse
from uneven.expression.text import to_text
from uneven.expression.tree import Node

__all__ = ["Node", "affine", "derivative", "parse", "simplify", "substitute", "to_text"]
