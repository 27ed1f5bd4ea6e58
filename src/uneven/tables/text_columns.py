"""Texts as columns: hashed words for linear models, a few latent columns for trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.validation import check_is_fitted

from uneven.solvers.running import single_threaded_blas
from uneven.tables.text_hashes import hashed_trigrams, hashed_words, rows_with_words, text_hashes

#: Columns that the words of a column are hashed into.
WORD_COLUMNS = 2**14
_TRIGRAM_COLUMNS = 2**13
#: Different texts from which the latent columns are learnt, and texts that are projected at a time.
_SAMPLE = 10_000
_PORTION = 20_000


class WordEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """TF-IDF of words, hashed into columns of a sparse matrix: no vocabulary is kept.

    Parameters
    ----------
    buckets : int
        Columns for each column of texts.

    Attributes
    ----------
    names_ : list of str
    idf_ : list of ndarray
        For each column, the weights of its words: rare ones count more.
    """

    def __init__(self, buckets: int = WORD_COLUMNS) -> None:
        self.buckets = buckets

    def fit(self, X: Any, y: Any = None) -> WordEncoder:
        """Count in how many rows each word occurs."""
        self.names_ = [str(name) for name in X.columns]
        self.idf_ = []
        for name in X.columns:
            codes, texts = X[name].cat.codes.to_numpy(), X[name].cat.categories.tolist()
            rows = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
            counted = rows_with_words(dict(zip(texts, rows, strict=True)), self.buckets)
            self.idf_.append(word_weights(counted, int((codes >= 0).sum())))
        return self

    def transform(self, X: Any) -> Any:
        """TF-IDF of the words of each row."""
        from scipy.sparse import hstack

        check_is_fitted(self)
        found = []
        for name, idf in zip(X.columns, self.idf_, strict=True):
            found.append(weighted_words(X[name].cat.categories.tolist(), X[name].cat.codes.to_numpy(), idf))
        return found[0] if len(found) == 1 else hstack(found, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "title: words 17": several words share a column.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"{name}: words {k}" for name in self.names_ for k in range(self.buckets)], dtype=object)


def word_weights(rows_of_words: np.ndarray, rows: int) -> np.ndarray:
    """The weight of each hashed word: ln((1 + rows) / (1 + rows with the word)) + 1, as in scikit-learn."""
    return np.log((1 + rows) / (1 + rows_of_words)) + 1


def weighted_words(texts: list[str], codes: np.ndarray, idf: np.ndarray) -> Any:
    """TF-IDF of the words of each row's text (-1: none), scaled to length 1; a word that returns counts 1 + ln(times).

    As scikit-learn's TfidfTransformer with ``sublinear_tf=True`` does it.
    """
    from scipy.sparse import csr_matrix

    words = hashed_words([*texts, ""], idf.size)  # the last text is that of missing values
    weights = (np.log(words.data) + 1) * idf.astype(np.float32)[words.indices]
    count = np.diff(words.indptr)
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(count.size), count), weights**2, minlength=count.size))
    weights /= np.repeat(lengths, count).astype(np.float32)
    of_texts = csr_matrix((weights, words.indices, words.indptr), shape=words.shape)
    return of_texts[np.where(codes < 0, len(texts), codes)]


class LatentTextEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A few latent columns: a truncated singular value decomposition of TF-IDF of trigrams; NaN where missing.

    It is learnt from at most 10,000 different texts, chosen by their hashes: the order of the rows does not matter.

    Parameters
    ----------
    components : int
        Columns for texts of several words.
    components_of_names : int
        Columns for texts of one word each, such as codes and names.
    random_state : int

    Attributes
    ----------
    names_ : list of str
    weights_ : list of TfidfTransformer
    projections_ : list of TruncatedSVD
        One for each column.
    """

    def __init__(self, components: int = 20, components_of_names: int = 8, random_state: int = 0) -> None:
        self.components = components
        self.components_of_names = components_of_names
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> LatentTextEncoder:
        """Learn the latent columns."""
        self.names_ = [str(name) for name in X.columns]
        self.weights_, self.projections_ = [], []
        for name in X.columns:
            texts = X[name].cat.categories.tolist()
            chosen = [texts[k] for k in np.argsort(text_hashes(texts), kind="stable")[:_SAMPLE]]
            several_words = np.mean([" " in text.strip() for text in chosen]) > 0.5
            wanted = self.components if several_words else self.components_of_names
            counts = hashed_trigrams(chosen, _TRIGRAM_COLUMNS)
            weights = TfidfTransformer(sublinear_tf=True).fit(counts)
            svd = TruncatedSVD(min(wanted, len(chosen)), random_state=self.random_state)
            # BLAS would wait longer for its threads than the work takes. Shares of a variance of 0 are not used.
            with single_threaded_blas(), np.errstate(invalid="ignore", divide="ignore"):
                self.projections_.append(svd.fit(weights.transform(counts)))
            self.weights_.append(weights)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The latent columns."""
        check_is_fitted(self)
        found = [np.empty((len(X), 0), dtype=np.float32)]
        for name, weights, svd in zip(X.columns, self.weights_, self.projections_, strict=True):
            texts = X[name].cat.categories.tolist()
            projected = np.full((len(texts) + 1, svd.components_.shape[0]), np.nan, dtype=np.float32)
            for low in range(0, len(texts), _PORTION):
                counts = hashed_trigrams(texts[low : low + _PORTION], _TRIGRAM_COLUMNS)
                projected[low : low + counts.shape[0]] = svd.transform(weights.transform(counts))
            found.append(projected[X[name].cat.codes])
        return np.hstack(found)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "title: text 3".

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        pairs = zip(self.names_, self.projections_, strict=True)
        return np.array([f"{name}: text {k}" for name, svd in pairs for k in range(len(svd.components_))], dtype=object)
