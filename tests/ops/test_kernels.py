"""Compiled kernels: their functions, their disk cache, and where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import loss_sentences

import uneven
from uneven.losses.margin_function import smooth_switches
from uneven.ops import kernels
from uneven.ops.vector_math import exp, log1p_of_small

FIT = """
import numpy as np, uneven
from uneven.solvers.loops import passes
X = np.random.default_rng(0).normal(size=(300, 4)); y = (X[:, 0] > 0.1).astype(int)
uneven.UnevenLinearClassifier("hinge", fn_cost=3, tol=1e-3).fit(X, y)
from uneven.ops.kernels import cache_folder, compile_kernel
from uneven.losses.margin_function import smooth_switches
tree = uneven.phi("hinge").tree
module = compile_kernel(tree, smooth_switches(tree)).module
hits = [module.first._cache_hits, module.second._cache_hits]
print(sum(passes.pass_rows.stats.cache_misses.values()), min(hits), cache_folder())
"""


def test_exp_is_within_two_units_in_the_last_place() -> None:
    x = np.concatenate([np.linspace(-745, 709, 40_001), np.random.default_rng(0).normal(size=20_000)])
    ours, truth = np.array([exp(v) for v in x]), np.exp(x)
    assert np.all(np.abs(ours - truth) <= 2 * np.spacing(truth))
    assert exp(-1e308) == 0
    assert exp(1e308) == np.inf
    assert exp(0.0) == 1


def test_log1p_is_within_three_units_in_the_last_place() -> None:
    u = np.concatenate([np.linspace(0, 1, 20_001), 10.0 ** -np.linspace(0, 320, 5_001)])
    ours, truth = np.array([log1p_of_small(v) for v in u]), np.log1p(u)
    assert np.all(np.abs(ours - truth) <= 3 * np.spacing(truth))


@settings(max_examples=6)
@given(loss_sentences)
def test_any_loss_of_the_language_has_a_kernel(sentence: str) -> None:
    phi = uneven.phi(sentence)
    t = np.linspace(-4.001, 4.003, 801)
    value, slope = kernels.compile_kernel(phi.tree, smooth_switches(phi.tree)).first(t)
    assert np.allclose(value, phi(t), rtol=1e-12, atol=1e-300)
    assert np.allclose(slope, phi.slope(t), rtol=1e-9, atol=1e-12)


def test_huge_arguments_are_cut_where_floats_lose_them() -> None:
    kernel = kernels.compile_kernel(uneven.phi("t**2*exp(-t) + softplus(-t)").tree)
    value, slope = kernel.first(np.array([1e308, 1e200, 700.0]))
    assert not np.isnan(value).any()
    assert not np.isnan(slope).any()
    assert value[:2].tolist() == [0, 0]


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    """The compiler's own counters: in the first process the phi is compiled, in the second all comes from disk."""
    environment = {**os.environ, "UNEVEN_CACHE_DIR": str(tmp_path)}
    outputs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, env=environment, check=True)
        outputs.append(done.stdout.split())
    assert outputs[0][1:] == ["0", str(tmp_path)]
    assert outputs[1] == ["0", "1", str(tmp_path)]


def test_a_cache_folder_that_cannot_be_written_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("UNEVEN_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    kernels.cache_folder.cache_clear()
    try:
        folder = kernels.cache_folder()
        assert folder.is_dir()
        assert tmp_path not in folder.parents
    finally:
        kernels.cache_folder.cache_clear()


def test_what_is_printed_holds_numbers_only() -> None:
    """No text of a user gets into source code: only operations on numbers."""
    text = kernels.source(uneven.phi("where(t < -1, -4*t, relu(1 - t)**2)").tree)
    assert "where" not in text
    assert "relu" not in text
    compile(text, "kernel", "exec")
