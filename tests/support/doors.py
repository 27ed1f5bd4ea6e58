"""Use one phi in every part of the library. It must be calibrated for some costs and have an inverse link."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from array_libraries import LIBRARIES
from click.testing import CliRunner, Result
from onnxruntime import InferenceSession

import uneven
from uneven.adapters.onnx import to_onnx
from uneven.app.cli.main import main
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import compile_kernel


def visit_every_door(name: str, folder: Path) -> None:
    """Check that everything that works for a built-in phi works for this one; files are written to the folder."""
    visit_losses(name)
    visit_calibration(name)
    visit_kernels(name)
    visit_learners(name)
    visit_trees(name)
    visit_frameworks(name)
    visit_figures(name)
    visit_commands(name, folder)


def visit_losses(name: str) -> None:
    assert name in uneven.losses.names()
    phi = uneven.phi(name)
    assert uneven.UnevenMarginLoss(name, gamma=2).positive(0.3) == phi(0.3)
    assert uneven.Loss(phi, "exp(t)").positive(0.3) == phi(0.3)
    loss = uneven.calibrated_loss(name, alpha=0.2, gamma=5)
    assert loss.alpha == 0.2
    assert loss.inverse_link(0.0) == pytest.approx(0.2)


def visit_calibration(name: str) -> None:
    analysis = uneven.analyze(uneven.calibrated_loss(name, alpha=0.2, gamma=5))
    assert analysis.verdict.status == "calibrated"
    assert 0 < analysis.regret_bound(1e-3) < analysis.largest_regret
    assert uneven.implied_alpha(name).exact == Fraction(1, 2)
    certificate = uneven.certify(uneven.UnevenMarginLoss(name, gamma=3), psi=["0.1"], alpha="1/2")
    assert certificate.status == "proved"
    assert uneven.verify(certificate.to_json())


def visit_kernels(name: str) -> None:
    phi = uneven.phi(name)
    t = np.linspace(-4.001, 4.003, 801)
    value, slope = compile_kernel(phi.tree, smooth_switches(phi.tree)).first(t)
    assert np.allclose(value, phi(t), rtol=1e-12, atol=1e-300)
    assert np.allclose(slope, phi.slope(t), rtol=1e-9, atol=1e-12)


def visit_learners(name: str) -> None:
    X, y = sample()
    clf = uneven.UnevenLinearClassifier(name, fp_cost=1, fn_cost=4, margin_gamma=2).fit(X, y)
    assert clf.loss_ == uneven.calibrated_loss(name, alpha="1/5", gamma=2)
    assert np.mean(clf.predict(X)[y == 1]) > 0.8  # false negatives are expensive
    boosting = uneven.UnevenAdaBoostClassifier(name, fn_cost=4, margin_gamma=2, n_estimators=20).fit(X, y)
    assert np.diff(boosting.train_loss_).max() <= 0
    assert np.mean(boosting.predict(X)[y == 1]) > 0.8
    search = uneven.UnevenClassifierCV("linear", loss=name, fn_cost=4, margin_gammas=(0.5, 2.0), cv=2).fit(X, y)
    assert search.best_params_["margin_gamma"] in (0.5, 2.0)
    assert uneven.metrics.expected_cost(y, search.predict(X), fn_cost=4) < 0.6


def visit_trees(name: str) -> None:
    X, y = sample()
    clf = uneven.UnevenXGBClassifier(name, fn_cost=4, margin_gamma=2, n_estimators=10, max_depth=2, n_jobs=1).fit(X, y)
    assert clf.loss_ == uneven.calibrated_loss(name, alpha="1/5", gamma=2)
    assert uneven.metrics.expected_cost(y, clf.predict(X), fn_cost=4) < 0.6
    gradient, hessian = uneven.adapters.lightgbm.objective(name, fn_cost=4)(y, np.zeros(y.size))
    assert np.array_equal(gradient < 0, y == 1)
    assert (hessian > 0).all()


def visit_frameworks(name: str) -> None:
    loss = uneven.calibrated_loss(name, alpha=0.2, gamma=2)
    y, t = np.array([1, -1, 1]), np.array([-1e4, 0.7, 1e4], dtype=np.float32)
    for jets in LIBRARIES.values():
        value, slope, _ = jets(loss, y, t)
        assert np.allclose(value, loss(y, t), rtol=1e-5, atol=1e-30)
        assert np.allclose(slope, loss.slope(y, t), rtol=1e-5, atol=1e-30)
    X, labels = sample()
    clf = uneven.UnevenLinearClassifier(name, fn_cost=4).fit(X, labels)
    session = InferenceSession(to_onnx(clf, X).SerializeToString())
    label, probability = session.run(["label", "probability"], {"X": X})
    assert np.array_equal(label, clf.predict(X))
    assert np.allclose(probability, clf.predict_proba(X), atol=1e-5)


def visit_figures(name: str) -> None:
    figures = uneven.figures
    assert name in figures.partial_losses((name,)).get_label()
    assert name in figures.psi_enclosed(name).get_label()
    assert name in figures.h_and_nu(name, alphas=("1/4",), gammas=(2,)).get_label()
    shown = figures.regret_bound((name,)).axes[0].get_legend_handles_labels()[1]
    assert shown == [name]
    assert name in [axes.get_title() for axes in figures.all_losses().axes]


def visit_commands(name: str, folder: Path) -> None:
    assert name in run("losses").output
    assert json.loads(run("check", name, "--gamma", "2", "--json").output)["verdict"]["status"] == "calibrated"
    assert "treats both kinds of mistake alike" in run("implied-cost", name).output
    assert run("certify", name, "-o", str(folder / "proof.json")).output.startswith("proved")
    assert run("verify", str(folder / "proof.json")).output.startswith("valid")
    X, y = sample()
    rows = "".join(f"{a:.6f},{b:.6f},{label}\n" for (a, b), label in zip(X, y, strict=True))
    (folder / "table.csv").write_text("a,b,y\n" + rows)
    costs = ["--target", "y", "--positive", "1", "--fp-cost", "1", "--fn-cost", "4"]
    fitted = run("fit", str(folder / "table.csv"), *costs, "--loss", name, "--quick", "-o", str(folder / "m.skops"))
    assert f"'{name}'" in fitted.output
    assert run("predict", str(folder / "m.skops"), str(folder / "table.csv"), "-o", str(folder / "p.csv"))
    assert "this model" in run("report", str(folder / "m.skops"), str(folder / "table.csv")).output


def run(*arguments: str) -> Result:
    """Run a command that must succeed."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result


def sample() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    y = (random.uniform(size=200) < 0.4).astype(int)
    return random.normal(size=(200, 2)) + y[:, None], y
