"""Instances of WfCommons: a run per task, in the units and under the names of each version."""

import json

import numpy as np
import pytest

from tests.formats.one_of_each import INSTANCE
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

FIELDS = ["task_name", "workload", "duration_s", "peak_memory_bytes", "requested_cpu_percent", "input_bytes"]


def loaded(store, write, *documents):
    paths = [write(f"{at}.json", json.dumps(one, indent=1)) for at, one in enumerate(documents)]
    report = store.ingest(paths, IngestOptions(name="w"))
    assert report.format == "wfcommons"
    have = [column.name for column in store.columns("w")]
    frame = store.frame("w", ["job_name", *(name for name in FIELDS if name in have)]).set_index("job_name")
    return frame, {check.name: check.count for check in report.checks}


def test_tasks_have_the_names_and_the_inputs_of_the_specification(store, write):
    frame, _ = loaded(store, write, INSTANCE)
    assert frame.loc["split_ID1", FIELDS].tolist() == ["split", "montage-001", 30.5, 2e9, 200, 1024]
    assert frame.loc["fit_ID2", FIELDS[:3]].tolist() == ["fit", "montage-001", 60]
    np.testing.assert_array_equal(frame.loc["fit_ID2", FIELDS[3:]].astype(float), [np.nan] * 3)


@pytest.mark.parametrize("key", ["jobs", "tasks"])
def test_older_versions_have_memory_in_kilobytes_and_names_with_numbers(store, write, key):
    files = [{"link": "input", "name": "a", "size": 5}, {"link": "output", "name": "b", "size": 7}]
    task = {"name": "individuals_00000001", "type": "compute", "runtime": 91.5, "memory": 2048, "cores": 1}
    old = {"name": "x", "schemaVersion": "1.3", "workflow": {"makespan": 9, key: [task | {"files": files}]}}
    only_planned = INSTANCE | {"workflow": {"specification": INSTANCE["workflow"]["specification"]}}
    frame, checks = loaded(store, write, old, only_planned)
    assert frame.loc["individuals_00000001", FIELDS].tolist() == ["individuals", "x", 91.5, 2_048_000, 100, 5]
    assert (len(frame), checks["not run"]) == (1, 1)
