"""A home, and the rows of a dataset whatever their order."""

import os

import pytest

from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.workbench import Workbench


@pytest.fixture
def bench(tmp_path):
    with Workbench(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.fixture
def on_path(monkeypatch):
    return lambda folder: monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def rows_of(bench, name):
    """Every row of a dataset with all its columns, in an order of its own."""
    rows = bench.preview(name, 100_000).drop(columns="row_id")
    columns = sorted(rows.columns)
    rows = rows[columns].astype(object).where(rows[columns].notna(), None)
    return sorted((tuple(map(repr, row)) for row in rows.itertuples(index=False)), key=str), columns
