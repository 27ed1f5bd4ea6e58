"""Sparse matrices in the form that LightGBM and CatBoost know."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def known_sparse(X: Any) -> Any:
    """A sparse array as a CSR matrix with short indices; anything else as it is."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X)
    if X.indices.dtype != np.int32 and max(X.shape[1], X.nnz) < 2**31:
        X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X
