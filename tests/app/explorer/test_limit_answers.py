"""Limits on the rows of a fit: the numbers are those of the library on the same rows, and bad questions are refused."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from mpmath import exp, mpf, workdps
from sklearn.linear_model import LogisticRegression
from starlette.testclient import TestClient

import uneven
from uneven.app.explorer import limit_answers
from uneven.app.explorer.limit_answers import UnseenRows, describe_limits, flag_limit, review
from uneven.app.explorer.questions import Refusal
from uneven.app.explorer.service import application
from uneven.costs import money
from uneven.metrics import cost_at_capacity, cost_by_capacity, expected_cost

HERE = "http://127.0.0.1:8765"
WRITTEN = {"most_flags": "", "price": "0", "misses": "0", "false_alarms": "0", "most_reviews": "", "unit": "EUR"}


def some_rows(seed: int, count: int = 400, *, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    probability = random.beta(0.6, 2.0, count)
    is_positive = random.random(count) < probability
    return (probability.round(1) if ties else probability), is_positive


def question(described: dict[str, Any], count: int, fp: float, fn: float, **written: str) -> dict[str, Any]:
    content = base64.b64decode(described["unseen"])
    return {"content": content, "rows": count, "fp": fp, "fn": fn, "shift": described["shift"], **WRITTEN, **written}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("fp", "fn", "threshold"), [(1, 20, 0.03), (3, 2, 0.6), (1e9, 4e9, 0.35), (1e-9, 1e3, 1e-11)])
def test_a_limit_on_flags_costs_what_the_metrics_say(fp: float, fn: float, threshold: float, ties: bool) -> None:
    p, is_positive = some_rows(1, ties=ties)
    described = describe_limits(is_positive, p, threshold, fp_cost=fp, fn_cost=fn)
    rows = UnseenRows.read(base64.b64decode(described["unseen"]), p.size)
    truth, costs = is_positive.astype(int), {"fp_cost": fp, "fn_cost": fn}
    assert rows.positive.tolist() == is_positive.tolist()

    # Without a limit the decisions are those of the model: flag where its own probability is above its threshold.
    own = expected_cost(truth, (p > threshold).astype(int), **costs)
    assert described["flags"] == (p > threshold).sum()
    assert flag_limit(question(described, p.size, fp, fn))["cost"] == pytest.approx(1000 * own, rel=1e-12)

    curve = cost_by_capacity(truth, rows.probability, **costs)
    assert described["cost"] == pytest.approx(1000 * curve.cost[described["capacity"]], rel=1e-5)
    assert described["best"] == {"capacity": curve.best_capacity, "cost": pytest.approx(1000 * curve.best_cost)}
    assert {described["flags"], described["best"]["capacity"]} <= set(described["capacity"])
    for limit in (0, 1, 7, described["flags"] // 2, described["flags"], p.size):
        answer = flag_limit(question(described, p.size, fp, fn, most_flags=f"{limit:,}"))
        cost = 1000 * cost_at_capacity(truth, rows.probability, at_most=limit, **costs)
        saved = uneven.decide(rows.probability, at_most=limit, **costs).price_of_one_more
        assert answer["cost"] == pytest.approx(cost, rel=1e-12)
        assert answer["found"] == pytest.approx(curve.found[limit])
        assert answer["saved"] == saved
        flags = "flag" if limit == 1 else "flags"
        assert answer["words"].startswith(
            f"With at most {limit:,} {flags}, {curve.found[limit] * truth.sum():,.0f} of "
        )
        assert f"1,000 rows cost {money(answer['cost'], 'EUR')}; " in answer["words"]
        assert answer["words"].endswith(
            f"save {money(saved, 'EUR')}." if limit < described["flags"] else "more flags would save nothing."
        )


@pytest.mark.parametrize("most", ["", "0", "25"])
@pytest.mark.parametrize("errors", [("0", "0"), ("5", "1/2"), ("12.5", "30")])
@pytest.mark.parametrize(
    ("fp", "fn", "threshold", "price"), [(1, 20, 0.03, "0.2"), (3, 2, 0.6, "1/4"), (1e9, 4e9, 0.35, "1e8")]
)
def test_reviews_are_those_of_decide(
    fp: float, fn: float, threshold: float, price: str, errors: tuple[str, str], most: str
) -> None:
    p, is_positive = some_rows(2)
    described = describe_limits(is_positive, p, threshold, fp_cost=fp, fn_cost=fn)
    rows = UnseenRows.read(base64.b64decode(described["unseen"]), p.size)
    written = {"price": price, "misses": errors[0], "false_alarms": errors[1], "most_reviews": most}
    answer = review(question(described, p.size, fp, fn, **written))

    misses, alarms = (float(Fraction(text) / 100) for text in errors)
    actions = uneven.Actions.refer(fp_cost=fp, fn_cost=fn, price=price, misses=misses, false_alarms=alarms)
    limit = {"review": int(most)} if most else None
    found = uneven.decide(rows.probability, actions=actions, at_most=limit)
    assert answer["shares"] == {
        ours: found.counts[theirs] / p.size
        for ours, theirs in zip(("clear", "review", "flag"), actions.names, strict=True)
    }
    cost = {"clear": (fn, 0), "block": (0, fp)}
    d = float(Fraction(price))
    cost["review"] = (d + misses * fn, d + alarms * fp)
    paid = [cost[action][0 if yes else 1] for action, yes in zip(found.action, is_positive, strict=True)]
    assert answer["cost"] == pytest.approx(1000 * np.mean(paid), rel=1e-9)
    own = expected_cost(is_positive.astype(int), (p > threshold).astype(int), fp_cost=fp, fn_cost=fn)
    assert answer["without"] == pytest.approx(1000 * own, rel=1e-12)
    assert answer["saved"] == found.price_of_one_more

    # The two probabilities are on the model's own scale, on both sides of its threshold.
    if answer["between"] is None:
        assert "review" in actions.dominated
        assert answer["pays_below"] <= d * (1 + 1e-12)
        assert answer["shares"]["review"] == 0
        assert re.fullmatch(r"A review at \S+ EUR never pays; .*\.", answer["words"])
    else:
        low, high = answer["between"]
        assert low < threshold < high
        assert d < answer["pays_below"]
        assert f"pays between the probabilities {low:.3g} and {high:.3g}: 1,000 rows cost " in answer["words"]
        if not most:
            assert answer["shares"]["review"] == ((p > low) & (p < high)).mean()
        else:
            assert answer["shares"]["review"] * p.size <= int(most)
            assert f"with at most {most} reviews, and {money(answer['without'], 'EUR')} without" in answer["words"]


def test_a_price_at_which_a_review_ceases_to_pay() -> None:
    p, is_positive = some_rows(3)
    described = describe_limits(is_positive, p, 0.04, fp_cost=1, fn_cost=20)
    ask = {"most_reviews": "", "misses": "10"}
    below = review(question(described, p.size, 1, 20, **ask))["pays_below"]
    cheaper = review(question(described, p.size, 1, 20, **ask, price=str(below * (1 - 1e-9))))
    dearer = review(question(described, p.size, 1, 20, **ask, price=str(below * (1 + 1e-9))))
    assert (cheaper["between"] is None, dearer["between"] is None) == (False, True)
    assert dearer["words"].endswith(f"never pays; it would below {money(below, 'EUR')}.")
    assert dearer["cost"] == pytest.approx(dearer["without"])
    never = review(question(described, p.size, 1, 20, misses="100"))
    assert never["words"] == "A review at 0 EUR never pays; with so many errors not even if it were free."
    free = review(question(described, p.size, 1, 20, price=""))
    assert free["words"].startswith("A review at 0 EUR pays at every probability: 1,000 rows cost 0 EUR, and ")


def test_decisions_within_a_limit_are_those_of_decide_of_the_model() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = (X[:, 0] + random.normal(size=300) > 0.7).astype(int)
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(), fp_cost=1, fn_cost=7).fit(X, y)
    described = describe_limits(y == 1, model.predict_proba(X)[:, 1], model.threshold_, fp_cost=1, fn_cost=7)
    rows = UnseenRows.read(base64.b64decode(described["unseen"]), 300)
    for limit in (10, 60, 300):
        found = model.decide(X, at_most=limit)
        assert np.array_equal(np.argsort(rows.probability), np.argsort(found.probability))
        answer = flag_limit(question(described, 300, 1, 7, most_flags=str(limit)))
        assert answer["found"] == pytest.approx(found.flagged[y == 1].mean())
        assert (answer["saved"] > 0) == (found.price_of_one_more > 0)


def test_a_model_that_flags_no_one_or_everyone() -> None:
    p, is_positive = some_rows(4)
    ends = [(p.max(), 0), (1.0, 0), (np.inf, 0), (p.min() / 2, p.size), (0.0, p.size), (-np.inf, p.size)]
    for threshold, flags in ends:
        described = describe_limits(is_positive, p, threshold, fp_cost=1, fn_cost=20)
        assert described["flags"] == flags
        answer = flag_limit(question(described, p.size, 1, 20))
        assert answer["found"] == pytest.approx(float(flags > 0))
        assert described["capacity"][-1] >= 1
        json.dumps([described, answer, review(question(described, p.size, 1, 20, price="0.1"))], allow_nan=False)


@pytest.mark.parametrize("costs", [(1e-300, 1e300), (1e300, 1e-300), (1e-12, 1.0), (1.0, 1e-12), (1e304, 1e305)])
@pytest.mark.parametrize("threshold", [1e-13, 0.3, 0.999])
def test_extreme_costs(costs: tuple[float, float], threshold: float) -> None:
    """Rows are decided about as the model does, and the probabilities of a review keep their digits."""
    p, is_positive = some_rows(8, count=100)
    described = describe_limits(is_positive, p, threshold, fp_cost=costs[0], fn_cost=costs[1])
    assert described["flags"] == (p > threshold).sum()
    price = described["pays_below"] / 2
    answer = review(question(described, p.size, *costs, price=repr(price)))
    with workdps(700):
        low, high = mpf(price) / mpf(costs[1]), 1 - mpf(price) / mpf(costs[0])
        move = exp(mpf(described["shift"]))
        wanted = [float(1 / (1 + (1 / at - 1) / move)) for at in (low, high)]
    assert answer["between"] == pytest.approx(wanted, rel=1e-9)
    json.dumps([described, answer, flag_limit(question(described, p.size, *costs))], allow_nan=False)


@pytest.mark.parametrize("count", [10_000, 9_001])
def test_groups_stand_for_many_rows(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    p, is_positive = some_rows(5, count=count)
    whole = describe_limits(is_positive, p, 0.05, fp_cost=1, fn_cost=20)
    monkeypatch.setattr(limit_answers, "MOST_ROWS", 1_000)
    part = describe_limits(is_positive, p, 0.05, fp_cost=1, fn_cost=20)
    assert len(base64.b64decode(part["unseen"])) == 16 * 1_000
    rows = UnseenRows.read(base64.b64decode(part["unseen"]), count)
    assert rows.positive.mean() == pytest.approx(is_positive.mean(), rel=2e-3)
    assert {key: value for key, value in part.items() if key != "unseen"} == {
        key: value for key, value in whole.items() if key != "unseen"
    }
    for flags, reviews in (("1500", "500"), ("", ""), ("0", "0"), ("6000", "55")):
        ask = {"most_flags": flags, "most_reviews": reviews, "price": "0.2"}
        for answer in (flag_limit, review):
            exact, near = (answer(question(one, p.size, 1, 20, **ask)) for one in (whole, part))
            assert near["cost"] == pytest.approx(exact["cost"], rel=0.01)
        assert near["shares"] == pytest.approx(exact["shares"], abs=0.001)
        assert near["without"] == pytest.approx(exact["without"], rel=0.01)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"content": b""}, None, "not the rows of a fit"),
        ({"content": b"\0" * 17}, None, "not the rows of a fit"),
        ({"content": np.array([np.nan, 1.0]).tobytes()}, None, "not the rows of a fit"),
        ({"content": np.array([0.5, 2.0]).tobytes()}, None, "not the rows of a fit"),
        ({"content": np.array([0.5, 0.0]).tobytes()}, None, "not the rows of a fit"),
        ({"rows": 3}, None, "not the rows of a fit"),
        ({"rows": True}, None, "not the rows of a fit"),
        ({"fp": "1"}, None, "fp must be a number"),
        ({"fn": float("inf")}, None, "fn must be a number"),
        ({"fn": 0}, None, "both costs must be positive"),
        ({"unit": "x" * 21}, "unit", "a short word such as EUR"),
        ({"most_flags": "-1", "most_reviews": "-1"}, "most_", "a whole number of rows, got '-1'"),
        ({"most_flags": "1.5", "most_reviews": "²"}, "most_", "a whole number of rows"),
        ({"most_flags": None, "most_reviews": "9" * 61}, "most_", "a number is missing"),
    ],
)
@pytest.mark.parametrize("answer", [flag_limit, review])
def test_awkward_questions(answer: Any, change: dict[str, Any], field: str | None, words: str) -> None:
    p, is_positive = some_rows(6, count=30)
    asked = question(describe_limits(is_positive, p, 0.1, fp_cost=1, fn_cost=9), 30, 1, 9)
    with pytest.raises(Refusal, match=words) as caught:
        answer({**asked, **change})
    wanted = {"most_": "most_flags" if answer is flag_limit else "most_reviews"}.get(field or "", field)
    assert caught.value.field == wanted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"price": "-1"}, "the price of a review must not be negative, got '-1'"),
        ({"price": "dear"}, "the price of a review must be"),
        ({"misses": "101"}, "the share of missed positives must lie between 0 and 100 %, got '101'"),
        ({"false_alarms": "-0.1"}, "the share of false alarms must lie between 0 and 100 %"),
    ],
)
def test_awkward_persons(change: dict[str, str], words: str) -> None:
    p, is_positive = some_rows(6, count=30)
    described = describe_limits(is_positive, p, 0.1, fp_cost=1, fn_cost=9)
    with pytest.raises(Refusal, match=re.escape(words)) as caught:
        review(question(described, 30, 1, 9, **change))
    assert [caught.value.field] == list(change)


# -- over the wire -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(application("127.0.0.1", 8765), base_url=HERE) as made:
        yield made


def post(client: TestClient, name: str, content: bytes, asked: dict[str, Any], **headers: str) -> Any:
    asked_in = {"content-type": "application/octet-stream", "x-question": quote(json.dumps(asked)), **headers}
    return client.post(f"/api/{name}", content=content, headers=asked_in)


@pytest.mark.slow
def test_the_server_answers_only_its_own_page(client: TestClient) -> None:
    p, is_positive = some_rows(7, count=50)
    asked = question(describe_limits(is_positive, p, 0.1, fp_cost=1, fn_cost=9), 50, 1, 9, most_flags="5", price="0.1")
    content = asked.pop("content")
    for name, here in (("flag_limit", flag_limit), ("review", review)):
        assert post(client, name, content, asked).json() == json.loads(json.dumps(here({**asked, "content": content})))
        assert post(client, name, content, asked, host="evil.example:8765").status_code == 421
        assert post(client, name, content, asked, origin="https://evil.example").status_code == 403
        assert post(client, name, content, {**asked, "fp": None}).status_code == 400
        refused = post(client, name, content[:-1], asked)
        assert (refused.status_code, refused.json()["error"]) == (400, "these are not the rows of a fit")
        assert client.post(f"/api/{name}", json={}).status_code == 415
        assert client.get(f"/api/{name}").status_code == 405
