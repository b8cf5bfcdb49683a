"""How a trace is read, as the Data page offers it: repeated rows, the raw tables' join and grain, the axis's zone."""

import json

import pytest

from tests.pages.conftest import problems
from tests.pages.test_import import finish, import_button
from workprof.store.reports import AGGREGATIONS
from workprof.synthetic.pai_tables import write_pai_tables

REPEATED = "name,seconds\n" + "".join(f"job{i // 2},{i // 2 + 1}\n" for i in range(60))


@pytest.fixture
def from_folder(app, house, tmp_path):
    """Load an entry of the data folder through the page, with the options that a link says."""

    def loaded(name, **options):
        test = app("data", data_source="Data folder", data_file=name, **options)
        import_button(test).click().run()
        return finish(test, house)

    (tmp_path / "data").mkdir()
    return loaded


@pytest.mark.parametrize(("policy", "rows"), [("keep", 60), ("drop", 30)])
def test_repeated_rows_are_kept_or_dropped_and_counted(from_folder, house, tmp_path, policy, rows):
    (tmp_path / "data" / "jobs.csv").write_text(REPEATED)
    test = from_folder("jobs.csv", data_duplicates=policy)
    assert problems(test) == []
    entry = house().workbench.datasets()[0]
    assert entry.rows == rows
    found = {check.name: check.count for check in house().workbench.ingest_report(entry.hash).checks}
    assert found["duplicates"] == 30


def test_the_grain_of_the_raw_tables(from_folder, house, tmp_path):
    write_pai_tables(tmp_path / "data" / "tables", 60, seed=1)
    rows = {}
    for grain in AGGREGATIONS:
        test = from_folder("tables", data_grain=grain)
        assert problems(test) == []
        rows[grain] = house().workbench.datasets()[0].rows
    assert len(house().workbench.datasets()) == 3
    assert rows["instance"] > rows["task"] >= rows["job"]


def test_the_published_join_has_no_other_grain(from_folder, house, tmp_path):
    write_pai_tables(tmp_path / "data" / "tables", 40, seed=1)
    test = from_folder("tables", data_join="faithful", data_grain="job")
    assert problems(test) == []
    assert test.selectbox(key="data_grain").disabled
    assert house().workbench.datasets()[0].mode == "faithful"
    again = from_folder("tables", data_join="faithful")
    assert problems(again) == []
    assert len(house().workbench.datasets()) == 1


def test_the_zone_of_the_coverage_is_in_the_link(from_folder, app, house, tmp_path):
    lines = "".join(f"job{i},{1_700_000_000 + 600 * i},{1_700_000_300 + 600 * i}\n" for i in range(40))
    (tmp_path / "data" / "dated.csv").write_text("name,start,end\n" + lines)
    test = from_folder("dated.csv")
    assert problems(test) == []
    shown = app("data", data_utc_hours="5.5")
    assert problems(shown) == []
    assert shown.number_input(key="data_utc_hours").value == 5.5
    assert "UTC+05:30" in json.loads(shown.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"]
