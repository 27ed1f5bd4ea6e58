"""What the record of a function says about one call of it: pieces, domain, zeros, slope."""

from __future__ import annotations

from typing import NamedTuple

from uneven.expression.algebra import filled
from uneven.expression.function_trees import ARGUMENTS, domain_tree, pieces_tree, sentence_tree
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Call, Node, Where


class Pieces(NamedTuple):
    """``yes`` where ``left op right`` holds, ``no`` elsewhere: a ``where`` that may be larger than a tree can be."""

    op: str
    left: Node
    right: Node
    yes: Node
    no: Node


def pieces(node: Node) -> Pieces | None:
    """The two formulas of a node and when each holds; None for a node of one formula.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.expression.calls import pieces
    >>> op, *parts = pieces(parse("relu(1 - t)"))
    >>> op, [to_text(part) for part in parts]
    ('>=', ['1 - t', '0', '1 - t', '0'])
    """
    match node:
        case Where(op, left, right, yes, no):
            return Pieces(op, left, right, yes, no)
        case Call(name, _) if (written := pieces_tree(FUNCTIONS[name])) is not None:
            return Pieces(written.op, *(_applied(part, node) for part in written.children))
    return None


def domain(node: Node) -> tuple[Node, bool] | None:
    """A tree that must be positive for a call to be defined, and whether 0 is allowed; None: always defined."""
    condition = domain_tree(FUNCTIONS[node.name]) if isinstance(node, Call) else None
    return None if condition is None else (_applied(condition[0], node), condition[1])


def vanishing(node: Call) -> Node | None:
    """A tree with the zeros of a call; None if the record names none."""
    zeros = FUNCTIONS[node.name].zeros
    return None if zeros is None else _applied(sentence_tree(zeros), node)


def outer_slope(node: Call) -> Node | None:
    """The derivative with respect to the argument; None if it is that of the piece."""
    slope = FUNCTIONS[node.name].slope
    if slope is None:
        return None
    return _applied(sentence_tree(slope if isinstance(slope, str) else slope(node.order)), node)


def _applied(sentence: Node, node: Node) -> Node:
    arguments = node.arguments if isinstance(node, Call) else ()
    return filled(sentence, dict(zip(ARGUMENTS, arguments, strict=False)))
