"""Answers of the server that come late, or in another order: the page ends up the same, and right."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Held, Visit, drawn, has_browser, sentence
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs"),
    pytest.mark.slow,
]

QUESTIONS = ("curves", "verdict", "enclosure", "alpha_of_gamma")
PICTURES = ("partial", "risk", "h", "psi", "bound", "alpha")
MISTAKE = "There is a mistake in the formula."
#: All words of the page, and all curves as they are drawn.
_SEEN = """() => [
  document.getElementById("losses").innerText,
  document.getElementById("verdict").dataset.status,
  ...[...document.querySelectorAll("#panels .plot")].map((plot) => [
    plot.id, plot.dataset.shown ?? "", plot.ariaLabel,
    ...[...plot.querySelectorAll(".js-line, .js-fill")].map((e) => e.getAttribute("d")),
    ...[...plot.querySelectorAll(".point")].map((e) => e.getAttribute("transform")),
    ...[...plot.querySelectorAll(".xtick, .ytick")].map((e) => e.textContent)].join("|")),
]"""


def seen(page: Any) -> list[str]:
    """What there is to see once nothing is under way."""
    expect(page.locator("#verdict")).not_to_have_class(re.compile("waiting"))
    expect(page.locator("#verdict")).not_to_have_attribute("data-status", "waiting")
    for name in PICTURES:
        expect(page.locator(f"#plot-{name}")).to_have_attribute("data-drawn", "fully")
    found: list[str] = page.evaluate(_SEEN)
    return found


def test_the_order_of_the_answers_does_not_matter(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 1700})  # all pictures can be seen
    sentence(page, "Calibrated")
    held = Held(page, *QUESTIONS)
    both: dict[str, list[str]] = {}
    usual, *others = itertools.permutations(QUESTIONS[:3])
    for k, (first, second, third) in enumerate([usual, usual, *others]):
        order = [first, second, *(("alpha_of_gamma", third) if k % 3 else (third, "alpha_of_gamma"))]
        phi = ("sigmoid", "hinge")[k % 2]  # one that is not calibrated, and one that is
        page.select_option("#phi", phi)
        held.wait(*QUESTIONS)
        for name in order:
            held.answer(name)
        expect(page.locator("#said-bound")).to_contain_text("surrogate regret", ignore_case=True)
        found = seen(page)
        assert both.setdefault(phi, found) == found, order
    held.end()
    assert both["sigmoid"] != both["hinge"]


def test_an_answer_that_does_not_come_is_given_up(visit: Visit) -> None:
    page = visit.page
    sentence(page, "Calibrated")
    held = Held(page, "curves")
    page.select_option("#phi", "hinge")
    held.wait("curves")
    page.select_option("#phi", "perceptron")  # perhaps at once, before anyone is impatient
    held.wait("curves", count=2)
    held.end()
    sentence(page, "Not calibrated")
    expect(page.locator("#formula")).to_contain_text("φ(t)=(−t)+")


def test_a_mistake_stays_when_an_older_picture_comes(visit: Visit) -> None:
    page = visit.page
    page.select_option("#kind", "own")
    sentence(page, "Calibrated")
    held = Held(page, "curves")
    page.fill("#text", "softplus(-t) + relu(-t)")
    held.wait("curves")
    page.fill("#text", "softplus(-t) + fo(t)")
    expect(page.locator("#sentence")).to_have_text(MISTAKE)  # the formula alone says so
    held.answer("curves")
    held.wait("curves")  # so the page has dealt with the answer before
    assert page.inner_text("#sentence") == MISTAKE
    assert page.inner_text("#problem-text")
    held.end()
    sentence(page, MISTAKE)
    page.fill("#text", "softplus(-t)")
    sentence(page, "Calibrated")
    expect(page.locator("#problem-text")).to_be_empty()


def test_a_late_formula_is_not_shown(visit: Visit) -> None:
    page = visit.page
    page.select_option("#kind", "own")
    sentence(page, "Calibrated")
    held = Held(page, "formula", "curves")
    page.fill("#text", "softplus(-t) + fo(t)")
    held.wait("formula", "curves")
    page.select_option("#kind", "phi")  # whoever typed this gave it up
    held.wait("curves", count=2)
    held.answer("formula")
    held.end()
    sentence(page, "Calibrated")
    expect(page.locator("#formula math")).to_have_count(3)
    expect(page.locator("#problem-text")).to_be_empty()


def test_a_late_curve_of_another_phi_is_not_shown(visit: Visit) -> None:
    page = visit.page
    sentence(page, "Calibrated")
    held = Held(page, "alpha_of_gamma")
    page.select_option("#phi", "sigmoid")
    sentence(page, "Not calibrated")
    held.wait("alpha_of_gamma")
    page.select_option("#phi", "hinge")
    held.wait("alpha_of_gamma", count=2)
    newer = held.routes["alpha_of_gamma"].pop()
    newer.continue_()
    expect(page.locator("#said-alpha")).to_contain_text("Every convex")
    held.end()
    sentence(page, "Calibrated")
    drawn(page, "alpha")
    assert "Every convex" in page.inner_text("#said-alpha")


def test_a_remedy_is_for_the_loss_that_is_shown(visit: Visit) -> None:
    page = visit.page
    page.select_option("#phi", "sigmoid")
    sentence(page, "Not calibrated")
    held = Held(page, "verdict")
    expect(page.locator("#apply-remedy")).to_be_enabled()
    page.fill("#gamma", "3")
    expect(page.locator("#apply-remedy")).to_be_disabled()
    held.end()
    sentence(page, "Not calibrated")
    page.click("#apply-remedy")
    sentence(page, "Calibrated for your costs")


def test_a_remedy_for_two_formulas(visit: Visit) -> None:
    page = visit.page
    page.select_option("#kind", "pair")
    sentence(page, "Not calibrated")
    page.click("#apply-remedy")
    sentence(page, "Calibrated for your costs: a miss counts 20 false alarms.")
    expect(page.locator("#positive")).to_have_value("20*softplus(-t)")


def test_the_newest_table_counts(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.get_by_role("tab", name="Your data").click()
    files = []
    for name in ("first", "second"):
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text("a,b\n" + "1,x\n2,y\n" * 20, encoding="utf-8")
    held = Held(page, "table", "example")
    page.click("#example")
    held.wait("example")
    page.set_input_files("#file", files[0])
    held.wait("table")
    page.set_input_files("#file", files[1])
    held.wait("table", count=2)
    held.routes["table"].pop().continue_()
    expect(page.locator("#file-said")).to_contain_text("second.csv")
    held.end()
    expect(page.locator("#asked")).to_be_enabled()
    assert "second.csv" in page.inner_text("#file-said")


def points(path: str) -> np.ndarray:
    """The corners of a path of straight lines, with many points between."""
    corners = np.array([[float(x) for x in pair.split(",")] for pair in re.findall(r"[-\d.e]+,[-\d.e]+", path)])
    share = np.linspace(0, 1, 200)[:, None]
    between = [a + share * (b - a) for a, b in itertools.pairwise(corners)]
    return np.concatenate(between)


def test_curves_that_move_are_where_plotly_draws_them(visit: Visit) -> None:
    """While a slider moves, our own code writes the paths; for the data that Plotly has drawn they must not change."""
    page = visit.open("?phi=savage&fn=4")
    sentence(page, "Calibrated")
    expect(page.locator("#said-bound")).to_contain_text("cost regret at most")
    for name in ("partial", "risk", "h", "bound", "alpha"):
        drawn(page, name)
        before, after, size = page.evaluate(
            """async (id) => {
              const { moveCurves } = await import("/static/curves.js");
              const plot = document.getElementById(id);
              const look = () => [...plot.querySelectorAll(".trace")].map((trace) => {
                const line = trace.querySelector(".js-line"), point = trace.querySelector(".point");
                return line ? ["line", line.getAttribute("d")] : ["point", point.getAttribute("transform")];
              });
              const before = look();
              const { xaxis, yaxis, margin, width, height } = plot.layout;
              const size = [width - margin.l - margin.r, height - margin.t - margin.b];
              const axes = { x: { type: xaxis.type, range: xaxis.range }, y: { type: yaxis.type, range: yaxis.range } };
              if (!moveCurves(plot, plot.data, axes, ...size)) throw new Error("not moved");
              return [before, look(), size];
            }""",
            f"plot-{name}",
        )
        for (kind, old), (_, new) in zip(before, after, strict=True):
            if kind == "point":
                places = [np.array(re.findall(r"[-\d.]+", text), dtype=float) for text in (old, new)]
                assert np.abs(places[0] - places[1]).max() < 0.02
                continue
            ours, theirs = points(new), points(old)
            inside = ((ours >= 0) & (ours <= np.array(size))).all(axis=1)
            far = [np.hypot(*(theirs - point).T).min() for point in ours[inside][:: max(1, inside.sum() // 200)]]
            assert max(far) < 1.5, (name, max(far))
