"""The tables that the store keeps about datasets."""

from __future__ import annotations

import duckdb

from workprof.store import feedback_state, scenarios

STATEMENTS = (
    """
    CREATE TABLE IF NOT EXISTS catalogue (
        hash VARCHAR NOT NULL,      -- 32 hexadecimal digits of content and options
        name VARCHAR NOT NULL,
        kind VARCHAR NOT NULL,
        format VARCHAR NOT NULL,
        rows BIGINT NOT NULL,
        finished_rows BIGINT NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        mode VARCHAR NOT NULL,
        origin VARCHAR NOT NULL,
        input_bytes BIGINT NOT NULL,
        columns VARCHAR NOT NULL,   -- JSON: stored columns
        aliases VARCHAR NOT NULL,   -- JSON: further name -> column
        report VARCHAR NOT NULL     -- JSON: IngestReport
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS notes (
        clustering VARCHAR NOT NULL,
        profile BIGINT NOT NULL,
        name VARCHAR NOT NULL,
        note VARCHAR NOT NULL
    )
    """,
    *feedback_state.FEEDBACK_TABLES,
    *scenarios.SCENARIO_TABLES,
)

STAGE = "stage_"
ROWS = "rows_"
REJECTS = "rejects_"


def create(cursor: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing and drop what a killed ingest may have left."""
    for statement in STATEMENTS:
        cursor.execute(statement)
    tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    known = {hashed for (hashed,) in cursor.execute("SELECT hash FROM catalogue").fetchall()}
    kept = {prefix + hashed for hashed in known for prefix in (ROWS, REJECTS)}
    for name in tables:
        if name.startswith((STAGE, ROWS, REJECTS)) and name not in kept:
            cursor.execute(f'DROP TABLE "{name}"')
