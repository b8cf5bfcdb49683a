"""The assessment: published utilisations, classes, groups, boxes, and facts that were planted."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.memory.traces import trace
from tests.shared_data import needs_shared_data
from workprof.answers.assessment import assessment_answer, fact_answer, facts_sentence
from workprof.charts.tour import waste_meaning
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import pack, to_json, unpack
from workprof.core.settings import from_environment
from workprof.core.stats import holm
from workprof.core.units import format_share
from workprof.memory.assessment import (
    AssessmentSettings,
    ClassSettings,
    Pairs,
    _amounts,
    _utilisation,
    assessment_of,
    task_classes,
)
from workprof.memory.facts import (
    AFTER,
    BEFORE,
    UNSURE,
    FactPointsSettings,
    box_of,
    explained_by_groups,
    fact_points_of,
    known_when,
    spearman,
)
from workprof.workbench import Workbench

GB = 1e9


def planted(n=400, seed=0):
    """Return jobs of two tasks: memory of 'big' follows its input, that of 'small' its region; all else is chance."""
    rng = np.random.default_rng(seed)
    task = np.where(np.arange(n) % 2 == 0, "big", "small")
    size, region = rng.exponential(5, n), rng.choice(["north", "south", "west"], n)
    small = 0.2 + np.where(region == "south", 0.5, 0.0) + rng.uniform(0, 0.05, n)
    used = np.where(task == "big", 1.0 + size + rng.normal(0, 0.1, n).clip(-0.5, 0.5), small)
    return pd.DataFrame(
        {
            "job_name": [f"job {i}" for i in range(n)],
            "task_name": task,
            "peak_memory_bytes": used * GB,
            "requested_memory_bytes": np.where(task == "big", 64.0, 8.0) * GB,
            "requested_cpu_percent": np.where(task == "big", 800.0, 100.0),
            "cpu_usage_percent": np.where(task == "big", 400.0, 50.0),
            "duration_s": rng.exponential(600, n),
            "rchar": size * 3 + rng.uniform(0, 1e-3, n),
            "input_bytes": size,
            "region": region,
            "noise": rng.normal(size=n),
            "fixed": 7,
            "truth_kind": task,
        }
    )


def fact(found, column, task):
    (one,) = (fact for fact in found.features.facts if (fact.column, fact.task) == (column, task))
    return one


@needs_shared_data
@pytest.mark.parametrize(
    ("workflow", "share", "by_time", "requested_gb_h", "used_gb_h"),
    [
        ("eager", 36.8, 62.7, 8724, 5473),
        ("iwd", 41.3, 42.2, 37.6, 15.8),
        ("methylseq", 17.9, 37.2, 55550, 20673),
        ("rnaseq", 13.85, 34.2, 2701, 924),
    ],
)
def test_the_utilisation_of_the_published_traces(workflow, share, by_time, requested_gb_h, used_gb_h):
    """Counted by hand (the count rounds the 13.85 % of rnaseq up)."""
    found = assessment_of({"jobs": trace(workflow)}, AssessmentSettings())
    assert found.memory.utilisation * 100 == pytest.approx(share, abs=0.05)
    assert found.memory.utilisation_by_time * 100 == pytest.approx(by_time, abs=0.05)
    requested = sum(task.requested_gb_h for task in found.tasks)
    wasted = sum(task.wasted_gb_h for task in found.tasks)
    assert requested == pytest.approx(requested_gb_h, rel=2e-3)
    assert requested - wasted == pytest.approx(used_gb_h, rel=3e-3)
    assert sum(group.wasted_gb_h for group in found.groups) == pytest.approx(wasted)
    assert sum(group.n_runs for group in found.groups) == found.n_runs
    waste = [task.wasted_gb_h for task in found.tasks]
    assert waste == sorted(waste, reverse=True)


@needs_shared_data
def test_the_extractor_uses_a_hundredth_and_rchar_is_marked():
    found = assessment_of({"jobs": trace("methylseq")}, AssessmentSettings())
    (extractor,) = (task for task in found.tasks if task.task.endswith("BISMARK_METHYLATIONEXTRACTOR"))
    assert round(extractor.utilisation * 100, 1) == 1.1
    assert (extractor.n, round(extractor.requested_gb, 1), round(extractor.peak_gb.max, 1)) == (108, 77.3, 3.9)
    (rchar,) = (f for f in found.features.facts if f.column == "rchar" and f.task.endswith("BISMARK_DEDUPLICATE"))
    assert round(rchar.correlation, 2) == 1.0
    assert rchar.after_the_run


def test_planted_facts_are_found_and_chance_is_not():
    found = assessment_of({"jobs": planted()}, AssessmentSettings())
    size, region = fact(found, "input_bytes", "big"), fact(found, "region", "small")
    assert size.correlation > 0.95
    assert size.low < size.correlation < size.high
    assert (size.known, fact(found, "rchar", "big").after_the_run) == (BEFORE, True)
    assert region.kind == "category"
    assert region.strength > 0.7
    assert fact(found, "region", "big").p_adjusted > 0.05
    assert fact(found, "noise", "").p_adjusted > 0.05
    reasons = {left.column: left.reason for left in found.features.left_out}
    assert "names the rows" in reasons["job_name"]
    assert "same value" in reasons["fixed"]
    assert "truth" in reasons["truth_kind"]
    assert "peak_memory_bytes" in reasons


@pytest.mark.slow
def test_chance_alone_is_called_a_finding_in_few_tables():
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        jobs = pd.DataFrame({f"x{i}": rng.normal(size=60) for i in range(8)})
        jobs = jobs.assign(
            group=rng.choice(list("abc"), 60), peak_memory_bytes=rng.lognormal(20, 1, 60), duration_s=1.0
        )
        found = assessment_of({"jobs": jobs}, AssessmentSettings())
        alarms += any(one.p_adjusted < 0.05 for one in found.features.facts)
    assert alarms <= 6


@pytest.mark.slow
def test_of_a_large_table_facts_are_of_drawn_runs_and_all_else_of_every_run(tmp_path, monkeypatch):
    draw = np.random.default_rng(2)
    size = draw.integers(1, 50, 600)
    table = pd.DataFrame(
        {
            "job_name": [f"j{n}" for n in range(600)],
            "task_name": draw.choice(["sort", "train"], 600),
            "duration_s": 60.0,
            "requested_memory_bytes": 8e9,
            "peak_memory_bytes": size * 1e8,
            "images": size + draw.integers(0, 3, 600),
            "status": np.where(np.arange(600) % 50, "Terminated", "Failed"),
        }
    )
    found = []
    for most in (600, 200):
        monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / str(most)))
        monkeypatch.setattr("workprof.workbench.memory.MOST_TESTED", most)
        with Workbench(from_environment()) as workbench:
            found.append(workbench.assessment(workbench.ingest(table).hash))
    whole, few = found
    assert (whole.features.n_drawn, few.features.n_drawn) == (0, 200)
    of_all, of_few = (
        next(fact for fact in one.features.facts if (fact.task, fact.column) == ("", "images")) for one in found
    )
    assert (of_all.n, of_few.n) == (588, 200)
    assert of_few.correlation == pytest.approx(of_all.correlation, abs=0.02)
    same = {"features": whole.features, "seconds": whole.seconds}
    assert to_json(replace(few, **same)) == to_json(whole)


def test_parts_of_runs_make_the_assessment_of_the_whole(monkeypatch):
    """Also of parts in which nothing finished, or nothing has a use."""
    jobs, at = planted(90, seed=3), np.arange(90)
    jobs["task_name"] = np.where(at > 60, "late", jobs["task_name"])
    jobs.loc[(at < 8) | (at % 11 == 0), "peak_memory_bytes"] = np.nan
    jobs.loc[at % 13 == 0, "requested_memory_bytes"] = np.nan
    jobs = jobs.assign(finished=(at < 20) | (at > 40), status=np.where(at % 2, "RUNNING", "OOMKilled"), start_time_s=at)
    jobs.loc[at % 3 == 0, "requested_memory_bytes"] = 32 * GB
    whole = assessment_of({"jobs": jobs}, AssessmentSettings())
    monkeypatch.setattr("workprof.core.long_table.AT_ONCE", 7)
    parts = to_json(assessment_of({"jobs": jobs}, AssessmentSettings()))
    assert [one.n_runs for one in whole.evidence] == [11, 10]
    assert_close(parts | {"seconds": 0.0}, to_json(whole) | {"seconds": 0.0})


def assert_close(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_close(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, value in zip(found, expected, strict=True):
            assert_close(one, value)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    else:
        assert found == expected


def test_requests_of_later_attempts_tell_nothing():
    """A lifted request follows a failure, so it would correlate with memory although nobody knew before."""
    used = np.linspace(1, 30, 60)
    jobs = pd.DataFrame(
        {
            "peak_memory_bytes": used * GB,
            "requested_memory_bytes": np.where(used > 16, 32, 16) * GB,
            "attempt": np.where(used > 16, 2, 1),
            "duration_s": 1.0,
        }
    )
    found = assessment_of({"jobs": jobs}, AssessmentSettings())
    assert not [one for one in found.features.facts if one.column == "requested_memory_bytes"]
    assert fact(found, "attempt", "").after_the_run


@pytest.mark.parametrize(
    ("known", "columns"),
    [
        (BEFORE, ["requested_cpu_percent", "tag", "input_bytes", "submit_time_s", "cpus"]),
        (AFTER, ["rchar", "duration_s", "peak_vmem", "read_bytes", "start_time_s", "node", "attempt"]),
        (UNSURE, ["region", "scheduler_files"]),
    ],
)
def test_what_is_known_when(known, columns):
    assert {known_when(column) for column in columns} == {known}


def test_spearman_and_groups_equal_scipy():
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(8, 60))
        used, values = rng.integers(0, 20, n).astype(float), rng.integers(0, 9, n).astype(float)
        theirs = stats.spearmanr(values, used)
        ours = spearman(values, used)
        assert (ours.correlation, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
        groups = [used[values == code] for code in np.unique(values)]
        h = stats.kruskal(*groups)
        assert explained_by_groups(values, used).p_value == pytest.approx(h.pvalue, rel=1e-9)
    assert spearman(np.ones(9), np.arange(9.0)) is None
    assert spearman(np.arange(9.0), np.arange(9.0)).correlation == pytest.approx(1.0)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_utilisation_counts_what_is_missing():
    used, requested = np.array([1.0, 2.0, np.nan, 4.0, 1.0]), np.array([2.0, np.nan, 5.0, 4.0, 9.0])
    pairs = Pairs(used, requested, np.array([3.0, 1, 1, 1, 1]), np.array([False, False, False, False, True]))
    found = _utilisation(_amounts(pairs, np.zeros(5, dtype=np.int64), 1)[:, 0], "memory")
    assert (found.n, found.n_without_request, found.n_without_use, found.n_lower_bound) == (2, 1, 1, 1)
    assert found.utilisation == pytest.approx(5 / 6)
    assert found.utilisation_by_time == pytest.approx(7 / 10)


def test_groups_classes_and_cpu_of_tasks():
    found = assessment_of({"jobs": planted()}, AssessmentSettings())
    assert [(group.requested_gb, group.requested_cores) for group in found.groups] == [(64.0, 8.0), (8.0, 1.0)]
    assert {task.task: task.size_class for task in found.tasks} == {"big": "heavy", "small": "light"}
    assert [task.cpu_utilisation for task in found.tasks] == pytest.approx([0.5, 0.5])
    assert found.n_too_few == 0


def test_a_table_without_requests_still_has_classes_and_takes_a_flat_request():
    jobs = planted().drop(columns=["requested_memory_bytes", "requested_cpu_percent"])
    bare = assessment_of({"jobs": jobs}, AssessmentSettings())
    assert np.isnan(bare.memory.utilisation)
    assert bare.memory.n_without_request == len(jobs)
    assert np.isnan(bare.groups[0].requested_gb)
    assert assessment_of({"jobs": jobs}, AssessmentSettings(request_bytes=64 * GB)).memory.n == len(jobs)


def test_where_nothing_can_be_judged_the_reason_is_the_right_one():
    whole = planted()
    bounds, apart = whole.assign(peak_memory_is_lower_bound=1.0), whole.index < len(whole) // 2
    halves = whole.assign(
        peak_memory_bytes=whole["peak_memory_bytes"].mask(apart),
        requested_memory_bytes=whole["requested_memory_bytes"].where(apart),
    )
    told = [
        assessment_answer(assessment_of({"jobs": one}, AssessmentSettings())).sentence
        for one in (bounds, halves, whole.drop(columns="requested_memory_bytes"))
    ]
    n = len(whole)
    assert told[0] == f"None of {n} runs with a request has a known use, so nothing can be called wasted yet."
    assert told[1] == f"None of {n // 2} runs with a request has a known use, so nothing can be called wasted yet."
    assert told[2] == f"None of {n} runs has a request, so nothing can be called wasted yet."


def test_what_is_wasted_stands_beside_what_the_same_runs_requested():
    whole = planted()
    use = whole["peak_memory_bytes"].mask(whole.index % 3 == 0)
    whole.loc[whole.index % 3 == 1, "requested_memory_bytes"] = 0.5 * whole["peak_memory_bytes"]
    whole.loc[whole.index % 9 == 5, "requested_memory_bytes"] = np.nan
    found = assessment_of({"jobs": whole.assign(peak_memory_bytes=use)}, AssessmentSettings())
    assert found.requested_gb_h > found.judged_gb_h == pytest.approx(sum(one.judged_gb_h for one in found.tasks))
    told = assessment_answer(found)
    requested, over = told.figures[1:3]
    both = use.notna() & whole["requested_memory_bytes"].notna()
    above = both & (use > whole["requested_memory_bytes"])
    held = (whole["requested_memory_bytes"] * whole["duration_s"])[both].sum() / 3600 / GB
    assert requested.column.of(found) == pytest.approx(held)
    assert requested.detail.endswith(f"by {both.sum()} runs")
    share = f"{format_share(above.sum() / both.sum())} of {both.sum()} finished runs"
    assert (over.column.of(found), over.detail) == (above.sum(), share)
    assert f"{format_share(above.sum() / both.sum())} of the runs exceed theirs" in waste_meaning(found)


def test_class_limits_are_inclusive_with_headroom_and_the_automatic_ones_cover():
    most = np.array([4.0, 5.0, 19.0, 21.0]) * GB
    classes = task_classes(most, np.ones(4), ClassSettings(headroom=0.0)).classes
    assert classes == ("light", "light", "moderate", "heavy")
    assert task_classes(most, np.ones(4), ClassSettings(headroom=0.1)).classes[1:3] == ("moderate", "heavy")
    auto = task_classes(np.array([1, 1.1, 9, 10, 90.0]) * GB, np.ones(5), ClassSettings(limits="auto", headroom=0.0))
    assert auto.counts == {"light": 2, "moderate": 2, "heavy": 1}
    assert (auto.light_bytes, auto.moderate_bytes) == (1.1 * GB, 10 * GB)
    assert task_classes(most[:1], np.zeros(1), ClassSettings(limits="auto")).classes == ("light",)
    for wrong in ({"light_gb": 30.0}, {"limits": "eye"}, {"headroom": -1.0}, {"weight": "cost"}):
        with pytest.raises(SettingsError):
            ClassSettings(**wrong)


def test_boxes_keep_the_extremes():
    values = np.concatenate([np.linspace(1, 2, 500), np.linspace(50, 90, 400)[:300]])
    box = box_of("t", values)
    assert (box.q1_gb, box.median_gb, box.q3_gb) == pytest.approx(tuple(np.quantile(values, [0.25, 0.5, 0.75])))
    far = box_of("t", np.concatenate([np.linspace(1, 2, 500), np.linspace(50, 90, 120)]))
    assert far.n_extremes == 120
    assert len(far.extremes_gb) == 100
    assert (far.extremes_gb[0], far.extremes_gb[-1]) == (50.0, 90.0)
    assert far.high_gb == 2.0


def test_the_record_is_kept_and_printed():
    found = assessment_of({"jobs": planted(60)}, AssessmentSettings())
    again = unpack(type(found), pack(found))
    assert [task.task for task in again.tasks] == [task.task for task in found.tasks]
    assert again.features.facts[0] == found.features.facts[0] or np.isnan(found.features.facts[0].correlation)
    json.dumps(to_json(found), allow_nan=False)


def test_one_row():
    jobs = pd.DataFrame({"peak_memory_bytes": [GB], "duration_s": [0.0]})
    found = assessment_of({"jobs": jobs}, AssessmentSettings())
    assert (found.n_runs, found.n_too_few, found.features.facts) == (1, 1, ())


def test_points_of_a_number_and_boxes_of_a_category():
    jobs = planted(6000)
    points = fact_points_of({"jobs": jobs}, FactPointsSettings("input_bytes", "big"))
    assert (points.kind, points.n, points.known) == ("number", 3000, BEFORE)
    assert len(points.values) == len(points.used_gb) <= 2000
    assert points.used_gb.max() == jobs["peak_memory_bytes"].max() / GB
    boxes = fact_points_of({"jobs": jobs.assign(region=jobs["region"].where(jobs["noise"] > 0))}, regions()).boxes
    assert sorted(box.task for box in boxes) == ["north", "south", "west"]
    many = fact_points_of({"jobs": jobs.assign(region=[f"r{i % 40}" for i in range(6000)])}, regions())
    assert (len(many.boxes), many.boxes[-1].task) == (13, "other")
    assert sum(box.n for box in many.boxes) == many.n
    with pytest.raises(ColumnMissing):
        fact_points_of({"jobs": jobs}, FactPointsSettings("nothing"))
    with pytest.raises(NotEnoughData):
        fact_points_of({"jobs": jobs.assign(region=None)}, regions())


def regions():
    return FactPointsSettings("region")


def test_a_field_that_goes_with_memory_by_chance_is_called_no_predictor():
    rng = np.random.default_rng(4)
    runs = planted().assign(region=rng.permutation(planted()["region"]), workload=rng.choice(["a", "b"], 400))
    held = ["task_name", "peak_memory_bytes", "requested_memory_bytes", "duration_s", "workload"]
    bare = runs.loc[runs["task_name"] == "small", held]
    facts = [one for one in assessment_of({"jobs": bare}, AssessmentSettings()).features.facts if not one.task]
    assert any(one.known == BEFORE for one in facts)
    assert facts_sentence(facts, "").endswith("predicts the memory over all tasks beyond chance.")
    told = [one for one in assessment_of({"jobs": planted()}, AssessmentSettings()).features.facts if one.task == "big"]
    assert facts_sentence(told, "big").startswith("Best submit-time predictor for big: input")


def test_a_column_of_which_nobody_said_when_it_is_known_is_told_as_such():
    found = fact_points_of({"jobs": planted()}, FactPointsSettings("noise"))
    alone = fact_answer(fact_points_of({"jobs": planted(1)}, FactPointsSettings("region")))
    assert alone.notes == ("1 run.",)
    assert fact_answer(found).sentence == "noise against the memory of 400 runs; nobody said when it is known."


def test_a_task_has_one_request_in_both_tables():
    """Of 10 runs 6 request 8 GB, with 1, 2 or 3 cores; 4 request 16 GB with 4: the most frequent pair is another."""
    runs = pd.DataFrame(
        {
            "task_name": "t",
            "requested_memory_bytes": [8e9] * 6 + [16e9] * 4,
            "requested_cpu_percent": [100.0, 100, 200, 200, 300, 300, 400, 400, 400, 400],
            "peak_memory_bytes": 1e9,
            "duration_s": 60.0,
        }
    )
    found = assessment_of({"jobs": runs}, AssessmentSettings())
    assert (found.tasks[0].requested_gb, found.groups[0].requested_gb, found.groups[0].requested_cores) == (8, 8, 1)
