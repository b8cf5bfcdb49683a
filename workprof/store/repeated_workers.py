"""Workers that the instance table names more than once, and the last instance of each.

The file is read once, for a short record of every instance: a 128-bit key in place of the 60 characters of its worker's
name (two of 20 million names share one with a chance below 1e-23), and what orders the instances of one worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from workprof.progress import Progress
from workprof.store import rejects
from workprof.store.catalogue import one
from workprof.store.raw_tables import RawTable
from workprof.store.running import Span, run_watched

COUNT = Span(0.10, 0.22, "finding repeated workers")
ORDER = "(status, start_time, end_time)"


@dataclass(frozen=True)
class Workers:
    """Counts of the instance file: rows, rows without a worker, rows that repeat a worker."""

    rows: int
    nameless: int
    repeats: int


def worker_key(letter: str) -> dict[str, str]:
    """Return the two columns of a worker's key and the SQL of each."""
    return {"forward": f"hash({letter}.worker_name)", "backward": f"hash(reverse({letter}.worker_name))"}


def keys_sql(letter: str) -> str:
    """Return the key's columns for a SELECT."""
    return ", ".join(f"{sql} AS {name}" for name, sql in worker_key(letter).items())


def same_worker(left: str, right: str) -> str:
    """Return the condition that two relations with keys speak of one worker."""
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in worker_key(""))


def find(cursor: duckdb.DuckDBPyConnection, instances: RawTable, progress: Progress) -> Workers:
    """Count workers and make the tables `last_of_worker` (by key) and `last_of_tied` (whole rows)."""
    run_watched(
        cursor,
        f"CREATE TEMP TABLE instance_keys AS SELECT {keys_sql('r')}, r.worker_name IS NOT NULL AS named, "
        f"r.status, r.start_time, r.end_time FROM {instances.sql} r",
        [],
        progress,
        COUNT,
    )
    counts = "SELECT count(*), count(*) FILTER (WHERE named) FROM instance_keys"
    if rejects.any_of(cursor, instances.spooled):  # a bad time is no reason to leave a row out of a count of names
        counts = f"SELECT count(*), count(worker_name) FROM {instances.sql}"
    rows, named = one(cursor, counts)
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_worker AS
        SELECT forward, backward, max(key) AS last, arg_max(n, key) AS ties, sum(n) AS n FROM (
            SELECT forward, backward, {ORDER} AS key, count(*) AS n FROM instance_keys
            WHERE named AND forward IN (SELECT forward FROM instance_keys WHERE named GROUP BY 1 HAVING count(*) > 1)
            GROUP BY ALL
        ) GROUP BY forward, backward HAVING sum(n) > 1
        """
    )
    cursor.execute("DROP TABLE instance_keys")
    repeats, ties = one(cursor, "SELECT coalesce(sum(n - 1), 0), count(*) FILTER (WHERE ties > 1) FROM last_of_worker")
    _settle_ties(cursor, instances, bool(ties))
    return Workers(int(rows), int(rows) - int(named), int(repeats))


def _settle_ties(cursor: duckdb.DuckDBPyConnection, instances: RawTable, any_ties: bool) -> None:
    """Keep the last row in the file of workers whose last instances agree in status and times."""
    keys = ", ".join(worker_key("r").values())
    wanted = f"({keys}) IN (SELECT (forward, backward) FROM last_of_worker WHERE ties > 1)" if any_ties else "FALSE"
    cursor.execute("SET disabled_optimizers='join_order,build_side_probe_side'")  # else the file's order may be lost
    try:
        cursor.execute(
            f"CREATE TEMP TABLE tied AS SELECT * FROM {instances.sql} r WHERE worker_name IS NOT NULL AND {wanted}"
        )
    finally:
        cursor.execute("RESET disabled_optimizers")
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_tied AS SELECT * FROM tied
        QUALIFY row_number() OVER (PARTITION BY worker_name ORDER BY {ORDER} DESC, rowid DESC) = 1 ORDER BY rowid
        """
    )
    cursor.execute("DROP TABLE tied")
