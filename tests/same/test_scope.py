"""A scope gives what a file cut by hand gives, and a file what its rows give in any order: on every face."""

import json
from collections.abc import Mapping
from pathlib import Path

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

from workprof.cli.main import app
from workprof.core.errors import WorkprofError
from workprof.core.records import pack
from workprof.core.settings import from_environment
from workprof.store.reports import IngestOptions
from workprof.workbench import JOBS, Workbench
from workprof.workbench.declared import DECLARED
from workprof.workbench.question_methods import kind_of

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"
USER, PERIOD = "08e43745b0f1", "30..34"
SCOPE = f"whole?user={USER}&period={PERIOD}"
LONG = {"profiles.forecaster", "profiles.estimate_evaluation", "profiles.feedback_model", "memory.train"}
LONG |= {"memory.tables", "profiles.classifier_evaluation", "profiles.held_out"}
"""Questions that train for longer than the others take together."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    cut = folder / "cut.parquet"
    rows = f"SELECT * FROM '{SAMPLE}' WHERE user = '{USER}' AND start_time >= 30 * 86400 AND start_time < 34 * 86400"
    duckdb.sql(f"COPY ({rows}) TO '{cut}' (FORMAT parquet)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.ingest([SAMPLE], IngestOptions(name="whole"))
            workbench.ingest([cut], IngestOptions(name="cut"))
            yield workbench


def asked(bench, question, dataset):
    """What a question answers, without what names the dataset or tells how long it took."""
    entry = bench.dataset(dataset)
    try:
        packed = pack(getattr(bench, question.call)(dataset, question.default()))
    except WorkprofError as error:
        return str(error).replace(entry.name, "X"), {}
    return told(packed.document, entry.hash), packed.arrays


def told(value, hashed):
    if isinstance(value, Mapping):
        return {name: told(one, hashed) for name, one in value.items() if not name.endswith("seconds")}
    if isinstance(value, list):
        return [told(one, hashed) for one in value]
    return value.replace(hashed, "X") if isinstance(value, str) else value


def without_ids(value):
    """What is told but for rows of the file; sums in another order differ in their last digits."""
    if isinstance(value, Mapping):
        return {name: without_ids(one) for name, one in value.items() if "row_id" not in name}
    if isinstance(value, float):
        return f"{value:.9g}"
    return [without_ids(one) for one in value] if isinstance(value, list) else value


ON_MEMORY = [f"memory.{name}" for name in ("verdict", "ledger", "rollup", "schedule", "replay", "assess", "over_time")]


@pytest.mark.parametrize("name", ON_MEMORY)
def test_the_order_of_a_file_changes_no_answer_on_memory_where_starts_are_rounded(bench, tmp_path, name):
    hours = "floor(start_time / 3600) * 3600"
    rows = f"SELECT * REPLACE ({hours} AS start_time) FROM '{SAMPLE}' WHERE start_time < 24 * 86400"
    for file, order in (("rising", f"{hours}"), ("turned", "hash(job_name, start_time)")):
        if file not in {entry.name for entry in bench.datasets()}:
            path = tmp_path / f"{file}.parquet"
            duckdb.sql(f"COPY ({rows} ORDER BY {order}) TO '{path}' (FORMAT parquet)")
            bench.ingest([path], IngestOptions(name=file))
    rising, turned = (without_ids(asked(bench, DECLARED[name], one)[0]) for one in ("rising", "turned"))
    assert rising == turned


NAMES = [name for name in DECLARED if kind_of(name) == JOBS]


@pytest.mark.some(5)
@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.soak if one in LONG else ()) for one in NAMES])
def test_a_scope_answers_as_a_file_that_was_cut_by_hand(bench, name):
    assert bench.dataset(SCOPE).rows == bench.dataset("cut").rows == 299
    (scoped, arrays), (cut, wanted) = (asked(bench, DECLARED[name], one) for one in (SCOPE, "cut"))
    assert scoped == cut
    assert arrays.keys() == wanted.keys()
    for one, values in arrays.items():
        np.testing.assert_array_equal(values, wanted[one])


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "words",
    [("memory", "plan"), ("memory", "over-time"), ("memory", "ledger"), ("durations",), ("profiles", "fit")],
    ids=" ".join,
)
def test_commands_take_a_scope_by_options_and_behind_the_name(bench, words):
    def printed(*dataset):
        result = CliRunner().invoke(app, [*words, *dataset, "--json", "--home", str(bench.settings.home)])
        assert result.exit_code == 0, result.output
        hashed = bench.dataset(SCOPE if dataset != ("cut",) else "cut").hash
        return told(json.loads(result.stdout.splitlines()[-1]), hashed)

    cut = printed("cut")
    assert printed("whole", "--only", f"user={USER}", "--period", PERIOD) == cut
    assert printed(SCOPE) == cut
    assert printed(f"whole?user={USER}", "--period", PERIOD) == cut
