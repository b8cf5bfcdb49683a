"""The distribution's Prometheus with 2,000 pods of one day: refreshed rows are those of a file import of the series."""

import json
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import pytest

from tests.refresh.conftest import rows_of
from tests.refresh.planted import BEGIN, GIB, Pod, series_of
from workprof.sources import prometheus as api
from workprof.sources.api import SourceUnreachable
from workprof.sources.source import Source
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.soak

DAY, STEP, PODS = 86_400, 60, 2_000


class Real:
    """A Prometheus of the test's own on loopback, that can be killed and started again."""

    def __init__(self, folder):
        for tool in ("prometheus", "promtool"):
            assert shutil.which(tool), f"{tool} is not there: apt-get install prometheus"
        self.folder, self.child = folder, None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        (folder / "prometheus.yml").write_text("global:\n  scrape_interval: 1h\n")

    def fill(self, text):
        made = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(self.folder / "data")]
        subprocess.run(made, check=True, capture_output=True, timeout=900)

    def start(self):
        self.child = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={self.folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={self.folder / 'data'}",
                "--storage.tsdb.retention.time=10y",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while True:
            try:
                if urllib.request.urlopen(f"{self.url}/-/ready", timeout=2).status == 200:
                    return
            except OSError:
                pass
            assert time.monotonic() < until, "Prometheus did not start"
            time.sleep(0.2)

    def kill(self):
        if self.child is not None:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()
            self.child = None


def cluster(begin):
    """2,000 pods of one day: short runs of three tasks, and every tenth a service that never ends."""
    for number in range(PODS):
        task = ("align", "sort", "call")[number % 3]
        start = number * 37 % (DAY - 3 * 3600) // STEP * STEP
        long = number % 10 == 0
        end = DAY + 3600 if long else start + (10 + number * 7 % 100) * STEP
        yield Pod(f"{task}-{number}", task, begin + start, begin + end, 4 * GIB, (0.5 + number % 25 / 10) * GIB)


def openmetrics(path, every, begin):
    """Write each series at each minute of the day."""
    families = {}
    for name, labels, value in series_of(every):
        families.setdefault(name, []).append((labels, value))
    with path.open("w") as file:
        for name, series in families.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            file.write(f"# TYPE {name.removesuffix('_total')} {kind}\n")
            for labels, value in series:
                shown = ",".join(f'{key}="{text}"' for key, text in labels.items())
                for at in range(begin, begin + DAY + 1, STEP):
                    each = value(at)
                    if each is not None:
                        file.write(f"{name}{{{shown}}} {each} {at}\n")
        file.write("# EOF\n")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prometheus")
    real = Real(folder)
    begin = (int(time.time()) - DAY - 7200) // 3600 * 3600
    real.begin = begin
    every = list(cluster(begin - BEGIN))
    openmetrics(folder / "series.txt", every, begin)
    real.fill(folder / "series.txt")
    (folder / "series.txt").unlink()
    real.start()
    yield real
    real.kill()


def saved(server, folder):
    """Files of the answers to the same queries over the whole day, each in one request."""
    paths = []
    for number in range(len(api.QUERIES)):
        source = Source(name="x", kind="prometheus", address=server.url)
        query = {
            "query": api.promql(source, number),
            "start": server.begin,
            "end": server.begin + DAY,
            "step": STEP,
        }
        body = urllib.parse.urlencode(query).encode()
        answer = urllib.request.urlopen(f"{server.url}/api/v1/query_range", body, timeout=300).read()
        if json.loads(answer)["data"]["result"]:
            paths.append(folder / f"{number}.json")
            paths[-1].write_bytes(answer)
    return paths


def source_of(server, name):
    until = server.begin + DAY + STEP
    return Source(name=name, kind="prometheus", address=server.url, since_s=float(DAY + STEP)), float(until)


def test_rows_are_those_of_the_file_import(bench, server, tmp_path):
    bench.ingest(saved(server, tmp_path), IngestOptions(format="prometheus-pods", name="file"))
    source, now = source_of(server, "prod")
    bench.add_source(source)
    begun = time.monotonic()
    done = bench.refresh("prod", now_s=now)
    took, peak = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    sys.stderr.write(f"2,000 pods of one day: {took:.1f} s; {peak:.2f} GB at most in this process\n")
    assert done.rows == PODS
    assert rows_of(bench, "prod") == rows_of(bench, "file")


def test_a_server_that_is_killed_at_five_moments_loses_nothing(bench, server, tmp_path):
    bench.ingest(saved(server, tmp_path), IngestOptions(format="prometheus-pods", name="file"))
    source, now = source_of(server, "prod")
    bench.add_source(source)
    for moment in range(5):
        seen = []

        def progress(_, message, moment=moment, seen=seen):
            if message not in seen:
                seen.append(message)
            if len(seen) == 1 + 3 * moment and server.child is not None:
                threading.Thread(target=server.kill).start()
                time.sleep(0.3)

        with pytest.raises(SourceUnreachable):
            bench.refresh("prod", progress, now_s=now)
        assert not any(one.name == "prod" for one in bench.datasets())
        assert server.url in bench.source("prod").failed.error
        server.start()
    assert bench.refresh("prod", now_s=now).rows == PODS
    assert rows_of(bench, "prod") == rows_of(bench, "file")
