"""`workprof runs`, and every kept run asked for again: its Python and its command make the same key once more."""

import json
import shlex
from dataclasses import replace

import pytest

from tests.charts import records_for_memory as given
from tests.pages.conftest import SAMPLE
from workprof.cli.main import app
from workprof.core.errors import NotEnoughData, SettingsError, WorkprofError
from workprof.core.question import code_of
from workprof.core.records import canonical_json, digest, to_json
from workprof.core.settings import from_environment
from workprof.core.units import GB
from workprof.forecasts.alternatives import AlternativeSettings
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.durations import DurationSettings
from workprof.forecasts.embeddings import EmbeddingSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.forecaster import ExplanationSettings, ForecasterSettings
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bin_models import PredictorSettings, faithful_predictor
from workprof.memory.bin_search import BinSettings, faithful_bins
from workprof.memory.demand import DemandSettings
from workprof.memory.facts import FactPointsSettings
from workprof.memory.model_tables import TableSettings
from workprof.memory.policies import SizingSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.rollup import RollupSettings
from workprof.memory.schedule import ScheduleSettings
from workprof.memory.verdict import VerdictSettings
from workprof.memory.why import WhySettings
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.membership import MembershipSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.sweep import SweepSettings
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED
from workprof.workbench.runs import RUN_DIGITS, numbers_of, seed_of

pytestmark = pytest.mark.slow

CONTRACT = {"run", "step", "dataset", "settings", "seed", "versions", "seconds", "created", "pinned"}
BINS = BinSettings(task=given.HEAVY, k=2)
SVM = PredictorSettings(bins=BINS, models=("svm",), sampling=("none",), trials=0)
DOUBLED = RetrySettings(rule="double", cap_bytes=128.0 * GB)
KILLS = VerdictSettings(acceptable_kills="2%", applied="submission")
ROUGH = ProfileSettings(min_cluster_size=60, sample_rows=600, seed=3)

