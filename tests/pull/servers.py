"""A Postgres server of the distribution in a folder of the test's, on loopback; and Java, for Spark."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path


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


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def postgres(folder):
    """Yield the address of a fresh Postgres server; root starts it as `nobody`, for Postgres refuses root."""
    tools = {name: _tool(name) for name in ("initdb", "pg_ctl")}
    folder.mkdir()
    options = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        for parent in folder.parents:  # pytest closes its folders to other users
            if parent.owner() == "root" and not parent.stat().st_mode & 1 and "pytest" in str(parent):
                parent.chmod(0o711)
        options = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    data, port = folder / "data", _free_port()

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
