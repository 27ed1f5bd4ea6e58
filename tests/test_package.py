"""The package as a whole: what importing it loads, what it exports, what its command says."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import public_names
import pytest
from click.testing import CliRunner
from places import ROOT

import uneven
from uneven.app.cli.main import main

HEAVY = ("sklearn", "scipy", "numba", "flint", "torch", "jax", "pandas", "matplotlib", "click", "rich", "numpy")


def test_import_is_light() -> None:
    """``import uneven`` loads none of the heavy packages, not even NumPy: they wait for first use."""
    code = f"import sys, uneven; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_evaluating_a_loss_needs_neither_scipy_nor_sklearn() -> None:
    code = (
        "import sys, uneven; uneven.UnevenMarginLoss('logistic', gamma=2)(1, [0.0, 3.0]);"
        "print([name for name in ('sklearn', 'scipy', 'numba') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


#: What a small fit does without, of other packages and of this one.
NOT_FOR_A_FIT = (
    *("numba", "llvmlite", "click", "rich", "skops", "matplotlib", "torch", "jax", "dask"),
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "sklearn.pipeline"),
    *("uneven.app.cli", "uneven.app.explorer", "uneven.figures", "uneven.app.files", "uneven.adapters", "uneven.zoo"),
    *(
        "uneven.solvers.loops.passes",
        "uneven.solvers.boosting",
        "uneven.solvers.kernel",
        "uneven.parts.fitting",
        "uneven.parts.loss_slopes",
    ),
    *("uneven.calibration.analysis", "uneven.calibration.regret_curves", "uneven.calibration.certifier"),
    *("uneven.learners.ensemble", "uneven.tables", "uneven.learners.classifier_cv", "uneven.learners.tuning"),
)
FIRST_FIT = """
import sys
import numpy as np
from uneven import UnevenLinearClassifier
X = np.random.default_rng(0).normal(size=({rows}, 3))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
model = UnevenLinearClassifier({loss!r}, fn_cost=3).fit(X, y)
model.predict(X)
print([name for name in {names} if name in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "softplus(-t) + relu(1 - t)**2"])
def test_a_small_fit_imports_little_and_starts_no_compiler(loss: str) -> None:
    """Numba's start and the larger parts of scikit-learn would take longer than a hundred small fits."""
    assert all(find_spec(name) for name in NOT_FOR_A_FIT if name.startswith("uneven."))  # a moved one would be missed
    code = FIRST_FIT.format(rows=300, loss=loss, names=NOT_FOR_A_FIT)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_large_fit_is_compiled() -> None:
    code = FIRST_FIT.format(rows=6000, loss="logistic", names=("numba",))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['numba']"


def test_every_public_name_exists_and_is_documented() -> None:
    for name in uneven.__all__:
        thing = getattr(uneven, name)
        assert inspect.getdoc(thing), name
        assert name in dir(uneven)
    for module in (uneven.losses, uneven.metrics, uneven.figures):
        for name in module.__all__:
            assert inspect.getdoc(getattr(module, name)), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        uneven.nonsense  # noqa: B018 - the access is the test


def test_command() -> None:
    runner = CliRunner()
    table = runner.invoke(main, ["losses", "--gamma", "3"])
    assert table.exit_code == 0
    assert all(name in table.output for name in uneven.losses.names())
    assert "2.25 : 1" in table.output  # sigmoid at gamma = 3: alpha = 4/13
    bad = runner.invoke(main, ["losses", "--gamma", "-1"])
    assert bad.exit_code == 2
    assert "gamma must be positive, got '-1'" in bad.output


def test_no_user_text_can_reach_an_evaluator() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text()
        assert "eval(" not in source, path
        assert "exec(" not in source, path


def test_constraints_hold_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or (line.count("==") == 1 and "/" not in line), line


@pytest.mark.slow
def test_the_underscore_means_private() -> None:
    """``_x`` in a file belongs to that file; a module ``_x`` belongs to its folder and the folders in it."""
    for path in (ROOT / "src" / "uneven").rglob("*.py"):
        here = ("uneven", *path.relative_to(ROOT / "src" / "uneven").with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("uneven"):
                continue
            home = tuple((node.module or "").split("."))
            for name in (alias.name for alias in node.names):
                parts = (*home, name) if name.startswith("_") else home
                for k, part in enumerate(parts):
                    if part.startswith("_") and not part.startswith("__"):
                        is_module = (ROOT / "src").joinpath(*parts[: k + 1]).with_suffix(".py").exists()
                        assert is_module, f"{path.name} imports the private name {'.'.join(parts)}"
                        assert here[:k] == parts[:k], f"{path.name} imports the private module {'.'.join(parts)}"


@pytest.mark.slow
def test_tests_import_public_names_where_they_are_public() -> None:
    """A name that is exported is not taken from the module that happens to define it, which may move."""
    modules, _ = public_names.public_modules()
    public = {(one.name, id(one.thing)): one.path for module in modules for one in public_names.names_of(module)}
    known, homes = {name for name, _ in public}, {module.__name__ for module in modules}
    found = []
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").startswith("uneven.")
                and node.module not in homes
            ):
                for name in known.intersection(alias.name for alias in node.names):
                    thing = getattr(importlib.import_module(str(node.module)), name)
                    if (name, id(thing)) in public:
                        found.append(f"{path.name}: {node.module}.{name} is {public[name, id(thing)]}")
    assert found == []


def test_nothing_refers_to_documents_outside_the_repository() -> None:
    words = ("FORMULAS", "ALGORITHMS.md", "ERRATA", "DESIGN.md", "erratum", "the issue")
    folders = ("src", "tests", "docs", "benchmarks", "examples")
    files = [path for folder in folders for kind in ("py", "md") for path in (ROOT / folder).rglob(f"*.{kind}")]
    for path in [*files, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text(encoding="utf-8")
        if path != Path(__file__):
            assert not [word for word in words if word in text], path