QUICK = {
    "memory.assess": lambda bench, ds: bench.assessment(ds, AssessmentSettings()),
    "memory.bins": lambda bench, ds: bench.bins(ds, BINS),
    "memory.bins as published": lambda bench, ds: bench.bins(ds, faithful_bins(given.HEAVY, 2)),
    "memory.bins given": lambda bench, ds: bench.bins(ds, BinSettings(given.HEAVY, edges_bytes=(5.0 * GB, 64.0 * GB))),
    "memory.replay": lambda bench, ds: bench.replay(ds, ReplaySettings(policies=("workprof", "p95"), retry=DOUBLED)),
    "memory.verdict": lambda bench, ds: bench.verdict(ds, KILLS),
    "profiles.fit": lambda bench, ds: bench.profiles(ds, ROUGH),
}
MEMORY = {
    "memory.fact": lambda bench, ds: bench.fact_points(ds, FactPointsSettings("group")),
    "memory.fact of a task": lambda bench, ds: bench.fact_points(
        ds, FactPointsSettings("duration_s", given.HEAVY, seed=3)
    ),
    "memory.improvement": lambda bench, ds: bench.improvement(ds, replace(BINS, price_column="duration_s")),
    "memory.train": lambda bench, ds: bench.bin_models(ds, SVM),
    "memory.train as published": lambda bench, ds: bench.bin_models(
        ds, replace(faithful_predictor(given.HEAVY, 2), models=("svm",), sampling=("none",), trials=0)
    ),
    "memory.tables": lambda bench, ds: bench.bin_tables(ds, TableSettings(SVM)),
    "memory.why": lambda bench, ds: bench.why_size(ds, WhySettings(given.HEAVY)),
    "memory.why at another price": lambda bench, ds: bench.why_size(
        ds,
        WhySettings(given.HEAVY, sizing=SizingSettings(price_runs=2.0, quorum=0.6), retry=DOUBLED),
    ),
    "memory.rollup": lambda bench, ds: bench.rollup(ds, RollupSettings("workflow", KILLS)),
    "memory.schedule": lambda bench, ds: bench.schedule(ds, ScheduleSettings(most_wait_min=0.0, verdict=KILLS)),
}
PROFILES = {
    "memory.demand": lambda bench, ds: bench.demand(ds, DemandSettings("user", "runs", weeks=2)),
    "profiles.hopkins": lambda bench, ds: bench.hopkins(ds, HopkinsSettings(mode="faithful", seed=2)),
    "profiles.baseline": lambda bench, ds: bench.baseline(ds, BaselineSettings(by=(("user",), ("user", "task_name")))),
    "profiles.baseline beside profiles": lambda bench, ds: bench.baseline(ds, BaselineSettings(), fit=ROUGH),
    "profiles.durations": lambda bench, ds: bench.observed_durations(ds, DurationSettings(), fit=ROUGH),
    "profiles.stability": lambda bench, ds: bench.stability(
        ds, StabilitySettings(fit=ProfileSettings(min_cluster_size=100), resamples=2)
    ),
    "profiles.stability of a sample": lambda bench, ds: bench.stability(ds, StabilitySettings(fit=ROUGH, resamples=2)),
    "profiles.membership": lambda bench, ds: bench.membership(ds, MembershipSettings(fit=ROUGH, unusual=3)),
    "profiles.sweep_group": lambda bench, ds: bench.sweep(ds, SweepSettings(min_samples=20)),
    "profiles.classifier_evaluation": lambda bench, ds: bench.classifier_evaluation(ds, ClassifierSettings()),
    "profiles.classifier_alternatives": lambda bench, ds: bench.classifier_alternatives(
        ds, AlternativeSettings(leaves=3)
    ),
    "profiles.embeddings": lambda bench, ds: bench.embeddings(
        ds, EmbeddingSettings(fit=ProfileSettings(seed=1), folds=1)
    ),
    "profiles.estimate_evaluation": lambda bench, ds: bench.estimate_evaluation(
        ds, EstimateEvaluationSettings(EstimateSettings(split="by_time"))
    ),
}
FORECASTS = {
    "profiles.forecaster": lambda bench, ds: bench.forecaster(ds, ForecasterSettings()),
    "profiles.explain_all": lambda bench, ds: bench.global_explanation(ds, ExplanationSettings(n_sampled=50)),
    "profiles.feedback_model": lambda bench, ds: bench.feedback_model(ds, ForecasterSettings()),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with one kept run of every question, and question -> its run's key."""
    folder = tmp_path_factory.mktemp("runs")
    given.jobs().to_parquet(folder / "memory.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as bench:
            memory = bench.ingest([folder / "memory.parquet"]).hash
            bench.ingest([SAMPLE])
            jobs = bench.sample("pai_sample", "workload", 800, "small").hash
            datasets = {"memory": memory, "profiles": jobs}
            found = {name: made(bench, name, ask, datasets[name.split(".")[0]]) for name, ask in QUICK.items()}
    return folder / "home", found


def made(bench, name, ask, dataset):
    """Ask and return the run that came of it."""
    before = {one.key for one in bench.stored_runs()}
    ask(bench, dataset)
    step = name.partition(" ")[0]
    return next(one for one in bench.stored_runs() if one.key not in before and one.step == step)


def forgotten(bench, key):
    """Forget one kept result."""
    with bench() as opened:
        opened.remove_run(run_of(key))


def keys(bench):
    with bench() as opened:
        return {one.key for one in opened.stored_runs()}


def run_of(key):
    return digest(key)[:RUN_DIGITS]


def shell(command):
    """Run a line as a shell would, in this process."""
    words = shlex.split(command)
    assert words[0] == "workprof"
    app(args=words[1:], standalone_mode=False)


def asked_again(bench, run, why_no_command=""):
    """Forget a run, ask for it in Python, forget it again, ask for it from a shell (or be told why not)."""
    with bench() as opened:
        code = opened.run_in_python(run.run)
        if why_no_command:
            with pytest.raises(NotEnoughData, match=why_no_command):
                opened.run_in_shell(run.run)
        else:
            command = opened.run_in_shell(run.run)
    before = record(bench, run)
    forgotten(bench, run.key)
    exec(compile(code, "snippet", "exec"), {})
    assert record(bench, run) == before
    if not why_no_command:
        forgotten(bench, run.key)
        shell(command)
        assert record(bench, run) == before


def record(bench, run):
    """Return a kept result as plain numbers and texts, without the seconds that it took."""
    with bench() as opened:
        found = opened._cache.get(run.key, STORED[run.step].result)
    assert found is not None
    return untimed(to_json(found))


def untimed(value):
    if isinstance(value, dict):
        return {name: untimed(item) for name, item in value.items() if not name.endswith("seconds")}
    return [untimed(item) for item in value] if isinstance(value, list) else value


@pytest.mark.some(2)
@pytest.mark.parametrize("question", QUICK)
def test_a_run_is_made_again_by_its_python_and_its_command(kept, bench, question):
    asked_again(bench, kept[1][question])


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("question", [*MEMORY, *(pytest.param(one, marks=pytest.mark.soak) for one in PROFILES)])
def test_so_is_every_other_kind_of_run(kept, bench, question):
    dataset = kept[1]["memory.bins" if question in MEMORY else "profiles.fit"].dataset_hash
    with bench() as opened:
        run = made(opened, question, (MEMORY | PROFILES)[question], dataset)
    asked_again(bench, run)


@pytest.mark.soak
def test_what_rests_on_a_forecaster_is_found_again(kept, bench):
    dataset = kept[1]["profiles.fit"].dataset_hash
    with bench() as opened:
        runs = {question: made(opened, question, ask, dataset) for question, ask in FORECASTS.items()}
        codes = [opened.run_in_python(run.run) for run in runs.values()]
        commands = [opened.run_in_shell(runs[name].run) for name in ("profiles.forecaster", "profiles.explain_all")]
        with pytest.raises(NotEnoughData, match="`workprof estimate observe` makes it"):
            opened.run_in_shell(runs["profiles.feedback_model"].run)
    before = keys(bench)
    explained = record(bench, runs["profiles.explain_all"])
    for code in codes:
        exec(compile(code, "snippet", "exec"), {})
    forgotten(bench, runs["profiles.explain_all"].key)
    for command in commands:
        shell(command)
    assert keys(bench) == before
    assert record(bench, runs["profiles.explain_all"]) == explained


def test_every_question_is_asked_of_the_workbench():
    called = [one.made_by[0] if one.made_by else one for one in STORED.values()]
    assert [one.name for one in called if not one.no_python and not hasattr(Workbench, one.call)] == []


def test_the_list_keeps_the_contract(kept, bench, run_workprof, tmp_path):
    listed = run_workprof("runs", "--json", home=tmp_path / "home").json
    assert all(set(one) >= CONTRACT for one in listed)
    fit = next(one for one in listed if one["step"] == "profiles.fit")
    assert fit["settings"]["min_cluster_size"] == 60
    assert (fit["seed"], fit["pinned"], fit["dataset"]) == (3, False, "small")
    assert set(fit["versions"]) == {"workprof", "step", "python"}
    assert fit["created"] <= listed[0]["created"]


def test_a_run_is_shown_pinned_and_removed(kept, bench, capsys):
    run = kept[1]["memory.bins"].run

    def ask(*words):
        app(args=["runs", *words, "--json"], standalone_mode=False)
        return json.loads(capsys.readouterr().out)

    shown = ask("show", run)
    assert "workbench.bins(dataset, settings)" in shown["python"]
    assert shown["shell"].startswith("workprof memory bins ")
    assert ask("pin", run[:8])["pinned"]
    assert [one["run"] for one in ask() if one["pinned"]] == [run]
    assert not ask("unpin", run)["pinned"]
    with pytest.raises(SettingsError, match="was not removed"):
        ask("remove", run)
    assert ask("remove", run, "--yes")["run"] == run
    assert run not in {one["run"] for one in ask()}
    for nothing in (run, run[:5], "*", "../.."):
        with pytest.raises(SettingsError, match="there is no such saved result"):
            ask("pin", nothing)


def test_a_mistyped_run_is_the_callers_mistake(run_workprof, tmp_path):
    done = run_workprof("runs", "pin", "0123456789ab", home=tmp_path)
    assert done.status == 2
    assert "there is no such saved result" in done.err


def test_a_read_only_home_keeps_what_it_has(kept, bench, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    run = kept[1]["memory.bins"].run
    with bench() as opened:
        with pytest.raises(WorkprofError, match="READONLY"):
            opened.pin_run(run, True)
        with pytest.raises(WorkprofError, match="READONLY"):
            opened.remove_run(run)
        assert run in {one.run for one in opened.stored_runs()}


def test_two_runs_of_a_step_side_by_side(kept, bench):
    with bench() as opened:
        first, second = (kept[1][name] for name in ("memory.bins", "memory.bins as published"))
        found = opened.compare_runs(first.run, second.run)
        assert {one.setting for one in found.settings} == {"weight", "top", "headroom", "search"}
        numbers = {one.number: one for one in found.numbers}
        exact, published = (
            opened.bins(first.dataset_hash, BINS),
            opened.bins(first.dataset_hash, faithful_bins(given.HEAVY, 2)),
        )
        saving = numbers["optimal_improvement"]
        assert (saving.before, saving.after) == (exact.optimal_improvement, published.optimal_improvement)
        same = opened.compare_runs(first.run, first.run)
        assert (same.settings, same.numbers) == ((), ())
        assert same.n_equal > 5
        with pytest.raises(SettingsError, match="two runs of one step"):
            opened.compare_runs(first.run, kept[1]["profiles.fit"].run)


def test_numbers_of_an_older_version_are_not_compared(kept, bench, tmp_path):
    first, second = (kept[1][name] for name in ("memory.bins", "memory.bins given"))
    for path in (tmp_path / "home" / "cache").glob("*/*/about.json"):
        about = json.loads(path.read_text())
        if about["key"] == second.key:
            about["versions"]["step"] = "0"
            path.write_text(json.dumps(about))
    with bench() as opened:
        found = opened.compare_runs(first.run, second.run)
        assert not opened.stored_run(second.run).current
    assert found.numbers == ()
    assert "older version" in found.notes[0]


def test_settings_of_any_value_have_an_option(kept, bench):
    dataset = kept[1]["memory.bins"].dataset_hash
    odd = {
        "memory.bins": BinSettings(given.HEAVY, edges_bytes=(5e9 + 0.5, 64e9)),
        "memory.bins with a number": BinSettings(given.HEAVY, k=2, edges_bytes=(5e9, 64e9)),
        "memory.bins by a request": BinSettings(given.HEAVY, request_bytes=1e9),
    }
    for settings in odd.values():
        with bench() as opened:
            run = made(opened, "memory.bins", lambda on, ds, asked=settings: on.bins(ds, asked), dataset)
            assert (" --with " in opened.run_in_shell(run.run)) == (settings.k == 2)
        asked_again(bench, run)


def test_a_hostile_name_stays_a_text(kept, bench):
    dataset = kept[1]["memory.bins"].dataset_hash
    with bench() as opened:
        run = made(opened, "memory.bins", lambda on, ds: on.bins(ds, BinSettings(given.THIN, k=1)), dataset)
    asked_again(bench, run)


@pytest.mark.parametrize(
    ("settings", "seed"),
    [
        (ProfileSettings(seed=4), 4),
        (ReplaySettings(seeds=(7, 8)), 7),
        (ForecasterSettings(ClassifierSettings(seed=5)), 5),
        (VerdictSettings(), None),
    ],
)
def test_the_seed_is_found_where_it_stands(settings, seed):
    assert seed_of(json.loads(canonical_json(settings))) == seed


def test_the_code_of_settings_makes_equal_settings():
    names = {cls.__name__: cls for cls in (VerdictSettings, RollupSettings, ProfileSettings, StabilitySettings)}
    for settings in (
        RollupSettings(verdict=VerdictSettings(step_bytes=0.1 + 0.2)),
        StabilitySettings(fit=ProfileSettings(features=("cpu_usage_percent", "read_bytes"), epsilon=0.25), seed=1),
        VerdictSettings(),
    ):
        assert eval(code_of(settings), dict(names)) == settings


def test_the_numbers_of_a_result_are_single_numbers(kept, bench):
    with bench() as opened:
        found = numbers_of(
            opened.replay(kept[1]["memory.replay"].dataset_hash, opened.run_settings(kept[1]["memory.replay"].run))
        )
    assert found["policies.workprof.wasted_gb_h"] > 0
    assert not any(name.startswith("settings") for name in found)
