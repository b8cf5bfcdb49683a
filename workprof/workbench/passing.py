"""A workbench that keeps nothing."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workprof.core.settings import from_environment
from workprof.workbench import Workbench


@contextlib.contextmanager
def passing_workbench() -> Iterator[Workbench]:
    """A workbench whose home is a temporary folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="workprof-") as folder:
        home = Path(folder) / "home"
        with Workbench(replace(from_environment().at(home), readonly=False)) as bench:
            yield bench
