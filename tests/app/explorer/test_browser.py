"""The page in a real browser: the whole walk on a desktop and on a phone, hostile input, the back button, two tabs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import openpyxl
import pytest
from browsing import PATIENCE, SIZES, Held, Visit, drawn, fits_the_width, has_browser, running_explorer, sentence
from playwright.sync_api import expect

import uneven

pytestmark = [
    pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs"),
    pytest.mark.slow,
]
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table, whose names and values are hostile."""
    random = np.random.default_rng(0)
    x = random.normal(size=(160, 2))
    positive = x[:, 0] + 0.7 * random.normal(size=160) > 0.8
    rows = [f"{a:.3f},{b:.3f},{'<b>bad</b>' if p else 'good'}" for (a, b), p in zip(x, positive, strict=True)]
    path = tmp_path_factory.mktemp("tables") / "rows.csv"
    path.write_text("\n".join([f'first,"{HOSTILE}",label', *rows]), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", SIZES)
def test_the_walk_through_losses(browser: Any, address: str, size: str) -> None:
    visit = Visit(browser, address, size)
    page = visit.page
    sentence(page, "Calibrated for your costs: a miss counts 20 false alarms.")
    expect(page.locator("#reason")).to_contain_text("corollary 2")
    expect(page.locator("#implied")).to_have_text("This loss treats a false negative as 20 times a false positive.")
    for name in ("partial", "risk", "h", "psi", "bound", "alpha"):
        drawn(page, name)
    expect(page.locator("#said-bound")).to_contain_text("cost regret at most")

    page.select_option("#phi", "sigmoid")
    sentence(page, "Not calibrated: at P = ")
    page.click("#apply-remedy")
    sentence(page, "Calibrated for your costs")
    page.wait_for_url("**beta=**")

    gamma = page.input_value("#gamma")
    page.focus("#gamma-slider")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#gamma")).not_to_have_value(gamma)
    page.check("#keep-beta")
    sentence(page, "Not calibrated")

    page.check("#costs-alpha")
    page.fill("#alpha", "0.5")
    page.uncheck("#weighted")
    page.fill("#gamma", "1")
    sentence(page, "Calibrated for your costs: both mistakes count the same.")

    visit.close()


@pytest.mark.parametrize("size", SIZES)
def test_a_formula_of_ones_own(browser: Any, address: str, size: str, tmp_path: Path) -> None:
    visit = Visit(browser, address, size)
    page = visit.page
    page.select_option("#kind", "own")
    page.fill("#text", "softplus(-t) + fo(t)")
    sentence(page, "There is a mistake in the formula.")
    expect(page.locator("#problem-text mark")).to_have_text("f")
    expect(page.locator("#problem-text")).to_contain_text("column 16")
    page.fill("#text", "softplus(-t) + relu(-t)**2/2")
    sentence(page, "Calibrated for your costs")
    expect(page.locator("#problem-text")).to_be_empty()
    expect(page.locator("#formula math")).to_have_count(3)

    # Nothing moves any more once the last answers are there.
    expect(page.locator("#said-bound")).to_contain_text("cost regret at most")
    for name in ("alpha", "psi", "risk", "h"):
        drawn(page, name)
    before, said = page.input_value("#eta-slider"), page.inner_text("#said-risk")
    handle = page.get_by_role("slider", name="eta, the probability")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 40, steps=5)
    page.mouse.up()
    expect(page.locator("#eta-slider")).not_to_have_value(before)
    expect(page.locator("#said-risk")).not_to_have_text(said)
    dragged = page.input_value("#eta-slider")
    handle.press("ArrowLeft")
    expect(page.locator("#eta-slider")).to_have_value(str(int(dragged) - 1))

    with page.expect_download() as download:
        page.click("#certify")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert uneven.verify(file.read_text())
    expect(page.locator("#certificate-said")).to_contain_text("Checked again")
    fits_the_width(page)
    visit.close()


@pytest.mark.parametrize("size", SIZES)
def test_the_walk_through_data(browser: Any, address: str, size: str, table: Path) -> None:
    visit = Visit(browser, address, size)
    page = visit.page
    page.get_by_role("tab", name="Your data").click()
    page.set_input_files("#file", table)
    expect(page.locator("#file-said")).to_contain_text("160 rows, 3 columns")
    expect(page.locator("#target")).to_have_value("label")
    expect(page.locator("#positive-value")).to_have_value("<b>bad</b>")
    page.fill("#data-fn", "5")
    held = Held(page, "fit")
    page.click("#fit")
    expect(page.locator("#progress")).to_be_visible()
    held.end()
    expect(page.locator("#result-sentence")).to_have_text(re.compile("^Flag a row where the probability is above"))
    for name in ("threshold", "curve", "path"):
        drawn(page, name)
    handle = page.get_by_role("slider", name="threshold")
    handle.focus()
    handle.press("Home")
    expect(page.locator("#money")).to_contain_text(re.compile(r" 0 of \d+ missed"))
    handle.press("End")
    expect(page.locator("#money")).to_contain_text(" 0 false alarms")
    about = page.locator("#about-list")
    expect(about).to_contain_text("160 rows")
    fits_the_width(page)
    expect(page.locator("main img")).to_have_count(0)
    visit.close()


