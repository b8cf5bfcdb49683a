"""The home folder: what lies where, who holds it, who may read it, and what is said when its disk is full."""

import contextlib
import errno
import os
import shlex
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from workprof.core.errors import DiskFull, HomeBusy, SettingsError, WorkprofError
from workprof.core.units import format_bytes

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, no quota, and a file longer than this process may write."""

WORDS = tuple(os.strerror(number) for number in FULL)
"""How DuckDB tells the same: it passes on what the operating system says."""


def is_full(error: BaseException) -> bool:
    """Tell whether an error of Python's or DuckDB's says that there was no room to write."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in FULL
    return any(words in str(error) for words in WORDS)


def free_bytes(folder: Path) -> int:
    """The free bytes of the disk that a folder is (or would be) on."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def no_room(folder: Path, what: str, instead: str = "give another home with --home or WORKPROF_HOME") -> DiskFull:
    """The refusal of something that found no room: what, how much is free, what to do."""
    free = format_bytes(free_bytes(folder))
    return DiskFull(f"{what}: no room on the disk of {folder} ({free} free); free some space, or {instead}")


@contextlib.contextmanager
def room_in(folder: Path, what: str) -> Iterator[None]:
    """Turn the error of a full disk into a refusal ('x.csv was not loaded'); every other error passes.

    Raises DiskFull, which says what, how much is free and what to do.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, DiskFull) or not is_full(error):
            raise
        raise no_room(folder, what) from error


FOLDER, FILE = 0o700, 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_folder(path: Path, *, fresh: bool = False) -> None:
    """Make a folder that its owner alone can enter; the ones above it are made as usual, one that is there is kept.

    Raises FileExistsError when something is there already and must not be (`fresh`), or is no folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(FOLDER)
    except FileExistsError:
        if fresh or not path.is_dir():
            raise
    else:
        path.chmod(FOLDER)


def open_private(path: Path, mode: str, *, newline: str | None = None, errors: str | None = None) -> IO[str]:
    """Open a text file (UTF-8) to write; a new one is its owner's alone."""
    return open(path, mode, encoding="utf-8", newline=newline, errors=errors, opener=_opener)


def open_private_bytes(path: Path) -> IO[bytes]:
    """Open a file of bytes to write; a new one is its owner's alone."""
    return open(path, "wb", opener=_opener)


def write_private(path: Path, text: str) -> None:
    """Write a text file that is its owner's alone."""
    with open_private(path, "w") as stream:
        stream.write(text)


def narrow(path: Path) -> None:
    """Take a file that another library wrote from everybody but its owner; nothing where there is none."""
    with contextlib.suppress(OSError):  # not there, or not ours: then it is told (see `advice`)
        path.chmod(FILE)


def advice(folder: Path, more: Iterable[Path]) -> str:
    """How to close a folder that others can look into, or whose parts they could; '' where nobody can."""
    result = []
    for path in (folder, *more):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & OTHERS:
                result.append(f"{path.name if path != folder else 'its folder'} {mode:04o}")
    if os.name != "posix" or not result:
        return ""
    return (
        f"home {folder} is open to other users of this machine ({', '.join(result)}); to close it: "
        f"chmod -R go-rwx {shlex.quote(str(folder))}"
    )


def _opener(name: str, flags: int) -> int:
    return os.open(name, flags, FILE)


try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: DuckDB's own lock alone keeps a second process out
    fcntl = None  # type: ignore[assignment]


DATABASE = "workprof.duckdb"
LOCK, WRITER = "lock", "writer"
READONLY = "WORKPROF_READONLY"
SWEPT_WITHIN_S, LOOK_AGAIN_S = 5.0, 0.02
HANDED_OVER = "WORKPROF_LOCK_FD"
"""Variable with the number of an open, locked file that this process was started with."""


class Home:
    """The folders of one home, which several processes may have open at a time.

    Each of them shares a lock until `release`. Whoever opens a home that nobody else has open holds the lock alone for
    that moment, and sweeps up what killed processes left. The locks are the operating system's on open files, so they
    end with the process however that dies; the PIDs written into the files are only for messages.

    A read-only home is neither made nor swept. What is still written there: the PID in the lock file, and for the time
    of one query or export DuckDB's spill files and the finished file before it is moved to its place.

    Attributes:
        alone: whether nobody else had it open when it was opened.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        """Make the folders (unless read-only) and share the lock.

        Raises:
            HomeBusy: when an earlier version of workprof holds it (names its PID).
            SettingsError: when the folder cannot be made or written; when it is read-only and there is no database.
        """
        _refuse_what_duckdb_misreads(folder)
        self.folder = folder
        self.database = folder / DATABASE
        self.log = folder / f"{DATABASE}.wal"
        self.spool = folder / "spool"
        self.spill = folder / "tmp" / f"{os.getpid()}"
        self.rejects = folder / "rejects"
        self._writer: IO[str] | None = None
        try:
            for path in () if readonly else (folder, self.spool, self.spill.parent, self.rejects):
                make_folder(path)
            self._lock, self.alone = _shared(folder, readonly=readonly, alone=self._sweep)
        except OSError as error:
            raise _unusable(folder, error, look=_is_file(self.database)) from error

    def release(self) -> None:
        """Let the home go."""
        self.stop_writing()
        self._lock.close()

    def start_writing(self) -> bool:
        """Take the one lock of those who write; return whether it was free, or this process had it."""
        if self._writer is None:
            stream = open_private(self.folder / WRITER, "a+")
            if not taken(stream):
                stream.close()
                return False
            sign(stream)
            self._writer = stream
        return True

    def stop_writing(self) -> None:
        """Let another process write."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def open_log(self) -> None:
        """Make the write-ahead log its owner's alone before DuckDB makes it anybody's."""
        with contextlib.suppress(OSError):  # a full disk, a log of somebody else: DuckDB tells
            os.close(os.open(self.log, os.O_CREAT | os.O_WRONLY, FILE))
        narrow(self.log)

    def writer_elsewhere(self) -> str:
        """The PID of another process that writes or waits for that, '' where none does."""
        if self._writer is not None or fcntl is None:
            return ""
        try:
            with (self.folder / WRITER).open(encoding="utf-8") as stream:
                try:
                    fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return stream.read().strip() or "unknown"
        except OSError:  # nobody wrote yet
            return ""
        return ""

    @contextlib.contextmanager
    def spool_folder(self, name: str) -> Iterator[Path]:
        """Yield a fresh folder under the spool; it is gone afterwards.

        Raises:
            SettingsError: when the home cannot be written.
            DiskFull: when there is no room.
        """
        path = self.spool / name
        try:
            make_folder(path, fresh=True)
        except OSError as error:
            raise _unusable(self.folder, error) from error
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what a killed process left: spooled inputs and DuckDB's spill files."""
        for folder in (self.spool, self.spill.parent):
            for left in folder.iterdir():
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink(missing_ok=True)


