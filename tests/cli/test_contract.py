"""The commands, their keys and their exit status: what scripts rely on."""

import pandas as pd
import pytest
import typer

from workprof.cli.main import COMMANDS, GROUPS, MODULES, registered

INGEST_KEYS = {
    "dataset", "hash", "kind", "format", "rows_read", "rows", "rejected", "rejects_file", "joins", "checks", "seconds",
}  # fmt: skip


def test_version(workprof):
    assert workprof("--version").out.startswith("workprof 0.")


@pytest.mark.parametrize("module", [*COMMANDS, *GROUPS])
def test_a_module_registers_the_commands_by_which_it_is_found(module):
    made = typer.main.get_group(registered(module)).commands
    assert set(made) == set(COMMANDS.get(module, (module,)))
    assert set(made) == {name for name, home in MODULES.items() if home == module}


def test_synth_answers_what_it_wrote(workprof, tmp_path):
    made = workprof("synth", "pai", "--rows", 500, "-o", tmp_path / "a.parquet", "--json")
    assert set(made.json) >= {"file", "rows", "seconds"}
    assert made.json["rows"] == len(pd.read_parquet(tmp_path / "a.parquet")) == 500


@pytest.mark.slow
def test_ingest_and_list(workprof, sample):
    assert set(sample) >= INGEST_KEYS
    assert (sample["rows"], sample["rejected"], sample["kind"], sample["format"]) == (3000, 0, "jobs", "pai-sample")
    assert set(sample["checks"][0]) == {"name", "level", "count", "message"}
    listed = workprof("datasets", "--json").json
    assert set(listed[0]) >= {"dataset", "hash", "kind", "format", "rows", "created"}


def test_the_same_content_again_is_already_loaded(workprof, sample, home):
    again = workprof("ingest", home / "small.parquet", "--json")
    assert again.json["dataset"] == "small"
    assert "already loaded" in again.err


@pytest.mark.slow
def test_fit_by_name_and_by_hash_gives_the_same_numbers(workprof, sample):
    by_name = workprof("profiles", "fit", "small", "--json").json
    by_hash = workprof("profiles", "fit", sample["hash"][:8], "--json").json
    assert by_name == by_hash  # from the cache: `seconds` as it was when computed
    assert by_name["n_rows"] == 3000
    assert sum(entry["size"] for entry in by_name["profiles"]) + by_name["n_outliers"] == 3000
    assert 0 <= by_name["truth_adjusted_rand"] <= 1
    assert by_name["settings"]["min_cluster_size"] == 20


@pytest.mark.slow
def test_the_runs_of_files_have_the_profiles_of_a_dataset(workprof, sample, home, tmp_path):
    """The file has the names and units of the trace, not those of the dataset."""
    found = workprof("profiles", "assign", "small", home / "small.parquet", "-o", tmp_path / "out", "--json").json
    assert found.keys() == {
        "sentence", "folder", "files", "reused", "rows", "without_values", "notes", "seconds", "profiles",
    }  # fmt: skip
    written = pd.read_parquet(tmp_path / "out" / "small.parquet")
    assert list(written.columns) == ["profile", "name", "strength"]
    assert (found["files"], found["reused"], found["rows"], len(written)) == (1, 0, 3000, 3000)
    assert {one["profile"]: one["runs"] for one in found["profiles"]} == written["profile"].value_counts().to_dict()
    fit = workprof("profiles", "fit", "small", "--json").json
    sizes = {one["profile"]: one["size"] for one in fit["profiles"]}
    for one in found["profiles"][:-1]:  # a clustered run counts itself as its nearest now: runs at a border move
        assert 0.9 * sizes[one["profile"]] <= one["runs"] <= 1.1 * sizes[one["profile"]]
    again = workprof("profiles", "assign", "small", home / "small.parquet", "-o", tmp_path / "out")
    assert "3,000 runs of 1 file are assigned" in again.out
    assert ", 1 of them there before" in again.out
    other = ("profiles", "assign", "small", home / "small.parquet", "-o", tmp_path / "out", "--min-cluster-size", 60)
    assert workprof(*other, "--json").json["reused"] == 0
    wrong = workprof("profiles", "assign", "small", tmp_path / "none.parquet", "-o", tmp_path / "out")
    assert wrong.status == 2
    assert "there is no file or folder" in wrong.err


@pytest.mark.slow
def test_presets_and_options(workprof, sample):
    coarse = workprof("profiles", "fit", "small", "--preset", "coarse", "--metric", "manhattan", "--json").json
    assert coarse["settings"]["min_cluster_size"] == 30
    assert coarse["settings"]["metric"] == "manhattan"
    aliased = workprof("profiles", "fit", "small", "--features", "cpu_usage,max_mem,duration", "--json").json
    assert aliased["settings"]["features"] == ["cpu_usage_percent", "peak_memory_bytes", "duration_s"]
    faithful = workprof("profiles", "fit", "small", "--mode", "faithful", "--json").json
    assert len(faithful["settings"]["features"]) == 17


@pytest.mark.parametrize("name", ["remove", "rename"])
def test_what_changes_a_whole_dataset_offers_no_part_of_it(workprof, name):
    assert "--only" not in workprof(name, "--help").out
    assert "No such option: --only" in workprof(name, "jobs", "--only", "user=ann").err