@pytest.mark.parametrize("size", SIZES)
def test_a_column_that_gives_the_target_away(browser: Any, address: str, size: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(160, 2))
    positive = x[:, 0] + random.normal(size=160) > 0.5
    rows = [f"{a:.3f},{b:.3f},{3.5 if p else 0},{'yes' if p else 'no'}" for (a, b), p in zip(x, positive, strict=True)]
    file = tmp_path / "leak.csv"
    file.write_text("\n".join(["first,second,refund paid,fraud", *rows]), encoding="utf-8")
    visit = Visit(browser, address, size)
    page = visit.page
    page.get_by_role("tab", name="Your data").click()
    page.set_input_files("#file", file)
    expect(page.locator("#asked")).to_be_enabled()
    page.click("#fit")
    answer = page.locator("#result-sentence")
    expect(page.locator("#result-note")).to_contain_text(re.compile(r"Per 1,000 rows this costs .* to "))
    expect(answer).to_have_text("Too good to be true? Column 'refund paid' alone predicts the target perfectly.")
    expect(page.locator("#result")).to_have_attribute("data-status", "mistake")
    red, green, blue = (int(part) for part in re.findall(r"\d+", answer.evaluate("e => getComputedStyle(e).color"))[:3])
    assert red > 1.5 * max(green, blue)
    drawn(page, "threshold")
    fits_the_width(page)

    box = page.get_by_role("group", name="Columns that may give the target away").get_by_role("checkbox")
    expect(box).to_have_count(1)
    held = Held(page, "fit")
    box.check()
    held.wait("fit")  # computed again at once
    held.end()
    expect(answer).to_have_text(re.compile("^Flag a row where the probability is above"))
    expect(page.locator("#result-note")).to_contain_text("Left out: refund paid.")
    expect(page.locator("#leaks")).to_be_hidden()
    page.click("#columns-said summary")
    back = page.get_by_role("group", name="Columns to leave out").get_by_role("checkbox", name="refund paid")
    expect(back).to_be_checked()
    fits_the_width(page)
    back.uncheck()
    expect(answer).to_have_text(re.compile("^Too good to be true"))
    expect(page.locator("#threshold-figure")).to_be_visible()
    visit.close()


