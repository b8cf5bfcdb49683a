"""Pseudonyms: a viewer is never sent a name, whatever is asked; the same person has the same one everywhere."""

import hashlib
import re
import shutil
from dataclasses import replace

import httpx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.command_line import run_here
from tests.service.running import serving
from workprof.core.alerts import Told
from workprof.core.errors import ColumnMissing, SettingsError, WorkprofError
from workprof.core.roles import Role
from workprof.core.settings import Settings, from_environment
from workprof.memory.decided import row_key
from workprof.store.pseudonyms import Pseudonyms
from workprof.store.reports import IngestOptions, ProfileNote
from workprof.store.users import Users, secret_of
from workprof.workbench import Workbench

NAMES = ("quentinova", "zarathustrin", "o'brienski", "Ünalowitz", "mx.yzzle@example.org", "team rocketeer", "q7", "xi")
GOOD = "correct horse battery"
HIDDEN = [name for name in NAMES if len(name) > 2]
"""Short names stand in other words by chance."""
VIEWER = {"WORKPROF_ROLE": "viewer", "WORKPROF_PSEUDONYMS": "1"}


def trace(path):
    """Write runs in which the name of a user stands in other columns, too."""
    draw, n = np.random.default_rng(5), 480
    user = np.array(NAMES)[np.arange(n) % len(NAMES)]
    start = 1_767_225_600.0 + np.arange(n) * 7_200.0
    table = pd.DataFrame(
        {
            "job_name": [f"{one}-train-{at % 3}" for at, one in enumerate(user)],
            "user": user,
            "group": np.where(np.arange(n) % 2, "physics", user),
            "task_name": np.where(np.arange(n) % 3, "align", "sort"),
            "work_dir": [f"/home/{one}/run" for one in user],
            "submit_time_s": start,
            "start_time_s": start,
            "end_time_s": start + draw.uniform(600, 4_000, n),
            "requested_memory_bytes": 64e9,
            "peak_memory_bytes": draw.uniform(5e9, 9e9, n),
            "requested_cpus": 4.0,
            "cpu_usage_percent": draw.uniform(50, 350, n),
            "status": "Terminated",
        }
    )
    table.to_csv(path, index=False)
    return table


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    trace(folder / "runs.csv")
    with Workbench(Settings(home=folder / "home", data=folder)) as bench:
        bench.ingest([folder / "runs.csv"], IngestOptions(name="runs"))
        memory = bench.verdict("runs").memory
        key = row_key(next(row for row in memory.rows if row.by), memory)
        bench.decide("runs", key, "declined", note=f"{NAMES[0]} asked zarathustrin.", by=NAMES[1])
        bench.decide("runs", f"user={NAMES[0]}", "accepted", every=True)
        bench.save_scope("mine", f"user={NAMES[0]}&user=gone")
    return folder / "home"


@pytest.fixture(scope="module")
def asked(filled, tmp_path_factory):
    """A home in which a viewer asks everything: what was computed for one face is read by the other."""
    home = tmp_path_factory.mktemp("asked") / "home"
    shutil.copytree(filled, home)
    return home


