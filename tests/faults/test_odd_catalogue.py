"""Any JSON, or none, where the catalogue keeps its own: told for that dataset, with the next step; the rest goes on."""

import contextlib
import itertools
import json
import math
import shutil

import duckdb
import pytest
import streamlit as st  # noqa: TID251  the app's own page
from hypothesis import given, settings, strategies as some
from streamlit.testing.v1 import AppTest  # noqa: TID251

from pages._frame import visit
from tests.faults.works import settings_of, write_trace
from tests.pages.conftest import APP
from workprof.core.errors import EntryDamaged, WorkprofError
from workprof.forecasts.feedback.model import FinishedJobs
from workprof.forecasts.feedback.windows import FeedbackState
from workprof.memory.scenarios import Scenario
from workprof.store.home import DATABASE
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

PATIENCE_S = 120
ROWS = 60
REPORT = {
    **dict.fromkeys(("dataset", "hash", "kind", "format"), "x"),
    **dict.fromkeys(("rows_read", "rows", "rejected"), 1),
    **{"rejects_file": None, "joins": [], "checks": [], "seconds": 1.0},
}
HALF = "\ud800"
"""Half of a character, which no page can send."""


def report_with(**fields):
    return json.dumps(REPORT | fields)


def columns_named(*names, numeric=False):
    rest = {"type": "VARCHAR", "unit": "", "source": "", "numeric": numeric}
    return json.dumps([{"name": name, **rest} for name in names])


ANYWHERE = {
    "no JSON": "{'name': 1}",
    "cut off": '[{"name": "job_na',
    "nothing": "",
    "NULL": None,
    "a number": "7",
    "a huge number": "9" * 5000,
    "a text": '"columns"',
    "a list": "[1, 2]",
    "a deep list": "[" * 20_000,
    "no finite number": "[NaN, Infinity, 1e999]",
    "another array": '{"$array": "r"}',
    "another number": '{"$float": []}',
    "binary": "\x00\x01\x7f",
}
ODD = {
    "columns": ANYWHERE
    | {
        "no column": "[]",
        "an object": "{}",
        "a column that is not there": columns_named("nowhere"),
        "a text as a number": columns_named("job_name", numeric=True),
        "a column twice": columns_named("job_name", "job_name"),
        "a name of another type": columns_named(5),
        "half a character": columns_named(HALF),
        "SQL": columns_named('a" FROM rows; DROP TABLE catalogue; --'),
    },
    "aliases": ANYWHERE | {"a number as a name": '{"a": 1}', "half a character": json.dumps({"a": HALF})},
    "report": ANYWHERE
    | {
        "an object": "{}",
        "a count that is a text": report_with(rows="many"),
        "a count that is huge": report_with(rows=10**400),
        "seconds that are huge": report_with(seconds=10**400),
        "a count that is true": report_with(rejected=True),
        "checks of another shape": report_with(checks=[{"name": "x"}]),
        "a check's count that is none": report_with(
            checks=[{"name": "x", "level": "error", "count": None, "message": ""}]
        ),
        "a join that is a list": report_with(joins=[[1, 2, 3, 4]]),
    },
}
CASES = [(column, name) for column, values in ODD.items() for name in values]


def put(cursor, column, value):
    """Write a value into a column of a dataset's line, as another program would."""
    cursor.execute(f"UPDATE catalogue SET {column} = ? WHERE name = 'odd'", [value])


def may_be_null(cursor):
    for column in ODD:
        cursor.execute(f"ALTER TABLE catalogue ALTER COLUMN {column} DROP NOT NULL")


@contextlib.contextmanager
def another_program(home):
    with duckdb.connect(str(home / DATABASE)) as connection:
        may_be_null(connection)
        yield connection


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    return {name: write_trace(folder / f"{name}.csv", ROWS + at) for at, name in enumerate(("odd", "well"))}


@pytest.fixture(scope="module")
def home(tmp_path_factory, traces):
    """A home with a dataset to damage, and one that is well."""
    folder = tmp_path_factory.mktemp("home") / "home"
    with TraceStore(settings_of(folder)) as store:
        for path in traces.values():
            store.ingest([path], IngestOptions(format="generic"))
    return folder


@pytest.fixture(scope="module")
def store(home, tmp_path_factory):
    """A copy of that home, open, in which any JSON may stand."""
    copy = tmp_path_factory.mktemp("copy") / "home"
    shutil.copytree(home, copy)
    with TraceStore(settings_of(copy)) as opened:
        with opened.writing(), opened._database.transaction() as cursor:
            may_be_null(cursor)
        yield opened


@contextlib.contextmanager
def damaged(store, column, value):
    """Damage the one dataset of an open home, then mend it."""
    with store.writing(), store._database.transaction() as cursor:
        (before,) = cursor.execute(f"SELECT {column} FROM catalogue WHERE name = 'odd'").fetchone()
        put(cursor, column, value)
    try:
        yield
    finally:
        with store.writing(), store._database.transaction() as cursor:
            put(cursor, column, before)


