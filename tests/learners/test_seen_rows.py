"""Rows of the fit are known again, however they are given; others are not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from uneven.learners.seen_rows import known_rows, remember_rows, row_hashes


class Learner:
    """Something with attributes."""


def remembering(X, most=20_000):
    learner = Learner()
    remember_rows(learner, X, most)
    return learner


def numbers(count=300, width=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(count, width))
    X[np.abs(X) < 0.3] = 0.0
    return X


def test_a_row_has_one_hash_in_every_container():
    X = numbers()
    rows = np.arange(len(X))
    plain = row_hashes(X, rows)
    assert len(np.unique(plain)) == len(X)
    for other in (sparse.csr_matrix(X), sparse.coo_matrix(X).tocsc(), pd.DataFrame(X), np.asfortranarray(X), -0.0 + X):
        np.testing.assert_array_equal(row_hashes(other, rows), plain)


def test_missing_values_and_texts_have_hashes():
    frame = pd.DataFrame(
        {"a": [1.0, np.nan, np.nan], "b": ["x", "x", "y"], "c": pd.to_datetime(["2020", "2021", "2021"])}
    )
    hashes = row_hashes(frame, np.arange(3))
    assert len(set(hashes.tolist())) == 3
    np.testing.assert_array_equal(row_hashes(frame.iloc[::-1], np.arange(3)), hashes[::-1])


@pytest.mark.parametrize("change", [lambda X: X[::-1], pd.DataFrame, sparse.csr_matrix])
def test_all_rows_are_known_again_and_no_others(change):
    X = numbers()
    learner = remembering(X)
    assert known_rows(learner, change(X)).all()
    assert not known_rows(learner, change(numbers(seed=1))).any()


def test_every_row_is_told_apart():
    X = numbers()
    mixed = np.vstack([numbers(seed=1)[:40], X[10:30]])
    np.testing.assert_array_equal(known_rows(remembering(X), mixed), np.arange(60) >= 40)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_sample_tells_the_share(share):
    X, other = numbers(20_000), numbers(20_000, seed=1)
    count = int(share * 4000)
    chosen = np.random.default_rng(2).permutation(20_000)
    found = known_rows(remembering(X, 256), np.vstack([X[chosen[:count]], other[: 4000 - count]]))
    assert abs(found - share) < 0.3 if share else found == 0


def test_nothing_is_told_of_what_is_not_known():
    X = numbers()
    assert known_rows(Learner(), X) is None
    assert known_rows(remembering(X), X[:, :3]) is None
    alike = np.zeros((100, 3))
    assert known_rows(remembering(alike), np.vstack([alike, alike])) is None
    assert known_rows(remembering(alike), alike).all()


def test_a_new_fit_forgets_the_rows_of_the_last_one():
    learner = remembering(numbers())
    remember_rows(learner, numbers(seed=1), 300)
    assert not known_rows(learner, numbers()).any()