@pytest.fixture
def home(filled, tmp_path):
    shutil.copytree(filled, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def settings(home):
    return from_environment({"WORKPROF_HOME": str(home), "WORKPROF_PSEUDONYMS": "1"})


def found(text):
    """Return the names that stand in what somebody was sent."""
    if isinstance(text, bytes):
        return [name for name in HIDDEN if name.encode() in text]
    return [name for name in HIDDEN if name in text or name.encode("unicode_escape").decode() in text]


@pytest.mark.slow
def test_a_pseudonym_is_stable_keyed_and_as_python_makes_it(settings):
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        rows = bench.preview("runs", 480)
    with Workbench(settings) as bench:
        true = bench.preview("runs", 480)
    made = Pseudonyms(settings.home, ("user",))
    assert list(rows["user"]) == [made.of("user", name) for name in true["user"]]
    assert rows["user"].nunique() == len(NAMES)
    assert all(re.fullmatch("user-[0-9a-f]{10}", name) for name in rows["user"])
    plain = {hashlib.sha256(name.encode()).hexdigest()[:10] for name in NAMES}
    assert not {name.removeprefix("user-") for name in rows["user"]} & plain  # without the key nobody makes them
    assert (true["user"] == trace(settings.home.parent / "again.csv")["user"]).all()
    assert rows["work_dir"][0] == f"/home/{rows['user'][0]}/run"
    assert rows["group"][0] == rows["user"][0]
    assert rows["group"][1] == "physics"
    assert (rows["peak_memory_bytes"] == true["peak_memory_bytes"]).all()


def test_another_home_has_other_pseudonyms(settings, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert secret_of(other, "pseudonyms") != secret_of(settings.home, "pseudonyms")
    names = [Pseudonyms(place, ("user",)).of("user", NAMES[0]) for place in (other, settings.home)]
    assert len(set(names)) == 2


@pytest.mark.slow
def test_figures_are_those_of_the_names(settings):
    with Workbench(settings) as bench:
        true = bench.verdict("runs").memory
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        seen = bench.verdict("runs").memory
        assert bench.counts("runs").users == len(NAMES)
    made = Pseudonyms(settings.home, ("user",))
    names = made.names({name: made.of("user", name) for name in NAMES})
    told = {made.within(row.key.get("user", ""), names): row.size for row in true.rows}
    assert {row.key.get("user", ""): row.size for row in seen.rows} == told
    assert len(seen.rows) == len(true.rows)


def test_what_people_wrote_names_nobody(settings):
    with Workbench(settings) as bench:
        bench._store.save_notices("digest", {NAMES[1]: ProfileNote(0, NAMES[0], "")})
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        decisions = bench.decisions("runs")
        assert decisions
        assert found(repr(decisions)) == []
        assert found(repr(bench.scopes())) == []
        assert found(repr(bench._store.notices("digest", ProfileNote))) == []
        assert "user-" in repr(bench._store.notices("digest", ProfileNote))
        made = Pseudonyms(settings.home, ("user",))
        (scope,) = bench.scopes().values()
        assert made.of("user", NAMES[0]) in scope
        assert made.of("user", "gone") in scope  # who is in no row any more
        assert found(repr((bench.datasets(), bench.ingest_report("runs"), bench.rejects("runs")))) == []
    with Workbench(settings) as bench:
        assert NAMES[1] in repr(bench.decisions("runs"))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Ann Lee, O'Brien's and CORP\\bo: zoë@x.org.", "<Ann Lee>, <O'Brien>'s and <CORP\\bo>: <zoë@x.org>."),
        ("planning for annex, not ann-2 or /home/ann/x", "planning for annex, not <ann>-2 or /home/<ann>/x"),
        ("user=Ann%20Lee&user=ann.", "user=<Ann Lee>&user=<ann>."),
        (
            "at 2026-01-17T12:30:17+00:00 17.5 GB of 17, xi-jinx",
            "at 2026-01-17T12:30:17+00:00 17.5 GB of <17>, xi-jinx",
        ),
        ("user==cmd, =cmd", "user=<=cmd>, <=cmd>"),
    ],
)
def test_names_are_found_as_whole_words(settings, written, shown):
    made = Pseudonyms(settings.home, ("user",))
    people = ("ann", "Ann Lee", "O'Brien", "CORP\\bo", "zoë@x.org", "17", "xi", "=cmd")
    names = made.names({name: made.of("user", name) for name in people})
    expected = re.sub("<(.*?)>", lambda found: made.of("user", found[1]), shown)
    assert made.text(written, names) == expected