@pytest.fixture
def odd(home, tmp_path):
    """A copy of that home, closed, and a function that damages its one dataset."""
    copy = tmp_path / "home"
    shutil.copytree(home, copy)

    def damage(column, value):
        with another_program(copy) as connection:
            put(connection, column, value)
        return copy

    return damage


def asked(store):
    """Ask everything of the damaged dataset; return what was refused, in words."""
    questions = {
        "preview": lambda: store.preview("odd"),
        "columns": lambda: store.columns("odd"),
        "profiles": lambda: store.column_profiles("odd"),
        "coverage": lambda: store.time_coverage("odd"),
        "schema": lambda: store.schema_document("odd"),
        "frame": lambda: store.frame("odd", ["duration_s"]),
        "report": lambda: store.report("odd"),
        "rejects": lambda: store.rejects("odd"),
    }
    refused = {}
    for name, question in questions.items():
        try:
            question()
        except EntryDamaged as error:
            refused[name] = str(error)
    return refused


@pytest.mark.some(9)
@pytest.mark.parametrize(("column", "name"), CASES, ids=lambda one: one.replace(" ", "-"))
def test_it_is_told_and_the_rest_goes_on(store, column, name):
    with damaged(store, column, ODD[column][name]):
        assert {dataset.name for dataset in store.datasets()} == {"odd", "well"}
        assert len(store.preview("well")) == ROWS + 1
        assert store.report("well").rows == ROWS + 1
        refused = asked(store)
    assert set(refused) >= ({"report"} if column == "report" else {"preview", "columns", "frame", "profiles"})
    assert column != "report" or set(refused) == {"report"}
    for words in refused.values():
        assert words.startswith("dataset odd: ")
        assert "`workprof remove 'odd'`) and load odd.csv again" in words
        assert len(words) < 700


@pytest.mark.soak
@pytest.mark.slow
def test_it_can_be_renamed_and_removed_and_loaded_again(tmp_path, traces):
    for number, column in enumerate(ODD):
        home = tmp_path / f"home{number}"
        with TraceStore(settings_of(home)) as store:
            hashed = store.ingest([traces["odd"]], IngestOptions(format="generic")).hash
        with another_program(home) as connection:
            put(connection, column, "{")
        with TraceStore(settings_of(home)) as store:
            if column != "aliases":
                with pytest.raises(EntryDamaged, match=r"dataset odd: .* and load odd\.csv again"):
                    store.ingest([traces["odd"]], IngestOptions(format="generic"))
            store.rename("odd", "other")
            assert store.remove("other").hash == hashed
            assert store.datasets() == ()
            again = store.ingest([traces["odd"]], IngestOptions(format="generic"))
            assert (again.hash, again.already_loaded) == (hashed, False)
            assert len(store.preview("odd")) == ROWS


@pytest.mark.slow
@given(document=some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3)
    | some.dictionaries(some.sampled_from([*REPORT, "name", "type", "$array", "$float", "x"]), inner, max_size=4),
    max_leaves=8,
), column=some.sampled_from(sorted(ODD)))  # fmt: skip
@settings(max_examples=3, deadline=None)
def test_whatever_json_stands_there_only_words_come_back(store, document, column):
    with damaged(store, column, json.dumps(document)):
        asked(store)
        assert len(store.preview("well")) == ROWS + 1


# What people keep beside the rows


def scenario(workbench, name):
    entry = workbench.dataset("well")
    figures = (0.4, math.nan, math.nan, 10.0, 6.0, 20, 1, 3.5, "USD")
    return Scenario(name, entry.name, entry.hash, "", "max_seen", {"steps": 2}, *figures)


@pytest.fixture
def with_kept(tmp_path, traces):
    """A home whose dataset has three scenarios, of which one cannot be read, and a loop that cannot."""
    home = tmp_path / "home"
    with Workbench(settings_of(home)) as workbench:
        workbench.ingest([traces["well"]])
        for name in ("first", "second", "third"):
            workbench.save_scenario("well", scenario(workbench, name))
        hashed = workbench.dataset("well").hash
    with duckdb.connect(str(home / DATABASE)) as connection:
        connection.execute("UPDATE scenarios SET document = '{\"name\": 1}' WHERE name = 'second'")
        connection.execute("INSERT INTO feedback_state VALUES (?, 'digest', 1, '{', ?)", [hashed, b"no arrays"])
    return home


def test_a_scenario_that_cannot_be_read_hides_no_other_and_is_counted(with_kept):
    with Workbench(settings_of(with_kept)) as workbench:
        assert {one.name for one in workbench.scenarios("well")} == {"first", "third"}
        found = workbench.unreadable("well")
        assert [one.what for one in found] == ["Scenario 'second'", "Observed finished jobs"]
        assert workbench.unreadable("well") is found
        assert workbench.remove_unreadable("well") == found
        assert workbench.unreadable("well") == ()
        assert {one.name for one in workbench.scenarios("well")} == {"first", "third"}


