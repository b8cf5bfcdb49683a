"""Clusters with a known history, and what tells of them: a server with Prometheus' API, and a sacct."""

import contextlib
import http.server
import json
import re
import sys
import threading
import urllib.parse
from dataclasses import dataclass, field

import numpy as np

STEP = 60
BEGIN = 1_700_000_040 // STEP * STEP
GIB = 2**30


@dataclass(frozen=True)
class Pod:
    name: str
    task: str
    start: int  # and `end`: seconds since BEGIN
    end: int
    request: float
    peak: float
    succeeds: bool = True


def pods(count=12, hours=6, seed=0):
    """Pods of three tasks over some hours; the last ones still run at the end."""
    rng = np.random.default_rng(seed)
    result = []
    for number in range(count):
        task = ("align", "sort", "call")[number % 3]
        start = int(rng.integers(0, hours * 60 - 30)) * 60 + 60
        end = start + int(rng.integers(10, 90)) * 60
        result.append(Pod(f"{task}-{number}", task, start, end, 4 * GIB, float(rng.uniform(0.5, 3)) * GIB))
    return result


def series_of(every):
    """(name, labels, function of a time that gives a value or None) of each series."""
    for pod in every:
        labels = {"namespace": "lab", "pod": pod.name}
        own = labels | {"container": "main", "node": "n1"}
        start, end = BEGIN + pod.start, BEGIN + pod.end

        def while_it_runs(value, start=start, end=end):
            return lambda at: value(at) if start <= at <= end else None

        def while_it_is_listed(value, start=start, end=end):
            return lambda at: value(at) if start <= at <= end + 600 else None

        rise = lambda at, pod=pod, start=start: pod.peak * min(1.0, 0.2 + (at - start) / 1200)  # noqa: E731
        yield "container_memory_working_set_bytes", own, while_it_runs(rise)
        yield "container_cpu_usage_seconds_total", own, while_it_runs(lambda at, start=start: 0.7 * (at - start))
        request = labels | {"container": "main", "resource": "memory", "unit": "byte"}
        yield "kube_pod_container_resource_requests", request, while_it_is_listed(lambda _, pod=pod: pod.request)
        owner = labels | {"owner_kind": "Job", "owner_name": f"{pod.task}"}
        yield "kube_pod_owner", owner, while_it_is_listed(lambda _: 1)
        yield "kube_pod_start_time", labels, while_it_is_listed(lambda _, start=start: start)
        yield "kube_pod_completion_time", labels, lambda at, end=end: end if end <= at <= end + 600 else None
        running = labels | {"phase": "Running"}
        yield "kube_pod_status_phase", running, lambda at, s=start, e=end: 1 if s <= at < e else None
        done = labels | {"phase": "Succeeded"}
        yield "kube_pod_status_phase", done, lambda at, e=end: 1 if e <= at <= e + 600 else None


@dataclass
class Server:
    """What a server of a Prometheus API does; `faults` are the answers to the next requests."""

    pods: list
    now: int = 10**9  # seconds since BEGIN: nothing is told of later moments
    faults: list = field(default_factory=list)
    most_points: int = 11_000
    silent: tuple[int, int] = (0, 0)  # from when to when it has no points, in seconds since BEGIN
    silent_of: str = ""  # how the names of the metrics begin that have none then
    asked: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    url: str = ""

    def range(self, query, start, end, step):
        name = re.match(r"[A-Za-z_:]+", query)[0]
        grid = np.arange(start, end + step / 2, step)
        if grid.size > self.most_points:
            return 400, {"status": "error", "errorType": "bad_data", "error": "exceeded maximum resolution of points"}
        result = []
        for metric, labels, value in series_of(self.pods):
            if metric != name:
                continue
            low, high = self.silent if metric.startswith(self.silent_of) else (0, 0)
            seconds = [at for at in grid - BEGIN if at <= self.now and not low <= at < high]
            points = [(int(BEGIN + at), value(BEGIN + at)) for at in seconds]
            kept = [[at, str(each)] for at, each in points if each is not None]
            if kept:
                result.append({"metric": {"__name__": metric, **labels}, "values": kept})
        return 200, {"status": "success", "data": {"resultType": "matrix", "result": result}}


