"""Where a trace lies: an address becomes an engine with its tables, and rows come from it in Arrow batches.

| address | engine |
|---|---|
| `trace.duckdb`, `duckdb:///folder/trace.duckdb` | DuckDB, the file opened read-only |
| `trace.parquet`, `folder/`, `folder/*.parquet`, `s3://bucket/folder/` | DuckDB over Parquet, streamed by Arrow |
| `postgres://user@host/database` | Postgres |
| `spark`, `spark:local[2]`, `spark://host:7077` | Spark; a table is a name, or the address of Parquet files |
| `trino://user@host:8080/catalog/schema` | Trino |
| `bigquery://project/dataset` | BigQuery |
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import duckdb
import pyarrow as pa

from workprof.core.errors import SettingsError, TraceError
from workprof.store.connection import quoted

BATCH_ROWS = 65_536
EXTRAS = {"spark": "spark", "trino": "trino", "bigquery": "bigquery"}
NEEDS = {
    "duckdb": "duckdb",
    "postgres": "psycopg",
    "spark": "pyspark",
    "trino": "trino",
    "bigquery": "google.cloud.bigquery",
}
FILES = (".duckdb", ".ddb", ".db")
PARQUET_SUFFIXES = (".parquet", ".pq")
STORES = ("s3",)


@dataclass(frozen=True)
class Address:
    """An address as given."""

    engine: str  # duckdb, parquet, postgres, spark, trino or bigquery
    url: str  # what the engine takes: a path, a URL, or Spark's master
    shown: str  # the address without a password

    @classmethod
    def parse(cls, given: str) -> Address:
        """What an address names; raises SettingsError, which lists the kinds, when it is none of them."""
        scheme = given.partition(":")[0].lower() if "://" in given or given.startswith("spark") else ""
        if scheme in ("postgres", "postgresql", "trino", "bigquery"):
            return cls(scheme.removesuffix("ql"), given, without_password(given))
        if scheme == "spark":
            master = given if "://" in given else given.partition(":")[2] or "local[*]"
            return cls("spark", master, given)
        if scheme in STORES:
            return cls("parquet", given, without_password(given).partition("?")[0])
        if scheme not in ("", "duckdb", "file"):
            raise SettingsError(
                f"--from {without_password(given)!r}: {scheme}:// is not known; give a DuckDB file, Parquet files, "
                f"s3://, postgres://, spark, trino:// or bigquery://"
            )
        path = given.removeprefix(f"{scheme}://") if scheme else given
        if scheme == "duckdb" or path.lower().endswith(FILES):
            return cls("duckdb", path, given)
        return cls("parquet", path, given)


def without_password(url: str) -> str:
    """A URL without the password in it."""
    try:
        parts = urlsplit(url)
        hidden = parts.password
    except ValueError:
        return re.sub(r":[^:@/]*@", ":***@", url)
    if hidden is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{hidden}@", ":***@")))


@dataclass(frozen=True)
class Engine:
    """An open engine."""

    name: str  # of the backend in Ibis
    connection: Any  # Ibis' backend; of DuckDB its own
    address: Address  # as given
    default: str = ""  # the table that is read where none is named: Parquet files, else ''
    made: list[str] = field(default_factory=list)
    lengths: list[str] = field(default_factory=list)  # columns that are lengths of time, in seconds

    def table(self, name: str) -> Any:
        """A table by its name; of Spark and Parquet, also by the address of Parquet files.

        Raises:
            SettingsError: when none is named and there are several.
            TraceError: when there is no such table; names those that there are.
        """
        name = name or self.default
        if self.address.engine == "parquet":
            alias = f"workprof_{len(self.made)}"
            self.made.append(alias)
            self.connection.register(alias, parquet_dataset(name))
            return self._of_duckdb(alias, "")
        if self.address.engine == "spark" and ("/" in name or name.lower().endswith(PARQUET_SUFFIXES)):
            return self.connection.read_parquet(name)
        schema, _, own = name.rpartition(".")
        there = self._tables() if not schema else []
        if not name:
            if len(there) != 1:
                raise SettingsError(
                    f"{self.address.shown} holds {len(there)} tables; name one with --table"
                    + (f": {', '.join(there[:20])}" if there else "")
                )
            own = there[0]
        elif not schema and own not in there:
            shown = f"; there are {', '.join(there[:20])}" if there else ""
            raise TraceError(f"{self.address.shown} has no table {name!r}{shown}")
        return (
            self._of_duckdb(own, schema)
            if self.name == "duckdb"
            else self.connection.table(own, database=schema or None)
        )

    def _tables(self) -> list[str]:
        if self.name != "duckdb":
            return sorted(self.connection.list_tables())
        return [
            name
            for (name,) in self.connection.execute(
                "SELECT table_name FROM duckdb_tables() UNION "
                "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
            ).fetchall()
        ]

    def _of_duckdb(self, name: str, schema: str) -> Any:
        """A table of DuckDB without a connection: Ibis only writes its SQL, so any version of DuckDB will do."""
        ibis = extra("ibis", "pull")
        place = f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)
        there = self.connection.sql(f"SELECT * FROM {place} LIMIT 0").to_arrow_table().schema
        for at, column in enumerate(there):
            if pa.types.is_interval(column.type):
                there = there.set(at, column.with_type(pa.duration("us")))
        return ibis.table(ibis.Schema.from_pyarrow(there), name=name, database=schema or None)

    def one(self, expression: Any) -> dict[str, Any]:
        """The one row of an expression that counts."""
        rows = self.rows(expression)
        return rows[0] if rows else {}

    def rows(self, expression: Any) -> list[dict[str, Any]]:
        """The few rows of an aggregate."""
        return [row for batch in self.batches(expression, bounded=True) for row in batch.to_pylist()]

    def batches(self, expression: Any, *, bounded: bool, folder: Path | None = None) -> Iterator[pa.RecordBatch]:
        """What an expression gives, in batches; if `bounded`, its size does not depend on the trace's.

        Spark may write rows that are not bounded into `folder`.

        Raises SettingsError for all rows of a cluster of Spark: they come through one process.
        """
        if self.name == "duckdb":
            sql = str(extra("ibis", "pull").to_sql(expression, dialect="duckdb"))
            yield from self.connection.sql(sql).to_arrow_reader(BATCH_ROWS)
            return
        if self.name != "pyspark":
            yield from self.connection.to_pyarrow_batches(expression, chunk_size=BATCH_ROWS)
            return
        frame = self.connection._session.sql(self.connection.compile(expression))
        if bounded:
            yield from frame.toArrow().to_batches(max_chunksize=BATCH_ROWS)
            return
        if folder is None or not self.address.url.startswith("local"):
            raise SettingsError(f"{self.address.shown}: give --sample N; all rows of a Spark cluster do not come here")
        frame.write.parquet(str(folder))
        yield from parquet_dataset(str(folder)).to_batches(batch_size=BATCH_ROWS)


@contextlib.contextmanager
def opened(address: Address, memory_bytes: int, spill: Path) -> Iterator[Engine]:
    """Open an engine; DuckDB keeps at most `memory_bytes` in memory, and the rest in the folder `spill`.

    Raises:
        SettingsError: when the extra that it needs is not installed.
        TraceError: when it cannot be reached.
    """
    ibis = extra("ibis", "pull")
    kind = "duckdb" if address.engine == "parquet" else address.engine
    extra(NEEDS[kind], EXTRAS.get(kind, "pull"))
    if address.engine == "duckdb" and not Path(address.url).is_file():
        raise TraceError(f"{address.shown}: there is no such file; give the path of a DuckDB database")
    connection: Any
    try:
        if kind == "duckdb":
            place = ":memory:" if address.engine == "parquet" else address.url
            config: dict[str, Any] = {"memory_limit": f"{memory_bytes}B", "temp_directory": str(spill)}
            connection = duckdb.connect(place, read_only=address.engine == "duckdb", config=config)
        elif address.engine == "spark":
            with warnings.catch_warnings():  # of pandas, whose frames are not used here
                warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
                connection = ibis.pyspark.connect(_spark(address.url))
        else:
            connection = ibis.connect(address.url)
    except Exception as error:
        raise TraceError(f"{address.shown} cannot be opened ({_first_line(error)}); check the address") from error
    try:
        name = "duckdb" if kind == "duckdb" else connection.name
        yield Engine(name, connection, address, address.url if address.engine == "parquet" else "")
    finally:
        connection.close() if kind == "duckdb" else connection.disconnect()


def _spark(master: str) -> Any:
    sql = importlib.import_module("pyspark.sql")
    builder = sql.SparkSession.builder.master(master).appName("workprof pull")
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def extra(module: str, name: str) -> Any:
    """A module of an extra; raises SettingsError, which says the command, when it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = f"pip install 'workprof[{name}]'"
        if name in ("trino", "bigquery"):
            missing = f"pip install 'ibis-framework[{name}]'"
        raise SettingsError(f"this needs {module.partition('.')[0]}, which is not installed: {missing}") from error


