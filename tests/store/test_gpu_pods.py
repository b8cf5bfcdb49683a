"""The GPU trace of 2023: all pods load, durations come of times, requests map, the running ones are running ones."""

import random

import numpy as np
import pytest

from workprof.core.errors import ColumnMissing
from workprof.core.units import MIB
from workprof.formats import gpu_pods
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
LINES = (
    "pod-0,12000,16384,1,1000,,LS,Running,0,900,0",
    "pod-1,6000,12288,1,460,,LS,Running,100,5000,100",
    "pod-2,88000,327680,8,1000,V100M16|V100M32,Burstable,Succeeded,200,1200,260.0",
    "pod-3,32000,65536,0,0,nan,LS,Running,300,5000,310",
    "pod-4,8000,30517,1,320,,BE,Pending,400,450,",
    "pod-5,4152,10600,1,810,T4,BE,Failed,500,700,501",
    "pod-6,1000,1024,0,0,,BE,Failed,600,650,",
    "pod-7,1000,1024,0,0,,BE,Pending,4000,5000,nan",
    "pod-8,1000,1024,0,0,,BE,Succeeded,10,5000,20",
)


def test_pods_as_they_are_published(store, write):
    report = store.ingest([write("openb_pod_list.csv", "\n".join((HEADER, *LINES)) + "\n")], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected, report.lost) == ("gpu-pods", 9, 9, 0, 0)
    names = ["job_name", "status", "gpu_type", "submit_time_s", "start_time_s", "end_time_s", "duration_s"]
    names += ["requested_cpu_percent", "requested_memory_bytes", "requested_gpu_percent", "workload"]
    frame = store.frame("openb_pod_list", names, finished_only=False)
    assert frame["job_name"].tolist() == [f"pod-{number}" for number in range(9)]
    assert frame["gpu_type"][2] == "V100M16|V100M32"
    assert frame["workload"].tolist()[:3] == ["LS", "LS", "Burstable"]
    nothing = np.nan
    np.testing.assert_array_equal(frame["start_time_s"], [0, 100, 260, 310, nothing, 501, 600, nothing, 20])
    np.testing.assert_array_equal(frame["end_time_s"], [900, nothing, 1200, nothing, 450, 700, 650, nothing, 5000])
    ended = [0, 2, 4, 5, 6, 7, 8]
    np.testing.assert_array_equal(frame["duration_s"][ended], [900, 940, nothing, 199, 50, nothing, 4980])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [100, 46, 800, nothing, 32, 81, *[nothing] * 3])
    np.testing.assert_array_equal(frame["requested_memory_bytes"][:2], [16384 * MIB, 12288 * MIB])
    np.testing.assert_array_equal(frame["requested_cpu_percent"][:3], [1200, 600, 8800])
    assert store.dataset("openb_pod_list").finished_rows == 2


def test_eight_thousand_pods_are_reckoned_as_an_independent_sum_does(store, write):
    rng, lines, hours, finished, running = random.Random(1), [HEADER], 0.0, 0, 0
    for number in range(8152):
        phase = rng.choice(["Running", "Running", "Succeeded", "Failed", "Pending"])
        created = rng.randrange(12_000_000)
        placed = "" if phase == "Pending" else created + rng.randrange(500)
        deleted = 12_902_960 if phase == "Running" and rng.random() < 0.2 else created + 500 + rng.randrange(10**5)
        mib, gpus = rng.randrange(1, 700_000), rng.choice([0, 1, 1, 8])
        milli = 1000 if gpus == 8 else rng.randrange(1, 1001) * (gpus > 0)
        lines.append(
            f"p-{number},{rng.randrange(100_000)},{mib},{gpus},{milli},,LS,{phase},{created},{deleted},{placed}"
        )
        if phase == "Succeeded":
            finished, hours = finished + 1, hours + mib * 2**20 * (deleted - int(placed)) / 1e9 / 3600
        running += phase == "Running"
    report = store.ingest([write("pods.csv", "\n".join(lines))], IngestOptions())
    assert (report.rows, report.rejected) == (8152, 0)
    frame = store.frame("pods", ["duration_s", "requested_memory_bytes"])
    assert len(frame) == finished
    assert (frame["duration_s"] * frame["requested_memory_bytes"]).sum() / 1e9 / 3600 == pytest.approx(hours, rel=1e-9)
    every = store.frame("pods", ["job_name", "status"], finished_only=False)
    assert every["job_name"].tolist() == [f"p-{number}" for number in range(8152)]
    assert (every["status"] == "Running").sum() == running


def test_what_is_no_number_is_missing_and_a_table_of_nodes_is_another(store, write):
    lines = (HEADER, LINES[0], "pod-x,many,1,0,0,,LS,Failed,1,2,1", LINES[1])
    report = store.ingest([write("bad.csv", "\n".join(lines))], IngestOptions())
    assert (report.rows, report.rejected) == (3, 0)
    assert any("cpu_milli: 'many' in line 3" in check.message for check in report.checks)
    cores = store.frame("bad", ["requested_cpu_percent"], finished_only=False)["requested_cpu_percent"]
    assert cores.isna().tolist() == [False, True, False]
    nodes = write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nnode-1,32000,262144,0,\n")
    assert store.detect([nodes]) != gpu_pods.FORMAT.name
    with pytest.raises(ColumnMissing, match="pod_phase"):
        store.ingest([nodes], IngestOptions(format="gpu-pods"))
