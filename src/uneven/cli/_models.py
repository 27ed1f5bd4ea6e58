"""Model files: written with skops (no pickle), with the version, the columns and the costs of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import uneven
from uneven.cli._trusted_types import TRUSTED_TYPES
from uneven.errors import UnevenError

FORMAT = "uneven-model/3"
_PARTS = ("pipeline", "preprocessing", "about", "rivals", "seen")


def model_bytes(content: dict[str, Any]) -> bytes:
    """The bytes of a model file."""
    from skops import io

    return io.dumps({"format": FORMAT, "version": uneven.__version__, **content})


def read_model(path: str) -> dict[str, Any]:
    """The content of a model file; a file with types that `uneven fit` never writes is not opened."""
    from skops import io

    data = Path(path).read_bytes()
    try:
        used = io.get_untrusted_types(data=data)
        foreign = sorted(set(used) - TRUSTED_TYPES)
        if foreign:
            raise UnevenError(
                f"{path} is not opened: it holds types that `uneven fit` never writes, {', '.join(foreign[:4])}"
            )
        content = io.loads(data, trusted=used)
    except UnevenError:
        raise
    except Exception as error:  # skops raises many types of error for a foreign file
        raise UnevenError(f"{path} is not a model written by `uneven fit`: {type(error).__name__}") from None
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
    return content
