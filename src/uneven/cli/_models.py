"""Model files: written with skops (no pickle), with the version, the columns and the costs of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import uneven
from uneven.cli._trusted_types import TRUSTED_TYPES
from uneven.errors import UnevenError
from uneven.tables.files import parsing, require_unpackable

FORMAT = "uneven-model/3"
_WHAT = "model of `uneven fit`"
_PARTS = ("pipeline", "preprocessing", "about", "rivals", "seen")


def model_bytes(content: dict[str, Any]) -> bytes:
    """The bytes of a model file."""
    from skops import io

    if "about" in content:  # one text: skops takes long for each object of thousands of columns
        content = {**content, "about": json.dumps(content["about"])}
    return io.dumps({"format": FORMAT, "version": uneven.__version__, **content})


def read_model(path: str) -> dict[str, Any]:
    """The content of a model file; a file with types that `uneven fit` never writes is not opened."""
    from skops import io

    with Path(path).open("rb") as file:
        if file.read(2) != b"PK":
            raise UnevenError(f"{path} is not a model written by `uneven fit`")
    require_unpackable(path, _WHAT)
    data = Path(path).read_bytes()
    with parsing(path, _WHAT):
        used = io.get_untrusted_types(data=data)
        foreign = sorted(set(used) - TRUSTED_TYPES)
        if foreign:
            raise UnevenError(
                f"{path} is not opened: it holds types that `uneven fit` never writes, {', '.join(foreign[:4])}"
            )
        content = io.loads(data, trusted=used)
    if not isinstance(content, dict) or content.get("format") != FORMAT or "version" not in content:
        raise UnevenError(f"{path} is not a model written by `uneven fit` of this version")
    made, here = str(content["version"]).split(".")[:2], uneven.__version__.split(".")[:2]
    if made != here:
        raise UnevenError(
            f"{path} was made by version {content['version']}, this is {uneven.__version__}; fit the model again, or "
            "install that version"
        )
    lacking = [name for name in _PARTS if name not in content]
    if lacking:
        raise UnevenError(f"{path} is not a whole model of `uneven fit`: it lacks {', '.join(lacking)}; fit it again")
    with parsing(path, _WHAT):
        content["about"] = json.loads(content["about"])
    return content


def applying(command: Callable[..., None]) -> Callable[..., None]:
    """Make one sentence of the errors of a model that could be read but does not fit together; for commands.

    Arrays of a file may have been exchanged, or other versions of the libraries may expect others; then any method of
    the model may raise any type of error.
    """

    @wraps(command)
    def run(model: str, **options: Any) -> None:
        try:
            command(model=model, **options)
        except (UnevenError, OSError):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise UnevenError(
                f"the model in {model} cannot be applied ({reason}); "
                "if the file was changed, or its libraries have other versions than at the fit, fit the model again"
            ) from error

    return run
