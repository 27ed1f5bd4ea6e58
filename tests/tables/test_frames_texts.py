"""Texts: hashes, words, trigrams and latent columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from uneven.tables import FrameEncoder
from uneven.tables import text_hashes as hashing
from uneven.tables.text_hashes import MOST_CHARACTERS, hashed_trigrams, hashed_words, text_hashes

TEXTS = ["", " ", "a", "ab", "abc", "Abc abc", "größe 漢字", "\ud800", "a\x00b", "a-b c_d", "  two   spaces ", "x" * 99]
WIDTH = 2**20  # hardly any collision


def test_different_texts_have_different_hashes() -> None:
    texts = [*TEXTS, *(f"user {k}" for k in range(20_000))]
    assert np.unique(text_hashes(texts)).size == len(texts)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.text(max_size=12), max_size=9), st.text(max_size=12))
def test_a_text_is_hashed_alone(others: list[str], text: str) -> None:
    for function in (hashed_words, hashed_trigrams):
        alone, among = function([text], WIDTH), function([*others, text, *others], WIDTH)
        assert (alone != among[len(others)]).nnz == 0
    assert text_hashes([*others, text])[-1] == text_hashes([text])[0]


def test_portions_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [function(TEXTS, WIDTH) for function in (hashed_words, hashed_trigrams)]
    hashes = text_hashes(TEXTS)
    monkeypatch.setattr(hashing, "_PORTION", 3)
    for first, function in zip(whole, (hashed_words, hashed_trigrams), strict=True):
        assert (first != function(TEXTS, WIDTH)).nnz == 0
    assert np.array_equal(hashes, text_hashes(TEXTS))


def counts_in_order(matrix: object) -> list[list[float]]:
    return [sorted(row.data) for row in matrix]  # type: ignore[attr-defined]


def test_words_and_trigrams_as_scikit_learn_counts_them() -> None:
    texts = ["Der alte Mann", "alte alte Bücher, neu!", "x", "a-b a_b", "42 4242"]
    words = CountVectorizer(token_pattern=r"[^\W_]+").fit_transform(texts)
    assert counts_in_order(hashed_words(texts, WIDTH)) == counts_in_order(words)
    ascii_texts = ["the old man", "aaaa", "ab", "x"]
    trigrams = CountVectorizer(analyzer="char", ngram_range=(3, 3)).fit_transform([f" {t} " for t in ascii_texts])
    assert counts_in_order(hashed_trigrams(ascii_texts, WIDTH)) == counts_in_order(trigrams)
    same = hashed_words(["old man", "MAN, old"], WIDTH).toarray()
    assert np.array_equal(same[0], same[1])


def test_the_end_of_a_long_text_is_not_read() -> None:
    long = "word " * MOST_CHARACTERS
    for function in (hashed_words, hashed_trigrams):
        assert (function([long], WIDTH) != function([long + "end"], WIDTH)).nnz == 0


@pytest.mark.parametrize("view", ["trees", "linear"])
def test_texts_that_differ_in_words_are_told_apart(view: str) -> None:
    random = np.random.default_rng(0)
    y = random.random(400) < 0.4
    good, bad = np.array(["kind", "warm", "bright", "lovely"]), np.array(["cold", "rude", "dull", "broken"])
    said = [" ".join([*random.choice(bad if one else good, 3), f"room {k}"]) for k, one in enumerate(y)]
    model = make_pipeline(FrameEncoder(view), KNeighborsClassifier(9))
    found = cross_val_predict(model, pd.DataFrame({"said": said}), y, method="predict_proba")[:, 1]
    assert roc_auc_score(y, found) > 0.95


@pytest.mark.parametrize("view", ["trees", "linear"])
def test_missing_and_new_texts(view: str) -> None:
    X = pd.DataFrame({"said": [f"this is text {k}" for k in range(50)]})
    X.loc[3, "said"] = None
    encoder = FrameEncoder(view).fit(X, np.arange(50) % 2)
    new = pd.DataFrame({"said": [None, "", "never seen before", "this is text 4"]})
    for rows in (new, new[:1], new[1:2]):
        found = encoder.transform(rows)
        assert found.shape == (len(rows), len(encoder.get_feature_names_out()))
    latent = np.array([": text " in name for name in encoder.get_feature_names_out()])
    if view == "trees":
        found = encoder.transform(new)
        assert np.array_equal(np.isnan(found[:, latent]).all(axis=1), [True, True, False, False])  # "" is missing
    else:
        assert encoder.transform(new)[0].nnz == 1  # the column that says "missing"


def test_texts_that_are_alike_but_for_case_are_harmless() -> None:
    names = ["".join(c.upper() if k >> i & 1 else c for i, c in enumerate("same words here")) for k in range(32)]
    X = pd.DataFrame({"said": list(dict.fromkeys(names))})
    assert np.isfinite(FrameEncoder("trees").fit_transform(X, np.arange(len(X)) % 2)).all()


def test_many_texts_without_a_missing_one_have_only_words() -> None:
    """Their block of the flags of missing values is empty, and an empty block cannot be stacked."""
    texts = pd.Series([f"order {k} is late" for k in range(12)])
    for missing in (False, True):
        X = pd.DataFrame({"message": texts.where(texts.index > 0) if missing else texts, "age": range(12)})
        encoder = FrameEncoder("linear", most_categories=5, buckets=16)
        matrix = encoder.fit_transform(X, np.arange(12) % 2)
        assert not encoder.columns_[0].counted
        names = [str(name) for name in encoder.get_feature_names_out()]
        assert [name for name in names if "missing" in name] == ["message = missing"] * missing
        assert matrix.shape == (12, len(names)) == encoder.transform(X.assign(message=None)).shape
