"""Make one small skops file per kind of learner, which later versions must open.

Run it (``python tests/support/make_learner_files.py``) again only if an old file may no longer be opened, which users
must be told: name the kinds that are to be made again. The answers of all kinds are in one JSON file beside them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import skops.io
from sklearn.linear_model import LogisticRegression

import uneven

FOLDER = Path(__file__).parent.parent / "reference" / "learners"
ANSWERS = FOLDER / "answers.json"

#: Every public estimator, by the name of its file.
KINDS: dict[str, Callable[[], Any]] = {
    "adaboost": lambda: uneven.UnevenAdaBoostClassifier(fn_cost=5, n_estimators=5),
    "cascade": lambda: uneven.UnevenCascadeClassifier(fn_cost=5),
    "catboost": lambda: uneven.UnevenCatBoostClassifier(
        fn_cost=5, iterations=5, verbose=0, allow_writing_files=False, thread_count=1
    ),
    "ensemble": lambda: uneven.UnevenEnsembleClassifier(fn_cost=5, members=["linear", "lightgbm"], random_state=0),
    "lightgbm": lambda: uneven.UnevenLGBMClassifier(fn_cost=5, n_estimators=5, verbose=-1),
    "linear": lambda: uneven.UnevenLinearClassifier(fn_cost=5),
    "multinomial": uneven.UnevenMultinomialClassifier,
    "perceptron": uneven.UnevenPerceptron,
    "search": lambda: uneven.UnevenClassifierCV(uneven.UnevenLinearClassifier(fn_cost=5)),
    "svc": lambda: uneven.UnevenSVC(fn_cost=5),
    "threshold": lambda: uneven.UnevenThresholdClassifierCV(LogisticRegression(), fn_cost=5),
    "xgboost": lambda: uneven.UnevenXGBClassifier(fn_cost=5, n_estimators=5),
}


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from, and to ask about."""
    random = np.random.default_rng(30)
    X = random.normal(size=(60, 3)).round(2)
    return X, (X[:, 0] + 0.5 * random.normal(size=60) > 0.3).astype(int)


def make(kinds: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    answers = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    X, y = rows()
    for kind in kinds:
        model = KINDS[kind]().fit(X, y)
        (FOLDER / f"{kind}.skops").write_bytes(_smaller(skops.io.dumps(model)))
        answers[kind] = {"predict": model.predict(X).tolist(), "score": model.decision_function(X).tolist()}
    ANSWERS.write_text(json.dumps(dict(sorted(answers.items())), indent=None) + "\n")


def _smaller(data: bytes) -> bytes:
    """The same archive, compressed."""
    buffer = BytesIO()
    with ZipFile(BytesIO(data)) as plain, ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    return buffer.getvalue()


if __name__ == "__main__":
    make(sys.argv[1:] or sorted(KINDS))
