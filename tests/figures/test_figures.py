"""Figures: what is plotted is what the formulas say; every file opens and shows something."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.special import betainc

import uneven
from uneven import figures
from uneven.errors import MissingExtraError, UnevenError

ALPHAS, GAMMAS = (0.25, 0.5, 0.75), (0.25, 1.0, 2.0, 4.0)


def h_hinge(eta: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    return np.where(eta >= alpha, eta - alpha, (alpha - eta) / gamma)


def h_squared(eta: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    a, b = (1 - alpha) * eta, alpha * (1 - eta)
    return (a - b) ** 2 / (a + gamma * b)


def h_exponential(eta: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    a, b = (1 - alpha) * eta, alpha * (1 - eta)
    p = gamma / (1 + gamma)
    return a + b / gamma - a**p * b ** (1 - p) / p


@pytest.mark.parametrize(
    ("name", "formula"), [("hinge", h_hinge), ("squared", h_squared), ("exponential", h_exponential)]
)
def test_h_and_nu_are_the_closed_forms(name: str, formula: object) -> None:
    """Section 4 of the paper, with correction A1; nu is the smaller of the two branches of H."""
    figure = figures.h_and_nu(name)
    axes = np.array(figure.axes).reshape(3, 2)
    for row, alpha in zip(axes, ALPHAS, strict=True):
        for line, gamma in zip(row[0].lines, GAMMAS, strict=True):
            eta, height = line.get_data()
            assert np.allclose(height, formula(eta, alpha, gamma), atol=1e-12)
        for line in row[1].lines:
            eps, nu = line.get_data()
            branches = [
                np.where(inside, formula(np.clip(eta, 0, 1), alpha, gamma), np.inf)
                for gamma in GAMMAS
                for eta in (alpha + eps, alpha - eps)
                for inside in [(eta >= -1e-15) & (eta <= 1 + 1e-15)]
            ]
            pairs = np.minimum(branches[::2], branches[1::2])
            if eps.size > 1:
                assert min(float(np.max(np.abs(nu - pair))) for pair in pairs) < 1e-10


def test_a_jump_is_drawn_as_a_disc_and_a_ring() -> None:
    """Hinge, alpha = 1/4: nu jumps at 1/4 from 1/(4 gamma) to 1/4 for gamma = 2 and 4, and not for others."""
    markers = [line for line in figures.h_and_nu("hinge").axes[1].lines if line.get_marker() == "o"]
    found = sorted(
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]), line.get_markerfacecolor()) for line in markers
    )
    assert [(x, round(y, 6)) for x, y, _ in found] == [(0.25, 0.0625), (0.25, 0.125), (0.25, 0.25), (0.25, 0.25)]
    assert [colour == "white" for _, _, colour in found] == [False, False, True, True]


@pytest.mark.slow
def test_windows_are_incomplete_beta_functions_and_their_bounds_tighten() -> None:
    left, right = figures.window_orders((1, 5, 12)).axes
    for line, order in zip(left.lines, (1, 5, 12), strict=False):
        t, value = line.get_data()
        assert np.allclose(value, betainc(order + 1, order, 1 / (1 + np.exp(t))), atol=1e-12)
    *bounds, limit = (line.get_ydata() for line in right.lines)
    assert np.allclose(limit, np.minimum(2 * right.lines[0].get_xdata(), 10 / 11))
    for wide, narrow in pairwise([*bounds, limit]):
        assert np.all(narrow <= wide * (1 + 1e-9))
    with pytest.raises(UnevenError, match="orders is empty"):
        figures.window_orders(())


def test_the_sigmoid() -> None:
    gamma, alpha = figures.alpha_of_gamma(points=3, low=0.5, high=2).axes[0].lines[0].get_data()
    root = (3 + 4 * np.sqrt(2)) / 23
    assert np.allclose(alpha, [1 - root, 0.5, root], atol=1e-12)
    assert np.allclose(gamma, [0.5, 1, 2])
    risk = figures.conditional_risk(etas=(0.3, 0.6))
    curves = [line for line in risk.axes[0].lines if line.get_xdata().size > 1]
    t, value = curves[0].get_data()
    assert np.allclose(value, 0.3 / (1 + np.exp(t)) + 0.35 / (1 + np.exp(-2 * t)))  # correction A2
    (disc,) = [line for line in risk.axes[0].lines if line.get_xdata().size == 1]
    w = ((1 - 0.3) + np.sqrt((1 - 0.3) * (1 + 7 * 0.3))) / (2 * 0.3)  # the root of appendix B (correction A3)
    z = (w + np.sqrt(w**2 - 4)) / 2
    assert disc.get_xdata()[0] == pytest.approx(-np.log(z))
    sides = figures.sides()
    assert sides.axes[0].lines[-1].get_xdata()[0] == pytest.approx(root)


@pytest.mark.slow
def test_psi_lies_in_its_enclosure() -> None:
    loss = uneven.UnevenMarginLoss("sigmoid", gamma=2)
    figure = figures.psi_enclosed(loss, alpha=0.376385)
    analysis = uneven.analyze(loss, 0.376385)
    line = next(line for line in figure.axes[0].lines if line.get_label() == r"$\psi$")
    eps, psi = line.get_data()
    lower, upper = analysis.psi_bounds(eps)
    assert np.all(lower <= psi + 1e-12)
    assert np.all(psi <= upper + 1e-12)


def test_implied_costs_and_regret_bounds() -> None:
    figure = figures.implied_costs({"ten": uneven.Loss("10*softplus(-t)", "softplus(t)"), "none": "perceptron"})
    assert "10 : 1" in [text.get_text() for text in figure.axes[0].texts]
    assert "none" in [text.get_text() for text in figure.axes[0].texts]
    line = figures.regret_bound(("hinge",), alpha="1/4", gamma=2).axes[0].lines[0]
    r, eps = line.get_data()
    analysis = uneven.analyze(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"))
    assert np.array_equal(eps, analysis.regret_bound(r))


@pytest.mark.slow
def test_regret_bounds_of_any_loss() -> None:
    pair = uneven.Loss("10*softplus(-t)", "softplus(t)")
    mine = uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/11")
    by_function = uneven.Loss(lambda t: np.logaddexp(0, -t), lambda t: np.logaddexp(0, t))
    figure = figures.regret_bound([pair, mine, "squared", by_function, by_function])
    lines = dict(zip(figure.axes[0].get_legend_handles_labels()[1], figure.axes[0].lines, strict=False))
    same = "Loss(test_regret_bounds_of_any_loss.<locals>.<lambda>, test_regret_bounds_of_any_loss.<locals>.<lambda>)"
    assert list(lines) == ["Loss('10*softplus(-t)', 'softplus(t)')", "hinge, gamma = 2", "squared", same, f"{same} (5)"]
    analyses = [uneven.analyze(loss, "1/11") for loss in (pair, mine, uneven.calibrated_loss("squared", alpha="1/11"))]
    for analysis, line in zip(analyses, lines.values(), strict=False):
        assert np.array_equal(line.get_ydata(), analysis.regret_bound(line.get_xdata()))
    assert np.array_equal(lines[same].get_ydata(), uneven.analyze(by_function, "1/11").psi_inverse(line.get_xdata()))
    assert "alpha = 1/11" in figure.get_label()
    assert "not proved, for Python functions" in figure.get_label()
    alone = figures.regret_bound({"my name": mine}).axes[0]
    assert alone.get_legend_handles_labels()[1] == ["my name"]
    assert len(figures.regret_bound(pair).axes[0].lines) == 2
    with pytest.raises(UnevenError, match=r"weighted by different alphas \(1/11, 1/4\); give the alpha to draw"):
        figures.regret_bound([mine, mine.weighted("1/2"), uneven.UnevenMarginLoss("hinge", alpha="1/4")][::2])
    with pytest.raises(UnevenError, match="losses is empty"):
        figures.regret_bound([])


@pytest.mark.slow
def test_a_caption_is_shown_once(tmp_path: Path) -> None:
    """In the page, not also in the picture; a figure drawn alone has it below."""
    page = figures.write_gallery(tmp_path, ["hinge"], format="svg").read_text(encoding="utf-8")
    assert page.count("Uneven hinge loss: H and nu") == 1
    assert "H and nu" not in (tmp_path / "hinge.svg").read_text(encoding="utf-8")
    assert "H and nu" in figures.draw("hinge").get_supxlabel()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_gallery(tmp_path: Path, kind: str) -> None:
    names = list(figures.FIGURES) if kind == "png" else ["hinge", "implied-costs"]
    drawn: list[str] = []
    page = figures.write_gallery(tmp_path / "made", names, format=kind, progress=drawn.append)
    assert drawn == names
    text = page.read_text(encoding="utf-8")
    assert "http" not in text
    for name in names:
        file = page.parent / f"{name}.{kind}"
        assert f"{name}.{kind}" in text
        assert file.stat().st_size > 2000
        if kind == "png":
            assert float(np.std(imread(file)[..., :3])) > 0.02
    assert {path.suffix for path in page.parent.iterdir()} == {f".{kind}", ".html"}


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_captions_and_bounds(name: str) -> None:
    figure = figures.draw(name)
    assert len(figure.get_label()) > 60
    assert "theorem" in figure.get_label() or "section" in figure.get_label() or "corollary" in figure.get_label()


def test_the_gallery_shows_the_paper_first() -> None:
    numbers = [record.paper_figure for record in figures.FIGURES.values()]
    assert numbers == [1, 2, 3, 4, 5, 6, 7] + [None] * (len(numbers) - 7)


def test_parameters_reach_the_figure() -> None:
    assert "phi = ramp" in figures.draw("partial-losses", phis=("ramp",)).get_label()


def test_any_phi_can_be_drawn() -> None:
    mine = uneven.phi("softplus(-t) + relu(-t)**2/2")
    assert figures.partial_losses((mine, "tangent"), gammas=(3,)).axes
    assert figures.h_and_nu("savage", alphas=("0.2",), gammas=(Fraction(5),)).axes
    assert figures.sides(mine, gamma=2).axes


def test_bad_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnevenError, match="there is no figure 'x'; there are partial-losses"):
        figures.draw("x")
    with pytest.raises(UnevenError, match="format must be one of png, svg, pdf"):
        figures.write_gallery(tmp_path, format="gif")
    with pytest.raises(UnevenError, match="there is no figure"):
        figures.write_gallery(tmp_path / "none", ["hinge", "x"])
    assert not (tmp_path / "none").exists()
    with pytest.raises(UnevenError, match="has no alpha of its own"):
        figures.sides("perceptron")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'uneven\[plot\]'"):
        figures.draw("hinge")
