"""The files of cached results: written whole, read only when their digests hold, cleared by age, and kept in memory."""

import base64
import contextlib
import functools
import hashlib
import io
import json
import math
import shutil
import threading
import types
import typing
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, Union, cast

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import WorkprofError
from workprof.core.records import Arrays, Packed, digest, pack, unpack
from workprof.core.units import MIB
from workprof.store.home import make_folder, open_private_bytes, write_private

MOST_SHOWN = 60
LARGEST = 2**63 - 1
"""No count of ours is larger, and neither Arrow nor a browser takes one that is."""


def misfit(kind: Any, value: Any, where: str = "it") -> str:
    """What is wrong with a value that should be of an annotated kind; '' where it fits."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return ""
    if origin in (Union, types.UnionType):
        return "" if any(not misfit(one, value) for one in inner) else _wrong(where, value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _misfit_of_fields(kind, value, where)
    if origin is tuple:
        return _misfit_of_tuple(inner, value, where)
    if origin is dict:
        return _misfit_of_dict(inner[1], value, where)
    return "" if _is(origin or kind, value) else _wrong(where, value)


_hints = functools.cache(typing.get_type_hints)


def _misfit_of_fields(kind: type, value: Any, where: str) -> str:
    if not isinstance(value, kind):
        return _wrong(where, value)
    hints = _hints(kind)
    result = (misfit(hints[one.name], getattr(value, one.name), one.name) for one in fields(kind))
    return next(filter(None, result), "")


def _misfit_of_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> str:
    if not isinstance(value, tuple):
        return _wrong(where, value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        return _wrong(where, value)
    return next(filter(None, (misfit(kind, one, where) for kind, one in zip(kinds, value, strict=True))), "")


def _misfit_of_dict(kind: Any, value: Any, where: str) -> str:
    if not isinstance(value, dict) or not all(_is(str, key) for key in value):
        return _wrong(where, value)
    return next(filter(None, (misfit(kind, one, f"{where} {key}") for key, one in value.items())), "")


def _is(kind: Any, value: Any) -> bool:
    if kind is typing.Literal:
        return isinstance(value, (str, int))
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    if kind is str:
        return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, np.ndarray if kind is np.ndarray else kind)


def _wrong(where: str, value: Any) -> str:
    shown = ascii(value)
    return f"{where} is {shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + '...'}"


Record = TypeVar("Record")

ABOUT, DOCUMENT, ARRAYS, CHECK = "about.json", "record.json", "arrays.npz", "check.json"
CHECKED = (DOCUMENT, ARRAYS)
SUFFIX = ".npy"
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
REST_BYTES = 4096
MOST_ABOUTS = 4096

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
    """The record of an entry and its bytes in memory; the arrays are read-only.

    Raises:
        ValueError: (or another of `UNREADABLE`) when the files are damaged or are no such record.
    """
    packed = read_packed(folder)
    return unpack(cls, packed), bytes_in_memory(packed)


def read_packed(folder: Path) -> Packed:
    """The packed record of an entry; raises as `read_entry` does."""
    _check(folder)
    document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    with (folder / ARRAYS).open("rb") as stream:
        return Packed(document, read_arrays(stream))


def read_arrays(stream: IO[bytes]) -> Arrays:
    """The arrays that `np.savez` wrote, read-only; they never take more memory than the file has bytes.

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
    """What a record takes in memory, roughly: its arrays, and some for the rest."""
    return sum(array.nbytes for array in packed.arrays.values()) + REST_BYTES


def read_about(folder: Path) -> About:
    """What an entry says that it holds.

    Raises:
        ValueError: (or another of `UNREADABLE`) when it is damaged, or belongs to another place.
    """
    if not (folder / CHECK).is_file():
        raise ValueError(f"{folder / CHECK} is missing")
    state = (folder / ABOUT).stat()
    return _about(folder, state.st_mtime_ns, state.st_ino, state.st_size)


@functools.lru_cache(maxsize=MOST_ABOUTS)
def _about(folder: Path, *_state: int) -> About:
    """The same, read once: a page asks for all of them several times."""
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


EVERY = "??/*"
PINNED = "pinned"
"""Empty file of an entry that stays when others go."""


