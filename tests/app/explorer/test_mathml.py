"""MathML of formulas: well-formed, complete, and for every function of the language."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from strategies import sentences

import uneven
from uneven.app.explorer.mathml import from_latex, to_mathml
from uneven.expression import parse
from uneven.expression.functions import FUNCTIONS
from uneven.expression.latex import to_latex

#: Elements of MathML Core that are written, and the attributes that they may have.
ELEMENTS = {"math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msqrt", "msup", "msub", "mtable", "mtr", "mtd"}
ATTRIBUTES = {"form", "fence", "columnalign"}
CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "msqrt": 1}


def read(markup: str) -> ElementTree.Element:
    """The markup as a tree; an error if it is not well-formed or holds anything but formulas."""
    root = ElementTree.fromstring(f"<math>{markup}</math>")
    for element in root.iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
        if element.tag in CHILDREN:
            assert len(element) == CHILDREN[element.tag], markup
    return root


def leaves(root: ElementTree.Element) -> str:
    return "".join(root.itertext())


@pytest.mark.parametrize("name", uneven.losses.names())
def test_every_phi_can_be_shown(name: str) -> None:
    assert "t" in leaves(read(to_mathml(uneven.phi(name).tree)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_can_be_shown(name: str) -> None:
    function = FUNCTIONS[name]
    order = [] if function.orders is None else [str(function.orders[0])]
    arguments = ["t", "2*t"][: function.arity] + order
    shown = leaves(read(to_mathml(parse(f"1 + {name}({', '.join(arguments)})**3"))))
    assert shown.count("t") >= function.arity
    assert "3" in shown


@pytest.mark.slow
@given(sentences)
def test_every_expression_can_be_shown_with_all_its_numbers(text: str) -> None:
    tree = parse(text)
    shown = leaves(read(to_mathml(tree)))
    digits = [sign for sign in to_latex(tree) if sign.isdigit()]
    assert sorted(digits) == sorted(sign for sign in shown if sign.isdigit())


def test_signs_and_fences() -> None:
    assert to_mathml(parse("-t")) == '<mrow><mo form="prefix">−</mo><mi>t</mi></mrow>'
    assert '<mo form="prefix">−</mo>' in to_mathml(parse("expit(-t)"))
    assert "<mo>−</mo>" in to_mathml(parse("1 - t"))
    assert "&lt;" in to_mathml(parse("where(t < 1, t, 2)"))
    with pytest.raises(uneven.errors.ExpressionError, match="not known"):
        from_latex(r"\unknown{t}")
    with pytest.raises(uneven.errors.ExpressionError, match="ends too early"):
        from_latex(r"\frac{1}")
