"""The worked examples say what they show; these tests check it."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from places import DOCS, ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture(autouse=True)
def _pictures_in_memory() -> Any:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that an example leaves behind."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_what_it_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Knowing the costs is far cheaper than constant rules and models that ignore them; it makes more false alarms."""
    left = run("plot_what_it_saves", str(tmp_path / "costs.png"), monkeypatch=monkeypatch)
    totals = {name: sum(costs) for name, costs in left["found"].items()}
    knowing = [totals.pop("UnevenLinearClassifier"), totals.pop("logistic regression,\nthreshold for the costs")]
    assert max(knowing) < 0.5 * min(totals.values())
    assert left["found"]["UnevenLinearClassifier"][0] > left["found"]["logistic regression"][0]
    assert (tmp_path / "costs.png").stat().st_size > 5000


@pytest.mark.slow
def test_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deciding at 1/2 is dear; the correction is cheaper than cutting the forest's own probabilities."""
    left = run("plot_threshold", monkeypatch=monkeypatch)
    costs = left["new_costs"]
    assert costs["corrected"] < costs["cut at 1/16"] < 0.7 * costs["decided at 1/2"]
    assert left["calls"][3] < left["calls"][1]


def test_row_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the amount is known at the decision, using it is the cheapest."""
    left = run("plot_row_costs", monkeypatch=monkeypatch)
    costs = {
        name: left["expected_cost"](left["fraud"][left["new"]], said, **left["money"])
        for name, said in left["checked"].items()
    }
    assert costs["decide"] < 0.9 * min(costs["average costs"], costs["learn"])


def test_consistency(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corollary 1: both regrets of the calibrated loss vanish, below the bound; the other's cost regret stays."""
    calibrated, other = run("plot_consistency", monkeypatch=monkeypatch)["found"]
    for path in (calibrated, other):
        assert path.surrogate[-1] < 1e-5
        assert np.all(path.cost <= path.bound + 1e-12)
    assert calibrated.cost[-1] < 1e-5
    assert calibrated.bound[-1] < 1e-2
    assert other.cost[-1] > 0.01
    assert other.bound[-1] > other.cost[-1]


@pytest.mark.slow
def test_consistent_learners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem C: the kernel SVM goes on falling, the linear one ends at the best line for its loss."""
    left = run("plot_consistent_learners", str(tmp_path / "regrets.png"), monkeypatch=monkeypatch)
    for (name, gamma), found in left["regrets"].items():
        mean = found.mean(axis=0)
        if name == "kernel":
            assert mean[-1] < mean[-3] < mean[-5]
            assert mean[-1] < 0.2 * left["ends"][gamma]
        else:
            assert mean[-1] == pytest.approx(left["ends"][gamma], rel=0.05)
    assert (tmp_path / "regrets.png").stat().st_size > 5000


@pytest.mark.slow
def test_gamma_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A margin that favours the negatives, where a missed positive costs twenty times as much, does not pay."""
    left = run("plot_gamma_path", str(tmp_path / "path.png"), monkeypatch=monkeypatch)
    for search in left["searches"].values():
        path = search.gamma_path_
        assert path.mean_cost[0] > 1.3 * path.mean_cost.min()
    assert (tmp_path / "path.png").stat().st_size > 5000


@pytest.mark.slow
def test_displays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the threshold in use the classifier for 20:1 is cheaper than plain logistic regression."""
    found = run("plot_displays", str(tmp_path), monkeypatch=monkeypatch)["found"]
    shown = {file.stem for file in tmp_path.iterdir() if file.stat().st_size > 5000}
    assert shown == set(found)
    assert {f"images/displays/{name}.png" for name in found} == set(
        re.findall(r"\((images/displays/.*?)\)", (DOCS / "displays.md").read_text(encoding="utf-8"))
    )
    plain = found["threshold_cost"].costs.at(0.0)
    ours = found["cost_confusion"]
    assert ours.costs.sum() / ours.counts.sum() < plain


@pytest.mark.slow
def test_bank_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client by his own costs is cheaper than one threshold, and that is cheaper than one half."""
    left = run("plot_bank_calls", monkeypatch=monkeypatch)
    half, one, each = (row.cost for row in left["found"])
    assert each < 0.7 * one < 0.7 * half
    assert left["why"].flagged.any()