def test_a_name_within_a_word_or_in_what_others_run_parts_no_task(tmp_path):
    users, tasks = ("ann", "bo", "zoë", "Ann Lee"), ("planning", "ann-job", "own", "bo")
    rows = ["job,task,user,where,start,duration_s"]
    for at in range(64):
        user, task = users[at % 4], tasks[at // 4 % 4]
        task = f"{user}_{task}" if task == "own" else task
        rows.append(f"j{at},{task},{user},/{user}/{user}/x/a{user}b,{1_767_607_200 + at * 3600},60")
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    settings = Settings(home=tmp_path / "home", data=tmp_path, pseudonyms=("user",))
    with Workbench(settings) as bench:
        bench.ingest([tmp_path / "runs.csv"], IngestOptions(name="runs"))
        true = bench.preview("runs")
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        seen, scoped = bench.preview("runs"), bench.preview("runs?task_name=ann-job")
    of = {user: Pseudonyms(settings.home, ("user",)).of("user", user) for user in users}
    assert list(seen["user"]) == [of[user] for user in true["user"]]
    assert set(seen["task_name"]) == {
        "planning",
        "ann-job",
        "bo",
        *(f"{one}_own" for one in of.values() if one != of["bo"]),
        "bo_own",
    }
    assert (seen["task_name"].value_counts().to_numpy() == true["task_name"].value_counts().to_numpy()).all()
    assert set(seen["where"]) == {
        f"/{of[one]}/{of[one]}/x/a{one}b" if len(one) > 2 else f"/{one}/{one}/x/a{one}b" for one in users
    }
    assert list(scoped["user"]) == list(seen["user"][seen["task_name"] == "ann-job"])


def test_a_decision_names_nobody_and_stays_with_its_row(settings):
    for name in ("paul", "align"):
        Users(settings.home).add(name, "planner", None)
    with Workbench(settings) as bench:
        memory = bench.verdict("runs").memory
        row = next(one for one in memory.rows if one.key.get("task_name") == "align")
        bench.decide("runs", row_key(row, memory), "declined", note="paul, not pauline, asked", by="gone")
        decided = [one.decision is not None for one in bench.verdict("runs").memory.rows]
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        shown = repr(bench.decisions("runs"))
        assert [one.decision is not None for one in bench.verdict("runs").memory.rows] == decided
    assert "paul," not in shown
    assert "gone" not in shown
    assert "pauline" in shown


@pytest.mark.slow
def test_alerts_and_what_was_sent_name_nobody(settings):
    with Workbench(settings) as bench:
        bench.add_alert("whole", "runs", "kills_per_day > 5")
        bench.add_alert("one", f"runs?user={NAMES[0]}", "kills_per_day > 5")
        bench.opt_out(NAMES[1])
        bench.told((Told(f"runs\n{NAMES[1]}", f"user={NAMES[1]}", 1.0),))
        assert {one.name for one in bench.alerts()} == {"one", "whole"}
        assert (bench.opted_out(), len(bench.told_before())) == ((NAMES[1],), 1)
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        assert [one.name for one in bench.alerts()] == ["whole"]
        assert len(bench.opted_out()) == len(bench.told_before()) == 1
        assert found(repr((bench.opted_out(), bench.told_before()))) == []


def test_a_scope_takes_a_pseudonym_and_a_viewers_link_works_for_a_planner(settings):
    one = Pseudonyms(settings.home, ("user",)).of("user", NAMES[0])
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        assert bench.dataset(f"runs?user={one}").rows == 60
        with pytest.raises(SettingsError, match="no run of runs has user") as refused:
            bench.dataset(f"runs?user={NAMES[0]}")
        assert found(str(refused.value).replace(NAMES[0], "", 1)) == []
        unknown = str(refused.value).replace(NAMES[0], "NOBODY")
        with pytest.raises(SettingsError) as nobody:
            bench.dataset("runs?user=NOBODY")
        assert str(nobody.value) == unknown  # no way to find out who is there
        with pytest.raises(ColumnMissing) as missing:
            bench.dataset("runs?usr=a")
        assert found(str(missing.value)) == []
    for role in (Role.PLANNER, Role.ADMIN):
        with Workbench(settings.seen_by(role)) as bench:
            assert bench.dataset(f"runs?user={one}").hash == bench.dataset(f"runs?user={NAMES[0]}").hash
            with pytest.raises(SettingsError):
                bench.dataset("runs?user=user-0123456789")


COMMANDS = (
    "datasets",
    "durations runs --by user",
    "memory plan runs",
    "memory assess runs",
    "memory ledger runs",
    "memory ledger-runs runs",
    "memory rollup runs",
    "memory why runs --task align",
    "memory chargeback runs --by user --price-gb-h 0.01",
    "memory over-time runs --by user",
    "memory decisions runs",
    "memory realised runs --since 2026-01-20",
    "changes runs --by user",
    "digest runs",
    "alert",
    "check",
    "profiles fit runs",
    "classify predict runs --set task_name=align",
    "export runs -o FOLDER/out.csv",
    "export runs -o FOLDER/out.parquet",
    "export runs -o FOLDER/out.schema.json",
    "memory export runs --to csv -o FOLDER/plan.csv",
    "memory plan runs --csv -o FOLDER/rows.csv",
    "report runs -o FOLDER/report.html",
    "memory plan runs --only user=nobody",
    "runs",
    "source",
    "audit",
    "user",
)


@pytest.mark.slow
def test_no_command_and_no_file_of_a_viewer_holds_a_name(asked, tmp_path):
    said = ["", ""]
    for line in COMMANDS:
        words = line.replace("FOLDER", str(tmp_path)).split()
        for way, more in enumerate(([], ["--json"])):
            ended = run_here(*words, *more, home=asked, **VIEWER)
            assert ended.status == 0 or line in ("audit", "user") or "nobody" in line, ended.err
            assert found(ended.out + ended.err) == [], line
            said[way] += ended.out
    assert all("user-" in one for one in said)
    for path in [one for one in tmp_path.iterdir() if one.is_file()]:
        assert found(path.read_bytes()) == [], path.name
    table = pq.read_table(tmp_path / "out.parquet").to_pandas()
    assert found(" ".join(table.astype(str).to_numpy().ravel())) == []
    own = [path for path in asked.glob("viewers-*/**/*") if path.is_file()]
    assert own
    assert [path for path in own if found(path.read_bytes())] == []


def test_what_was_computed_with_names_is_not_read(settings):
    with Workbench(settings) as bench:
        bench.assessment("runs")
        kept = {one.run for one in bench.stored_runs()}
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        assert kept
        assert bench.stored_runs() == ()
        assert bench.assessment.cached("runs").result is None


def test_viewers_results_go_with_their_dataset_and_are_of_one_secret(settings):
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        bench.assessment("runs")
        assert bench.stored_runs()
    with Workbench(settings) as bench:
        bench.rename("runs", "gone")
        bench.remove("gone")
    with Workbench(settings.seen_by(Role.VIEWER)) as bench:
        assert bench.stored_runs() == ()
    before = settings.seen_by(Role.VIEWER).results
    (settings.home / "secret").write_text("ab" * 32)
    assert settings.seen_by(Role.VIEWER).results != before
    assert (
        replace(settings.seen_by(Role.VIEWER), pseudonyms=("group",)).results != settings.seen_by(Role.VIEWER).results
    )


@pytest.mark.parametrize(
    ("text", "columns"), [("1", ("user",)), ("", ()), ("no", ()), ("user, group,user", ("user", "group"))]
)
def test_the_switch_says_which_columns(text, columns):
    assert from_environment({"WORKPROF_PSEUDONYMS": text}).pseudonyms == columns


def test_a_slip_of_the_pen_is_told():
    with pytest.raises(SettingsError, match="give 1, or columns"):
        from_environment({"WORKPROF_PSEUDONYMS": 'us"er'})


def test_without_the_secret_nothing_is_shown(settings):
    Pseudonyms(settings.home, ("user",))
    (settings.home / "secret").write_text("not hexadecimal")
    with pytest.raises(WorkprofError, match="cannot be used"):
        Workbench(settings.seen_by(Role.VIEWER))


LONG = (
    *("forecaster", "held_out", "embeddings", "estimate_evaluation"),
    *("classifier_evaluation", "classifier_alternatives", "feedback_model", "shapes", "explain_all"),
)
"""Questions that learn for longer than the service waits."""


@pytest.mark.slow
def test_no_answer_of_the_service_to_a_viewer_holds_a_name(asked):
    """Every route that the service describes, asked by a viewer about a trace whose names stand in many columns."""
    Users(asked).add("vera", "viewer", GOOD)
    told, answered = [], set()
    with serving(asked, ready="/healthz", WORKPROF_PSEUDONYMS="1") as service:
        service.auth = httpx.BasicAuth("vera", GOOD)
        paths = service.get("/openapi.json").json()["paths"]
        every = [(path, method) for path, methods in paths.items() for method in methods]
        for path, method in [one for one in every if one[0].rpartition(".")[2] not in LONG]:
            body = {"json": {"jobs": [{"task_name": "align"}], "dataset": "runs"}} if method == "post" else {}
            answer = service.request(method, path, params={"dataset": "runs"}, timeout=300, **body)
            told.append(answer.text)
            assert found(answer.text) == [], (path, found(answer.text))
            assert answer.status_code != 500, path
            answered |= {path} if answer.status_code == 200 else set()
    assert {"/v1/questions/memory.verdict", "/v1/questions/memory.ledger", "/v1/questions"} <= answered, answered
    assert "user-" in "".join(told)
