"""Coded checks: each finds what it is for, in programs and estimators, and nothing in usual programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import skops.io
from click.testing import CliRunner, Result
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import uneven
from uneven.app.checks.coded_checks import CHECKS
from uneven.app.cli.main import main
from uneven.errors import UnevenError
from uneven.zoo import parameters_for

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import xgboost as xgb
import lightgbm as lgb
from imblearn.over_sampling import SMOTE
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline, make_pipeline
from uneven import undo_resampling
"""
LR = "clf = LogisticRegression({}).fit(X, y)\n"
P = "p = clf.predict_proba(X)[:, 1]\n"

#: Programs with costs of 1:20, the codes that they must give with costs, and without.
PROGRAMS = {
    "plain": (LR.format("") + "clf.predict(X)", "UNV001", ""),
    "in a pipeline": ("m = make_pipeline(S(), LogisticRegression())\nm.fit(X, y)\nm.predict(X)", "UNV001", ""),
    "named steps": ("m = Pipeline([('s', S()), ('c', RandomForestClassifier())])\nm.predict(X)", "UNV001", ""),
    "cut at half": (LR.format("") + P + "flag = p >= 0.5", "UNV001", ""),
    "right cut": (LR.format("") + P + "flag = p > 1 / 21", "", ""),
    "right cut by names": (
        "FP, FN = 1, 20\nfp = 1\nfn = 20\n" + LR.format("") + P + "flag = p > fp / (fp + fn)",
        "",
        "",
    ),
    "right weight": (LR.format("class_weight={0: 1, 1: 20}") + "clf.predict(X)", "", ""),
    "twice": (LR.format("class_weight={0: 1, 1: 20}") + P + "flag = p > 1 / 21", "UNV002", "UNV002"),
    "twice by wrapper": (
        "m = FixedThresholdClassifier(xgb.XGBClassifier(scale_pos_weight=20), threshold=0.05)",
        "UNV002",
        "UNV002",
    ),
    "both halves": (LR.format("class_weight={0: 1, 1: 4}") + P + "flag = p > 1 / 6", "", "UNV002"),
    "smoothing": (
        "loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]), label_smoothing=0.1)",
        "UNV003",
        "UNV003",
    ),
    "smoothing of a function": ("F.cross_entropy(z, y, weight=[1, 30], label_smoothing=0.1)", "UNV003", "UNV003"),
    "other weight": (LR.format("class_weight={0: 1, 1: 5}") + "clf.predict(X)", "UNV004", ""),
    "other cut": (LR.format("") + P + "flag = 0.3 < p", "UNV004", ""),
    "loss of other costs": ("loss = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([3.0]))", "UNV004", ""),
    "balanced": (LR.format("class_weight='balanced'") + "clf.predict(X)", "UNV005", ""),
    "train": (
        "m = lgb.train({'objective': 'binary', 'is_unbalance': True}, d)\nm.predict(X)",
        "UNV005",
        "",
    ),
    "score of probabilities": (
        LR.format("class_weight={0: 1, 1: 20}") + P + "brier_score_loss(y, p)",
        "UNV006",
        "UNV006",
    ),
    "expected money": (LR.format("class_weight='balanced'") + P + "money = p * amount", "UNV006", "UNV006"),
    "ranking": (LR.format("class_weight='balanced'") + P + "roc_auc_score(y, p)", "", ""),
    "search": ("s = GridSearchCV(LogisticRegression(), {'C': [1, 2]})", "UNV007", ""),
    "search by F1": ("s = GridSearchCV(model, {}, scoring='f1')", "UNV007", ""),
    "search by cost": ("s = GridSearchCV(LogisticRegression(), {}, scoring=cost)", "", ""),
    "tuned": (
        "s = TunedThresholdClassifierCV(LogisticRegression(class_weight='balanced'), scoring=cost).predict(X)",
        "",
        "",
    ),
    "tuned by its default": ("s = TunedThresholdClassifierCV(LogisticRegression())", "UNV007", ""),
    "resampled": (
        "A, b = SMOTE().fit_resample(X, y)\n" + LR.format("") + P + "flag = p > 0.3",
        "UNV004 UNV008",
        "UNV008",
    ),
    "resampled and undone": (
        "A, b = SMOTE().fit_resample(X, y)\n" + LR.format("") + "q = undo_resampling(clf.predict_proba(X)[:, 1])",
        "",
        "",
    ),
    "calibrated again": (
        "c = CalibratedClassifierCV(LogisticRegression(class_weight={0: 1, 1: 20})).fit(X, y)\n"
        "flag = c.predict_proba(X)[:, 1] > 1 / 21",
        "",
        "",
    ),
    "perceptron": ("clf = Perceptron()\nclf.predict(X)", "UNV009", ""),
    "ignored": ("xgb.XGBClassifier(objective='binary:hinge', scale_pos_weight=9)", "UNV010", "UNV010"),
    "computed": (
        "w = (y == 0).sum() / (y == 1).sum()\nm = xgb.XGBClassifier(scale_pos_weight=w).fit(X, y)\nm.predict(X)",
        "",
        "",
    ),
    "splat": ("m = xgb.XGBClassifier(**settings).fit(X, y)\nm.predict(X)", "", ""),
    "own class of that name": ("class LogisticRegression:\n    pass\nclf = Mine()\nclf.predict(X)", "", ""),
    "off": (LR.format("") + "clf.predict(X)  # noqa: UNV001", "", ""),
    "all off": (LR.format("") + "clf.predict(X)  # noqa", "", ""),
    "another off": (LR.format("") + "clf.predict(X)  # noqa: UNV002", "UNV001", ""),
}


