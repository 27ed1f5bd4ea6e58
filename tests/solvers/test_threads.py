"""Threads: BLAS is limited inside a context, and as before after it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg  # loads its own BLAS
from threadpoolctl import ThreadpoolController

from uneven.solvers.running import single_threaded_blas


def blas_threads() -> list[int]:
    assert scipy.linalg.cholesky(np.eye(2)).shape == (2, 2)
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


def test_one_thread_inside_and_the_old_number_after() -> None:
    before = blas_threads()
    assert before
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        assert set(blas_threads()) == {2}
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
            with single_threaded_blas():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
    assert blas_threads() == before


def test_an_error_restores_the_old_number() -> None:
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        with pytest.raises(RuntimeError), single_threaded_blas():
            raise RuntimeError
        assert set(blas_threads()) == {2}
