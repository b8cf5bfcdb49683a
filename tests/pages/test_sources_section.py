"""Sources on the Data page: added, refreshed, listed with what failed, forgotten; an address of before goes on."""

import streamlit as st

from tests.pages.conftest import problems
from tests.refresh.test_sources import table
from workprof.sources.source import Source


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
