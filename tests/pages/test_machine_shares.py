"""A dataset of shares of a machine says so on every page that is about it."""

import pytest

HOUR_US = 3_600_000_000
HEAD = "start_time,end_time,collection_id,instance_index,request_memory,maximum_usage_memory,event\n"


@pytest.fixture
def cell(house, tmp_path):
    path = tmp_path / "cell.csv"
    path.write_text(HEAD + "".join(f"0,{HOUR_US},{at},0,0.02,0.01,FINISH\n" for at in range(40)))
    return house().workbench.ingest([path])


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["home", "data", "memory", "profiles", "durations", "report"])
def test_it_stands_above_every_page(app, cell, page):
    test = app(page, ds=cell.hash)
    assert test.exception.len == 0
    assert sum("a whole machine counts as 1,000 GB" in item.value for item in test.info) == 1


def test_nothing_is_said_of_amounts(app, loaded):
    test = app("memory", ds=loaded.hash)
    assert [item.value for item in test.info if "machine counts" in item.value] == []