def parquet_dataset(place: str) -> Any:
    """The Parquet files of a file, a folder, a pattern or an S3 prefix as one Arrow dataset.

    S3: keys come from the environment (AWS_ACCESS_KEY_ID ...); `?anonymous=1` asks without any, `?endpoint=` and
    `?region=` name another store.

    Raises TraceError when there are none, or they cannot be read.
    """
    import pyarrow.dataset as ds  # noqa: PLC0415  loaded for a pull only

    try:
        if place.startswith("s3://"):
            return _stored(place)
        place = place.removeprefix("file://")
        result = sorted(glob.glob(place, recursive=True)) if glob.has_magic(place) else [place]  # noqa: PTH207
        if len(result) == 1 and Path(result[0]).is_dir():
            return ds.dataset(result[0], format="parquet", exclude_invalid_files=False)
        if not result or not all(Path(path).is_file() for path in result):
            raise TraceError(
                f"{place}: there is no Parquet file; give a file, a folder or a pattern such as '*.parquet'"
            )
        return ds.dataset(result, format="parquet")
    except (pa.ArrowException, OSError) as error:
        raise TraceError(f"{without_password(place)} cannot be read ({_first_line(error)}); check the files") from error


def _stored(place: str) -> Any:
    import pyarrow.dataset as ds  # noqa: PLC0415
    from pyarrow import fs  # noqa: PLC0415

    parts = urlsplit(place)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    unknown = query.keys() - {"anonymous", "endpoint", "region"}
    if unknown:
        raise SettingsError(
            f"{parts.scheme}://{parts.netloc}: {', '.join(unknown)} is not known; use anonymous, endpoint, region"
        )
    endpoint = urlsplit(query.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL", ""))
    options: dict[str, Any] = {"anonymous": query.get("anonymous", "0") not in ("", "0")}
    if endpoint.netloc:
        options |= {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme or "https"}
    region = query.get("region") or os.environ.get("AWS_REGION", "")
    if region:
        options["region"] = region
    store = fs.S3FileSystem(**options)
    path = f"{parts.netloc}{parts.path}".rstrip("/")
    if not path.endswith(PARQUET_SUFFIXES):
        return ds.dataset(path.partition("*")[0].rstrip("/"), filesystem=store, format="parquet")
    if "*" in path:
        path = path.partition("*")[0].rstrip("/")
    return ds.dataset(path, filesystem=store, format="parquet")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
