"""The process's one DuckDB connection: its configuration, a cursor per call, one write lock.

File access is limited to the home folder before anything is read (`allowed_directories`, then
`enable_external_access=false`, which cannot be undone), so no query, whatever its text, opens a file elsewhere. DuckDB
resolves symbolic links before it compares; an input from outside therefore enters the home as a hard link, or as a
copy in the spool where the file system allows no link.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator

import duckdb

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.progress import Progress, silent
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.store.home import Home, busy, free_bytes, is_full, narrow, no_room, room_in

WAIT_FOR_WRITER_S = 0.2
SPILL_SHARE_OF_FREE_DISK = 0.8
SMALLEST_SPILL_BYTES = GIB
SMALLEST_INGEST_BYTES = GIB // 2
MEMORY_PER_INPUT_BYTE = 0.8
WAL_BYTES = 64 * 1024 * 1024
DAMAGED = ("Corrupt database file", "has been invalidated")
OTHER_VERSION = "version number"
INTERRUPTED = "Query interrupted"
"""The RuntimeError that DuckDB makes of a Ctrl-C."""


def quoted(name: str) -> str:
    """Return an identifier for SQL text."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text literal for SQL text (where a parameter cannot be bound)."""
    return "'" + value.replace("'", "''") + "'"


class Database:
    """The open database of one home."""

    def __init__(self, settings: Settings) -> None:
        """Take the home and open its database; a read-only one is opened so, and never made.

        Raises:
            HomeBusy: when another process holds it.
            SettingsError: when the home cannot be used; when it is read-only and there is no database.
        """
        self.home = Home(settings.home, readonly=settings.readonly)
        self.readonly = settings.readonly
        self.expansion_limit = settings.expansion_limit
        self._memory_bytes = settings.memory_limit_bytes
        self._write_lock = threading.Lock()
        self.commits = 0
        try:
            self._connection = self._open(settings)
        except BaseException:
            self.home.release()
            raise

    def close(self) -> None:
        """Close the database, then let the home go."""
        self._connection.close()
        self.home.release()

    @contextlib.contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor of this call's own: results never cross between threads.

        Raises:
            SettingsError: when a query finds the database damaged.
            KeyboardInterrupt: when Ctrl-C came while a query ran.
        """
        cursor = self._connection.cursor()
        try:
            yield cursor
        except RuntimeError as error:
            if str(error) == INTERRUPTED:
                raise KeyboardInterrupt from error
            raise
        except duckdb.Error as error:
            if self._is_damaged(error):
                raise self._damaged(error) from error
            raise
        finally:
            cursor.close()

    @contextlib.contextmanager
    def writing(self, progress: Progress = silent) -> Iterator[None]:
        """Hold the write lock; while another holds it, `progress` is told and may cancel.

        Raises:
            WorkprofError: when the store is read-only.
            DiskFull: when there is no room for what is written.
        """
        self.refuse_if_readonly()
        while not self._write_lock.acquire(timeout=WAIT_FOR_WRITER_S):
            progress(None, "waiting for another write to finish")
        try:
            with room_in(self.home.folder, "nothing was changed"):
                yield
        finally:
            self._write_lock.release()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor in a transaction: committed at the end, rolled back on any error. Hold `writing` around it."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
                cursor.execute("COMMIT")
                narrow(self.home.log)
                self.commits += 1  # by whoever holds `writing`: one at a time
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

    def refuse_if_readonly(self) -> None:
        """Refuse a change of the store where WORKPROF_READONLY is set.

        Raises:
            WorkprofError: says so.
        """
        if self.readonly:
            raise WorkprofError(
                "WORKPROF_READONLY is set: nothing can be added, changed or removed here; unset it to write"
            )

    def _open(self, settings: Settings) -> duckdb.DuckDBPyConnection:
        spill = max(SMALLEST_SPILL_BYTES, int(free_bytes(settings.home) * SPILL_SHARE_OF_FREE_DISK))
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{settings.memory_limit_bytes}B",
            "threads": str(settings.threads),
            "temp_directory": str(self.home.spill),
            "max_temp_directory_size": f"{spill}B",
            "python_enable_replacements": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "checkpoint_threshold": f"{WAL_BYTES}B",
        }
        new = not self.home.database.exists()
        try:
            connection = duckdb.connect(str(self.home.database), read_only=self.readonly, config=config)
        except duckdb.Error as error:  # a damaged one is told by various classes
            raise self._not_opened(error) from error
        if new:
            narrow(self.home.database)
        connection.execute(f"SET allowed_directories=[{text(str(self.home.folder))}]")
        connection.execute("SET enable_external_access=false")
        return connection

    def _not_opened(self, error: duckdb.Error) -> WorkprofError:
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
        told = str(error)
        short = "enough bytes" in told and str(self.home.database) in told
        return short or any(words in told for words in DAMAGED)

    def _damaged(self, error: duckdb.Error) -> SettingsError:
        return SettingsError(
            f"database {self.home.database} cannot be read ({_first_line(error)}); move it and its .wal away and "
            f"load the traces again (what was computed from them is found again), or give another home with --home"
        )


def _first_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0][:300]
