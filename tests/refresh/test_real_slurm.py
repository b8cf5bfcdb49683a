"""Real jobs: through sacct as a source to a verdict, and back to the cluster through job_submit.lua."""

import dataclasses
import re
import time
from pathlib import Path

import pytest

from tests.command_line import run_process
from tests.refresh.conftest import rows_of
from tests.refresh.slurm_cluster import slurm
from tests.service.running import serving
from workprof.sources.slurm import FIELDS
from workprof.sources.source import Source
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.soak

LUA = Path(__file__).resolve().parents[2] / "docs" / "service" / "job_submit.lua"
USE = "import time; x = bytearray({mb} * 2**20); time.sleep({seconds})"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with slurm(tmp_path_factory.mktemp("slurm")) as running:
        yield running


def sacct_file(cluster, path):
    """The same question to sacct, asked by hand."""
    asked = ("sacct", "--allusers", "--parsable2", "--duplicates", "--noconvert", f"--format={','.join(FIELDS)}")
    environment, cluster.environment = cluster.environment, cluster.environment | {"TZ": "UTC"}
    path.write_text(cluster.run(*asked, "--starttime=now-2hours"))
    cluster.environment = environment
    return path


def test_jobs_to_a_verdict_and_back(bench, cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    source = Source(name="cluster", kind="slurm", since_s=7200.0)
    bench.add_source(source)
    late = cluster.submit("late", 300, USE.format(mb=10, seconds=200), "--time=1")
    over = cluster.submit("over", 100, USE.format(mb=400, seconds=30))
    for number in range(70):  # a verdict judges thirty later runs or more
        cluster.submit("align", 1800, USE.format(mb=60 + 10 * (number % 5), seconds=2))
    cluster.wait("COMPLETED", "sacct", "--allusers")
    assert bench.refresh("cluster").rows >= 10
    array = cluster.submit("array", 500, USE.format(mb=30, seconds=2), "--array=1-3")
    again = cluster.submit("again", 500, USE.format(mb=30, seconds=25), "--requeue")
    cluster.submit("a|b", 500, USE.format(mb=30, seconds=2))
    for _ in range(3):
        cluster.submit("sort", 900, USE.format(mb=100, seconds=3))
    cluster.wait(" R ", "squeue", f"--jobs={again}")
    cluster.run("scontrol", "requeue", again)
    bench.refresh("cluster")
    cluster.wait(None, "squeue", seconds=400)
    time.sleep(3)
    last = bench.refresh("cluster")
    assert last.rows >= 70

    bench.ingest(sacct_file(cluster, tmp_path / "sacct.txt"), IngestOptions(name="file", format="slurm"))
    assert rows_of(bench, "cluster") == rows_of(bench, "file")
    rows = bench.preview("cluster", 1000).set_index("job_name")
    assert rows.loc[late, "status"] == "TIMEOUT"
    assert rows.loc[over, "out_of_memory_kills"] >= 1
    assert sum(name.startswith(f"{array}_") for name in rows.index) == 3
    assert "a|b" in set(rows["task_name"])

    once = dataclasses.replace(source, name="once")
    bench.add_source(once)
    bench.refresh("once")
    assert rows_of(bench, "once") == rows_of(bench, "cluster")

    home = bench.settings.home
    bench.close()
    plan = run_process("memory", "plan", "cluster", "--json", home=home)
    assert plan.status == 0, plan.err
    align = next(one for one in plan.json["rows"] if one["task_name"] == "align" and one["resource"] == "memory")
    assert align["action"] == "lower"
    assert align["size_gb"] < 1800 * 2**20 / 1e9
    _back_to_the_cluster(cluster, home, align["size_gb"])


def _back_to_the_cluster(cluster, home, size_gb):
    """The controller asks the service for the size of a job that is submitted, and runs it with that."""
    with serving(home, "--dataset", "cluster", ready="/healthz") as client:
        end = time.monotonic() + 60
        while client.post("/v1/size", json={"task_name": "align"}).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.2)
        script = LUA.read_text().replace('patience_s = "0.05"', 'patience_s = "5"')  # a busy machine
        (cluster.folder / "job_submit.lua").write_text(script)
        conf = cluster.folder / "slurm.conf"
        conf.write_text(conf.read_text() + "JobSubmitPlugins=lua\n")
        cluster.environment |= {"WORKPROF_URL": str(client.base_url)}
        cluster.start("slurmctld", "slurmctld", "-D")
        cluster.wait("idle", "sinfo")
        sized = cluster.submit("align", 1800, USE.format(mb=60, seconds=1))
        told = cluster.run("scontrol", "show", "job", sized)
        asked = int(re.search(r"MinMemoryNode=(\d+)M", told)[1])
        assert abs(asked * 2**20 / 1e9 - size_gb) < 0.01
        cluster.wait("COMPLETED", "sacct", f"--jobs={sized}", "-X")
