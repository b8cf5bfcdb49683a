"""SQL in names, columns, filters and cells: nothing of it runs, reads another file or changes a table."""

import errno
import inspect
import typing
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from workprof.core.errors import WorkprofError
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.durations import DurationSettings
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bin_search import BinSettings
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import FieldSource, IngestOptions, ProfileNote
from workprof.workbench import Workbench
from workprof.workbench.question_methods import ask

pytestmark = pytest.mark.slow

CANARY = "the canary of another folder"
ROWS = 240
SPOILT = {
    "quote": "'; DROP TABLE catalogue; --",
    "double quote": '"; DROP TABLE catalogue; --',
    "both": "\"'; DELETE FROM catalogue WHERE ''=''; --",
    "union": "part' UNION SELECT content, 1 FROM read_text('{secret}') --",
    "scalar": "' || (SELECT content FROM read_text('{secret}')) || '",
    "column": "\" , (SELECT content FROM read_text('{secret}')) AS \"x",
    "function": "read_csv('{secret}')",
    "copy": "x'); COPY (SELECT 42) TO '{out}'; --",
    "attach": "x'; ATTACH '{out}' AS other; --",
    "setting": "'; SET enable_external_access=true; --",
    "always": "' OR 1=1 --",
    "backslash": "\\' OR 1=1 --",
    "wildcard": "%_%",
    "pattern": ".*(a+)+$",
    "braces": "{0} {name!r} %s $1 ?",
    "control": "a\x00b\nc\r\t\x1b[31m",
    "astral": "＇ ʼ \u2028 \u202e 🦆",
    "path": "../../{secret}",
    "long": "x" * 20_000,
}


