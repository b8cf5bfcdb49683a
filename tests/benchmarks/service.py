"""Predictions over HTTP, one job each, by several clients at once: the service against a plain FastAPI script.

The script is what one would write first: the same forecaster in memory, a table of one row per request, its answer as
JSON. Both run as a process of their own under the same load, in turn. A client sends its next job once it has its
answer, so that at a given rate more clients wait longer each; the clients take one of the two cores.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.measure import ROOT, Measured

CLIENTS = (8, 16, 32)
SHOWN = 16  # of which the ratio and the seconds are
REQUESTS, WARM = 4_000, 400
SAMPLE = ROOT / "data" / "sample" / "pai_sample.parquet"
READY_S = 600

PLAIN = """
import sys
import threading
import pandas as pd
import uvicorn
from fastapi import FastAPI, Request
from workprof import Workbench, from_environment
from workprof.answers.forecasts import (forecast_document)
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.one_job import every_job
workbench = Workbench(from_environment())
settings = workbench.forecaster.resolved("pai_sample", ForecasterSettings())
loaded = workbench.loaded_forecaster("pai_sample", settings)
names = workbench.profile_names("pai_sample")
app = FastAPI()
lock = threading.Lock()  # XGBoost's boosters are not for several threads at once

@app.post("/v1/predict")
def predict(job: dict):
    table = pd.DataFrame([{name: job.get(name) for name in (*SUBMIT_FIELDS, "submit_time_s")}])
    with lock:
        said = loaded.forecast(table)
    return forecast_document(every_job(said)[0], names)

@app.get("/readyz")
def ready():
    return "ready"

uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
"""

FILL = """
import json, sys
from pathlib import Path
import pandas as pd
from workprof import Workbench, from_environment
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.questions import LEARNED
from workprof.memory.verdict import VerdictSettings
with Workbench(from_environment()) as bench:
    hashed = bench.ingest([Path(sys.argv[1])]).hash
    bench.forecaster(hashed, ForecasterSettings())
    bench.verdict(hashed, VerdictSettings())
    jobs = bench.frames_of(bench.dataset(hashed), LEARNED)()["jobs"]
    jobs = jobs.sample(int(sys.argv[2]), replace=True, random_state=0)
    names = (*SUBMIT_FIELDS, "submit_time_s")
    rows = [{n: v for n, v in row.items() if n in names and pd.notna(v)} for row in jobs.to_dict("records")]
    print(json.dumps(rows, default=float))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(command: list[str], port: int, home: Path):
    server = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"WORKPROF_HOME": str(home)}, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + READY_S
        while True:
            with contextlib.suppress(urllib.error.URLError, OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
                break
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError("a server did not get ready")
            time.sleep(0.2)
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


async def load(port: int, bodies: list[bytes], clients: int, path: str = "/v1/predict") -> tuple[float, list[float]]:
    """Return the seconds for all requests, and those of each."""
    waiting, times = iter(bodies), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in waiting:
            started = time.perf_counter()
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in answer[:16]:
                raise RuntimeError(answer.decode())
            length = next(
                int(line.split(b":")[1]) for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            times.append(time.perf_counter() - started)
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return time.perf_counter() - started, times


def used_s(pid: int) -> float:
    """Return the processor time of a process so far, s."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What a number of clients measured, per 1,000 requests where it is seconds."""

    clients: int
    seconds: float
    p99_s: float
    used_s: float

    def __str__(self) -> str:
        return f"{self.clients} clients {1 / self.seconds * 1_000:,.0f} a second, p99 {self.p99_s * 1e3:.0f} ms"


def measured(command: list[str], port: int, home: Path, bodies: list[bytes], counts: Sequence[int]) -> list[Load]:
    """Measure a server under the load of each number of clients, in turn."""
    found = []
    with serving(command, port, home) as server:
        asyncio.run(load(port, bodies[:WARM], max(counts)))
        for clients in counts:
            before = used_s(server.pid)
            seconds, times = asyncio.run(load(port, bodies[WARM:], clients))
            n = len(times) / 1_000
            p99_s = sorted(times)[int(0.99 * len(times))]
            found.append(Load(clients, seconds / n, p99_s, (used_s(server.pid) - before) / n))
    return found


def run() -> Measured:
    home = Path(os.environ.get("BENCH_HOME") or tempfile.mkdtemp(prefix="workprof-service-"))
    command = [sys.executable, "-c", FILL, str(SAMPLE), str(REQUESTS + WARM)]
    filled = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"WORKPROF_HOME": str(home)}, capture_output=True, text=True, check=True
    )
    bodies = [json.dumps(job).encode() for job in json.loads(filled.stdout.splitlines()[-1])]
    port = free_port()
    command = [sys.executable, "-m", "workprof.cli", "serve", "--api", "--port", str(port), "--dataset", "pai_sample"]
    ours = measured(command, port, home, bodies, CLIENTS)
    shown = next(one for one in ours if one.clients == SHOWN)
    port = free_port()
    few = bodies[: WARM + REQUESTS // 10]
    (plain,) = measured([sys.executable, "-c", PLAIN, str(port)], port, home, few, (SHOWN,))
    return Measured(
        ratio=plain.seconds / shown.seconds,
        ours_s=shown.seconds,
        reference_s=plain.seconds,
        ours_mb=None,
        reference_mb=None,
        reference="a FastAPI script with the same forecaster, a table of one row per request",
        note=f"per 1,000 requests of {SHOWN} clients, {shown.used_s:.2f} s of processor time; "
        f"{'; '.join(map(str, ours))}; the script: {plain}, {plain.used_s:.2f} s of processor time",
    )
