"""Model files: written with skops (no pickle), with a header that any version can read.

The header is a small JSON file within the archive. It says which format the file has, and which versions of this and
of other libraries made it. So a file of another version is opened, or refused with the reason, before any object is
made.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import uneven
from uneven.app.files.file_kinds import parsing, require_unpackable
from uneven.errors import UnevenError
from uneven.inputs import brief

#: Changes when a model file of an older version can no longer be opened: when what is in it, or the state of a learner,
#: is another. A test opens a file of this format that was made earlier.
FORMAT = 5
_HEADER = "uneven.json"
_WHAT = "model of `uneven fit`"
_PARTS = ("pipeline", "preprocessing", "about", "rivals", "seen")
#: Libraries whose objects are in every file, and those whose objects are in some, by the package of their types.
_ALWAYS = ("numpy", "scikit-learn", "skops")
_SOMETIMES = ("catboost", "lightgbm", "xgboost")
#: Libraries of arrays that scikit-learn knows. No model file needs one.
_FOR_ARRAYS = ("cupy", "dask", "torch")


def model_bytes(content: dict[str, Any]) -> bytes:
    """The bytes of a model file."""
    io = _skops()
    if "about" in content:  # one text: skops takes long for each object of thousands of columns
        content = {**content, "about": json.dumps(content["about"])}
    data = io.dumps(content)
    buffer = BytesIO(data)
    with ZipFile(buffer, "a") as archive:
        archive.writestr(_HEADER, json.dumps(_header(io.get_untrusted_types(data=data)), indent=1))
    return buffer.getvalue()


def _skops() -> Any:
    """The module ``skops.io``, without the seconds that PyTorch takes.

    When it is imported, skops asks scikit-learn for all its classes. That walk imports every package of scikit-learn,
    also those for arrays of other libraries, and these libraries with them.
    """
    sys.meta_path.insert(0, _ABSENT)
    try:
        from skops import io
    finally:
        sys.meta_path.remove(_ABSENT)
    return io


class _Absent(MetaPathFinder):
    """While it is the first to be asked, libraries of arrays cannot be found; those already imported stay."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in _FOR_ARRAYS:
            raise ModuleNotFoundError(f"{fullname} is not needed", name=fullname)


_ABSENT = _Absent()


def _header(types: Iterable[str]) -> dict[str, Any]:
    packages = {name.partition(".")[0] for name in types}
    libraries = [*_ALWAYS, *(name for name in _SOMETIMES if name in packages)]
    versions = {"uneven": uneven.__version__} | {name: version(name) for name in libraries}
    return {"format": FORMAT, "versions": versions}


def read_model(path: str) -> dict[str, Any]:
    """The content of a model file, with the ``sha256`` of its bytes and the ``versions`` that made it.

    A file of another format, with types that `uneven fit` never writes, or that needs a library that is not installed,
    is refused. If it was made with other versions, a warning says so.
    """
    with Path(path).open("rb") as file:
        if file.read(2) != b"PK":
            raise UnevenError(f"{path} is not a model written by `uneven fit`")
    require_unpackable(path, _WHAT)
    data = Path(path).read_bytes()
    made = _versions(path, data)
    others = _other_versions(path, made)
    content = _load(path, data, others)
    lacking = [name for name in _PARTS if name not in content]
    if lacking:
        raise UnevenError(f"{path} is not a whole model of `uneven fit`: it lacks {', '.join(lacking)}; fit it again")
    with parsing(path, _WHAT):
        content["about"] = json.loads(content["about"])
    content["versions"] = made
    content["sha256"] = hashlib.sha256(data).hexdigest()
    if others:
        warnings.warn(f"{path} was made with {others}; if that matters to you, fit it again", UserWarning, stacklevel=2)
    return content


def _versions(path: str, data: bytes) -> dict[str, str]:
    """The versions that the header tells, if the file has the format of this version."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            older = _HEADER not in archive.namelist() and "schema.json" in archive.namelist()
            header = {} if older else json.loads(archive.read(_HEADER))
            written, made = header.get("format", 0), dict(header.get("versions", {}))
    except Exception:  # an archive can be damaged in many ways
        raise UnevenError(f"{path} is not a model written by `uneven fit`: it has no header of one") from None
    if older:
        raise UnevenError(
            f"{path} is not a model written by `uneven fit`, or was written by version 0.2.0 or older; fit it again"
        )
    if written != FORMAT:
        which = "a newer" if isinstance(written, int) and written > FORMAT else "another"
        raise UnevenError(
            f"{path} has {which} format ({brief(written)}, by uneven {made.get('uneven', '?')}) than version "
            f"{uneven.__version__} reads ({FORMAT}); install that version, or fit the model again"
        )
    return {str(name): str(number) for name, number in made.items()}


def _other_versions(path: str, made: dict[str, str]) -> str:
    """In which versions the libraries here differ from those of the fit, in words; empty if in none."""
    differing = []
    for name, then in made.items():
        try:
            now = uneven.__version__ if name == "uneven" else version(name)
        except PackageNotFoundError:
            raise UnevenError(f"{path} needs {name}, which is not installed; pip install {name}=={then}") from None
        if now != then:
            differing.append(f"{name} {then} (here {now})")
    return ", ".join(differing)


def _load(path: str, data: bytes, others: str) -> dict[str, Any]:
    """The objects of the file, if all are of known types."""
    io = _skops()
    try:
        foreign = sorted(set(io.get_untrusted_types(data=data)) - set(uneven.trusted_types()))
        if not foreign:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # our own sentence tells about versions
                content = io.loads(data, trusted=uneven.trusted_types())
    except Exception:  # skops, and learners of another version, raise many types of error
        reason = f"it was made with {others}" if others else "its content is damaged"
        raise UnevenError(f"{path} cannot be opened: {reason}; fit the model again") from None
    if foreign:
        raise UnevenError(
            f"{path} is not opened: it holds types that `uneven fit` never writes, {', '.join(foreign[:4])}"
        )
    if not isinstance(content, dict):
        raise UnevenError(f"{path} is not a model written by `uneven fit`: it holds {brief(content)}")
    return content
