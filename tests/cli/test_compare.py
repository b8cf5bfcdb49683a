"""`workprof compare` against what each side's own questions answer, on the command, the library and Home."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.store.test_pods import services
from workprof.answers.comparison import Measured
from workprof.cli.main import app
from workprof.core.settings import from_environment
from workprof.memory.ledger_settings import MEMORY, LedgerSettings
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"
SIDES = ("pai?period=22..45", "pai?period=45..72")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.ingest([SAMPLE], IngestOptions(name="pai"))
            yield workbench


def command(bench, *words):
    return CliRunner().invoke(app, ["compare", *words, "--home", str(bench.settings.home)])


def test_profiles_are_those_of_the_whole_trace_and_are_counted_by_hand(bench):
    fit, names = bench.profiles("pai"), bench.profile_names("pai")
    jobs = bench.frames_of(bench.dataset("pai"), ["start_time_s"])()["jobs"]
    label, start = jobs.row_id.map(pd.Series(fit.labels, index=fit.row_ids)), jobs.start_time_s / 86400
    inside = [(start >= low) & (start < high) for low, high in ((22, 45), (45, 72))]
    found = bench.compare(*SIDES, by="profile")
    parts = {one.name: one for one in found.parts}
    states = set()
    for profile in range(len(names) - 1):
        runs = tuple(int((one & (label == profile)).sum()) for one in inside)
        if any(runs):
            assert parts[names[profile]].runs == runs
            states.add(parts[names[profile]].state)
            assert (parts[names[profile]].state == "appeared") == (runs[0] == 0)
            assert (parts[names[profile]].state == "vanished") == (runs[1] == 0)
    assert {"grew", "shrank"} <= states
    told = command(bench, *SIDES, "--by", "profile")
    assert told.exit_code == 0
    assert re.search(r"Of \d+ profiles, .*\d+ grew", told.output)


def test_profiles_of_two_datasets_are_refused_with_the_next_step(bench):
    frame = pd.read_parquet(SAMPLE).head(400)
    bench.ingest(frame, IngestOptions(name="other"))
    told = command(bench, "pai", "other", "--by", "profile")
    assert told.exit_code != 0
    assert "compare two scopes of one, or --by task" in str(told.exception)


def test_every_number_is_the_one_that_its_side_gives_alone(bench):
    told = json.loads(command(bench, *SIDES, "--json").stdout.splitlines()[-1])
    raw = pd.read_parquet(SAMPLE)
    ledgers = [bench.ledger(one, LedgerSettings(by="user")) for one in SIDES]
    judged = [bench.verdict(one).memory.judged for one in SIDES]
    ends = ((22, 45), (45, 72))
    sides = [raw[(raw.start_time >= low * 86400) & (raw.start_time < high * 86400)] for low, high in ends]
    seconds = [one.end_time - one.start_time for one in sides]
    first, latest = raw.start_time.min(), raw.end_time.max()
    wanted = {
        "Time covered": [min(latest, high * 86400) - max(first, low * 86400) for low, high in ends],
        "Finished runs": [len(one) for one in sides],
        "Users": [one.user.nunique() for one in sides],
        "Median duration": [float(one.median()) for one in seconds],
        "90 % take at most": [float(one.quantile(0.9)) for one in seconds],
        "Requested memory": [one.totals.of(MEMORY).requested for one in ledgers],
        "Never used of memory": [one.totals.of(MEMORY).wasted_share for one in ledgers],
        "The verdict saves": [one.saved_share for one in judged],
        "Kills of the verdict": [one.kills for one in judged],
    }
    rows = {one["measure"]: one for one in told["sides"]}
    covered = wanted["Time covered"]
    unequal = any("sums are of unequal times" in note for note in told["notes"])
    assert unequal == (abs(covered[1] - covered[0]) > 0.1 * max(covered))
    assert {(told["before"], told["after"])} == {tuple(bench.dataset(one).name for one in SIDES)}
    for name, (before, after) in wanted.items():
        assert (rows[name]["before"], rows[name]["after"]) == pytest.approx((before, after)), name
        share = rows[name]["unit"] == "share"
        assert rows[name]["change"] == pytest.approx(after - before if share else after / before - 1)
    users = [{row.name: row for row in one.rows} for one in ledgers]
    parts = {one["name"]: one for one in told["rows"]}
    assert parts.keys() == users[0].keys() | users[1].keys()
    for name, one in parts.items():
        for side, end in zip(users, ("before", "after"), strict=True):
            assert one[f"runs_{end}"] == (side[name].n_runs if name in side else 0)
            requested = side[name].of(MEMORY).requested if name in side else 0
            assert one[f"requested_gb_h_{end}"] == pytest.approx(requested)
        assert (one["state"] == "appeared") == (name not in users[0])
        assert (one["state"] == "vanished") == (name not in users[1])
    changes = [abs(one["requested_gb_h_after"] - one["requested_gb_h_before"]) for one in told["rows"]]
    assert (np.diff(changes) <= 1e-9).all()


def test_a_verdict_that_holds_more_is_no_saving_below_zero():
    saved = Measured("The verdict saves", "share", -0.337, 0.12)
    assert saved.words(saved.before) == "none; 33.7 % more held"
    assert saved.words(saved.after) == "12.0 %"


def test_a_dataset_beside_itself_changes_nothing(bench):
    told = json.loads(command(bench, SIDES[0], SIDES[0], "--json").stdout.splitlines()[-1])
    assert "as much" in told["sentence"]
    assert all(one["change"] in (0, None) for one in told["sides"])
    assert not any("unequal" in note for note in told["notes"])
    assert {one["state"] for one in told["rows"]} == {"alike"}
    assert "+0.0" not in command(bench, SIDES[0], SIDES[0]).stdout


def test_services_cover_the_time_of_their_samples_and_what_neither_side_has_is_no_row(bench, tmp_path):
    (tmp_path / "pods.json").write_text(services(phase=True))
    bench.ingest([tmp_path / "pods.json"], IngestOptions(name="pods"))
    told = json.loads(command(bench, "pods", "pods", "--json").stdout.splitlines()[-1])
    sides = {one["measure"]: one["before"] for one in told["sides"]}
    assert sides["Time covered"] == 3600 and None not in sides.values()
    (tmp_path / "killed.json").write_text(services(phase=True, n_killed=3))
    bench.ingest([tmp_path / "killed.json"], IngestOptions(name="killed"))
    killed = json.loads(command(bench, "pods", "killed", "--json").stdout.splitlines()[-1])["totals"]["out_of_memory"]
    assert (
        killed == {"before": 0, "after": dict(bench.counts("killed").ended)["out of memory"]} and killed["after"] == 3
    )
    assert "services that were killed for memory and run on: 3" in bench.ledger("killed").notes
    assert "Users" not in sides and told["totals"]["users"] == {"before": None, "after": None}


def test_what_a_side_does_not_say_is_no_data_and_shares_name_what_they_are_of(bench):
    n = 40
    known = pd.DataFrame(
        {
            "user": ["ann", "bob"] * (n // 2),
            "task_name": "t",
            "status": "COMPLETED",
            "start_time_s": 1.7e9 + 3600.0 * np.arange(n),
            "duration_s": 3600.0,
            "requested_memory_bytes": 8e9,
            "peak_memory_bytes": 2e9,
        }
    )
    part = known.assign(peak_memory_bytes=np.where(np.arange(n) % 4 < 2, 2e9, np.nan))
    frames = {"known": known, "part": part, "timeless": known.assign(duration_s=0.0)}
    frames["bare"] = known.drop(columns=["requested_memory_bytes", "peak_memory_bytes"])
    for name, frame in frames.items():
        bench.ingest(frame, IngestOptions(name=name))
    assert command(bench, "known", "part").stdout.startswith(
        "part requests as much (320 GB·h) and never uses 75.0 % of the 160 GB·h of known use, as before."
    )
    bare = json.loads(command(bench, "bare", "known", "--json").stdout.splitlines()[-1])
    assert {(one["runs_before"], one["requested_gb_h_before"], one["state"]) for one in bare["rows"]} == {
        (20, None, "alike")
    }
    requested = next(one for one in bare["sides"] if one["measure"] == "Requested memory")
    assert (requested["before"], requested["after"]) == (None, 320)
    for sides in (("timeless", "known"), ("known", "timeless"), ("timeless", "timeless"), ("bare", "timeless")):
        told = command(bench, *sides)
        assert told.exit_code == 0 and f"{sides[1]} has 40 finished runs, {sides[0]} 40." in told.stdout


def test_text_and_file_have_both_sides(bench, tmp_path):
    text = command(bench, *SIDES, "--by", "task")
    assert text.exit_code == 0
    assert "days 22 to 45" in text.output
    assert "By task" in text.output
    assert command(bench, *SIDES, "-o", str(tmp_path / "both.csv")).exit_code == 0
    table = pd.read_csv(tmp_path / "both.csv")
    assert table.columns.tolist() == ["measure", "before", "after", "change", "unit"]
    assert table["before"].dtype == float


def test_two_periods_of_one_dataset_are_two_scopes(bench):
    bench.profiles("pai")
    expected = command(bench, *SIDES, "--json")
    told = command(bench, "pai", "--period", "22..45", "--period", "45..72", "--json")
    assert json.loads(told.stdout)["totals"] == json.loads(expected.stdout)["totals"]
    parts = bench.compare(*SIDES, by="profile").parts
    names = [one["name"] for one in json.loads(told.stdout)["profiles"]]
    assert names == [one.name for one in parts]
    for words in (("pai",), ("pai", "--period", "22..45"), ("pai", "pai", "--period", "22..45", "--period", "45..72")):
        assert "period" in str(command(bench, *words).exception)


def test_scopes_are_saved_listed_and_removed_as_the_page_has_them(bench):
    def said(*words):
        home = ("--home", str(bench.settings.home), "--json")
        return json.loads(CliRunner().invoke(app, ["scopes", *words, *home]).stdout)

    scope = "period=2026-01&user=ann"
    saved = said("save", "winter", "--only", "user=ann", "--period", "2026-01")
    (kept,) = bench.scopes().items()
    assert saved == {"scope": "winter", "text": kept[1]} and kept[0] == "winter"
    assert sorted(kept[1].split("&")) == sorted(scope.split("&"))
    assert said()["scopes"] == [{"scope": "winter", "runs_of": "user ann, 2026-01", "text": kept[1]}]
    assert said("remove", "winter") == {"scope": "winter"}
    assert bench.scopes() == {}


def test_what_cannot_be_compared_is_refused(bench):
    result = command(bench, "pai", "nobody")
    assert "no dataset 'nobody'" in str(result.exception)
    assert "choose from user" in str(command(bench, *SIDES, "--by", "colour").exception)
