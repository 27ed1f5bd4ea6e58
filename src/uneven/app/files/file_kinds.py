"""Which files are tables, where results can be written, and files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uneven._whole_files import whole_file, write_whole
from uneven.errors import UnevenError

__all__ = [
    "PARQUET",
    "READABLE",
    "TEXT",
    "WORKBOOK",
    "WRITABLE",
    "in_gigabytes",
    "is_many_files",
    "kind_of",
    "parsing",
    "require_content",
    "require_growth",
    "require_output",
    "require_unpackable",
    "usable_memory",
    "whole_file",
    "write_whole",
]

TEXT = (".csv", ".tsv", ".txt")
WORKBOOK = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
READABLE = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz", ".xlsx", ".parquet", ".pq")
WRITABLE = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".pq")

_HTML = (b"<!doctype html", b"<html", b"<table", b"<head", b"<body", b"<!--")
#: A text table takes about this many times its size in memory while it is read.
_MEMORY_OF_TEXT = 6
#: A packed file above this size that grows more than so many times when it is unpacked is taken for a bomb: tables and
#: models seldom pack to a hundredth, and one byte of an archive can stand for a thousand.
_LARGE_UNPACKED, _MOST_GROWTH = 32 * 1024**2, 100


def kind_of(path: str) -> str:
    """ "text", "workbook" or "parquet", by the ending; an error if the content is obviously something else."""
    file = Path(path)
    name = file.name.lower()
    ending = next((e for e in (".xls", ".xlsb", ".ods") if name.endswith(e)), None)
    if ending is not None:
        raise UnevenError(f"{path} ends in {ending}, which is not read; open it in its program and save it as .xlsx")
    plain = name.removesuffix(".gz")
    if plain.endswith(TEXT):
        kind = "text"
    elif name.endswith(WORKBOOK):
        kind = "workbook"
    elif name.endswith(PARQUET):
        kind = "parquet"
    else:
        raise UnevenError(f"a table is a file that ends in one of {', '.join(READABLE)}, got {path!r}")
    with file.open("rb") as opened:
        start = opened.read(512)
    require_content(path, kind, start)
    _require_memory(path, file.stat().st_size if kind == "text" else 0)
    return kind


def is_many_files(path: str) -> bool:
    """Whether a path means several Parquet files: a folder, or a pattern such as data/*.parquet."""
    if os.path.isdir(path):
        return True
    return not os.path.exists(path) and any(sign in path for sign in "*?[") and path.lower().endswith(PARQUET)


def require_content(path: str, kind: str, start: bytes) -> None:
    """Refuse a file that is empty, or whose first bytes belong to another kind of file."""
    if not start:
        raise UnevenError(f"{path} is empty")
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_HTML):
        raise UnevenError(f"{path} is a web page (HTML), not a table; export the table as .csv or .xlsx")
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnevenError(
            f"{path} is an old Excel file (.xls) or has a password; save it as .xlsx without a password, or as .csv"
        )
    found = {b"PK\x03\x04": "workbook", b"PAR1": "parquet"}.get(start[:4], "text")
    if found == kind:
        return
    if found == "workbook":
        raise UnevenError(f"{path} is an Excel workbook or a zip file; if it is a workbook, rename it to end in .xlsx")
    if found == "parquet":
        raise UnevenError(f"{path} is a Parquet file; rename it to end in .parquet")
    wanted = "an Excel workbook" if kind == "workbook" else "a Parquet file"
    raise UnevenError(f"{path} is not {wanted}, though its name says so; a text table ends in .csv or .tsv")


@contextmanager
def parsing(path: str, what: str) -> Iterator[None]:
    """Errors of another library's parser become one sentence: for a damaged or forged file it may raise any type."""
    try:
        yield
    except UnevenError:
        raise
    except MemoryError:
        raise UnevenError(f"{path} needs more memory than there is; use fewer rows or columns") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        because = f": {reason}" if " " in reason else ""  # the message of a KeyError is only the key
        raise UnevenError(
            f"{path} is not a readable {what}{because}; it is damaged, or was not written to its end"
        ) from None


def require_unpackable(path: str, what: str, raw: bytes | None = None) -> None:
    """Refuse an archive (zip) whose content would be far larger than the file, or than the bytes if they are given.

    What the directory of an archive declares is the most that is read of it.
    """
    with parsing(path, what), zipfile.ZipFile(path if raw is None else io.BytesIO(raw)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    require_growth(path, os.path.getsize(path) if raw is None else len(raw), unpacked)


def require_growth(path: str, packed: int, unpacked: int) -> None:
    """Refuse a packed file that becomes suspiciously large, or too large for the machine."""
    if unpacked > max(_LARGE_UNPACKED, _MOST_GROWTH * packed):
        raise UnevenError(
            f"{path} is not opened: unpacked it has more than {_MOST_GROWTH} times its size, as files have that are "
            "made to fill the memory; if you trust it, unpack it and save it again"
        )
    _require_memory(path, unpacked)


def _require_memory(path: str, size: int) -> None:
    if size * _MEMORY_OF_TEXT > usable_memory():
        raise UnevenError(
            f"{path} has {in_gigabytes(size)}, too much for the memory of this machine; use fewer rows or columns, or "
            "Parquet"
        )


def usable_memory() -> int:
    """Bytes that a command may use: those that are free now."""
    from uneven.parts.sources import available_memory

    return available_memory()


def file_hash(path: str) -> str | None:
    """The SHA-256 of a file; None of several files."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def in_gigabytes(size: float) -> str:
    """A number of bytes for a reader."""
    return f"{size / 1024**3:.1f} GB"


def require_output(path: str, endings: tuple[str, ...] = (), *, inputs: tuple[str, ...] = ()) -> None:
    """Refuse an output that could not be written, or would replace one of the files that are read.

    What is written must end in one of the endings, if any are given.
    """
    target = Path(path)
    if endings and not target.name.lower().endswith(endings):
        raise UnevenError(f"predictions are written to a file that ends in {_listed(endings)}, got {path!r}")
    if target.is_dir():
        raise UnevenError(f"{path} is a folder; give the name of a file to write")
    if not target.parent.is_dir():
        raise UnevenError(f"there is no folder {str(target.parent)!r} to write {target.name!r} to; make it first")
    if not os.access(target.parent, os.W_OK):
        raise UnevenError(f"{path} cannot be written: the folder {str(target.parent)!r} is read-only")
    if target.exists() and any(Path(given).exists() and target.samefile(given) for given in inputs):
        raise UnevenError(f"{path} is a file that is read here and would be replaced; give another name to write")


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
