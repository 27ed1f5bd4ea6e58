r"""Tree to MathML, which browsers show without a library.

The notation is that of :func:`to_latex`: its output is read again here, so that a function is written in one way in
both. Only the LaTeX that the records of functions and :func:`to_latex` use is understood.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from uneven.errors import ExpressionError
from uneven.expression.latex import to_latex
from uneven.expression.tree import Node

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|[^\s]")

#: Commands that stand for a sign.
_SIGNS = {r"\le": "≤", r"\ge": "≥", r"\cdot": "·", r"\{": "{", r"\}": "}", r"\|": "‖"}
#: Commands that stand for a letter.
_LETTERS = {
    r"\alpha": "α",
    r"\beta": "β",
    r"\gamma": "γ",
    r"\eta": "η",
    r"\pi": "π",
    r"\rho": "ρ",
    r"\sigma": "σ",
    r"\tau": "τ",
    r"\varphi": "φ",
}
#: Commands that stand for the name of a function.
_NAMES = {r"\ln": "ln", r"\tanh": "tanh", r"\arctan": "arctan", r"\max": "max", r"\min": "min"}
#: After these, a minus is the sign of a number.
_BEFORE_A_SIGN = frozenset(f"<mo>{sign}</mo>" for sign in ("(", "{", ",", "·", "=", "&lt;", "&gt;", "≤", "≥"))
_FENCES = {"(": "(", ")": ")", "|": "|", "[": "[", "]": "]"}


def to_mathml(node: Node) -> str:
    """Write a tree as MathML: the inside of a ``<math>`` element.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.app.explorer.mathml import to_mathml
    >>> to_mathml(parse("t**2"))
    '<msup><mi>t</mi><mn>2</mn></msup>'
    """
    return from_latex(to_latex(node))


def from_latex(text: str) -> str:
    r"""MathML of the LaTeX that :func:`to_latex` writes.

    Examples
    --------
    >>> from uneven.app.explorer.mathml import from_latex
    >>> from_latex(r"\frac{1}{2}")
    '<mfrac><mn>1</mn><mn>2</mn></mfrac>'
    """
    return _Reader(_TOKEN.findall(text)).row(lambda token: token is None)


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def next(self) -> str | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self) -> str:
        token = self.next
        if token is None:
            raise ExpressionError("a formula ends too early to be shown")
        self.position += 1
        return token

    def row(self, ends: Callable[[str | None], bool]) -> str:
        """Everything up to a token that ends the row, with exponents and indices; the end is not taken."""
        parts: list[str] = []
        while not ends(self.next):
            if self.next in ("^", "_"):
                kind = "msup" if self.take() == "^" else "msub"
                base = parts.pop() if parts else "<mrow></mrow>"
                parts.append(f"<{kind}>{base}{self.argument()}</{kind}>")
            elif self.next == "-" and (not parts or parts[-1] in _BEFORE_A_SIGN):
                self.take()
                parts.append('<mo form="prefix">−</mo>')
            else:
                parts.append(self.item())
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def argument(self) -> str:
        """A group in braces, or one item."""
        if self.next != "{":
            return self.item()
        self.take()
        inside = self.row(lambda token: token in ("}", None))
        self.take()
        return inside

    def words(self) -> str:
        """A group in braces as plain words."""
        self.take()
        found = []
        while self.next not in ("}", None):
            found.append(self.take().removeprefix("\\"))
        self.take()
        return html.escape("".join(found))

    def item(self) -> str:
        token = self.take()
        if token == "{":
            self.position -= 1
            return self.argument()
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token in _LETTERS:
            return f"<mi>{_LETTERS[token]}</mi>"
        if token in _NAMES:
            return f"<mi>{_NAMES[token]}</mi>"
        if token in _SIGNS:
            return f"<mo>{_SIGNS[token]}</mo>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        match token:
            case r"\frac":
                return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
            case r"\sqrt":
                return f"<msqrt>{self.argument()}</msqrt>"
            case r"\mathrm" | r"\operatorname" | r"\mathbf":
                return f"<mi>{self.words()}</mi>"
            case r"\text":
                return f"<mtext>{self.words()}</mtext>"
            case r"\left":
                return self.fenced()
            case r"\begin":
                return self.cases()
        if token.startswith("\\"):
            raise ExpressionError(f"the LaTeX command {token} is not known to the writer of MathML")
        return f"<mo>{'−' if token == '-' else html.escape(token)}</mo>"

    def fenced(self) -> str:
        """A left parenthesis up to its right one; both grow with what is between."""
        left = _FENCES[self.take()]
        inside = self.row(lambda token: token in (r"\right", None))
        self.take()
        right = _FENCES[self.take()]
        return f'<mrow><mo fence="true">{left}</mo>{inside}<mo fence="true">{right}</mo></mrow>'

    def cases(self) -> str:
        """The rows of ``cases`` behind one brace."""
        if self.words() != "cases":
            raise ExpressionError("only cases can be shown as rows")
        rows, cells = [], []
        while True:
            cells.append(self.row(lambda token: token in ("&", "\\\\", r"\end", None)))
            end = self.take()
            if end != "&":
                rows.append("".join(f"<mtd>{cell}</mtd>" for cell in cells))
                cells = []
            if end == r"\end":
                break
        self.words()
        table = "".join(f"<mtr>{row}</mtr>" for row in rows)
        return f'<mrow><mo fence="true">{{</mo><mtable columnalign="left">{table}</mtable></mrow>'
