"""Scenarios in the store: kept by name, the newest first, gone with their dataset, safe in a home without the table."""

import math
from dataclasses import replace

import pytest

from workprof.core.errors import SettingsError
from workprof.core.settings import from_environment
from workprof.memory.scenarios import Scenario
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow


@pytest.fixture
def workbench(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    (tmp_path / "jobs.csv").write_text("job_name,duration_s\na,1\nb,2\n")
    with Workbench(from_environment()) as opened:
        opened.ingest([tmp_path / "jobs.csv"])
        yield opened


def scenario(workbench, name, **more):
    entry = workbench.datasets()[0]
    given = {"rule": "max_seen", "headroom": 0.1, "steps": 2, "pinned": False, "none": None}
    return Scenario(
        name,
        entry.name,
        entry.hash,
        "",
        "max_seen",
        given,
        0.4,
        math.nan,
        math.nan,
        10.0,
        6.0,
        20,
        1,
        3.5,
        "USD",
        **more,
    )


def test_kept_by_name_and_compared(workbench):
    name = workbench.datasets()[0].name
    for title, saved in (("one", 0.4), ("two", 0.5), ("one", 0.6)):
        workbench.save_scenario(name, replace(scenario(workbench, title), saved_share=saved))
    kept = workbench.scenarios(name)
    assert {one.name: one.saved_share for one in kept} == {"one": 0.6, "two": 0.5}
    assert all(one.created for one in kept)
    assert kept[0].settings == scenario(workbench, "x").settings
    compared = workbench.compare_scenarios(name, ["two", "one"])
    assert compared.best_saving == 1
    with pytest.raises(SettingsError, match="no scenario 'three'"):
        workbench.compare_scenarios(name, ["three"])
    workbench.remove_scenario(name, "two")
    assert [one.name for one in workbench.scenarios(name)] == ["one"]


def test_another_datasets_scenario_is_refused(workbench):
    wrong = replace(scenario(workbench, "wrong"), dataset_hash="0" * 32)
    with pytest.raises(SettingsError, match="another dataset"):
        workbench.save_scenario(workbench.datasets()[0].name, wrong)


def test_gone_with_the_dataset(workbench, tmp_path):
    entry = workbench.datasets()[0]
    workbench.save_scenario(entry.name, scenario(workbench, "one"))
    workbench.remove(entry.name)
    workbench.ingest([tmp_path / "jobs.csv"])
    assert workbench.scenarios(entry.hash) == ()