def hold(folder: Path, *, readonly: bool = False) -> IO[str]:
    """Share the lock of a home folder and return the open file that holds it; closing it lets the home go.

    A server is handed the lock of the command that started it as an open file (see `HANDED_OVER`), so that nobody
    sweeps the home up between the two.

    Raises:
        HomeBusy: when an earlier version of workprof holds it (names its PID).
        SettingsError: when it is to be read only and there is nothing to read.
    """
    return _shared(folder, readonly=readonly)[0]


def _shared(folder: Path, *, readonly: bool, alone: Callable[[], None] | None = None) -> tuple[IO[str], bool]:
    """The open file that shares the lock, and whether nobody else had it: then `alone` is called first."""
    if not readonly:
        make_folder(folder)
    elif not (folder / DATABASE).is_file():
        raise SettingsError(
            f"home {folder} holds no database, and WORKPROF_READONLY is set, so none is made; load a trace without it "
            f"first, or give another home with --home or WORKPROF_HOME"
        )
    stream = _handed_over(folder / LOCK) or _lock_file(folder / LOCK, readonly)
    was_alone = False
    if alone is not None and not readonly and taken(stream):
        was_alone = True
        sign(stream)
        alone()
    end = time.monotonic() + SWEPT_WITHIN_S
    while not taken(stream, share=True):  # somebody else may be sweeping
        if time.monotonic() > end:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            stream.close()
            raise busy(folder, holder)
        time.sleep(LOOK_AGAIN_S)
    return stream, was_alone


def taken(stream: IO[str], *, share: bool = False) -> bool:
    """Take a lock on an open file, alone or shared; return whether it could be had at once."""
    if fcntl is not None:
        try:
            fcntl.flock(stream, (fcntl.LOCK_SH if share else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def sign(stream: IO[str]) -> None:
    """Write the PID of this process into a lock file, as far as that may be written."""
    if stream.writable():
        stream.seek(0)
        stream.truncate()
        stream.write(str(os.getpid()))
        stream.flush()


def open_to_others(folder: Path) -> str:
    """How to close a home that other users of the machine can look into; '' where they cannot."""
    parts = ("spool", "tmp", "rejects", "cache", "jobs")
    return advice(folder, (folder / DATABASE, *(folder / part for part in parts)))


def _refuse_what_duckdb_misreads(folder: Path) -> None:
    """Refuse a path that DuckDB takes for another one: it would write the log of changes to some other place.

    A question mark begins parameters for it, and a backslash is a separator.
    """
    path = str(folder)
    odd = next((sign for sign in "?\\" if sign in path and sign != os.sep), "")
    if odd or (not path.isascii() and path != path.encode("utf-8", "replace").decode()):
        what = f"{odd!r} in its path" if odd else "a path that is not UTF-8"
        raise SettingsError(
            f"home {path!a} cannot be used: DuckDB misreads {what}; give another with --home or WORKPROF_HOME"
        )


def _is_file(path: Path) -> bool:
    """Tell whether a file is there; none is under a name that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False


def _unusable(folder: Path, error: OSError, *, look: bool = False) -> WorkprofError:
    if is_full(error):
        return no_room(folder, f"home {folder} cannot be used")
    hint = f"; to look at what it holds set {READONLY}=1" if look else ""
    return SettingsError(
        f"home {folder} cannot be used ({error}); give another with --home or WORKPROF_HOME, or make it writable{hint}"
    )


def _lock_file(path: Path, readonly: bool) -> IO[str]:
    """The open lock file; where it may not be written, a reader holds it without leaving its PID."""
    try:
        return open_private(path, "a+")
    except OSError:
        if not readonly:
            raise
        return path.open(encoding="utf-8")


_taken_over: set[Path] = set()


def _handed_over(path: Path) -> IO[str] | None:
    """A copy of the open file that the parent handed over, if it is this home's lock."""
    number = os.environ.get(HANDED_OVER, "")
    if not number.isdecimal() or path in _taken_over:  # a second look at the home shares the lock beside the first
        return None
    try:
        if not os.path.samestat(os.fstat(int(number)), path.stat()):
            return None
        result = os.fdopen(os.dup(int(number)), "a+", encoding="utf-8")
        _taken_over.add(path)
        return result
    except OSError:
        return None


def busy(folder: Path, holder: str) -> HomeBusy:
    """The refusal of a home that another process reads or writes for longer than one waits."""
    return HomeBusy(
        f"home {folder} is in use by process {holder} (a dashboard or another command); wait longer with --wait "
        f"SECONDS, stop that process, or give another home with --home DIR"
    )
