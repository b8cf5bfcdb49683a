"""The command, run in this process: a process of its own spends two seconds of imports on every line."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from workprof.cli.main import main

PATIENCE_S = 1200


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def run_here(*arguments, home: Path, stdin: str = "", **environment):
    """Return what a command says and its status, as a process of its own would have them."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (environment | {"WORKPROF_HOME": str(home)}).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([str(one) for one in arguments])
            except SystemExit as end:
                status = end.code or 0
    return Ran(status, out.getvalue(), err.getvalue())


def run_process(*arguments, home: Path, **environment):
    """Return what the installed command says and its status."""
    done = subprocess.run(
        [sys.executable, "-m", "workprof", *map(str, arguments)],
        env=os.environ | {"WORKPROF_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
