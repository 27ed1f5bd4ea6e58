"""Model files of this version, of others, and files that are none."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner, Result
from make_model_file import COSTS, MODEL, TABLE
from sklearn.linear_model import LogisticRegression

import uneven
from uneven.app.cli.main import main
from uneven.app.models.model_files import FORMAT, model_bytes, read_model
from uneven.errors import UnevenError


def run(*arguments: object) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # a sentence on stderr, as for a user
        return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(path: Path, tmp_path: Path) -> str:
    """What the command says; it writes nothing."""
    result = run("predict", path, TABLE, "-o", tmp_path / "p.csv")
    assert result.exit_code == 2, result.output
    assert not (tmp_path / "p.csv").exists()
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr


def header(data: bytes) -> dict[str, Any]:
    with ZipFile(BytesIO(data)) as archive:
        return dict(json.loads(archive.read("uneven.json")))


def with_header(data: bytes, text: str) -> bytes:
    buffer = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, text if name == "uneven.json" else old.read(name))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file that was made just now."""
    path = tmp_path_factory.mktemp("models") / "m.skops"
    result = run(
        "fit",
        TABLE,
        *COSTS,
        "--drop",
        "prediction",
        "--drop",
        "score",
        "--quick",
        "--members",
        "linear,lightgbm",
        "-o",
        path,
    )
    assert result.exit_code == 0, result.output
    return path


def test_a_file_of_an_earlier_version_is_opened(tmp_path: Path) -> None:
    """``make_model_file.py`` made it. If it cannot be opened any more, the format must change."""
    result = run("predict", MODEL, TABLE, "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    found, expected = pd.read_csv(tmp_path / "p.csv"), pd.read_csv(TABLE)
    assert found["prediction"].tolist() == expected["prediction"].tolist()
    assert np.allclose(found["score"], expected["score"], rtol=1e-5)


def test_the_header_tells_format_and_versions(made: Path) -> None:
    found = header(made.read_bytes())
    assert found["format"] == FORMAT
    used = ("numpy", "scikit-learn", "skops", "lightgbm")
    assert found["versions"] == {"uneven": uneven.__version__} | {name: version(name) for name in used}


def test_a_newer_format_is_refused(made: Path, tmp_path: Path) -> None:
    """Before any object is made: it may hold types that this version does not know."""
    newer = tmp_path / "newer.skops"
    versions = {"uneven": "7.1.0", "abacus": "3"}
    newer.write_bytes(with_header(made.read_bytes(), json.dumps({"format": FORMAT + 1, "versions": versions})))
    said = refused(newer, tmp_path)
    assert f"newer.skops has a newer format ({FORMAT + 1}, by uneven 7.1.0) than version {uneven.__version__} " in said
    assert "install that version, or fit the model again" in said


def test_other_versions_are_a_warning_and_a_missing_library_an_error(made: Path, tmp_path: Path) -> None:
    other, data = tmp_path / "other.skops", made.read_bytes()
    versions = header(data)["versions"]
    told = {"format": FORMAT, "versions": {**versions, "scikit-learn": "1.2.3", "uneven": "0.0.1"}}
    other.write_bytes(with_header(data, json.dumps(told)))
    result = run("predict", other, TABLE, "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "p.csv").exists()
    (said,) = result.stderr.strip().splitlines()
    assert f"was made with uneven 0.0.1 (here {uneven.__version__}), scikit-learn 1.2.3 (here " in said
    (tmp_path / "p.csv").unlink()
    told["versions"] = {**versions, "abacus": "3.1"}
    other.write_bytes(with_header(data, json.dumps(told)))
    assert "needs abacus, which is not installed; pip install abacus==3.1" in refused(other, tmp_path)


def test_files_that_are_no_models_get_a_sentence(made: Path, tmp_path: Path) -> None:
    bad, data = tmp_path / "bad.skops", made.read_bytes()
    broken = {
        "is not a model written by `uneven fit`": [b"", b"noise"],
        "is not a readable model of `uneven fit`": [data[: len(data) // 2]],
        "is not a model written by `uneven fit`: it has no header of one": [
            with_header(data, "{"),
            with_header(data, "[]"),
            with_header(data, json.dumps({"format": FORMAT, "versions": 3})),
        ],
        "or was written by version 0.2.0 or older; fit it again": [skops.io.dumps({"format": "uneven-model/3"})],
        "has another format ('x', by uneven ?)": [with_header(data, json.dumps({"format": "x"}))],
        "it holds types that `uneven fit` never writes, pathlib": [model_bytes({"pipeline": Path})],
        "it holds [1, 2]": [model_bytes([1, 2])],  # type: ignore[arg-type]
        "it lacks pipeline, preprocessing": [model_bytes({})],
    }
    for sentence, files in broken.items():
        for content in files:
            bad.write_bytes(content)
            assert sentence in refused(bad, tmp_path)


def test_a_damaged_file_of_another_version_names_the_version(made: Path, tmp_path: Path) -> None:
    """A state that a learner of another version does not know ends in a sentence, too."""
    bad, data = tmp_path / "bad.skops", made.read_bytes()
    told = header(data)
    for versions, sentence in (
        ({}, "its content is damaged"),
        ({"uneven": "0.0.1"}, "it was made with uneven 0.0.1 ("),
    ):
        text = json.dumps({**told, "versions": {**told["versions"], **versions}})
        buffer = BytesIO()
        with ZipFile(BytesIO(data)) as old, ZipFile(buffer, "w") as new:
            for name in old.namelist():
                changed = old.read(name).replace(b'"loss"', b'"lost"').replace(b"__class__", b"__klass__")
                new.writestr(name, text if name == "uneven.json" else changed)
        bad.write_bytes(buffer.getvalue())
        with pytest.raises(UnevenError, match="cannot be opened") as raised:
            read_model(str(bad))
        assert sentence in str(raised.value)


LEARNERS = [name for name in uneven.__all__ if hasattr(getattr(uneven, name), "predict")]


@pytest.mark.parametrize("name", LEARNERS)
def test_trusted_types_are_enough_for_every_learner(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    kind = getattr(uneven, name)
    required = [each for each in inspect.signature(kind).parameters.values() if each.default is each.empty]
    needed = [LogisticRegression() for each in required if each.kind is not each.VAR_KEYWORD]
    quick = {"members": ("linear",)} if "members" in inspect.signature(kind).parameters else {}
    model = kind(*needed, **quick).fit(X, y)
    copy = skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
    assert (copy.predict(X) == model.predict(X)).all()


def test_every_trusted_type_exists() -> None:
    """A type that was renamed or removed leaves the list."""
    for name in uneven.trusted_types():
        module, _, attribute = name.rpartition(".")
        assert hasattr(pytest.importorskip(module), attribute), name


@pytest.mark.slow
def test_a_file_is_read_without_libraries_of_arrays() -> None:
    """PyTorch alone takes seconds to import, and no model file needs it."""
    code = (
        "import sys; from uneven.app.models.model_files import read_model; read_model(sys.argv[1]); "
        "assert not {'torch', 'dask', 'cupy'} & set(sys.modules); import torch; assert torch.ones(1)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(MODEL)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