def _codes(found: list[uneven.Finding]) -> str:
    return " ".join(sorted({one.code for one in found}))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path: Path, name: str) -> None:
    text, with_costs, without = PROGRAMS[name]
    file = tmp_path / "p.py"
    file.write_text(HEAD + text)
    assert _codes(uneven.lint(file, fp_cost=1, fn_cost=20)) == with_costs
    assert _codes(uneven.lint(str(file))) == without


def test_every_check_has_a_program_and_a_section() -> None:
    shown = {code for _, with_costs, _ in PROGRAMS.values() for code in with_costs.split()}
    assert shown == set(CHECKS)
    page = (Path(__file__).parents[3] / "docs" / "lint.md").read_text()
    assert re.findall(r"^## (UNV\d+)", page, flags=re.M) == list(CHECKS)


def test_usual_programs_are_left_alone() -> None:
    """Our own examples do what they should, and say nothing wrong without costs."""
    folder = Path(__file__).parents[3] / "examples"
    wrong = {"UNV002", "UNV003", "UNV010"}
    files = sorted(folder.glob("*.py"))
    assert files
    for file in files:
        assert not {one.code for one in uneven.lint(file)} & wrong, file


USUAL = """
from sklearn.datasets import make_classification, load_iris
from sklearn.svm import SVC
from sklearn.metrics import classification_report, RocCurveDisplay
from sklearn.model_selection import train_test_split, cross_val_score
X, y = make_classification(weights=[0.9])
pipe = make_pipeline(S(), SVC(C=2, class_weight="balanced"))
pipe.fit(X, y)
print(classification_report(y, pipe.predict(X)))
search = GridSearchCV(pipe, {"svc__C": [1, 10]}, scoring="f1")
search.fit(X, y).predict(X)
clf = RandomForestClassifier(class_weight="balanced_subsample").fit(X, y)
RocCurveDisplay.from_predictions(y, clf.predict_proba(X)[:, 1])
print(cross_val_score(clf, X, y, scoring="accuracy"))
Perceptron().fit(X, y).predict(X)
loss = nn.CrossEntropyLoss(label_smoothing=0.1)
many = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]), label_smoothing=0.1)
odd = LogisticRegression(class_weight={"no": 1, "yes": 10}).fit(X, y)
flag = odd.predict_proba(X)[:, 1] > 0.2
"""


def test_examples_like_those_of_scikit_learn_say_nothing(tmp_path: Path) -> None:
    file = tmp_path / "usual.py"
    file.write_text(HEAD + USUAL)
    assert uneven.lint(file) == []


