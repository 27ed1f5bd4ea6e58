"""Questions of the page: what is read, and which field an error belongs to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import uneven
from uneven.app.explorer.answers import choices
from uneven.app.explorer.questions import Refusal, formula, read_question
from uneven.app.explorer.workers import to_json

USUAL: dict[str, Any] = {"kind": "phi", "phi": "hinge", "gamma": "2", "beta": None, "fp": "1", "fn": "20"}


def test_what_the_fields_mean() -> None:
    found = read_question(USUAL)
    assert found.alpha == Fraction(1, 21)
    assert found.loss == uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/21")
    plain = read_question({**USUAL, "weighted": False, "beta": "3", "alpha": "0.1"})
    assert (plain.loss, plain.alpha) == (uneven.UnevenMarginLoss("hinge", gamma=2, beta=3), Fraction(1, 10))
    own = read_question({**USUAL, "kind": "own", "text": "softplus(-t)"})
    assert own.loss == uneven.UnevenMarginLoss("softplus(-t)", gamma=2, alpha="1/21")
    pair = {
        "kind": "pair",
        "positive": "10*softplus(-t)",
        "negative": "softplus(t)",
        "alpha": "1/11",
        "weighted": False,
    }
    assert read_question(pair).loss == uneven.Loss("10*softplus(-t)", "softplus(t)")
    beta = read_question({**USUAL, "phi": "beta", "parameters": {"order": "3"}})
    assert beta.phi == uneven.phi("beta", order=3)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"phi": "hing"}, "phi", "did you mean 'hinge'"),
        ({"phi": "__import__('os')"}, "phi", "there is no phi named"),
        ({"phi": 3}, "phi", "must be a text"),
        ({"phi": "beta", "parameters": {"order": "1.5"}}, "phi", "whole number"),
        ({"phi": "beta", "parameters": {"nonsense": "1"}}, "phi", "nonsense"),
        ({"phi": "beta", "parameters": [1]}, "phi", "object of numbers"),
        ({"kind": "own", "text": "t**"}, "text", "expected a number"),
        ({"kind": "own", "text": "t + 1" * 1000}, "text", "at most 2,000 are allowed"),
        ({"kind": "own", "text": "t"}, "text", "negative"),
        ({"kind": "own", "text": "<script>alert(1)</script>"}, "text", "expected a number, a name"),
        ({"kind": "own", "text": ""}, "text", "empty"),
        ({"kind": "pair", "positive": "softplus(-t)", "negative": "foo(t)"}, "negative", "no function 'foo'"),
        ({"gamma": "0"}, "gamma", "positive"),
        ({"gamma": ""}, "gamma", "a number is missing"),
        ({"gamma": "1" * 100}, "gamma", "at most 60"),
        ({"gamma": "nan"}, "gamma", "finite number"),
        ({"gamma": 2}, "gamma", "must be a text"),
        ({"beta": "-1"}, "beta", "positive"),
        ({"alpha": "1"}, "alpha", "between 0 and 1"),
        ({"fp": "free"}, "fp", "the cost of a false alarm must be a finite number"),
        ({"fn": "0"}, "fn", "the cost of a miss must be positive"),
        ({"weighted": "yes"}, "weighted", "true or false"),
        ({"kind": "other"}, "kind", "must be one of"),
        ({"unheard": 1}, None, "no field 'unheard'"),
    ],
)
def test_a_mistake_belongs_to_its_field(change: dict[str, Any], field: str | None, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_question({**USUAL, **change})
    assert caught.value.field == field
    assert words in caught.value.message
    assert to_json(caught.value.to_dict())
    for other in (None, [], "text", 3):
        with pytest.raises(Refusal):
            read_question(other)


def test_a_mistake_in_a_text_has_its_place() -> None:
    for text, column in (("softplus(-t) + foo(t)", 16), ("1 +", 4), ("2 ^ 3", 3)):
        with pytest.raises(Refusal) as caught:
            formula({"text": text, "field": "positive"})
        assert (caught.value.field, caught.value.column) == ("positive", column)
    assert "msup" in formula({"text": "t**2 - 5"})["mathml"]  # no loss, but a formula
    with pytest.raises(Refusal):
        formula({"text": 3})


def test_what_can_be_chosen() -> None:
    found = choices({})
    assert [phi["name"] for phi in found["phis"]] == list(uneven.losses.names())
    for phi in found["phis"]:
        given = {each["name"]: each["default"] for each in phi["parameters"]}
        assert read_question({**USUAL, "phi": phi["name"], "parameters": given}).phi == uneven.phi(phi["name"])
    assert to_json(found)
    for name in found["zoo"][:5]:
        assert read_question({**USUAL, "kind": "zoo", "zoo": name}).plain == uneven.zoo.loss(name)
