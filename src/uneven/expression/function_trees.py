"""The sentences of a function's record, parsed: trees in ``x`` (and ``y``)."""

from __future__ import annotations

from functools import lru_cache

from uneven.expression.functions import Function
from uneven.expression.parse import parse
from uneven.expression.tree import Node, Where

ARGUMENTS = ("x", "y")


@lru_cache(maxsize=256)
def sentence_tree(sentence: str) -> Node:
    """A sentence of a record as a tree."""
    return parse(sentence, ARGUMENTS)


def pieces_tree(function: Function) -> Where | None:
    """A function that changes formula as one ``where``; None for a function of one formula."""
    return None if function.pieces is None else _where(function.pieces)


def domain_tree(function: Function) -> tuple[Node, bool] | None:
    """What must be positive for the function to be defined, and whether 0 is allowed; None: always defined."""
    if function.domain is None:
        return None
    condition = _where(f"where({function.domain}, 1, 0)")
    return condition.left, condition.op == ">="


def _where(sentence: str) -> Where:
    tree = sentence_tree(sentence)
    if not isinstance(tree, Where):
        raise TypeError(f"a record needs a where here, not {sentence!r}")
    return tree
