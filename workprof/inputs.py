"""What is handed over: an upload put under a name of ours, a file of the data folder, or what comes through a pipe."""

import contextlib
import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.progress import Progress
from workprof.core.units import DAY_S, MIB, format_bytes
from workprof.store.home import make_folder, open_private_bytes, room_in
from workprof.store.spool import write_bytes

SUFFIXES = (
    *(".csv", ".tsv", ".tab", ".psv", ".txt", ".xlsx", ".xlsm", ".json", ".jsonl", ".ndjson"),
    *(".parquet", ".arrow", ".arrows", ".feather", ".ipc", ".swf", ".log", ".out", ".gz", ".zst"),
)
MOST_LISTED = 500
LONGEST_STEM = 60
UPLOAD = "upload-"


@dataclass(frozen=True)
class Spooled:
    """An upload on disk: its path, the folder to remove afterwards, and the name for people."""

    path: Path
    folder: Path
    label: str


def spool_upload(stream: IO[bytes], given_name: str, home: Path) -> Spooled:
    """Write an upload in chunks into a folder of its own below the home and return where it is.

    Only letters, digits, '-' and '_' of the given name survive, and suffixes from `SUFFIXES`: formats that take the
    workload from the file's name still can, and no given name can lead outside the folder.
    """
    _sweep_abandoned(home / "spool")
    folder = home / "spool" / f"{UPLOAD}{uuid.uuid4().hex}"
    make_folder(folder, fresh=True)
    path = folder / safe_name(given_name)
    stream.seek(0)
    try:
        with room_in(home, f"{path.name} was not taken"), open_private_bytes(path) as target:
            shutil.copyfileobj(stream, target, MIB)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Spooled(path, folder, path.name)


STDIN = Path("-")
PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Where a shell puts what it pipes; a pipe elsewhere may have nobody at its other end, and is not read."""


@contextlib.contextmanager
def piped(paths: Sequence[Path], home: Path, progress: Progress) -> Iterator[list[Path]]:
    """Yield the paths with '-' and the shell's pipes read into files of their own, removed afterwards.

    Raises:
        SettingsError: where '-' stands twice, or stdin is a terminal.
        DiskFull: before the disk is.
    """
    _refuse_terminal(paths)
    folder = home / "spool" / f"{UPLOAD}{uuid.uuid4().hex}"
    result: list[Path] = []
    try:
        for at, path in enumerate(paths):
            if path != STDIN and not (str(path).startswith(PIPES) and path.is_fifo()):
                result.append(path)
                continue
            make_folder(folder / str(at), fresh=True)
            target = folder / str(at) / "stdin"
            with contextlib.ExitStack() as stack:
                stack.enter_context(room_in(home, "what was piped was not loaded"))
                stream = sys.stdin.buffer if path == STDIN else stack.enter_context(path.open("rb"))
                write_bytes(_watched(stream, progress), target)
            result.append(target)
        yield result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_terminal(paths: Sequence[Path]) -> None:
    if paths.count(STDIN) > 1:
        raise SettingsError("- stands for what is piped in, and can be named once; give the other files by their names")
    if STDIN in paths and sys.stdin.isatty():
        raise SettingsError("nothing is piped in; write cat FILE | workprof ingest - , or name the file")


def _watched(stream: IO[bytes], progress: Progress) -> Iterator[bytes]:
    done = 0
    while chunk := stream.read(MIB):
        done += len(chunk)
        progress(None, f"reading what is piped in: {format_bytes(done)}")
        yield chunk


def discard(source: Spooled) -> None:
    """Remove an upload from the disk; a file of the data folder is left alone."""
    if source.folder != source.path:
        shutil.rmtree(source.folder, ignore_errors=True)


@contextlib.contextmanager
def discarded_if_refused(source: Spooled) -> Iterator[None]:
    """Remove the upload when what is done with it fails."""
    try:
        yield
    except WorkprofError:
        discard(source)
        raise


def _sweep_abandoned(spool: Path) -> None:
    """Remove uploads that nobody finished to map within a day (their browser tab is gone)."""
    for folder in spool.glob(f"{UPLOAD}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > DAY_S:
                shutil.rmtree(folder, ignore_errors=True)


def safe_name(given: str) -> str:
    """A file name of ours that reads like the given one."""
    base = re.split(r"[/\\]", given)[-1]
    suffixes = "".join(suffix for suffix in Path(base).suffixes[-2:] if suffix.lower() in SUFFIXES)
    stem = base[: len(base) - len(suffixes)] if suffixes else base
    return (re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_")[:LONGEST_STEM] or "upload") + suffixes.lower()


def listed_files(folder: Path) -> tuple[str, ...]:
    """The loadable files and folders of tables below the data folder, as relative paths."""
    if not folder.is_dir():
        return ()
    root = folder.resolve()
    result = [path for path in sorted(root.rglob("*")) if _loadable(path) and _inside(path, root)]
    return tuple(str(path.relative_to(root)) for path in result[:MOST_LISTED])


def chosen_file(folder: Path, relative: str) -> Path:
    """The path of a choice.

    Raises SettingsError when it is not a file or a folder inside the data folder, links followed.
    """
    refusal = SettingsError(f"{relative!r} is not in the data folder; choose a file from the list")
    try:
        root, path = folder.resolve(), (folder / relative).resolve()
        there = _inside(path, root) and _ordinary(path)
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, a NUL, a ring of links
        raise refusal from error
    if not there:
        raise refusal
    if path.is_dir() and not all(_inside(member, root) for member in path.iterdir()):
        raise SettingsError(f"{relative!r} holds links that lead out of the data folder; choose another folder")
    return path


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root)


def _ordinary(path: Path) -> bool:
    """Tell whether a path is a file or a folder; reading from a pipe or a device may never end."""
    return path.is_file() or path.is_dir()


def _loadable(path: Path) -> bool:
    if path.name.startswith(".") or not str(path).isprintable():  # a name that no page could show
        return False
    if path.is_dir():
        return any(path.glob("pai_*_table.csv*"))
    return path.is_file() and path.suffix.lower() in SUFFIXES