def test_a_table_of_the_command_is_fitted_at_once(browser: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    amount = np.exp(random.normal(3, 1, size=160)).round(2)
    fraud = amount * np.exp(random.normal(size=160)) > 40
    other = random.normal(size=160)
    book = openpyxl.Workbook()
    book.active.append(["amount", "other", "class"])
    for row in zip(amount.tolist(), other.tolist(), np.where(fraud, "fraud", "ok").tolist(), strict=True):
        book.active.append(row)
    file = tmp_path / "payments.xlsx"
    book.save(file)
    asked = ["--target", "class", "--positive", "fraud", "--fp-cost", "5", "--fn-cost", "100", "--unit", "EUR"]
    with running_explorer(str(file), *asked) as (_, address):
        assert address.endswith("/?tab=data")
        visit = Visit(browser, address.partition("?")[0], "phone")
        page = visit.open("?tab=data")
        expect(page.locator("#result-sentence")).to_have_text(re.compile("^Flag a row .* EUR"))
        expect(page.locator("#file-said")).to_contain_text("payments.xlsx: sheet 'Sheet'; 160 rows")
        expect(page.locator("#data-fn")).to_have_value("100")
        fits_the_width(page)
        visit.close()


def test_the_question_in_words(visit: Visit) -> None:
    page = visit.page
    sentence(page, "Calibrated for your costs: a miss counts 20 false alarms.")
    page.select_option("#case", "illness")
    worth = page.get_by_label("A missed illness costs as much as how many false alarms?")
    expect(worth).to_have_value("20")
    worth.fill("99")
    expect(page.locator("#worth-said")).to_contain_text("chance of illness is above 1 %")
    sentence(page, "Calibrated for your costs: a miss counts 99 false alarms.")
    expect(page.locator("#fn")).to_have_value("99")
    page.check("#costs-alpha")
    page.fill("#alpha", "1/5")
    expect(worth).to_have_value("4")
    worth.fill("none")
    expect(page.locator("#worth-said")).to_have_text("A number above 0, such as 20.")


def test_hostile_input(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    sentence(page, "Calibrated")
    page.select_option("#kind", "own")
    for text in (HOSTILE, "t" * 5000, "(" * 1999, "9**9**9**9**9", "__import__('os').system('true')", "\u202et\x00"):
        page.fill("#text", text)
        sentence(page, "There is a mistake in the formula.")
        expect(page.locator("#problem-text")).not_to_be_empty()
    page.goto(
        f"{visit.address}?kind=own&text={quote(HOSTILE)}&gamma={quote(HOSTILE)}&phi={quote(HOSTILE)}&eta=-5&tab=x"
    )
    sentence(page, "There is a mistake in the formula.")
    page.goto(f"{visit.address}?phi={quote(HOSTILE)}&p.{quote(HOSTILE)}=1")
    sentence(page, "One of the numbers or names cannot be used.")
    expect(page.locator("main img, main script")).to_have_count(0)
    page.get_by_role("tab", name="Your data").click()
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    page.set_input_files("#file", huge)
    expect(page.locator("#problem-file")).to_contain_text("at most 64 MB")
    page.set_input_files("#file", {"name": "page.csv", "mimeType": "text/csv", "buffer": b"<html>" + HOSTILE.encode()})
    expect(page.locator("#problem-file")).to_contain_text("web page")


def test_the_back_button_and_the_link(visit: Visit) -> None:
    page = visit.page
    sentence(page, "Calibrated")
    page.select_option("#phi", "hinge")
    page.wait_for_url("**/?phi=hinge")
    page.fill("#fn", "5")
    page.wait_for_url("**/?phi=hinge&fn=5")
    sentence(page, "Calibrated for your costs: a miss counts 5 false alarms.")
    page.get_by_role("tab", name="Your data").click()
    expect(page.locator("#data")).to_be_visible()
    page.go_back()
    expect(page.locator("#losses")).to_be_visible()
    page.go_back()
    sentence(page, "Calibrated for your costs: a miss counts 20 false alarms.")
    expect(page.locator("#phi")).to_have_value("hinge")
    page.go_back()
    expect(page.locator("#phi")).to_have_value("logistic")
    page.go_forward()
    expect(page.locator("#phi")).to_have_value("hinge")
    other = visit.open("?kind=pair&positive=10*softplus(-t)&negative=softplus(t)&costs=alpha&alpha=1/11&weighted=0")
    sentence(other, "Calibrated for your costs: a miss counts 10 false alarms.")


def test_two_tabs_do_not_disturb_each_other(visit: Visit, table: Path) -> None:
    first, second = visit.page, visit.open("?phi=hinge&tab=data")
    second.set_input_files("#file", table)
    expect(second.locator("#asked")).to_be_enabled()
    held = Held(second, "fit")  # it would end soon on a quick machine
    second.click("#fit")
    held.wait("fit")
    second.click("#cancel")
    expect(second.locator("#result-sentence")).to_have_text("Stopped.")
    held.end()
    second.click("#fit")
    first.bring_to_front()
    sentence(first, "Calibrated")
    first.select_option("#phi", "perceptron")
    sentence(first, "Not calibrated: at P = 0.5 it can decide the wrong way.")
    second.bring_to_front()
    expect(second.locator("#phi")).to_have_value("hinge")
    expect(second.locator("#threshold-figure")).to_be_visible()


def test_dark_mode_labels_and_keyboard(browser: Any, address: str) -> None:
    visit = Visit(browser, address, color_scheme="dark")
    page = visit.page
    sentence(page, "Calibrated")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", back)[:3])) < 60
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).not_to_have_css("background-color", back)
    for kind in ("phi", "own", "pair"):
        page.select_option("#kind", kind)
        named = page.locator("main").get_by_role("slider").or_(page.locator("main").get_by_role("textbox"))
        for control in (one for one in named.all() if one.is_visible()):
            assert control.evaluate("e => Boolean(e.labels?.length || e.ariaLabel)"), control
    expect(page.locator("#plot-h")).to_have_attribute("aria-label", re.compile("alpha is"))
    page.get_by_role("tab", name="Losses").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#data")).to_be_visible()
    expect(page.get_by_role("tab", name="Your data")).to_be_focused()
    visit.close()


def test_when_the_server_is_gone(browser: Any) -> None:
    with running_explorer() as (process, address):
        visit = Visit(browser, address)
        sentence(visit.page, "Calibrated")
        visit.page.wait_for_load_state("networkidle")  # what is under way would be refused
        visit.forgive("net::ERR_")  # before the first one can come: the last one may come at any time
        process.send_signal(2)
        process.wait(timeout=PATIENCE / 1000)
        visit.page.select_option("#phi", "hinge")
        expect(visit.page.locator("#sentence")).to_contain_text("does not answer")
        visit.close()
    assert process.returncode == 0


def test_an_error_that_comes_late_is_forgiven_only_if_it_was_announced(browser: Any, address: str) -> None:
    for announced in (True, False):
        visit = Visit(browser, address)
        sentence(visit.page, "Calibrated")
        if announced:
            visit.forgive("net::ERR_")
        visit.page.evaluate("console.error('Failed to load resource: net::ERR_CONNECTION_REFUSED')")
        if announced:
            visit.close()
        else:
            with pytest.raises(AssertionError, match="net::ERR_"):
                visit.close()
