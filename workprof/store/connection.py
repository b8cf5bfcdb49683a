"""The process's one DuckDB connection: its configuration, a cursor per call, one write lock.

DuckDB lets several processes read a database, or one write it. So that a dashboard, a service and commands share a
home, the connection is one for reading, and closed when nobody has read for a second; it is one for writing only while
something is written. Whoever wants to write holds the home's writer lock meanwhile, and readers in other processes let
go of the database when they see that, and wait.

File access is limited to the home folder before anything is read (`allowed_directories`, then
`enable_external_access=false`, which cannot be undone), so no query, whatever its text, opens a file elsewhere. DuckDB
resolves symbolic links before it compares; an input from outside therefore enters the home as a hard link, or as a
copy in the spool where the file system allows no link.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from workprof.core.errors import HomeBusy, SettingsError, WorkprofError
from workprof.core.progress import Progress, silent
from workprof.core.roles import PREPARE, Deed, actor
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.store.audit import Audit
from workprof.store.home import Home, busy, free_bytes, is_full, narrow, no_room, room_in

if TYPE_CHECKING:
    from workprof.store.pseudonyms import Pseudonyms

WAIT_FOR_WRITER_S = 0.2
IDLE_S, LOOK_S = 1.0, 0.1
READ_ON_S = 1.0
"""Who closes waits so long for other threads that read: DuckDB closes no connection whose cursor is at a query."""
LOOK_AGAIN_S = 0.02
SPILL_SHARE_OF_FREE_DISK = 0.8
SMALLEST_SPILL_BYTES = GIB
SMALLEST_INGEST_BYTES = GIB // 2
MEMORY_PER_INPUT_BYTE = 0.8
WAL_BYTES = 64 * 1024 * 1024
READING_BYTES = GIB // 2
"""Of the database while nothing is written, at most: more of what was read stays beside the rows that were read."""
DAMAGED = ("Corrupt database file", "has been invalidated")
GONE = re.compile(r"Table with name (rows|rejects)_[0-9a-f]+ does not exist")
"""A dataset that was known when a query was made, and not when it ran."""
OTHER_VERSION = "version number"
ANOTHER_OF_OURS = "different configuration"
"""Another connection of this process has the same database open in another way."""
INTERRUPTED = "Query interrupted"
"""The RuntimeError that DuckDB makes of a Ctrl-C."""


def quoted(name: str) -> str:
    """An identifier for SQL text."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text literal for SQL text (where a parameter cannot be bound)."""
    return "'" + value.replace("'", "''") + "'"


def commit_so_far(cursor: duckdb.DuckDBPyConnection) -> None:
    """Commit the transaction that `cursor` is in, and begin another.

    DuckDB writes the rows of a large table while they are made. Where the same transaction changes one of them it
    cannot keep what it wrote, and writes all of them once more, into its log.
    """
    cursor.execute("COMMIT")
    cursor.execute("BEGIN TRANSACTION")


