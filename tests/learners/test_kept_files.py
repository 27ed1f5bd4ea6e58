"""Files of learners that an earlier version saved with plain skops: they are opened, and decide as they did."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import skops.io
from make_learner_files import ANSWERS, FOLDER, KINDS, rows

import uneven


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_file_of_an_earlier_version_is_opened_and_decides_as_it_did(kind: str) -> None:
    """``make_learner_files.py`` made it; ``trusted_types`` is all that its reader needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, about files of their other versions
        model = skops.io.load(FOLDER / f"{kind}.skops", trusted=uneven.trusted_types())
    X, known = rows()[0], json.loads(ANSWERS.read_text())[kind]
    assert model.predict(X).tolist() == known["predict"]
    assert np.allclose(model.decision_function(X), known["score"], rtol=1e-6, atol=1e-9)


def test_every_public_estimator_has_a_file() -> None:
    public = {name for name in uneven.__all__ if name.startswith("Uneven") and name != "UnevenMarginLoss"}
    assert {type(make()).__name__ for make in KINDS.values()} == public
    assert {path.stem for path in Path(FOLDER).glob("*.skops")} == set(KINDS)