@contextlib.contextmanager
def prometheus(every, **more):
    """Yield a server on loopback that answers query_range about pods."""
    server = Server(list(every), **more)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two wait 40 ms for each other

        def log_message(self, *_):
            pass

        def do_POST(self):
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            query = {name: values[0] for name, values in form.items()}
            server.asked.append(query)
            server.headers.append(dict(self.headers))
            status, answer = server.range(
                query["query"], float(query["start"]), float(query["end"]), float(query["step"])
            )
            body, fault = json.dumps(answer).encode(), server.faults.pop(0) if server.faults else None
            if callable(fault):
                fault = fault()
            if fault == "warn":
                body = json.dumps(answer | {"warnings": ["store gateway 2 did not answer"]}).encode()
            elif isinstance(fault, bytes):
                body = fault
            elif isinstance(fault, int):
                status, body = fault, b'{"status": "error", "error": "no"}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) * (2 if fault == "break" else 1)))
            if fault == "break":
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            if fault == "break":
                self.close_connection = True

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@dataclass(frozen=True)
class Job:
    number: int
    name: str
    user: str
    submit: int  # and `start`, `end`: seconds since BEGIN
    start: int
    end: int
    peak: int


def jobs(count=60, seed=0):
    """Jobs of two users over a day: some run for hours, some wait for hours."""
    rng = np.random.default_rng(seed)
    result = []
    for number in range(1, count + 1):
        submit = int(rng.integers(0, 86_400))
        start = submit + int(rng.integers(1, 7_200))
        end = start + int(rng.integers(60, 20_000))
        peak = int(rng.integers(1, 4_000)) * 1024
        result.append(
            Job(number, ("align", "sort")[number % 2], ("ann", "bob")[number % 3 == 0], submit, start, end, peak)
        )
    return result


SACCT = """#!{python}
import json, os, sys
from datetime import datetime, timezone
if os.path.exists({state!r} + ".fault"):
    sys.stderr.write("sacct: error: slurm_persist_conn_open: Connection refused\\n")
    sys.exit(1)
options = dict(one.partition("=")[::2] for one in sys.argv[1:])
moment = lambda text: datetime.fromisoformat(text + "+00:00").timestamp() - {begin}
low, now = moment(options["--starttime"]), moment(options["--endtime"])
names = options["--format"].split(",")
shown = lambda at: datetime.fromtimestamp({begin} + at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
span = lambda s: f"{{s // 3600:02d}}:{{s // 60 % 60:02d}}:{{s % 60:02d}}"
print("|".join(names))
for number, name, user, submit, start, end, peak in json.load(open({state!r})):
    if submit > now or end < low:
        continue
    state = "PENDING" if start > now else "RUNNING" if end > now else "COMPLETED"
    begun, ended = start <= now, end <= now
    row = dict(JobID=number, JobName=name, User=user, Account="lab", Partition="main", State=state,
               Submit=shown(submit), Start=shown(start) if begun else "Unknown", End=shown(end) if ended else "Unknown",
               Elapsed=span(int(min(end, now)) - start) if begun else "00:00:00", ReqMem="4G", ReqCPUS=2, AllocCPUS=2,
               NNodes=1, Timelimit="12:00:00", ExitCode="0:0")
    print("|".join(str(row.get(each, "")) for each in names))
    if begun:
        step = dict(row, JobID=f"{{number}}.batch", JobName="batch", User="", Partition="", NTasks=1, ReqMem="",
                    Timelimit="",
                    MaxRSS=f"{{peak}}K" if ended else "", AveRSS=f"{{peak}}K" if ended else "", TotalCPU="00:01:00")
        print("|".join(str(step.get(each, "")) for each in names))
"""


def sacct(folder, every):
    """Write a sacct that tells of jobs as they are at its --endtime; its folder for PATH, and its fault switch."""
    state = folder / "jobs.json"
    state.write_text(json.dumps([list(vars(one).values()) for one in every]))
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    script = place / "sacct"
    script.write_text(SACCT.format(python=sys.executable, state=str(state), begin=BEGIN))
    script.chmod(0o755)
    return place, folder / "jobs.json.fault"
