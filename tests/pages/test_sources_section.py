"""Sources on the Data page: added, refreshed, listed with what failed, forgotten; an address of before goes on."""

import streamlit as st

from tests.pages.conftest import problems, words
from tests.refresh.test_sources import table
from workprof.answers.sources import minute
from workprof.memory.replay_settings import ReplaySettings
from workprof.sources.source import Source


def requests(path, rows):
    lines = [f"j{n},align,{1_700_000_000 + n * 90},60,{(n % 7 + 1) * 1000000000},16000000000" for n in rows]
    heading = "job_name,task_name,start_time_s,duration_s,peak_memory_bytes,requested_memory_bytes"
    path.write_text("\n".join([heading, *lines]) + "\n")


def button(test, key):
    return next(one for one in test.button if one.key == key)


def refreshed(test, house):
    button(test, "data_refresh").click().run()
    for view in house().refreshing.views():
        house().refreshing.wait(view.key, 60)
    return test.run().run()


def test_a_source_is_added_refreshed_and_forgotten(app, house, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(40))
    test = app("data")
    test.selectbox(key="data_add_kind").set_value("files").run()
    test.text_input(key="data_add_name").set_value("all")
    test.text_input(key="data_add_address").set_value(str(folder)).run()
    button(test, "data_add").click().run()
    assert problems(test) == []
    assert house().workbench.source("all").last is None
    assert r"1 source; not refreshed yet\: all\." in [one.value for one in test.markdown]
    test = refreshed(test, house)
    assert problems(test) == []
    assert r"all has 40 runs\: 40 new\." in [one.value for one in test.success]
    first = house().workbench.dataset("all").hash

    table(folder / "a.csv", range(50))
    test = refreshed(test, house)
    assert house().workbench.dataset("all").rows == 50
    assert test.query_params["ds"] == house().workbench.dataset("all").hash
    assert problems(app("data", ds=first)) == []
    assert house().workbench.dataset(first).rows == 50

    (folder / "a.csv").unlink()
    test = refreshed(app("data", ds=first), house)
    assert any("no file is there" in message for message in problems(test))
    assert house().workbench.dataset("all").rows == 50
    button(test, "data_forget").click().run()
    assert house().workbench.sources() == ()


def test_a_source_that_cannot_be_is_told_and_not_kept(app, house):
    test = app("data")
    test.selectbox(key="data_add_kind").set_value("prometheus").run()
    test.text_input(key="data_add_name").set_value("prod")
    test.text_input(key="data_add_address").set_value("prometheus:9090")
    test.text_input(key="data_add_token").set_value("abc123").run()
    button(test, "data_add").click().run()
    told = " ".join(problems(test))
    assert "never kept" in told
    assert "abc123" not in told
    assert house().workbench.sources() == ()


def test_a_read_only_server_shows_sources_and_changes_none(app, house, monkeypatch):
    house().workbench.add_source(Source("all", "files", "/nowhere"))
    st.cache_resource.clear()
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    test = app("data")
    assert button(test, "data_refresh").disabled
    assert button(test, "data_forget").disabled
    assert not [one for one in test.button if one.key == "data_add"]


def test_a_result_of_the_rows_before_a_refresh_says_so_and_no_scenario_is_made_of_it(app, house, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_AHEAD", "0")
    bench, folder = house().workbench, tmp_path / "traces"
    folder.mkdir()
    requests(folder / "a.csv", range(80))
    bench.add_source(Source("all", "files", str(folder)))
    bench.refresh("all")
    bench.replay("all", ReplaySettings(policies=("workprof", "preset")))
    requests(folder / "b.csv", range(80, 90))
    bench.refresh("all")
    test = app("memory", ds=bench.dataset("all").hash, memory_tab="Policies", memory_policies=["workprof", "preset"])
    assert problems(test) == []
    when = minute(bench.refreshes("all")[0].started)
    assert f"These results are for the rows before the refresh of {when}" in words(test).replace("\\", "")
    assert "cannot be saved with the current ones" in words(test)
    bench.replay("all", ReplaySettings(policies=("workprof", "preset")))
    assert "before the refresh" not in words(test.run())
