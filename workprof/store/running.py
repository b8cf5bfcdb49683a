"""A long query with progress and cancel: it runs in a thread while the caller's thread tells how far it is.

DuckDB has no timeout and no callback; `query_progress` is read and `interrupt` called from another thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from workprof.core.progress import Progress

POLL_S = 0.1


@dataclass(frozen=True)
class Span:
    """The part of the whole work that a step covers, as fractions 0-1, and what the step is called."""

    low: float
    high: float
    message: str

    def at(self, share: float) -> float:
        """The fraction of the whole work when `share` of this step is done."""
        return self.low + (self.high - self.low) * min(max(share, 0.0), 1.0)


class _Query(threading.Thread):
    def __init__(self, cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> None:
        super().__init__(name="workprof-query", daemon=True)
        self._cursor, self._sql, self._parameters = cursor, sql, list(parameters)
        self.rows: list[tuple[Any, ...]] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.rows = self._cursor.execute(self._sql, self._parameters).fetchall()
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            self.error = error


def run_watched(
    cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any], progress: Progress, span: Span
) -> list[tuple[Any, ...]]:
    """The rows of a query, telling `progress` while it runs.

    Raises:
        Cancelled: (or whatever `progress` raises) after the query was interrupted.
        duckdb.Error: the query's own.
    """
    cursor.execute("SET enable_progress_bar=true")
    cursor.execute("SET enable_progress_bar_print=false")
    progress(span.low, span.message)
    query = _Query(cursor, sql, parameters)
    query.start()
    try:
        while query.is_alive():
            query.join(POLL_S)
            if query.is_alive():
                share = cursor.query_progress()
                progress(span.at(share / 100) if share >= 0 else None, span.message)
    except BaseException:
        with contextlib.suppress(duckdb.Error):
            cursor.interrupt()
        query.join()
        raise
    if query.error is not None:
        raise query.error
    progress(span.high, span.message)
    return query.rows
