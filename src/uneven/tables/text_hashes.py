"""Hashes of texts, of their words and of their trigrams, for all texts at once.

scikit-learn's HashingVectorizer does the same text by text, in Python; this takes a tenth of its time. The functions
work on the bytes (UTF-8) of many texts in a row, in portions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: Characters of a text that count; the rest of a longer one is not read.
MOST_CHARACTERS = 1000
_PORTION = 5000
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


def text_hashes(texts: Sequence[str]) -> np.ndarray:
    """A number (uint64) for each text; different texts have different ones, up to a chance of 1 in 2**64 per pair."""
    found = [np.empty(0, dtype=np.uint64)]
    for low in range(0, len(texts), _PORTION):
        data, ends = _joined(texts[low : low + _PORTION], "")
        starts = np.append(0, ends[:-1])
        found.append(_mixed(_span_hashes(data, starts, ends) + (ends - starts).astype(np.uint64)))
    return np.concatenate(found)


def hashed_words(texts: Sequence[str], width: int) -> Any:
    """How often each word occurs in each text: a CSR matrix of float32 with ``width`` columns."""
    return _stacked(texts, width, _words)


def rows_with_words(texts: dict[str, int], buckets: int) -> np.ndarray:
    """In how many rows each hashed word occurs."""
    if not buckets:
        return np.empty(0)
    words = hashed_words(list(texts), buckets)
    rows = np.fromiter(texts.values(), dtype=np.float64, count=len(texts))
    return np.bincount(words.indices, weights=np.repeat(rows, np.diff(words.indptr)), minlength=buckets)


def hashed_trigrams(texts: Sequence[str], width: int) -> Any:
    """How often three neighbouring bytes occur in each text, with a space around it; see :func:`hashed_words`."""
    return _stacked(texts, width, _trigrams)


Parts = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _stacked(texts: Sequence[str], width: int, parts: Parts) -> Any:
    from scipy.sparse import csr_matrix, vstack

    found = [csr_matrix((0, width), dtype=np.float32)]
    for low in range(0, len(texts), _PORTION):
        short = texts[low : low + _PORTION]
        if max(map(len, short)) > MOST_CHARACTERS:
            short = [text[:MOST_CHARACTERS] for text in short]
        hashes, indptr = parts(*_joined(short, " ", lower=True))
        indices = (hashes % np.uint64(width)).astype(np.int32)
        counts = csr_matrix((np.ones(indices.size, dtype=np.float32), indices, indptr), shape=(len(short), width))
        counts.sum_duplicates()
        found.append(counts)
    return vstack(found, format="csr")


def _joined(texts: Sequence[str], around: str, *, lower: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of all texts in a row, each with a space or nothing around it; and where each ends.

    With ``lower`` capital letters become small ones.
    """
    whole = around + (around + around).join(texts) + around if len(texts) else ""
    if whole.isascii():
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 2 * len(around)
        return np.frombuffer((whole.lower() if lower else whole).encode(), dtype=np.uint8), np.cumsum(sizes)
    if lower:
        texts = [text.lower() for text in texts]
    pieces = [(around + text + around).encode("utf-8", errors="surrogatepass") for text in texts]
    sizes = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    return np.frombuffer(b"".join(pieces), dtype=np.uint8), np.cumsum(sizes)


def _words(data: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of the words, and where those of each text begin. A word: letters, digits, and all beyond ASCII."""
    letter = np.zeros(256, dtype=bool)
    letter[[*range(48, 58), *range(65, 91), *range(97, 123), *range(128, 256)]] = True
    change = np.flatnonzero(np.diff(letter[data].view(np.int8))) + 1  # each text begins and ends with a space
    starts, stops = change[::2], change[1::2]
    return _mixed(_span_hashes(data, starts, stops)), np.append(0, np.searchsorted(starts, ends))


def _trigrams(data: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of the trigrams, and where those of each text begin; none reaches into the next text."""
    within = np.ones(data.size, dtype=bool)
    within[ends - 1] = within[ends - 2] = False
    first = np.flatnonzero(within)
    wide = data.astype(np.uint64)
    hashes = _mixed(wide[first] << np.uint64(16) | wide[first + 1] << np.uint64(8) | wide[first + 2])
    return hashes, np.append(0, np.searchsorted(first, ends))


def _span_hashes(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The sum of (byte + 1) * base**place of each span, counted from its start: differences of cumulative sums."""
    powers = _powers(_BASE, data.size)
    total = np.append(np.uint64(0), np.cumsum((data + np.uint64(1)) * powers, dtype=np.uint64))
    return (total[ends] - total[starts]) * _powers(_INVERSE, data.size + 1)[starts]


def _powers(base: int, count: int) -> np.ndarray:
    """base**0, base**1, ... modulo 2**64."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Spread the bits (SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