@pytest.mark.slow
def test_a_scope_has_short_options_for_what_it_narrows_by_often(workprof, sample):
    one, two = (row["name"] for row in workprof("memory", "ledger", "small", "--by", "user", "--json").json["rows"][:2])
    long = (
        "--only",
        f"user={one}",
        "--only",
        f"user={two}",
        "--only",
        "task_name=worker",
        "--period",
        "22..50",
        "--json",
    )
    short = ("--user", one, "--user", two, "--task", "worker", "--since", "22", "--until", "50", "--json")
    for command in (("durations", "small"), ("memory", "ledger", "small")):
        expected, found = (workprof(*command, *words) for words in (long, short))
        assert expected.status == found.status == 0, found.err
        assert [one | {"seconds": 0} for one in (expected.json, found.json)] == [expected.json | {"seconds": 0}] * 2
    kinds = workprof("durations", "small", "--node-kind", "V100", "--json")  # the sample has kinds of GPU
    assert kinds.json == workprof("durations", "small", "--only", "gpu_type=V100", "--json").json
    own = workprof("memory", "bins", "small", "--task", "worker", "--user", one, "--json")
    assert (
        own.json["edges_gb"]
        == workprof("memory", "bins", f"small?user={one}", "--task", "worker", "--json").json["edges_gb"]
    )
    twice = workprof("durations", "small", "--since", "22", "--period", "22..50")
    assert (twice.status, "two periods are given" in twice.err) == (2, True)
    empty = workprof("durations", "small", "--until", "")
    assert (empty.status, "the period is empty" in empty.err) == (2, True)


@pytest.mark.slow
def test_questions_have_the_names_under_which_planners_look_for_them(workprof, sample):
    by_profile = workprof("memory", "demand", "small", "--by", "profile", "--json").json
    assert workprof("profiles", "over-time", "small", "--json").json == by_profile
    plain, other = (
        workprof("profiles", "fit", "small", *words, "--json").json["settings"] for words in ((), ("--autoencoder",))
    )
    assert (plain["embedding"], other["embedding"]) == ("none", "autoencoder")
    assert workprof("profiles", "fit", "small", "--together", "3,4", "--json").json["settings"]["must"] == [["3", "4"]]
    mixed = workprof("profiles", "fit", "small", "--series", "--seed", "3")
    assert (mixed.status, "give options to `phases shapes`" in mixed.err) == (2, True)
    recordings = workprof("profiles", "fit", "small", "--series")
    assert recordings.status == 2 and recordings.err


@pytest.mark.slow
def test_a_schedule_takes_a_set_of_nodes_and_policies_under_both_names(workprof, sample):
    words = ("small", "--nodes", "8x64GB,2x512GB", "--policy", "best,backfill", "--json")
    told, other = (workprof(room, "schedule", *words) for room in ("memory", "nodes"))
    assert told.status == 0, told.err
    assert told.json | {"seconds": 0} == other.json | {"seconds": 0}
    assert [one["nodes"] for one in told.json["kinds"]] == [8, 2]
    plain = workprof("memory", "schedule", *words[:3], "--place", "best", "--order", "backfill", "--json")
    assert plain.json["outcomes"] == told.json["outcomes"]
    assert "choose from first, best" in workprof("nodes", "schedule", "small", "--policy", "worst").err
    assert "give one" in workprof("nodes", "schedule", *words, "--kinds", "4x64GB").err


@pytest.mark.slow
def test_sample_rename_export_remove(workprof, sample, tmp_path):
    drawn = workprof("sample", "small", "--by", "workload", "--rows", 600, "--name", "drawn", "--json").json
    assert set(drawn) >= {"dataset", "rows", "strata"}
    assert set(drawn["strata"][0]) == {"value", "rows_in", "rows_out"}
    assert sum(stratum["rows_in"] for stratum in drawn["strata"]) == 3000
    assert workprof("rename", "drawn", "other", "--json").json["dataset"] == "other"
    for file in ("out.parquet", "out.csv"):
        written = workprof("export", "other", "-o", tmp_path / file, "--json").json
        assert written["rows"] == drawn["rows"]
    assert len(pd.read_csv(tmp_path / "out.csv")) == len(pd.read_parquet(tmp_path / "out.parquet")) == drawn["rows"]
    assert workprof("remove", "other").status == 2  # nobody answered the question
    assert workprof("remove", "other", "--yes", "--json").json["rows"] == drawn["rows"]
    assert workprof("export", "other", "-o", tmp_path / "no.csv").status == 2


@pytest.mark.slow
def test_home_may_stand_before_or_after_the_command(workprof, run_workprof, sample, home, tmp_path):
    before = run_workprof("--home", home, "datasets", "--json", home=tmp_path / "empty")
    after = run_workprof("datasets", "--home", home, "--json", home=tmp_path / "empty")
    assert before.json == after.json
    assert len(after.json) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[]", "{}", '{"duration_s": "runtime"}', '{"duration_s": {"unit": "s"}}', "{"])
def test_a_map_that_is_none_says_what_to_write(workprof, tmp_path, text):
    (tmp_path / "map.json").write_text(text)
    refused = workprof("ingest", "x.csv", "--map", tmp_path / "map.json")
    assert refused.status == 2
    assert '"from": "runtime"' in refused.err
    assert "object has no attribute" not in refused.err
