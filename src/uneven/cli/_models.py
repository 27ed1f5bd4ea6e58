"""Models in files: skops, no pickle; with the version, the columns and the costs they were made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import uneven
from uneven.errors import UnevenError

FORMAT = "uneven-model/1"


def model_bytes(content: dict[str, Any]) -> bytes:
    """A model with what is known about it, as the bytes of a file."""
    from skops import io

    return io.dumps({"format": FORMAT, "version": uneven.__version__, **content})


def read_model(path: str) -> dict[str, Any]:
    """A model and what is known about it; types that this library does not write are refused."""
    from skops import io

    data = Path(path).read_bytes()
    try:
        foreign = [name for name in io.get_untrusted_types(data=data) if not _is_ours(name)]
        if foreign:
            raise UnevenError(
                f"{path} holds types that no model of ours has, and is not opened: {', '.join(foreign[:4])}"
            )
        content = io.loads(data, trusted=io.get_untrusted_types(data=data))
    except UnevenError:
        raise
    except Exception as error:  # skops raises many kinds for a file that it did not write
        raise UnevenError(f"{path} is not a model written by `uneven fit`: {type(error).__name__}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UnevenError(f"{path} is not a model written by `uneven fit` of this version")
    made, here = str(content["version"]).split(".")[:2], uneven.__version__.split(".")[:2]
    if made != here:
        raise UnevenError(
            f"{path} was made by version {content['version']}, this is {uneven.__version__}; fit it again, or install "
            "that version"
        )
    return content


def _is_ours(name: str) -> bool:
    return name.startswith(("uneven.", "sklearn.", "numpy.", "scipy.sparse"))
