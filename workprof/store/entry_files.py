"""The files of one kept result.

`record.json` holds the record's tree, `arrays.npz` its arrays as they are in memory, `about.json` what was computed,
and `check.json` the digests of the first two, by which damage that still reads as data is noticed. An entry without
these digests (an early workprof wrote none) is not believed.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from workprof.errors import WorkprofError
from workprof.records import Arrays, Packed, digest, pack, unpack
from workprof.store.private import make_folder, open_private_bytes, write_private

Record = TypeVar("Record")

ABOUT, DOCUMENT, ARRAYS, CHECK = "about.json", "record.json", "arrays.npz", "check.json"
CHECKED = (DOCUMENT, ARRAYS)
SUFFIX = ".npy"
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
REST_BYTES = 4096

UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error),
    *(ArithmeticError, MemoryError, RuntimeError, AssertionError, WorkprofError),
)
"""What reading damaged files may raise: of JSON, zip and NumPy, and of records that refuse their own fields."""


@dataclass(frozen=True)
class About:
    """What an entry holds: shown by the runs catalogue, never read to decide what is computed."""

    key: str
    step: str
    dataset: str
    settings: dict[str, Any]
    versions: dict[str, str]
    seconds: float
    created: str


def write_entry(folder: Path, record: object, about: About) -> None:
    """Write one entry, of a record or of its packed form, into a new folder."""
    packed = record if isinstance(record, Packed) else pack(record)
    make_folder(folder, fresh=True)
    write_private(folder / ABOUT, json.dumps(about.__dict__))
    write_private(folder / DOCUMENT, json.dumps(packed.document))
    with open_private_bytes(folder / ARRAYS) as stream:
        np.savez(stream, allow_pickle=False, **cast(Any, packed.arrays))
    write_private(folder / CHECK, json.dumps({name: _digest(folder / name) for name in CHECKED}))


def read_entry(folder: Path, cls: type[Record]) -> tuple[Record, int]:
    """Return the record of an entry and its bytes in memory; the arrays are read-only.

    Raises:
        ValueError: (or another of `UNREADABLE`) when the files are damaged or are no such record.
    """
    packed = read_packed(folder)
    return unpack(cls, packed), bytes_in_memory(packed)


def read_packed(folder: Path) -> Packed:
    """Return the packed record of an entry; raises as `read_entry` does."""
    _check(folder)
    document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    with (folder / ARRAYS).open("rb") as stream:
        return Packed(document, read_arrays(stream))


def read_arrays(stream: IO[bytes]) -> Arrays:
    """Return the arrays that `np.savez` wrote, read-only; they never take more memory than the file has bytes.

    Raises:
        ValueError: (or another of `UNREADABLE`) for anything else: also for what is compressed, or declares more.
    """
    size = stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(SUFFIX) for member in members]
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
        if packed or sum(member.file_size for member in members) > size or len(set(names)) < len(names):
            raise ValueError("the arrays are not as they were written")
        return {name: _array(archive, member) for name, member in zip(names, members, strict=True)}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        shape, _, kind = HEADERS[np.lib.format.read_magic(stream)](stream)
        if math.prod(shape) * kind.itemsize != member.file_size - stream.tell():
            raise ValueError(f"array {member.filename} declares another size than it has")
    with archive.open(member) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    array.setflags(write=False)
    return array


def bytes_in_memory(packed: Packed) -> int:
    """Return what a record takes in memory, roughly: its arrays, and some for the rest."""
    return sum(array.nbytes for array in packed.arrays.values()) + REST_BYTES


def read_about(folder: Path) -> About:
    """Return what an entry says that it holds.

    Raises:
        ValueError: (or another of `UNREADABLE`) when it is damaged, or belongs to another place.
    """
    if not (folder / CHECK).is_file():
        raise ValueError(f"{folder / CHECK} is missing")
    about = About(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    texts = (about.key, about.step, about.dataset, about.created)
    tables = (about.settings, about.versions)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(table, dict) for table in tables):
        raise TypeError(f"{folder / ABOUT} does not say what was computed")
    if digest(about.key) != folder.name:
        raise ValueError(f"{folder / ABOUT} is of another entry")
    return about


def _check(folder: Path) -> None:
    """Compare the digests; a file without one is not believed."""
    expected = json.loads((folder / CHECK).read_text(encoding="utf-8"))
    for name in CHECKED:
        if _digest(folder / name) != expected[name]:
            raise ValueError(f"{folder / name} is not what was written")


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
