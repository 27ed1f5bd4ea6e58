"""Sliders of limits and prices on a table in a real browser, on a desktop and on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import SIZES, Held, Visit, drawn, fits_the_width, has_browser
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs"),
    pytest.mark.slow,
]
HOSTILE = "<img src=x onerror=1>"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 2))
    positive = x[:, 0] + 0.7 * random.normal(size=200) > 0.8
    rows = [f"{a:.3f},{b:.3f},{'bad' if p else 'good'}" for (a, b), p in zip(x, positive, strict=True)]
    path = tmp_path_factory.mktemp("tables") / "rows.csv"
    path.write_text("\n".join(["first,second,label", *rows]), encoding="utf-8")
    return path


def fit(page: Any, table: Path, unit: str) -> None:
    page.get_by_role("tab", name="Your data").click()
    with page.expect_file_chooser() as chooser:
        page.click("#file")
    with page.expect_response("**/api/table"):  # also if the same file is chosen again: it may have changed
        chooser.value.set_files(table)
    expect(page.locator("#asked")).to_be_enabled()
    expect(page.locator("#data-panels")).to_be_hidden()  # what is known about another table
    page.fill("#data-fp", "1000000000")
    page.fill("#data-fn", "5000000000")
    page.fill("#unit", unit)
    page.click("#fit")


@pytest.mark.parametrize("size", SIZES)
def test_sliders_of_limits_and_prices(browser: Any, address: str, size: str, table: Path) -> None:
    visit = Visit(browser, address, size)
    page = visit.page
    fit(page, table, "EUR")
    flags, person, shares = page.locator("#said-flags"), page.locator("#said-review"), page.locator("#shares")
    expect(flags).to_have_text(re.compile(r"^With at most \d+ flags, .* EUR; more flags would save nothing\.$"))
    expect(person).to_have_text(re.compile(r"^A review at 208,000,000 EUR pays between the probabilities "))
    expect(shares).to_have_text(re.compile(r"^cleared \d+\.\d %reviewed \d+\.\d %flagged \d+\.\d %$"))
    drawn(page, "flags")
    expect(page.locator("#flags-figure .legend")).to_have_text("costcheapest on these rows")

    slider = page.get_by_role("slider", name="At most so many flags")
    slider.press("Home")
    expect(flags).to_have_text(re.compile(r"^With at most 0 flags, 0 of \d+ positives are found"))
    expect(flags).to_contain_text(re.compile(r"one more flag is expected to save [\d,]+ EUR\.$"))
    slider.press("ArrowRight")
    expect(flags).to_have_text(re.compile(r"^With at most 1 flag, "))
    handle = page.get_by_role("slider", name="most flags", exact=True)
    expect(handle).to_have_attribute("aria-valuetext", "1")
    handle.press("End")
    expect(flags).to_contain_text("more flags would save nothing.")
    page.fill("#most-flags", "a few")
    expect(page.locator("#problem-most-flags")).to_contain_text("A limit is a whole number of rows, got 'a few'.")
    page.fill("#most-flags", "")
    expect(flags).to_have_text(re.compile("^Without a limit, "))
    expect(page.locator("#problem-most-flags")).to_be_empty()

    price = page.get_by_role("slider", name="Price of a review")
    price.press("Home")
    expect(person).to_have_text(re.compile("^A review at 0 EUR pays at every probability: 1,000 rows cost 0 EUR, "))
    expect(shares).to_have_text("cleared 0.0 %reviewed 100.0 %flagged 0.0 %")
    price.press("End")
    expect(person).to_have_text("A review at 1,000,000,000 EUR never pays; it would below 833,333,333 EUR.")
    expect(shares).to_contain_text("reviewed 0.0 %")
    page.fill("#price", "2e8")
    expect(price).to_have_value("24")
    expect(person).to_have_text(re.compile("^A review at 200,000,000 EUR pays between"))
    page.get_by_role("slider", name="At most so many reviews").press("Home")
    expect(person).to_contain_text(
        re.compile(r"with at most 0 reviews, .*; one more review is expected to save [\d,]+ EUR")
    )
    page.fill("#most-reviews", "3")
    expect(shares).to_contain_text("reviewed 1.5 %")
    page.fill("#person-misses", "100")
    expect(person).to_have_text("A review at 200,000,000 EUR never pays; with so many errors not even if it were free.")
    page.fill("#person-misses", "101")
    expect(page.locator("#problem-person-misses")).to_contain_text("must lie between 0 and 100 %")
    expect(shares).to_be_hidden()
    fits_the_width(page)
    visit.close()


def test_a_late_answer_about_a_limit_is_not_shown(visit: Visit, table: Path) -> None:
    page = visit.page
    fit(page, table, HOSTILE[:20])
    flags = page.locator("#said-flags")
    expect(flags).to_contain_text(f"{HOSTILE[:20]}; more flags")
    held = Held(page, "flag_limit")
    page.fill("#most-flags", "7")
    held.wait("flag_limit")
    page.fill("#most-flags", "8")
    held.wait("flag_limit", count=2)  # the first was given up
    held.routes["flag_limit"].pop().continue_()
    expect(flags).to_have_text(re.compile("^With at most 8 flags, "))
    held.answer("flag_limit")
    page.fill("#most-flags", "9")
    held.wait("flag_limit")  # so the page has dealt with the answer before
    assert page.inner_text("#said-flags").startswith("With at most 8 flags, ")

    fits = Held(page, "fit")
    page.click("#fit")  # another fit: what was asked about the one before is no news
    fits.wait("fit")
    held.end()
    expect(page.locator("#flags-figure")).to_be_hidden()
    fits.end()
    expect(flags).to_have_text(re.compile("^With at most 9 flags, "))  # the user's own limit stays
    fit(page, table, "")  # the table is read again: nothing is left of it
    expect(flags).to_have_text(
        re.compile(r"^With at most \d\d flags, .* 1,000 rows cost [\d,]+; more flags would save nothing\.$")
    )
    expect(page.locator("main img")).to_have_count(0)