@pytest.mark.slow
def test_churn_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every limit the calls that are worth most earn more than the most probable ones."""
    left = run("plot_churn_calls", monkeypatch=monkeypatch)
    assert left["calls"].counts["leaves"] == 500
    assert all(ours > theirs for ours, theirs in left["profits"].values())


@pytest.mark.slow
def test_fraud_alerts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a day is kept, also by the stream; money beats probability."""
    left = run("plot_fraud_alerts", monkeypatch=monkeypatch)
    for name in ("20 at a time", "the whole day known"):
        flagged = np.bincount(left["day"][left["new"]][left["said"][name] == "fraud"], minlength=12)
        assert flagged.max() <= 40
        assert left["found"][name] < 0.8 * left["found"]["the 40 most probable"]


@pytest.mark.slow
def test_three_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are kept and cost money; the guarantee holds on the new days."""
    left = run("plot_three_outcomes", str(tmp_path), monkeypatch=monkeypatch)
    assert {file.stem for file in tmp_path.iterdir() if file.stat().st_size > 5000} == {"regions", "gains"}
    assert left["free"].total_cost < left["made"].total_cost < left["ninety"].total_cost
    assert left["made"].counts["review"] == 200
    assert left["ninety"].recall >= 0.9
    assert left["caught"] >= 0.9
    assert max(left["reviews"]) <= 20


@pytest.mark.slow
def test_your_own_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss that is not in the library is proved, bounded and minimised."""
    left = run("plot_your_own_loss", monkeypatch=monkeypatch)
    assert left["analysis"].verdict.status == "calibrated"
    assert left["certificate"].status == "proved"
    assert left["model"].duality_gap_ < 1e-5 * left["model"].objective_


def test_paper_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example draws the seven figures of the paper, each once."""
    from matplotlib.figure import Figure

    left = run("plot_paper_figures", monkeypatch=monkeypatch)
    drawn = [thing for thing in left.values() if isinstance(thing, Figure)]
    assert len(drawn) == len([one for one in left["figures"].FIGURES.values() if one.place[0] < float("inf")]) == 7


@pytest.mark.slow
def test_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that know the costs are cheaper than the one that does not; to cut at alpha is the cheapest."""
    for costs in run("plot_trees", "quick", monkeypatch=monkeypatch)["found"].values():
        means = {name: np.mean(values) for name, values in costs.items()}
        blind = means.pop("no costs, cut at 1/2")
        assert means.pop("flag everyone") > blind > max(means.values())
        assert min(means, key=lambda name: means[name]) == "no costs, cut at alpha"


def test_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weight 20 with label smoothing 0.1 is calibrated for no costs, and costs more than the weight alone or ours."""
    found = {
        name: values.mean() for name, values in run("plot_network", "quick", monkeypatch=monkeypatch)["found"].items()
    }
    for name in ("CrossEntropyLoss, weight 20, smoothing 0.1", "BCE, pos_weight 20, smoothing 0.1"):
        assert found[name] > 1.5 * found["BCE, pos_weight 20"]
    assert found["ours: logistic"] == pytest.approx(found["BCE, pos_weight 20"], abs=0.05)
    for name in (name for name in found if name.startswith("ours")):
        assert found[name] < 0.5 * min(found["flag everyone"], found["flag no one"])


def test_every_example_of_the_gallery_is_run_here() -> None:
    """The site that the tests build leaves out the slowest."""
    here = set(re.findall(r'run\("(plot_\w+)"', Path(__file__).read_text(encoding="utf-8")))
    assert here == {path.stem for path in EXAMPLES.glob("plot_*.py")}