def test_estimators() -> None:
    costs = {"fp_cost": 1, "fn_cost": 20}
    right = LogisticRegression(class_weight={0: 1, 1: 20})
    assert uneven.lint(right, **costs) == []
    assert uneven.lint(LinearSVC(class_weight={0: 1, 1: 20}), **costs) == []
    assert _codes(uneven.lint(make_pipeline(StandardScaler(), LogisticRegression()), **costs)) == "UNV001"
    assert _codes(uneven.lint(FixedThresholdClassifier(right, threshold=1 / 21), **costs)) == "UNV002"
    assert _codes(uneven.lint(FixedThresholdClassifier(LogisticRegression(), threshold=1 / 21), **costs)) == ""
    assert _codes(uneven.lint(LinearSVC(class_weight={-1: 1, 1: 5}), **costs)) == "UNV004"
    assert _codes(uneven.lint(LogisticRegression(class_weight="balanced"), **costs)) == "UNV005"
    assert _codes(uneven.lint(GridSearchCV(right, {}), **costs)) == "UNV007"
    assert _codes(uneven.lint(TunedThresholdClassifierCV(LogisticRegression()), **costs)) == "UNV007"
    assert _codes(uneven.lint(Perceptron(), **costs)) == "UNV009"
    assert uneven.lint(uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=20), **costs) == []
    assert uneven.lint(LogisticRegression()) == []


@pytest.mark.parametrize("ratio", [2, 7, 30])
def test_the_remedy_is_found_right(tmp_path: Path, ratio: int) -> None:
    """What the zoo prescribes gives no finding, and any weight far from it does."""
    found = parameters_for("xgboost.XGBClassifier", fp_cost=1, fn_cost=ratio).parameters
    assert found is not None
    file = tmp_path / "p.py"
    for weight, clean in ((found["scale_pos_weight"], True), (ratio * 2, False), (ratio / 2, False)):
        file.write_text(
            f"import xgboost\nxgboost.XGBClassifier(scale_pos_weight={float(weight)}).fit(X, y).predict(X)\n"
        )
        assert (uneven.lint(file, fp_cost=1, fn_cost=ratio) == []) == clean


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["lint", *map(str, arguments)])


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "a,b.py"
    file.write_text("from sklearn.linear_model import LogisticRegression as L\nm = L()\nm.predict(X)\n")
    clean = _run(file)
    said = "Without --fp-cost and --fn-cost, thresholds and weights are not compared with your costs.\n"
    assert (clean.exit_code, clean.output) == (0, f"Nothing was found.\n{said}")
    costs = ["--fp-cost", 1, "--fn-cost", 20]
    done = _run(file, *costs)
    assert done.exit_code == 1
    assert said not in done.output
    assert f"{file}:3:1: UNV001 LogisticRegression decides at 0.5 although costs are 1:20" in done.output
    read = json.loads(_run(tmp_path, *costs, "--format", "json").output)
    assert [(one["code"], one["line"], one["file"]) for one in read] == [("UNV001", 3, str(file))]
    shown = _run(file, *costs, "--format", "github").output
    assert shown.startswith("::warning file=")
    assert "a%2Cb.py,line=3,col=1,title=UNV001::" in shown
    assert len(shown.splitlines()) == 1
    skops.io.dump(LogisticRegression(), tmp_path / "m.skops")
    assert _run(tmp_path / "m.skops", *costs).exit_code == 1
    assert _run(tmp_path / "m.skops").exit_code == 0


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def (:\n")
    damaged = tmp_path / "m.skops"
    damaged.write_bytes(b"PK\x03\x04")
    deep = tmp_path / "deep.py"
    deep.write_text("x = " + "(" * 5000 + ")" * 5000)
    for given, words in (
        ([bad], "line 1: this is not Python"),
        ([deep], "not Python that can be read"),
        ([damaged], "m.skops"),
        ([tmp_path / "t.txt"], "ends in .py or .skops"),
        ([tmp_path / "none.py"], "No such file"),
        ([bad, "--fp-cost", 1], "belong together"),
        ([bad, "--fp-cost", 1, "--fn-cost", -1], "fn_cost"),
    ):
        done = _run(*given)
        assert done.exit_code == 2, done.output
        assert words in done.output
        assert len(done.output.strip().splitlines()) == 1
    with pytest.raises(UnevenError, match="lint takes an estimator"):
        uneven.lint(3)


def test_nothing_of_a_program_is_run(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(f"open({str(tmp_path / 'made')!r}, 'w')\nimport not_there\nraise SystemExit\n")
    assert uneven.lint(file) == []
    assert not (tmp_path / "made").exists()