def entries_of(folder: Path, pattern: str = EVERY) -> Iterator[tuple[Path, About]]:
    """Yield the entries of a cache's folder; damaged ones are removed."""
    for path in folder.glob(f"{pattern}/{ABOUT}"):
        try:
            yield path.parent, read_about(path.parent)
        except UNREADABLE as error:
            remove_damaged(path.parent, error)


def remove_damaged(place: Path, error: BaseException) -> None:
    """Remove an entry that cannot be read, unless only this process cannot: for lack of memory, files or rights."""
    if isinstance(error, FileNotFoundError) or not isinstance(error, (OSError, MemoryError)):
        shutil.rmtree(place, ignore_errors=True)


def trim(folder: Path, most_bytes: int, spared: Path) -> None:
    """Remove the entries used longest ago until the rest fits; pinned ones and `spared` stay."""
    places = [place for place in folder.glob(EVERY) if place.is_dir()]
    sizes = {place: folder_bytes(place) for place in places}
    total = sum(sizes.values())
    for place in sorted(places, key=_last_use):
        if total <= most_bytes:
            return
        if place != spared and not is_pinned(place):
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]


def folder_bytes(place: Path) -> int:
    """The bytes of an entry's files."""
    total = 0
    for path in place.glob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def is_pinned(place: Path) -> bool:
    """Tell whether an entry stays when others go."""
    return (place / PINNED).exists()


def _last_use(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


LARGEST_BYTES = 256 * MIB
"""Of the arrays: a larger result would be several times in memory on its way."""


@dataclass(frozen=True)
class Passed:
    """A result that came through a pipe, and its catalogue line."""

    about: About
    packed: Packed


def as_line(record: object, about: About, most_bytes: int = LARGEST_BYTES) -> dict[str, Any] | None:
    """What goes through the pipe; None for a result that is too large for that."""
    packed = pack(record)
    if sum(array.nbytes for array in packed.arrays.values()) > most_bytes:
        return None
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **cast(Any, packed.arrays))
    arrays = base64.b64encode(stream.getvalue()).decode("ascii")
    return {"about": vars(about), "record": packed.document, "arrays": arrays}


def from_line(line: dict[str, Any]) -> Passed:
    """What came through the pipe; the arrays are read-only.

    Raises:
        ValueError: (or KeyError, TypeError) when it is no such thing.
    """
    arrays = read_arrays(io.BytesIO(base64.b64decode(line["arrays"])))
    return Passed(About(**line["about"]), Packed(line["record"], arrays))


@dataclass(frozen=True)
class InMemory:
    """A result, or its packed form, in memory."""

    record: object
    size_bytes: int  # of its arrays, and some for the rest
    unsaved: About | None = None  # its catalogue line where it is nowhere else; None where it is on disk


class ResultsInMemory:
    """Results by key; safe to share between threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._results: OrderedDict[str, InMemory] = OrderedDict()
        self._guard = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        with self._guard:
            return sum(one.size_bytes for one in self._results.values())

    def get(self, key: str) -> InMemory | None:
        """What is there under a key, which is then the one used last."""
        with self._guard:
            result = self._results.get(key)
            if result is not None:
                self._results.move_to_end(key)
            return result

    def remember(self, key: str, one: InMemory) -> None:
        """Keep a result under its key; others go when there are too many bytes, the last one never."""
        with self._guard:
            self._results[key] = one
            self._results.move_to_end(key)
            while sum(each.size_bytes for each in self._results.values()) > self._most_bytes and len(self._results) > 1:
                others = list(self._results)[:-1]
                on_disk = (name for name in others if self._results[name].unsaved is None)
                del self._results[next(on_disk, others[0])]

    def forget(self, key: str) -> None:
        """Let a result go."""
        with self._guard:
            self._results.pop(key, None)

    def forget_beginning(self, beginning: tuple[str, ...]) -> None:
        """Let go of every result whose key begins so."""
        with self._guard:
            for key in [key for key in self._results if key.startswith(beginning)]:
                del self._results[key]

    def unsaved(self) -> dict[str, InMemory]:
        """What is nowhere else, by key."""
        with self._guard:
            return {key: one for key, one in self._results.items() if one.unsaved is not None}
