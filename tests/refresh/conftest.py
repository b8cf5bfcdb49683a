"""A home, and the rows of a dataset whatever their order."""

import os

import pytest

from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.sources.refresh import refresh
from workprof.workbench import Workbench


@pytest.fixture
def bench(tmp_path):
    with Workbench(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.fixture
def on_path(monkeypatch):
    return lambda folder: monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def told(bench, tmp_path, on_path):
    """Refresh a source, whose command (sacct, kubectl) prints a text, and return what came; nothing is computed."""
    on_path(tmp_path)

    def refreshed(source, text, now_s):
        if source.name not in {each.name for each in bench.sources()}:
            bench.add_source(source)
        (tmp_path / "answer").write_text(text)
        command = tmp_path / {"slurm": "sacct", "kubernetes": "kubectl"}.get(source.kind, "none")
        command.write_text(f"#!/bin/sh\ncat '{tmp_path}/answer'\n")
        command.chmod(0o755)
        return refresh(bench._store, source, lambda *_: None, bench.settings, now_s=now_s)

    return refreshed


def rows_of(bench, name):
    """Every row of a dataset with all its columns, in an order of its own."""
    rows = bench.preview(name, 100_000).drop(columns="row_id")
    columns = sorted(rows.columns)
    rows = rows[columns].astype(object).where(rows[columns].notna(), None)
    return sorted((tuple(map(repr, row)) for row in rows.itertuples(index=False)), key=str), columns
