"""A home with a small trace, its forecaster and its sizes, and the application over a copy of it."""

import shutil
import time

import httpx
import numpy as np
import pandas as pd
import pytest

from tests.command_line import run_here
from tests.made_once import made_once

PATIENCE_S = 300


def write_wasteful(path):
    """Write runs of two tasks that request 64 GB and use 5 to 9."""
    draw, n = np.random.default_rng(3), 400
    start = np.arange(n) * 600.0
    table = {
        "task_name": np.where(np.arange(n) % 2, "align", "sort"),
        "submit_time_s": start,
        "start_time_s": start,
        "end_time_s": start + draw.uniform(500, 900, n),
        "requested_memory_bytes": 64e9,
        "peak_memory_bytes": draw.uniform(5e9, 9e9, n),
    }
    pd.DataFrame(table).to_csv(path, index=False)


def fill(folder):
    path, wasteful = folder / "small.parquet", folder / "wasteful.csv"
    write_wasteful(wasteful)
    commands = (
        ("synth", "pai", "--rows", 1500, "-o", path, "--seed", 5),
        ("ingest", wasteful, "--name", "wasteful"),
        ("ingest", path, "--name", "small"),
        ("classify", "predict", "small", "--set", "task_name=worker"),
        ("memory", "plan", "small"),
        ("memory", "plan", "wasteful"),
    )
    for command in commands:
        made = run_here(*command, home=folder / "home")
        assert made.status == 0, made.err


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    folder, _ = made_once(tmp_path_factory, "service", fill)
    return folder / "home"


@pytest.fixture
def home(filled, tmp_path):
    shutil.copytree(filled, tmp_path / "home")
    return tmp_path / "home"


def until_ready(client, path="/readyz"):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            answer = client.get(path)
            if answer.status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the service was not ready in time")
