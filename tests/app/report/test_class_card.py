"""Cards of models of several classes: of a fitted learner, and of a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.app.cli.main import main
from uneven.app.report.model_card import ModelCard

LEVELS = ["low", "middle", "high"]
COSTS = uneven.CostMatrix([[0, 1, 4, 1.5], [3, 0, 1, 1.5], [20, 5, 0, 1.5]], classes=LEVELS, actions=[*LEVELS, "refer"])


def make_rows(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n, 2)).round(4), columns=["a", "b"])
    return X, np.array(LEVELS)[np.digitize(X["a"] + 0.4 * random.normal(size=n), [-0.4, 0.7])]


@pytest.fixture(scope="module")
def fitted() -> Any:
    X, y = make_rows(150)
    return uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=COSTS).fit(X, y)


def test_a_card_says_what_the_model_says(fitted: Any) -> None:
    X, y = make_rows(150)
    card: ModelCard = fitted.card(X, decided_by="The board, 2026", unit="EUR")
    labels, counts = np.unique(y, return_counts=True)
    assert card.facts["data"]["classes"] == dict(zip(labels.tolist(), counts.tolist(), strict=True))
    assert card.facts["costs"]["matrix"][card.facts["costs"]["classes"].index("high")][0] == "20"
    ours = card.facts["study"]["costs"][0]
    assert ours["cost"] == fitted.out_of_fold_cost_.cost
    assert card.facts["guarantee"] == fitted.guarantee_.to_dict()
    bounds = fitted.costs_.regret_bound(np.array(card.facts["proved"]["log_loss_above_the_best"]))
    assert card.facts["proved"]["cost_above_the_best"] == bounds.tolist()
    said = card.summary()
    for words in ("Decided by: The board, 2026. Costs are in EUR.", "decided refer: 1.5", "There is no certificate"):
        assert words in said
    json.dumps(card.to_dict(), allow_nan=False)
    assert "<table>" in card.to_html()


def test_without_a_table_its_columns_are_not_known(fitted: Any) -> None:
    card = fitted.card()
    assert "Who decided these costs is not known." in card.summary()
    assert card.facts["data"]["missing"] is None


def test_the_card_of_a_file_has_its_comparison_and_hashes(tmp_path: Path) -> None:
    X, y = make_rows(150)
    X.assign(level=y).to_csv(tmp_path / "rows.csv", index=False)
    pd.DataFrame(COSTS.costs, index=LEVELS, columns=COSTS.actions).to_csv(tmp_path / "costs.csv")

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    given = ("--target", "level", "--costs", tmp_path / "costs.csv", "--learner", "linear", "--decided-by", "The board")
    run("fit", tmp_path / "rows.csv", *given, "-o", tmp_path / "model.skops")
    said = run("card", tmp_path / "model.skops")
    assert "Decided by: The board." in said
    assert "plain logistic regression; cost:" in said
    run("card", tmp_path / "model.skops", "-o", tmp_path / "card.json")
    run("card", tmp_path / "model.skops", "-o", tmp_path / "card.html")
    facts = json.loads((tmp_path / "card.json").read_text())
    assert facts["data"]["rows"] == 150
    assert facts["certificate"] is None
    assert set(facts["hashes"]) == {"model", "table", "rows"}
    assert facts["study"]["costs"][0]["name"] == "uneven linear"