@dataclass(frozen=True)
class House:
    """An open home with one dataset whose column names and cells are SQL, and what lies outside the home."""

    bench: Workbench
    dataset: str
    columns: tuple[str, ...]
    secret: Path
    out: Path

    def text(self, name):
        return SPOILT[name].replace("{secret}", str(self.secret)).replace("{out}", str(self.out))

    def state(self):
        with self.bench._store._database.cursor() as cursor:
            names = [name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
            tables = [(name, cursor.execute(f'SELECT count(*) FROM "{name}"').fetchone()) for name in names]
            others = cursor.execute("SELECT count(*) FROM duckdb_databases() WHERE NOT internal").fetchone()
        return self.bench.datasets(), tables, others, self.bench.preview(self.dataset, ROWS).to_csv()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("injection")
    secret = folder / "secret.csv"
    secret.write_text(f"content\n{CANARY}\n")
    out = folder / "out.csv"
    from workprof.core.settings import Settings

    with Workbench(Settings(home=folder / "home", data=folder)) as bench:
        half = House(bench, "", (), secret, out)
        columns = tuple(half.text(name).replace("\x00", "") for name in SPOILT if name != "long")
        path = folder / "trace.parquet"
        spoilt_trace(half, columns).to_parquet(path)
        sources = {"job_name": "job", "task_name": "task", "user": "user", "duration_s": "seconds"}
        mapping = {field: FieldSource(source) for field, source in sources.items()}
        mapping |= {"peak_memory_bytes": FieldSource("peak", "B")}
        report = bench.ingest([path], IngestOptions(format="generic", name="spoilt", mapping=mapping))
        assert report.rows == ROWS
        yield replace(half, dataset=report.hash, columns=columns)


def spoilt_trace(house, columns):
    """Return jobs whose names and further columns are SQL."""
    cells = [house.text(name).replace("\x00", "") for name in SPOILT]
    index = range(ROWS)
    fixed = {
        "job": [f"{cells[i % len(cells)]} {i}" for i in index],
        "task": [cells[i % len(cells)] for i in index],
        "user": [cells[i % 3] for i in index],
        "seconds": [float(1 + i % 7 + 100 * (i % 2)) for i in index],
        "peak": [1e9 * (1 + i % 5) for i in index],
    }
    return pd.DataFrame(fixed | {name: [float(i % 11 + i % 2 * 50) for i in index] for name in columns})


@pytest.fixture
def untouched(house):
    """Check afterwards that no table, no dataset, no row and no other file has come, gone or changed."""
    before = house.state()
    yield house
    assert house.state() == before
    assert not house.out.exists()


def asked(call, *arguments, **named):
    """Return what a call answered as text; a refusal of ours is an answer too, an error of DuckDB is not."""
    try:
        answer = call(*arguments, **named)
    except WorkprofError as refusal:
        return str(refusal)
    except OSError as error:
        assert error.errno == errno.ENAMETOOLONG
        return ""
    except duckdb.Error as error:
        pytest.fail(f"DuckDB was handed something that it could not take: {error}")
    return answer.to_csv() if isinstance(answer, pd.DataFrame) else repr(answer)


def by_name():
    """Return every question whose first argument is a dataset or a run, with values for its other arguments."""
    for name, method in inspect.getmembers(Workbench, inspect.isfunction):
        first, *others = list(inspect.signature(method).parameters.values())[1:] or [None]
        if not name.startswith("_") and first and first.name in {"dataset", "name_or_hash", "run", "before", "key"}:
            yield method, tuple(other for other in others if other.default is other.empty)
    for name, declared in vars_of(Workbench).items():
        if isinstance(declared, ask):
            for way in ("__call__", "cached", "start", "key"):
                yield asking(name, way), ()


def vars_of(cls):
    """Return name -> what a class and those above it define."""
    return {name: value for one in reversed(cls.__mro__) for name, value in vars(one).items()}


def asking(name, way):
    """Return what asks a declared question of a workbench in one way."""
    return lambda bench, dataset: getattr(getattr(bench, name), way)(dataset)


def something(parameter, method, text):
    """Return a value for an argument: the hostile text where it is a text, default settings where those exist."""
    wanted = typing.get_type_hints(method)[parameter.name]
    if wanted in (int, bool, Path):
        return wanted(text) if wanted is Path else wanted(1)
    if wanted is str:
        return text
    try:
        return wanted()
    except (TypeError, WorkprofError):
        return None


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_a_name_is_only_looked_up(untouched, name):
    text = untouched.text(name)
    reached = 0
    for method, others in by_name():
        arguments = [something(other, method, text) for other in others]
        try:
            told = asked(method, untouched.bench, text, *arguments)
        except (AttributeError, TypeError):
            assert None in arguments, method  # settings without defaults: it did not come to the name
            continue
        assert CANARY not in told
        reached += 1
    assert reached > 200


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_columns_words_and_names_are_only_compared(untouched, name):
    bench, here, text = untouched.bench, untouched.dataset, untouched.text(name)
    answers = [
        asked(bench.search_jobs, here, text),
        asked(bench.search_jobs, here, text, 10**9),
        asked(bench.rows, here, [0, 1], [text]),
        asked(bench.past_jobs, here, [0, 1]),
        asked(lambda: bench.profiles.cached(here, ProfileSettings(features=(text, "duration_s"), min_cluster_size=20))),
        asked(lambda: bench.baseline.cached(here, BaselineSettings(by=((text,),)))),
        asked(lambda: bench.assessment(here, AssessmentSettings(target=text))),
        asked(lambda: bench.bins(here, BinSettings(task=text))),
        asked(lambda: bench.observed_durations(here, DurationSettings(by=text))),
        asked(lambda: bench.classifier_evaluation.cached(here, ClassifierSettings(fields=(text,)))),
        asked(bench.compare_scenarios, here, [text]),
        asked(bench.remove_scenario, here, text),
        asked(bench.stored_runs, text),
        asked(bench.observe, here, text),
        asked(bench.sample, here, text, 10, "few"),
    ]
    assert CANARY not in "".join(answers)
    others_removed(untouched)


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_names_that_are_given_are_checked_or_kept_as_they_are(house, name):
    bench, here, text = house.bench, house.dataset, house.text(name)
    before = house.state()
    settings = ProfileSettings(features=("duration_s", "peak_memory_bytes"), min_cluster_size=20)
    asked(bench.set_profile_note, here, settings, ProfileNote(1, text.replace("\x00", ""), text.replace("\x00", "")))
    kept = bench.profile_notes(here, settings)[1]
    assert kept.name == text.replace("\x00", "")
    bench.set_profile_note(here, settings, ProfileNote(1, "", ""))
    assert asked(bench.rename, here, text).startswith("name")
    assert "name" in asked(bench.sample, here, "user", 10, text)
    assert house.state() == before


@pytest.mark.some(3)
@pytest.mark.parametrize("option", ["name", "delimiter", "encoding", "decimal", "format", "source", "field", "unit"])
def test_options_of_an_ingest_are_only_options(untouched, tmp_path, option):
    path = tmp_path / "more.csv"
    path.write_text("job;seconds\n" + "".join(f"a{i};{i}\n" for i in range(9)))
    for name in SPOILT:
        options = spoilt_options(option, untouched.text(name))
        assert CANARY not in asked(untouched.bench.ingest, [path], options)
    others_removed(untouched)


def spoilt_options(option, text):
    sources = {"job_name": FieldSource("job"), "duration_s": FieldSource("seconds", "s")}
    if option == "source":
        sources["user"] = FieldSource(text)
    elif option == "field":
        sources[text] = FieldSource("seconds")
    elif option == "unit":
        sources["duration_s"] = FieldSource("seconds", text)
    given = {option: text} if option not in {"source", "field", "unit"} else {}
    return IngestOptions(**{"format": "generic", "mapping": sources} | given)


def others_removed(house):
    """Remove what was rightly made: a sample by a column that is really called so, a dataset from a file."""
    for entry in house.bench.datasets():
        if entry.hash != house.dataset:
            house.bench.remove(entry.hash)


def test_every_column_of_the_spoilt_trace_can_be_asked_about(untouched, tmp_path):
    bench, here = untouched.bench, untouched.dataset
    stored = [column.name for column in bench.columns(here)]
    assert set(untouched.columns) <= {column.source for column in bench.columns(here)}
    assert len(bench.column_profiles(here)) == len(stored)
    everything = bench.rows(here, list(range(ROWS)), stored)
    assert list(everything["task_name"][: len(SPOILT)]) == [untouched.text(n).replace("\x00", "") for n in SPOILT]
    for column in stored:
        assert len(bench.rows(here, [3, 1], [column])) == 2
    for task in sorted(set(everything["task_name"])):
        assert CANARY not in asked(bench.search_jobs, here, task, 200)
    for end in ("csv", "parquet"):
        assert bench.export(here, tmp_path / f"all.{end}") == ROWS
    numbers = [name for name in stored if name not in {"job_name", "task_name", "user"}]
    fit = bench.profiles(here, ProfileSettings(features=tuple(numbers), min_cluster_size=20))
    assert fit.scores.n_rows == ROWS
    assert CANARY not in bench.schema_document(here)


def test_no_statement_opens_a_file_outside_the_home(untouched):
    """Whatever text came to be run: outside the home there is nothing to read or to write, and no way back."""
    secret, out = untouched.secret, untouched.out
    statements = [
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM read_text('{secret}')",
        f"SELECT * FROM read_blob('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"SELECT * FROM glob('{secret.parent}/*')",
        f"COPY (SELECT 42) TO '{out}'",
        f"EXPORT DATABASE '{out}'",
        f"ATTACH '{out}' AS other",
        f"SELECT * FROM read_csv('{untouched.bench.settings.home}/../secret.csv')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access=true",
        "SET allowed_directories=['/']",
        "SET temp_directory='/'",
        "SELECT * FROM house",
    ]
    for statement in statements:
        with untouched.bench._store._database.cursor() as cursor:
            try:
                found = cursor.execute(statement).fetchall()
            except duckdb.Error:
                continue
        pytest.fail(f"{statement} ran and answered {found}")