class Database:
    """The open database of one home."""

    def __init__(self, settings: Settings) -> None:
        """Open the home; a read-only database is never made.

        Raises:
            HomeBusy: when an earlier version of workprof holds it.
            SettingsError: when the home cannot be used; when it is read-only and there is no database.
        """
        self.home = Home(settings.home, readonly=settings.readonly)
        self.readonly, self.role = settings.readonly, settings.role
        self.audit = Audit(settings.home)
        self.pseudonyms: Pseudonyms | None = None
        self.expansion_limit = settings.expansion_limit
        self._settings = settings
        self._memory_bytes = settings.memory_limit_bytes
        self._write_lock = threading.RLock()
        self._own = threading.local()
        self._free = threading.Condition()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._writable = self._writing = self._turning = self._closed = False
        self._active, self._depth, self._last_used = 0, 0, 0.0
        self._timer: threading.Timer | None = None
        self._commits = 0
        self._signature: tuple[tuple[int, int, int], ...] = ()
        self.after_writing: Callable[[], object] = lambda: None
        """Called after a change by this process, before others may write."""
        try:
            if settings.readonly or self.home.database.exists():
                with self.cursor():
                    pass  # a database that cannot be read is told at once
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database, then let the home go."""
        with self._free:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            self._free.wait_for(lambda: not self._active, READ_ON_S)
            try:
                self._let_go()
            except duckdb.ResourceInUseException:  # it is busy for another thread, which ends with the process
                self._connection = None
                self.home.stop_writing()
        self.home.release()

    @property
    def commits(self) -> int:
        """Changes of the database that were seen, also those by other processes."""
        result = tuple(map(_stamp, (self.home.database, self.home.log)))
        if result != self._signature:
            self._signature = result
            self._commits += 1
        return self._commits

    @property
    def written_elsewhere(self) -> bool:
        """Whether another process writes now: what was read before may be used until it is done."""
        return bool(self.home.writer_elsewhere())

    @contextlib.contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor of this call's own: results never cross between threads.

        Raises:
            HomeBusy: when another process writes for longer than one waits.
            SettingsError: when a query finds the database damaged.
            KeyboardInterrupt: when Ctrl-C came while a query ran.
        """
        connection = self._enter()
        try:
            cursor = connection.cursor()
            try:
                if self.pseudonyms is not None:
                    self.pseudonyms.begin(cursor)
                yield cursor
            finally:
                cursor.close()
        except RuntimeError as error:
            if str(error) == INTERRUPTED:
                raise KeyboardInterrupt from error
            raise
        except duckdb.Error as error:
            if GONE.search(str(error)):
                raise HomeBusy("the runs of a dataset were refreshed or removed meanwhile; ask again") from error
            if self._is_damaged(error):
                raise self._damaged(error) from error
            raise
        finally:
            self._leave()

    def _enter(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, opened for reading where there is none, and count one more who uses it."""
        with self._free:
            within = getattr(self._own, "cursors", 0) > 0 or getattr(self._own, "writes", False)
            while self._turning and not within:
                self._free.wait()
            if not self._active and not self._writing and (self._writable or self.home.writer_elsewhere()):
                self._let_go()
            if self._connection is None:
                if self._closed:
                    raise WorkprofError("this home was closed; open it again")
                self._connection = self._open(writable=False)
                self._writable = False
            self._active += 1
            self._own.cursors = getattr(self._own, "cursors", 0) + 1
            return self._connection

    def _leave(self) -> None:
        with self._free:
            self._active -= 1
            self._own.cursors -= 1
            self._last_used = time.monotonic()
            if self._active:
                return
            if not self._writing and (self._writable or self.home.writer_elsewhere()):
                self._let_go()
            elif self._timer is None and not self._closed:
                self._close_later()
            self._free.notify_all()

    def _close_later(self) -> None:
        self._timer = threading.Timer(LOOK_S, self._close_if_idle)
        self._timer.daemon = True
        self._timer.start()

    def _close_if_idle(self) -> None:
        with self._free:
            self._timer = None
            if self._active or self._writing or self._closed:
                return  # whoever is there sets the clock again
            rests = self._last_used + IDLE_S > time.monotonic()
            if rests and not self.home.writer_elsewhere():
                self._close_later()
            else:
                self._let_go()

    def _let_go(self) -> None:
        """Close the connection, so that another process may write; called with `_free` held."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._writable = False
        self.home.stop_writing()

    @contextlib.contextmanager
    def writing(self, deed: Deed, what: str = "", progress: Progress = silent) -> Iterator[None]:
        """Hold the write lock, which a thread may take again; while others hold it, `progress` is told and may cancel.

        What changed then stands in the audit log as this deed, done to `what`.

        Raises:
            WorkprofError: when the store is read-only, or the deed is not for this role (NotAllowed).
            HomeBusy: when another process reads or writes for longer than one waits.
            DiskFull: when there is no room for what is written.
        """
        self.refuse(deed)
        while not self._write_lock.acquire(timeout=WAIT_FOR_WRITER_S):
            progress(None, "waiting for another write to finish")
        try:
            with room_in(self.home.folder, "nothing was changed"):
                if not self._depth:
                    self._begin_writing(progress)
                self._depth += 1
                try:
                    before = self._commits
                    yield
                    if self._depth == 1 and self._commits != before:
                        self.after_writing()
                        if deed is not PREPARE and actor().name:
                            self.audit.note(deed.name, what, self.role)
                finally:
                    self._depth -= 1
                    if not self._depth:
                        self._end_writing()
        finally:
            self._write_lock.release()

    def _begin_writing(self, progress: Progress) -> None:
        """Turn the connection into one for writing, once nobody of this process reads and no other process has it."""
        end = time.monotonic() + self._settings.wait_s
        while not self.home.start_writing():
            if time.monotonic() >= end:
                raise busy(self.home.folder, self.home.writer_elsewhere() or "unknown")
            progress(None, "waiting for another process that writes")
            time.sleep(LOOK_AGAIN_S)
        with self._free:
            self._own.writes, self._turning = True, True
            try:
                if getattr(self._own, "cursors", 0):
                    raise RuntimeError("a thread that reads cannot begin to write")
                while self._active:
                    self._free.wait(WAIT_FOR_WRITER_S)
                    progress(None, "waiting for what is being read")
                if self._connection is not None and not self._writable:
                    self._connection.close()
                    self._connection = None
                if self._connection is None:
                    self._connection = self._open(writable=True, progress=progress)
                self._writable = self._writing = True
            except BaseException:
                self._own.writes = False
                self.home.stop_writing()
                raise
            finally:
                self._turning = False
                self._free.notify_all()

    def _end_writing(self) -> None:
        with self._free:
            self._own.writes, self._writing = False, False
            if not self._active:
                self._let_go()
            self._free.notify_all()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor in a transaction: committed at the end, rolled back on any error. Hold `writing` around it."""
        with self.cursor() as cursor:
            self.home.open_log()  # of what is committed on the way
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
                self.home.open_log()
                cursor.execute("COMMIT")
                self._commits += 1  # by whoever holds `writing`: one at a time
            except BaseException:
                with contextlib.suppress(duckdb.Error):
                    cursor.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def modest(self, input_bytes: int) -> Iterator[None]:
        """Let DuckDB keep no more in memory than an input of that size deserves; hold `writing` around it.

        DuckDB fills whatever it may with pages that it has written already, which makes nothing faster.
        """
        enough = max(SMALLEST_INGEST_BYTES, int(input_bytes * MEMORY_PER_INPUT_BYTE))
        try:
            with contextlib.suppress(duckdb.OutOfMemoryException):  # others hold more just now: then it stays as it is
                self._set_memory(min(self._memory_bytes, enough))
            yield
        finally:
            self._set_memory(self._memory_bytes)

    def _set_memory(self, limit_bytes: int) -> None:
        with self.cursor() as cursor:
            cursor.execute(f"SET memory_limit='{limit_bytes}B'")

    def refuse(self, deed: Deed) -> None:
        """Refuse a change that this role may not make, or where WORKPROF_READONLY is set; raises WorkprofError."""
        deed.refuse(self.role)
        if self.readonly:
            raise WorkprofError(
                "WORKPROF_READONLY is set: nothing can be added, changed or removed here; unset it to write"
            )

    def _open(self, *, writable: bool, progress: Progress = silent) -> duckdb.DuckDBPyConnection:
        """A connection, as soon as no other process is in its way.

        Raises HomeBusy when one is for longer than one waits.
        """
        end = time.monotonic() + self._settings.wait_s
        while True:
            try:
                if writable or not self.home.writer_elsewhere() or time.monotonic() >= end:
                    return self._connect(writable=writable)
            except HomeBusy:
                if time.monotonic() >= end:
                    raise
            progress(None, "waiting for another process")
            time.sleep(LOOK_AGAIN_S)

    def _connect(self, *, writable: bool) -> duckdb.DuckDBPyConnection:
        settings = self._settings
        spill = max(SMALLEST_SPILL_BYTES, int(free_bytes(settings.home) * SPILL_SHARE_OF_FREE_DISK))
        memory = settings.memory_limit_bytes if writable else min(settings.memory_limit_bytes, READING_BYTES)
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory}B",
            "threads": str(settings.threads),
            "temp_directory": str(self.home.spill),
            "max_temp_directory_size": f"{spill}B",
            "python_enable_replacements": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "checkpoint_threshold": f"{WAL_BYTES}B",
            "disabled_optimizers": "in_clause",  # a list of five texts or more becomes a join, which mixes the rows
        }
        new = not self.home.database.exists()
        try:
            connection = duckdb.connect(str(self.home.database), read_only=not writable, config=config)
        except duckdb.Error as error:  # a damaged one is told by various classes
            raise self._not_opened(error) from error
        if new:
            narrow(self.home.database)
        if _one("SELECT current_setting('enable_external_access')", connection):  # else: another of this process's own
            connection.execute(f"SET allowed_directories=[{text(str(self.home.folder))}]")
            connection.execute("SET enable_external_access=false")
        return connection

    def _not_opened(self, error: duckdb.Error) -> WorkprofError:
        if ANOTHER_OF_OURS in str(error):
            return busy(self.home.folder, str(os.getpid()))
        holder = re.search(r"PID (\d+)", str(error))
        if holder or "Could not set lock" in str(error):
            return busy(self.home.folder, holder.group(1) if holder else "unknown")
        if is_full(error):
            return no_room(self.home.folder, f"database {self.home.database} cannot be opened")
        if OTHER_VERSION in str(error):
            return SettingsError(
                f"database {self.home.database} was written by another version of DuckDB ({_first_line(error)}); open "
                f"it with the workprof that wrote it, or move it away and load the traces again"
            )
        return self._damaged(error)

    def _is_damaged(self, error: duckdb.Error) -> bool:
        message = str(error)
        short = "enough bytes" in message and str(self.home.database) in message
        return short or any(words in message for words in DAMAGED)

    def _damaged(self, error: duckdb.Error) -> SettingsError:
        return SettingsError(
            f"database {self.home.database} cannot be read ({_first_line(error)}); move it and its .wal away and "
            f"load the traces again (what was computed from them is found again), or give another home with --home"
        )


def _first_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0][:300]


def _stamp(path: Path) -> tuple[int, int, int]:
    """What changes with a file's content."""
    try:
        result = path.stat()
    except OSError:
        return (0, 0, 0)
    return (result.st_ino, result.st_size, result.st_mtime_ns)


def _one(sql: str, connection: duckdb.DuckDBPyConnection) -> object:
    ((value,),) = connection.execute(sql).fetchall()
    return value
