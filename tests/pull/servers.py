"""A Postgres server of the distribution in a folder of the test's, on loopback; and Java, for Spark."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from workprof.nodes.processes import free_port


def java():
    """Fail where Spark cannot run.

    Raises:
        AssertionError: names the package.
    """
    assert shutil.which("java"), "Spark needs Java: apt-get install default-jre-headless"
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise AssertionError("Spark needs pyspark: make soak installs it (pip install 'workprof[spark]')") from error


def _tool(name):
    found = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}")]
    there = shutil.which(name) or (str(sorted(found)[-1]) if found else "")
    assert there, f"{name} is not there: apt-get install postgresql"
    return there


@contextlib.contextmanager
def postgres():
    """Yield the address of a fresh Postgres server; root starts it as `nobody`, for Postgres refuses root."""
    tools = {name: _tool(name) for name in ("initdb", "pg_ctl")}
    with tempfile.TemporaryDirectory(prefix="workprof-postgres-") as place:  # pytest closes its folders to other users
        options = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(place, nobody.pw_uid, nobody.pw_gid)
            options = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with _started(Path(place), tools, options) as address:
            yield address


@contextlib.contextmanager
def _started(folder, tools, options):
    data, port = folder / "data", free_port()

    def run(*command):
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, cwd=folder, check=False, **options
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run(tools["initdb"], "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
    serving = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
    run(tools["pg_ctl"], "-D", data, "-w", "-l", folder / "log", "-o", serving, "start")
    try:
        yield f"postgres://tester@127.0.0.1:{port}/postgres"
    finally:
        run(tools["pg_ctl"], "-D", data, "-m", "immediate", "stop")


def fill(address, tables):
    """Make each frame a table of a Postgres server."""
    import psycopg

    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        for name, frame in tables.items():
            kinds = [
                "double precision" if kind.kind == "f" else "bigint" if kind.kind == "i" else "text"
                for kind in frame.dtypes
            ]
            columns = ", ".join(f'"{column}" {kind}' for column, kind in zip(frame, kinds, strict=True))
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False):
                    copy.write_row(row)