DOCUMENTS = ["{", "[]", "{}", "null", '{"$array": "r"}', '{"history": 1e999}', None]
BLOBS = [b"", b"PK\x03\x04 no zip", b"\x93NUMPY", None]


@pytest.mark.parametrize("table", ["feedback_state", "feedback_jobs"])
def test_a_loop_that_cannot_be_read_is_told_and_can_be_forgotten(tmp_path, table):
    TraceStore(settings_of(tmp_path / "home")).close()
    loops = {f"loop{at}": kept for at, kept in enumerate(itertools.product(DOCUMENTS, BLOBS))}
    more = ", number, rows" if table == "feedback_jobs" else ""
    values = "'abc', ?, 1, ?, ?" + (", 1, 1" if more else "")
    with duckdb.connect(str(tmp_path / "home" / DATABASE)) as connection:
        for column in ("document", "arrays"):
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
        for loop, kept in loops.items():
            into = f"{table} (dataset, settings, version, document, arrays{more})"
            connection.execute(f"INSERT INTO {into} VALUES ({values})", [loop, *kept])
    with TraceStore(settings_of(tmp_path / "home")) as store:
        read = store.feedback if table == "feedback_state" else store.finished_jobs
        for loop in loops:
            with pytest.raises(EntryDamaged, match=r"of finished jobs .* cannot be read .* press 'Remove what"):
                read("abc", loop, FeedbackState if table == "feedback_state" else FinishedJobs)
        assert store.unreadable_feedback("abc", FeedbackState, FinishedJobs).keys() == loops.keys()
        store.forget_feedback("abc", "loop0")
        assert store.unreadable_feedback("abc", FeedbackState, FinishedJobs).keys() == loops.keys() - {"loop0"}


# Pages and commands

PAGES = ("home", "data", "profiles", "sweep", "classify", "durations", "memory", "nodes", "phases", "runs", "report")


@pytest.fixture
def app(monkeypatch):
    def opened(home, page, dataset, **parameters):
        monkeypatch.setenv("WORKPROF_HOME", str(home))
        known = {one.name: one.hash for one in visit.open_home().workbench.datasets()}
        parameters["ds"] = known[dataset]
        test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
        test.query_params.update(parameters)
        test.run()
        return test if page == "home" else test.switch_page(f"pages/{page}.py").run()

    st.cache_resource.clear()
    yield opened
    st.cache_resource.clear()


def told(test):
    """Return the error panels of a page, none of which is a mistake of ours."""
    assert not test.exception
    panels = [item.value.replace("\\", "") for item in test.error]  # of Markdown's escapes
    assert not [panel for panel in panels if "This part of the page failed" in panel]
    return panels


@pytest.mark.slow
@pytest.mark.parametrize("column", ODD)
def test_every_page_says_it_and_offers_the_way_on(odd, app, column):
    home = odd(column, '[{"name": 1}]')
    for page in PAGES:
        panels = told(app(home, page, "odd"))
        assert all("dataset odd: " in panel and "load odd.csv again" in panel for panel in panels), (page, panels)
        if column != "report" and page in ("profiles", "memory", "durations"):
            assert panels
    test = app(home, "data", "odd", data_tab="Validation")
    assert told(test)
    assert "Remove" in [button.label for button in test.button]


@pytest.mark.slow
def test_what_was_kept_is_told_on_the_page_and_removed_there(with_kept, app):
    test = app(with_kept, "memory", "well", memory_tab="Scenarios")
    assert told(test) == []
    (warning,) = [item.value for item in test.warning if "saved here cannot be read" in item.value]
    assert "2 things" in warning
    assert "second" in warning
    (button,) = [button for button in test.button if button.label == "Remove what cannot be read"]
    button.click().run()
    assert told(test) == []
    assert not [item.value for item in test.warning if "cannot be read" in item.value]


COMMANDS = (
    ("export", "odd", "-o", "OUT.csv"),
    ("sample", "odd", "--by", "task_name", "--rows", "5", "--name", "few"),
    ("memory", "assess", "odd", "--json"),
    ("profiles", "fit", "odd", "--json"),
)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["columns", "aliases"])
def test_every_command_says_it_and_goes_on_with_the_others(odd, forks, tmp_path, column):
    home = odd(column, "{")

    def run(*arguments):
        ended = forks.workprof(tmp_path / "io", *arguments, "--home", home)
        assert "Traceback" not in ended.err
        return ended

    assert {row["dataset"] for row in json.loads(run("datasets", "--json").out)} == {"odd", "well"}
    for command in COMMANDS:
        ended = run(*(str(tmp_path / one) if one.startswith("OUT") else one for one in command))
        assert ended.status == 2, ended.err
        assert "dataset odd: " in ended.err
        assert "load odd.csv again" in ended.err
    assert run("memory", "assess", "well", "--json").status == 0


def test_the_error_is_one_that_a_caller_can_act_on():
    assert issubclass(EntryDamaged, WorkprofError)
