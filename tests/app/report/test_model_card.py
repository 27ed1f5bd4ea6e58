"""Cards: of every learner and of every model file, with a certificate that can be checked from the page alone."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from make_model_file import MODEL, TABLE
from public_estimators import ESTIMATORS, FRAUD, make, of_dask, rows

import uneven
from uneven.app.cli.main import main
from uneven.app.report.card_sections import NOT_KNOWN
from uneven.app.report.model_card import certificate_in
from uneven.errors import CertificateError, UnevenError

TITLES = [
    "The model",
    "What mistakes cost, and who decided it",
    "What it costs on rows that it has not seen",
    "What is guaranteed for new rows",
    "The certificate",
    "What it cannot do",
    "Versions and hashes",
]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def written(html: str) -> str:
    """The words of a page, as a reader sees them."""
    return re.sub(r"\s+", " ", re.sub(r"<script.*?</script>|<[^>]+>", " ", html, flags=re.DOTALL))


def whole(card: Any) -> None:
    """What holds of every card."""
    facts = json.loads(json.dumps(card.to_dict(), allow_nan=False))
    html = card.to_html()
    for title in TITLES:
        assert f"<h2>{title}</h2>" in html
        assert title in card.summary()
    assert "nan" not in card.summary().lower().split()
    assert re.search(r"(src|href)=[\"']?(http|//)", html) is None  # it loads nothing from elsewhere
    assert "<h1>" in card._repr_html_()
    assert "<style>" not in card._repr_html_()
    if card.certificate is None:
        assert facts["certificate"] is None
        assert "There is no certificate: " in card.summary()
        with pytest.raises(CertificateError, match="this page holds 0"):
            certificate_in(html)
    else:
        assert uneven.verify(certificate_in(html))
        assert json.loads(certificate_in(html)) == facts["certificate"]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [one for one in ESTIMATORS if not of_dask(one)], ids=lambda one: one.__name__)
def test_every_learner_has_a_card(estimator: Any) -> None:
    X, y, amount = rows()
    model = make(estimator, fp_cost=2, fn_cost=16, pos_label=FRAUD).fit(X, y)
    card = model.card(X, decided_by="Committee <A>", unit="EUR")
    whole(card)
    assert card.certificate is not None
    assert uneven.verify(card.certificate).claim.alpha == uneven.Cost(fp_cost=2, fn_cost=16).exact_alpha
    facts = card.facts
    assert (facts["costs"]["fp_cost"], facts["costs"]["fn_cost"]) == (2, 16)
    counts = (len(y), int((np.asarray(y) == FRAUD).sum())) if hasattr(model, "constant_costs_") else (None, None)
    assert (facts["data"]["rows"], facts["data"]["positives"]) == counts
    assert "Committee &lt;A&gt;" in card.to_html()
    assert hasattr(model, "out_of_fold_cost_") == (facts["study"] is not None)
    assert hasattr(model, "guarantee_") <= ("confidence" in (facts["guarantee"] or {}))
    if estimator is not uneven.UnevenCascadeClassifier:  # it takes numbers only
        whole(make(estimator, fp_cost=2, pos_label=FRAUD).fit(X, y, fn_cost=amount).card())


def test_the_table_of_a_card() -> None:
    X = pd.DataFrame({"amount": [1.0, 2.0, np.nan, 4.0] * 5, "other": [1.0, 0.0] * 10})
    y = [0, 1, 0, 1] * 5
    model = uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=3).fit(X.fillna(0), y)
    card = model.card(X)
    assert card.facts["data"]["missing"] == {"amount": 5, "other": 0}
    assert card.facts["data"]["columns"] == ["amount", "other"]
    assert f"Who decided these costs is {NOT_KNOWN}." in card.summary()
    assert model.card(X).facts["hashes"]["rows"] == card.facts["hashes"]["rows"]
    assert model.card(X[::-1]).facts["hashes"]["rows"] != card.facts["hashes"]["rows"]
    moved = model.with_costs(fn_cost=30).card()
    assert "It decides at fp_cost=1, fn_cost=30" in moved.summary()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cards")
    random = np.random.default_rng(3)
    n = 300
    amount = random.integers(1, 900, n).astype(float)
    fraud = random.random(n) < amount / 1000
    frame = pd.DataFrame({"id": range(1000, 1000 + n), "amount": amount, "fraud": np.where(fraud, "yes", "no")})
    frame["</script><b>"] = np.where(fraud, 5.0 + random.random(n), random.random(n))  # knows the target
    frame["country"] = random.choice(["AT", "US", None], n)
    frame.loc[:6, "amount"] = np.nan
    frame.loc[7:9, "fraud"] = None
    frame.to_csv(place / "train.csv", index=False)
    return place


def fit(folder: Path, *more: object) -> Path:
    path = folder / "model.skops"
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 20, "--id", "id"]
    result = run("fit", folder / "train.csv", *asked, *more, "-o", path)
    assert result.exit_code == 0, result.output
    return path


def card_of(model: Path, *more: object) -> tuple[dict[str, Any], str]:
    page, data = model.with_suffix(".html"), model.with_suffix(".json")
    for path in (page, data):
        result = run("card", model, *more, "-o", path)
        assert result.exit_code == 0, result.output
    return json.loads(data.read_text(encoding="utf-8")), page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_card_of_a_file(folder: Path) -> None:
    who = "Risk committee, 2026-03-01"
    model = fit(folder, "--fn-cost", 60, "--unit", "EUR", "--learner", "linear", "--decided-by", who, "--save-anyway")
    facts, page = card_of(model)
    assert facts["decided_by"] == who
    assert facts["hashes"]["model"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert facts["hashes"]["table"] == hashlib.sha256((folder / "train.csv").read_bytes()).hexdigest()
    assert facts["data"]["missing"]["amount"] == 7
    assert (facts["data"]["rows"], facts["data"]["unlabelled"]) == (297, 3)
    assert list(facts["leaks"]) == ["</script><b>"]
    assert facts["versions"]["made"]["uneven"] == uneven.__version__
    assert {row["name"] for row in facts["study"]["costs"]} >= {"uneven linear", "flag everyone", "flag no one"}
    words = written(page)
    assert f"Decided by: {who}." in words
    assert "</script><b>" not in page  # a name of a column is no HTML
    assert words.count("alone predicts the target") == 1
    assert re.search(r"fitted on \d{4}-\d\d-\d\d", words)
    assert uneven.verify(certificate_in(page)).claim.alpha == uneven.Cost(fp_cost=20, fn_cost=60).exact_alpha
    checked = run("verify", model.with_suffix(".html"))
    assert checked.exit_code == 0
    assert checked.output.startswith("valid: The loss is calibrated for alpha = 0.25 ")
    forged = folder / "forged.html"
    document = json.loads(certificate_in(page))
    document["claim"]["alpha"] = "1/5"
    forged.write_text(page.replace(certificate_in(page), json.dumps(document)), encoding="utf-8")
    assert run("verify", forged).exit_code == 1
    forged.write_text(page.replace("uneven-certificate", "another"), encoding="utf-8")
    assert run("verify", forged).exit_code == 2
    other = run("card", model, "--decided-by", "somebody else", "-o", folder / "other.html")
    assert other.exit_code == 2
    assert "says who decided the costs: Risk committee" in other.stderr
    assert not (folder / "other.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ["--fn-cost", "amount + 50", "--drop", "amount", "--members", "linear"],
        ["--fn-cost", 60, "--learner", "svc"],
        ["--fn-cost", 60, "--learner", "linear", "--tune", "--action", "call=30:5"],
    ],
)
def test_cards_of_other_files(folder: Path, more: list[object]) -> None:
    frame = pd.read_csv(folder / "train.csv").drop(columns="</script><b>")
    if "amount + 50" in more:
        frame = frame.dropna(subset="amount")
    place = folder / "others"
    place.mkdir(exist_ok=True)
    frame.to_csv(place / "train.csv", index=False)
    facts, page = card_of(fit(place, *more, "--quick"))
    assert uneven.verify(certificate_in(page))
    if "--members" in more:  # an ensemble has folds of its own
        assert facts["study"]["how"].startswith("out of fold")
    else:
        assert facts["study"] is None
    assert ("it was fitted without a comparison" in written(page)) == (facts["study"] is None)
    assert facts["decided_by"] is None


def test_a_file_of_before_says_what_is_not_known(tmp_path: Path) -> None:
    result = run("card", MODEL)
    assert result.exit_code == 0, result.output
    for sentence in (
        "fitted at a time that is not known",
        "How many values were missing is not known",
        "Who decided these costs is not known.",
        "Whether a column tells the label by accident (a leak) is not known.",
        "SHA-256 of the training table (the file): not known",
    ):
        assert sentence in result.output
    told = run("card", MODEL, "--decided-by", "the board", "-o", tmp_path / "card.txt")
    assert told.exit_code == 0
    assert "Decided by: the board." in (tmp_path / "card.txt").read_text(encoding="utf-8")


def test_what_is_no_card(tmp_path: Path) -> None:
    for arguments, sentence in (
        ([MODEL, "-o", tmp_path / "card.pdf"], "ends in .html, .json or .txt"),
        ([TABLE, "-o", tmp_path / "card.html"], "is not a model written by `uneven fit`"),
        ([MODEL, "-o", tmp_path / "nowhere" / "card.html"], "there is no folder"),
    ):
        result = run("card", *arguments)
        assert result.exit_code == 2
        assert sentence in result.stderr
    assert not list(tmp_path.iterdir())
    with pytest.raises(UnevenError, match="this page holds 2"):
        certificate_in('<script type="application/json" id="uneven-certificate">1</script>' * 2)
