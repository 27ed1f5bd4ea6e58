"""Parquet files: which ones a path means, what is in them, and their rows in pieces of moderate size."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from uneven.errors import UnevenError, needs_extra
from uneven.inputs import brief
from uneven.parts.sources import MappedFile

_ENDINGS = (".parquet", ".pq")
#: Row groups above this many bytes are read in pieces.
_LARGE = 128 * 2**20


def parquet() -> Any:
    """pyarrow.parquet, or an error that names the extra."""
    with needs_extra("Parquet files", "data"):
        import pyarrow.parquet as module
    return module


def paths_of(given: Any) -> list[str]:
    """The files that a path, a pattern, a folder or a list of them means, in alphabetical order."""
    found: list[str] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        text = os.fspath(one)
        if os.path.isdir(text):
            inside = sorted(str(path) for ending in _ENDINGS for path in Path(text).glob(f"*{ending}"))
            if not inside:
                raise UnevenError(f"the folder {text!r} has no file that ends in .parquet")
        elif os.path.exists(text):
            inside = [text]
        else:
            inside = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
            if not inside:
                raise UnevenError(f"there is no file {text!r}; give a Parquet file, a folder or a pattern of files")
        found += inside
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Piece:
    """Row groups of a file that are read at once, or in pieces if one is large."""

    file: int
    groups: tuple[int, ...]
    rows: int
    large: bool


class ParquetFiles:
    """Files with the same columns.

    Parameters
    ----------
    given : str, path or list of them
    """

    def __init__(self, given: Any) -> None:
        self.paths = paths_of(given)
        self._states = [self._state(path) for path in self.paths]
        self._metadata = [self._open(path, path).metadata for path in self.paths]
        self._of_thread, self._lock = threading.local(), threading.Lock()
        #: Files that a thread has open.
        self._mapped: WeakValueDictionary[int, MappedFile] = WeakValueDictionary()

    def __str__(self) -> str:
        return self.paths[0] if len(self.paths) == 1 else f"{self.paths[0]} and {len(self.paths) - 1} more files"

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(sum(data.num_rows for data in self._metadata))

    @cached_property
    def largest_group(self) -> int:
        """Bytes of the largest row group that is read at once."""
        sizes = (data.row_group(k).total_byte_size for data in self._metadata for k in range(data.num_row_groups))
        return max((int(size) for size in sizes if size <= _LARGE), default=0)

    @cached_property
    def schema(self) -> Any:
        """Columns of the files; an error if they differ."""
        schemas = [data.schema.to_arrow_schema().remove_metadata() for data in self._metadata]
        for path, schema in zip(self.paths, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise UnevenError(f"{path} has other columns than {self.paths[0]}: {_difference(schemas[0], schema)}")
        return schemas[0]

    def is_full_and_varies(self, column: int) -> bool:
        """Whether the files say that a column misses no value and has several; columns are counted as leaves."""
        low: Any = None
        high: Any = None
        for data in self._metadata:
            for group in range(data.num_row_groups):
                statistics = data.row_group(group).column(column).statistics
                if statistics is None or not statistics.has_null_count or statistics.null_count:
                    return False
                if statistics.has_min_max:
                    low = statistics.min if low is None else min(low, statistics.min)
                    high = statistics.max if high is None else max(high, statistics.max)
        return low is not None and low < high

    def pieces(self, rows: int) -> list[Piece]:
        """Row groups put together until there are so many rows."""
        found = []
        for number, data in enumerate(self._metadata):
            groups: list[int] = []
            count = 0
            for group in range(data.num_row_groups):
                about = data.row_group(group)
                if not about.num_rows:
                    continue
                if about.total_byte_size > _LARGE:
                    if groups:
                        found.append(Piece(number, tuple(groups), count, False))
                    found.append(Piece(number, (group,), about.num_rows, True))
                    groups, count = [], 0
                    continue
                groups.append(group)
                count += about.num_rows
                if count >= rows:
                    found.append(Piece(number, tuple(groups), count, False))
                    groups, count = [], 0
            if groups:
                found.append(Piece(number, tuple(groups), count, False))
        return found

    def read(self, piece: Piece, columns: list[str], rows: int, threads: bool) -> Iterator[tuple[str, Any]]:
        """Tables of at most so many rows, and where each is from."""
        path, at = self.paths[piece.file], 0
        opened, mapped = self._file(piece.file)
        for table in self._tables(opened, path, piece, columns, rows, threads):
            for lo in range(0, table.num_rows, rows):
                part = table.slice(lo, rows)
                yield f"{path}, row group {piece.groups[0]}, from its row {at} on", part
                at += part.num_rows
        mapped.release(*_range(self._metadata[piece.file], piece.groups))

    def _tables(
        self, opened: Any, path: str, piece: Piece, columns: list[str], rows: int, threads: bool
    ) -> Iterator[Any]:
        import pyarrow as pa

        try:
            if piece.large:
                groups = list(piece.groups)
                for batch in opened.iter_batches(rows, row_groups=groups, columns=columns, use_threads=threads):
                    yield pa.Table.from_batches([batch])
            else:
                yield opened.read_row_groups(list(piece.groups), columns=columns, use_threads=threads)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise UnevenError(
                f"{path} cannot be read at row group {piece.groups[0]}: {_first_line(error)}; the file is damaged or "
                "was not written to its end"
            ) from None

    def _file(self, number: int) -> tuple[Any, MappedFile]:
        """A file, opened for this thread alone, and its mapping, which threads share."""
        last = getattr(self._of_thread, "last", None)
        if last is None or last[0] != number:
            path = self.paths[number]
            with self._lock:
                mapped = self._mapped.get(number)
                if mapped is None:
                    try:
                        mapped = self._mapped[number] = MappedFile(path)
                    except OSError as error:
                        raise UnevenError(f"{path} cannot be read: {error.strerror}") from None
            opened = self._open(path, mapped.open_reader(), self._metadata[number])
            last = self._of_thread.last = (number, opened, mapped)
        return last[1], last[2]

    def require_unchanged(self) -> None:
        """Raise if a file is not the one that was opened first."""
        for path, state in zip(self.paths, self._states, strict=True):
            if self._state(path) != state:
                raise UnevenError(
                    f"{path} changed while it was used; copy the files, or start again when nobody writes to them"
                )

    @staticmethod
    def _state(path: str) -> tuple[int, int]:
        try:
            found = os.stat(path)
        except OSError as error:
            raise UnevenError(f"{path} cannot be read: {error.strerror}") from None
        return found.st_size, found.st_mtime_ns

    @staticmethod
    def _open(path: str, source: Any, metadata: Any = None) -> Any:
        import_of = parquet()
        import pyarrow as pa

        try:
            return import_of.ParquetFile(source, metadata=metadata)
        except (pa.ArrowException, OSError) as error:
            raise UnevenError(
                f"{path} is not a whole Parquet file ({_first_line(error)}); it may have been cut off, or is another "
                "kind of file"
            ) from None


def _range(metadata: Any, groups: tuple[int, ...]) -> tuple[int, int]:
    """Where the bytes of some row groups begin in their file, and how many they are."""
    chunks = [metadata.row_group(group).column(j) for group in groups for j in range(metadata.num_columns)]
    starts = [min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset) for chunk in chunks]
    ends = [start + chunk.total_compressed_size for start, chunk in zip(starts, chunks, strict=True)]
    return min(starts), max(ends) - min(starts)


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__


def _difference(first: Any, other: Any) -> str:
    a, b = ({field.name: str(field.type) for field in schema} for schema in (first, other))
    for name, kind in a.items():
        if name not in b:
            return f"it has no column {name!r}"
        if b[name] != kind:
            return f"its column {name!r} has the type {b[name]}, not {kind}"
    more = [name for name in b if name not in a]
    return f"it has a further column {more[0]!r}" if more else f"their order is {brief(list(b))}"
