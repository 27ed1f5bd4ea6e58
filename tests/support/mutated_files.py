"""Files that were damaged or forged: bit flips, cuts, splices, members of archives swapped or huge; from a seed."""

from __future__ import annotations

import gzip
import io
import random
import re
import struct
import zipfile
from collections.abc import Callable

Change = Callable[[random.Random, bytes], bytes]

#: Texts that parsers treat in a special way.
_MARKED = (
    b"\x00",
    b'"',
    b"\n",
    b"\r",
    b",,,",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"&a;",
    b"]]>",
    b"1e999999",
    b"-9223372036854775809",
    b"9" * 400,
    b"NaN",
    b"null",
    b"[" * 3000,
    b'{"a":' * 300,
    b"=1+1",
)
_LIMITS = (0, 1, 0x7F, 0x7FFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF)


def _flipped(rng: random.Random, data: bytes) -> bytes:
    """Some bits are turned."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    """The end or the start is missing."""
    place = rng.randrange(len(data))
    return data[:place] if rng.random() < 0.7 else data[place:]


def _spliced(rng: random.Random, data: bytes) -> bytes:
    """A piece is removed, doubled, moved or replaced by zeros."""
    first, last = sorted(rng.choices(range(len(data) + 1), k=2))
    piece, place = data[first:last], rng.randrange(len(data))
    kind = rng.randrange(4)
    if kind == 0:
        return data[:first] + data[last:]
    if kind == 1:
        return data[:place] + piece[:5000] + data[place:]
    if kind == 2:
        rest = data[:first] + data[last:]
        return rest[:place] + piece + rest[place:]
    return data[:first] + bytes(len(piece)) + data[last:]


def _marked(rng: random.Random, data: bytes) -> bytes:
    """A text that parsers treat in a special way is put somewhere."""
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_MARKED) + data[place + rng.choice((0, 0, 1, 4)) :]


def _limited(rng: random.Random, data: bytes) -> bytes:
    """A length or a count is at the end of its range: sizes that a file declares are such numbers."""
    value, width = rng.choice(_LIMITS), rng.choice((1, 2, 4, 8))
    number = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    place = rng.randrange(max(1, len(data) - width))
    return data[:place] + number + data[place + width :]


BYTES: tuple[Change, ...] = (_flipped, _cut, _spliced, _marked, _limited)


def _repacked(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def _members(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _member_changed(rng: random.Random, data: bytes) -> bytes:
    """One member of an archive is changed, and its checksum is right again."""
    members = _members(data)
    k = rng.randrange(len(members))
    name, content = members[k]
    members[k] = (name, rng.choice(BYTES)(rng, content) if content else b"x")
    return _repacked(members)


def _members_swapped(rng: random.Random, data: bytes) -> bytes:
    """Two members have changed places, or one is missing."""
    members = _members(data)
    i, j = rng.randrange(len(members)), rng.randrange(len(members))
    if i == j:
        del members[i]
    else:
        (one, content), (two, other) = members[i], members[j]
        members[i], members[j] = (one, other), (two, content)
    return _repacked(members)


def _size_declared(rng: random.Random, data: bytes) -> bytes:
    """The directory of an archive declares another size of a member."""
    places = [found.start() for found in re.finditer(rb"PK\x01\x02", data)]
    at = rng.choice(places) + rng.choice((20, 24))  # packed or unpacked size
    return data[:at] + struct.pack("<I", rng.choice((0, 1, 1 << 20, 1 << 31, 0xFFFFFFFE, 0xFFFFFFFF))) + data[at + 4 :]


ARCHIVE: tuple[Change, ...] = (*BYTES, _member_changed, _members_swapped, _size_declared, _member_changed)


def _inner(rng: random.Random, data: bytes) -> bytes:
    """The packed content is changed."""
    return gzip.compress(rng.choice(BYTES)(rng, gzip.decompress(data)), mtime=0)


PACKED: tuple[Change, ...] = (*BYTES, _inner)


def mutants(data: bytes, changes: tuple[Change, ...], count: int, seed: int = 0) -> list[bytes]:
    """Changed copies of a file, one to three changes each; the same for the same seed."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        changed = rng.choice(changes)(rng, data)
        for _ in range(rng.choice((0, 0, 1, 2))):
            changed = rng.choice(BYTES)(rng, changed) if changed else changed
        found.append(changed)
    return found
