"""Text to tree, by hand: nothing is ever evaluated as Python.

Grammar::

    sum      =  product (("+" | "-") product)*
    product  =  sign* power (("*" | "/") factor)*      a leading sign belongs to the whole product
    factor   =  sign* power
    power    =  atom ["**" factor]
    atom     =  number | name | "(" sum ")" | function "(" sum ("," sum)* ")"
             |  "where" "(" sum ("<" | "<=" | ">" | ">=") sum "," sum "," sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, NoReturn

from uneven.errors import ExpressionError, did_you_mean
from uneven.expression.functions import FUNCTIONS, Function
from uneven.expression.tree import (
    COMPARISONS,
    CONSTANTS,
    MAX_BITS,
    MAX_CHARACTERS,
    MAX_DEPTH,
    ONE,
    Add,
    Call,
    Inv,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Symbol,
    Where,
)

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<operator>\*\*|<=|>=|[-+*/(),<>])"
)


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def parse(text: str, parameters: Collection[str] = ()) -> Node:
    """Parse a sentence of the little language into a tree.

    Parameters
    ----------
    text : str
        For example ``"log(1 + exp(-t))"``.
    parameters : collection of str
        Names allowed besides ``t``, ``pi`` and ``e``.

    Returns
    -------
    Node
        The tree as written: simplification is :func:`uneven.expression.simplify`.

    Raises
    ------
    ExpressionError
        With the column and what is allowed there.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> to_text(parse("max(0, 1-t)"))
    'max(0, 1 - t)'
    """
    if not isinstance(text, str):
        raise ExpressionError(f"an expression is a string such as 'relu(1 - t)', not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"an expression has at most {MAX_CHARACTERS} characters, this one has {len(text)}", text=text
        )
    return _Parser(text, tuple(parameters)).parse()


class _Parser:
    def __init__(self, text: str, parameters: tuple[str, ...]) -> None:
        self.text = text
        self.names = ("t", *CONSTANTS, *parameters)
        self.position = 0
        self.depth = 0
        self.tokens = self._tokens()

    def fail(self, message: str, column: int) -> NoReturn:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        raise ExpressionError(f"{message}, at column {column} of {shown!r}", text=self.text, column=column)

    def _tokens(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                character = self.text[position]
                hint = "; powers are written **" if character == "^" else ""
                self.fail(
                    f"the character {character!r} is not part of the language{hint} (allowed: numbers, names, "
                    "+ - * / ** ( ) , < <= > >=)",
                    position + 1,
                )
            kind = match.lastgroup or ""
            if kind != "space":
                tokens.append(_Token(kind, match.group(), position + 1))
            position = match.end()
        tokens.append(_Token("end", "", len(self.text) + 1))
        return tokens

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def accept(self, *texts: str) -> str | None:
        token = self.token
        if token.kind == "operator" and token.text in texts:
            self.position += 1
            return token.text
        return None

    def expect(self, text: str, where: str) -> None:
        if self.accept(text) is None:
            self.fail(f"expected {text!r} {where}, found {self.found()}", self.token.column)

    def found(self) -> str:
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def parse(self) -> Node:
        if self.token.kind == "end":
            self.fail("the expression is empty; something like 'relu(1 - t)' would work", 1)
        tree = self.sum()
        if self.token.kind != "end":
            self.fail(
                f"expected an operator (+ - * / **) or the end, found {self.found()}",
                self.token.column,
            )
        return tree

    def nested(self, column: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"the expression is nested deeper than {MAX_DEPTH}", column)

    def sum(self) -> Node:
        self.nested(self.token.column)
        terms = [self.product()]
        while (sign := self.accept("+", "-")) is not None:
            term = self.product()
            terms.append(term if sign == "+" else _negate(term))
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Add(*terms)

    def signs(self) -> int:
        minus = 0
        while (sign := self.accept("+", "-")) is not None:
            minus += sign == "-"
        return minus

    def product(self) -> Node:
        minus = self.signs()
        factors = [self.power()]
        while (operator := self.accept("*", "/")) is not None:
            factor = self.factor()
            if operator == "*":
                factors.append(factor)
            elif len(factors) == 1 and isinstance(factors[0], Number) and isinstance(factor, Number) and factor.value:
                factors[0] = Number(factors[0].value / factor.value)  # the literal 1/3
            elif factors == [ONE]:
                factors[0] = Inv(factor)
            else:
                factors.append(Inv(factor))
        tree = factors[0] if len(factors) == 1 else Mul(*factors)
        for _ in range(minus):
            tree = _negate(tree)
        return tree

    def factor(self) -> Node:
        minus = self.signs()
        tree = self.power()
        for _ in range(minus):
            tree = _negate(tree)
        return tree

    def power(self) -> Node:
        base = self.atom()
        column = self.token.column
        if self.accept("**") is None:
            return base
        self.nested(column)
        exponent = self.factor()
        self.depth -= 1
        return Pow(base, exponent)

    def atom(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.position += 1
            return Number(self.number(token))
        if token.kind == "name":
            self.position += 1
            return self.named(token)
        if self.accept("(") is not None:
            tree = self.sum()
            self.expect(")", "to close the parenthesis")
            return tree
        return self.fail(f"expected a number, a name or '(', found {self.found()}", token.column)

    def number(self, token: _Token) -> Fraction:
        mantissa, _, exponent = token.text.lower().partition("e")
        value = Fraction(0)
        in_range = len(exponent.lstrip("+-")) <= 4
        if in_range:
            value = Fraction(mantissa.rstrip(".") or "0") * Fraction(10) ** int(exponent or 0)
            in_range = max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS
        if not in_range:
            self.fail(f"the number {token.text[:30]} has more than about 900 digits", token.column)
        return value

    def named(self, token: _Token) -> Node:
        name = token.text
        if self.accept("(") is not None:
            if name == "where":
                return self.where()
            if name not in FUNCTIONS:
                known = {one: function.also_called for one, function in FUNCTIONS.items()} | {"where": ("if", "cond")}
                hint = did_you_mean(name, known, f"allowed: {', '.join(known)}")
                self.fail(f"there is no function {name!r} ({hint})", token.column)
            return self.call(token)
        if name in FUNCTIONS or name == "where":
            self.fail(f"the function {name!r} needs its arguments in parentheses", token.column)
        if name not in self.names:
            self.fail(f"there is no name {name!r} (allowed: {', '.join(self.names)})", token.column)
        return Symbol(name)

    def call(self, token: _Token) -> Node:
        arguments = [self.sum()]
        while self.accept(",") is not None:
            arguments.append(self.sum())
        self.expect(")", f"or ',' in the arguments of {token.text}")
        function = FUNCTIONS[token.text]
        wanted = function.arity if function.orders is None else function.arity + 1
        if len(arguments) < wanted or (function.arity == 1 and len(arguments) > wanted):
            count = "two or more arguments" if function.arity == 2 else "one argument"
            if function.orders is not None:
                count += f" and an order from {function.orders[0]} to {function.orders[-1]}"
            self.fail(f"{token.text} takes {count}, {len(arguments)} given", token.column)
        tree = Call(token.text, *arguments[:wanted])
        for further in arguments[wanted:]:
            tree = Call(token.text, tree, further)
        return tree

    def where(self) -> Node:
        left = self.sum()
        operator = self.accept(*COMPARISONS)
        if operator is None:
            self.fail(
                f"the first argument of where is a comparison such as t < 1, found {self.found()}", self.token.column
            )
        right = self.sum()
        self.expect(",", "after the comparison of where")
        yes = self.sum()
        self.expect(",", "between the two values of where")
        no = self.sum()
        self.expect(")", "to close where")
        return Where(operator, left, right, yes, no)


def _negate(tree: Node) -> Node:
    return Number(-tree.value) if isinstance(tree, Number) else Neg(tree)


# The sentences of a function's record, parsed: trees in ``x`` (and ``y``).

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
