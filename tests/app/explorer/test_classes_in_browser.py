"""Several classes on the page: the table of costs, the fit, other costs at once, a limit, files, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Visit, fits_the_width, has_browser, running_explorer
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs"),
    pytest.mark.slow,
]
NAMES = ["1 harmless", "2 infection", "<b>3 stroke</b>"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    truth = random.choice(3, 120, p=[0.5, 0.3, 0.2])
    x = random.normal(size=(120, 2)) + 1.5 * np.eye(3, 2)[truth]
    path = tmp_path_factory.mktemp("tables") / "triage.csv"
    lines = [f"{a:.3f},{b:.3f},{NAMES[k]}" for (a, b), k in zip(x, truth, strict=True)]
    path.write_text("\n".join(["first,second,level", *lines]), encoding="utf-8")
    return path


def dear(page: Any, action: str, true: str) -> Any:
    return page.get_by_label(f"cost of {action} where {true} is true", exact=True)


@pytest.fixture(scope="module")
def visit(browser: Any, table: Path) -> Iterator[Visit]:
    costs = table.with_name("known.csv")
    lines = ["true," + ",".join(NAMES), f"{NAMES[0]},0,1,1/3", f"{NAMES[1]},2,0,1", f"{NAMES[2]},7.5,3,0"]
    costs.write_text("\n".join(lines), encoding="utf-8")
    asked = (str(table), "--target", "level", "--costs", str(costs), "--unit", "EUR")
    with running_explorer(*asked) as (_, address):
        made = Visit(browser, address.partition("?")[0], "phone", color_scheme="dark")
        made.page = made.open("?tab=data")
        yield made
        made.close()


@pytest.fixture(scope="module")
def fitted(visit: Visit) -> Any:
    """The page after the fit at the costs of the command, which begins at once."""
    page = visit.page
    words = r"^Each row gets the decision that is expected to cost least: \S+ EUR per 1,000 rows"
    expect(page.locator("#result-sentence")).to_have_text(re.compile(words))
    return page


def test_the_table_of_costs(fitted: Any) -> None:
    harmless, infection, stroke = NAMES
    expect(fitted.locator("#positive-value")).to_have_value("")
    expect(fitted.locator("#data-two-costs")).to_be_hidden()
    expect(dear(fitted, harmless, stroke)).to_have_value("7.5")
    expect(dear(fitted, stroke, harmless)).to_have_value("1/3")
    fitted.get_by_label(f"move {infection} up").click()
    expect(dear(fitted, harmless, stroke)).to_have_value("7.5")
    fitted.click("#fill-distance")
    expect(dear(fitted, harmless, stroke)).to_have_value("1")
    expect(dear(fitted, infection, stroke)).to_have_value("2")
    fitted.select_option("#dear-class", stroke)
    expect(dear(fitted, harmless, stroke)).to_have_value("10")
    fitted.fill("#new-action", "refer")
    fitted.press("#new-action", "Enter")
    expect(dear(fitted, "refer", stroke)).to_have_value("0.5")
    fitted.fill("#new-action", "refer")
    fitted.click("#add-action")
    expect(fitted.locator("#problem-costs")).to_have_text("There is a decision refer already.")


def test_what_is_shown(fitted: Any) -> None:
    for hidden in ("#threshold-figure", "#flags-figure", "#review-figure", "#path-figure"):
        expect(fitted.locator(hidden)).to_be_hidden()
    expect(fitted.locator("#confusion tbody tr")).to_have_count(4)
    expect(fitted.locator("#confusion tbody tr").last).to_contain_text("120")
    expect(fitted.locator("#triangle polygon").first).to_be_visible()
    expect(fitted.locator("main b", has_text="3 stroke")).to_have_count(0)
    fits_the_width(fitted)


def test_other_costs_and_limits_at_once(fitted: Any) -> None:
    verdict, stroke = fitted.locator("#result-sentence"), NAMES[2]
    first = verdict.inner_text()
    for true in NAMES:
        dear(fitted, "refer", true).fill("0.01")
    expect(verdict).not_to_have_text(first)
    fitted.select_option("#limited-action", "refer")
    fitted.fill("#most-rows", "5")
    expect(fitted.locator("#said-limit")).to_contain_text("At most 5 refer: this is expected to cost")
    dear(fitted, "refer", stroke).fill("much")
    expect(fitted.locator("#problem-costs")).to_contain_text("The cost of 'refer' where")
    dear(fitted, "refer", stroke).fill("0.02")
    expect(fitted.locator("#problem-costs")).to_be_hidden()


def test_costs_from_a_file_and_decisions_to_take_away(fitted: Any, tmp_path: Path) -> None:
    costs, out = tmp_path / "costs.csv", tmp_path / "out.csv"
    lines = ["true;home;ward", f"{NAMES[0]};0;5", f"{NAMES[1]};30;1,5", f"{NAMES[2]};1000;200"]
    costs.write_text("\n".join(lines), encoding="utf-8")
    fitted.set_input_files("#costs-file", costs)
    expect(dear(fitted, "ward", NAMES[1])).to_have_value("1.5")
    expect(fitted.locator("#result-sentence")).not_to_contain_text("likeliest class")  # no decision is a class
    expect(fitted.locator("#most-rows")).to_have_value("")  # the limit was on a decision that is gone
    with fitted.expect_download() as download:
        fitted.click("#save-decisions")
    download.value.save_as(out)
    first, *rows = out.read_text(encoding="utf-8").splitlines()
    assert first.startswith("decision,expected_cost,cost_if_home,cost_if_ward,")
    assert {row.partition(",")[0] for row in rows} <= {"home", "ward"}


def test_one_value_against_the_others_is_still_there(fitted: Any) -> None:
    fitted.select_option("#positive-value", NAMES[2])
    expect(fitted.locator("#costs-figure")).to_be_hidden()
    expect(fitted.locator("#data-two-costs")).to_be_visible()
    expect(fitted.locator("#negatives")).to_have_text("All 2 other values count as negative.")
