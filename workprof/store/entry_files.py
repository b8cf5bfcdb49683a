"""The files of one kept result.

`record.json` holds the record's tree, `arrays.npz` its arrays, `about.json` what was computed, and `check.json` the
digests of the first two, by which damage that still reads as data is noticed.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from workprof.errors import WorkprofError
from workprof.records import Packed, digest, pack, unpack
from workprof.store.private import make_folder, open_private_bytes, write_private

Record = TypeVar("Record")

ABOUT, DOCUMENT, ARRAYS, CHECK = "about.json", "record.json", "arrays.npz", "check.json"
CHECKED = (DOCUMENT, ARRAYS)
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
    with (folder / ARRAYS).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.setflags(write=False)
    return Packed(document, arrays)


def bytes_in_memory(packed: Packed) -> int:
    """Return what a record takes in memory, roughly: its arrays, and some for the rest."""
    return sum(array.nbytes for array in packed.arrays.values()) + REST_BYTES


def read_about(folder: Path) -> About:
    """Return what an entry says that it holds.

    Raises:
        ValueError: (or another of `UNREADABLE`) when it is damaged, or belongs to another place.
    """
    about = About(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    texts = (about.key, about.step, about.dataset, about.created)
    tables = (about.settings, about.versions)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(table, dict) for table in tables):
        raise TypeError(f"{folder / ABOUT} does not say what was computed")
    if digest(about.key) != folder.name:
        raise ValueError(f"{folder / ABOUT} is of another entry")
    return about


def _check(folder: Path) -> None:
    """Compare the digests; an entry of an older workprof has none, and is read as it is."""
    if not (folder / CHECK).exists():
        return
    for name, expected in json.loads((folder / CHECK).read_text(encoding="utf-8")).items():
        if name in CHECKED and _digest(folder / name) != expected:
            raise ValueError(f"{folder / name} is not what was written")


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
