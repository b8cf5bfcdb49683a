"""What the release before promised still holds: cache keys, options, links, JSON keys, headings, homes.

`release.json` and `home.tar.xz` were made by the release before (`--freeze` writes them). What is changed on purpose
stands in CHANGED, with its reason, and in the CHANGELOG.
"""

import contextlib
import dataclasses
import io
import json
import shutil
import tarfile
import typing
from pathlib import Path

import pytest
import typer

from pages._parts import controls, tabs
from tests.charts import records_for_memory
from tests.pages import addresses, whole_home
from tests.pages.all_views import views
from tests.pages.conftest import problems
from tests.pages.test_shown_words import assert_plain
from workprof.cli.main import app as commands
from workprof.core.records import canonical_json, digest
from workprof.core.settings import from_environment
from workprof.memory.bin_search import BinSettings
from workprof.memory.scenarios import Scenario
from workprof.profiles.settings import ProfileSettings
from workprof.sources.source import Source
from workprof.store.reports import ProfileNote
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED

HERE = Path(__file__).parent
KEPT = HERE / "release.json"
RELEASE = json.loads(KEPT.read_text())

UNDATED = "days of a clock without dates are those of a period; nameless runs are not all runs"
STEP = "the step of runs that are sampled unlike is one that a run has, and need not be whole seconds"
WAITS = "what is held out by time is submitted after the end of what is learned, waits and all"
FEW = "what is stated of a job with few known fields is softened by how much the others matter"
CHANGED: dict[str, str] = {
    "version: memory.verdict": "runs of one moment come by what they hold; intervals rest on more draws",
    "version: memory.changes": "it compares verdicts",
    "version: memory.ledger": "its findings are rows of the verdict",
    "version: memory.ledger_runs": "its findings are rows of the verdict",
    "version: memory.demand": "first bins that runs from before the trace lack are left out; few runs are no anomaly",
    "version: memory.chargeback": UNDATED,
    "version: memory.over_time": UNDATED,
    "version: memory.over_time_runs": UNDATED,
    "version: memory.schedule": "Slurm's memory is of one node; 95 % of the waits are within the limit",
    "version: memory.rollup": "runs without a time are in no average, cores are of all runs",
    "version: memory.why": "sizes follow the cap, the floor and the retries",
    "version: memory.replay": "what several seeds save is that of their means",
    "version: memory.profile_bins": "runs killed for memory are counted beside them",
    **{
        f"version: memory.{name}": "runs of whose use only a lower bound is known are counted"
        for name in ("bins", "improvement", "profile_improvement")
    },
    "heading: memory Explore: memory_tasks requested_gb_h": "the page shows judged_gb_h, of runs whose use is known",
    "version: memory.assess": "the requests of runs whose use is known are added up by task, too",
    "version: memory.train": "dates and parts of names may be inputs",
    "version: memory.tables": "dates and parts of names may be inputs",
    "version: nodes.rank": "nodes are called different overall only where an aspect differs",
    "version: nodes.advice": "it ranks nodes",
    "version: nodes.detect": "a row that repeats another is no run",
    "version: nodes.groups": "a row that repeats another is no run",
    "version: nodes.allocation": "it groups nodes",
    **{
        f"heading: home:  {name}": "flagged nodes are told where the trace names them"
        for name in ("dataset", "node", "benchmarks", "degraded_probability")
    },
    **{
        f"heading: home:  {name}_{side}": "a row got worse beyond chance alone; in the samples none did"
        for name in ("mean_request_gb", "mean_unused_gb", "killed_runs")
        for side in ("before", "after")
    },
    "heading: home:  extra_gb_h": "a row got worse beyond chance alone; in the samples none did",
    **{
        f"option: {command} --{name}": "it was listed, and always refused: a dataset is changed whole"
        for command in ("remove", "rename")
        for name in ("only", "period")
    },
    **{
        f"heading: profiles {tab}:  silhouette": "the page shows the separation of its headline; CSV and JSON have both"
        for tab in ("Profile", "Metadata", "Map", "Silhouettes", "Box plots")
    },
    "version: profiles.durations": "past the longest run that was cut short, shares are bounds",
    "version: profiles.fit": "boxes and sentences of profiles are of measured values",
    "version: profiles.hopkins": "a reading needs the power variant beyond the band of uniform rows, too",
    "version: profiles.baseline": "a note says what favours the profiles",
    "version: profiles.stability": "draws do not hang on the order of the rows",
    "version: profiles.sweep_group": "profiles without a tree do not hang on the order of the rows",
    "version: profiles.membership": "equal rows are wholly of their own profile",
    "version: phases.shapes": "what is seen of a run no longer tells how long it will be",
    **{
        f"version: phases.{name}": STEP
        for name in ("align", "detect", "known_match", "learn", "library", "live_library", "match", "methods")
    },
    "version: phases.timeline": STEP,
    "version: phases.typical": STEP,
    "version: phases.evaluate": "means are over the counters that a run has; rejected unknown runs have an interval",
    "version: nodes.search": "a run may cost its time times a price that is given",
    **{
        f"version: profiles.{name}": f"{WAITS}; {FEW}"
        for name in (
            *("forecaster", "held_out", "classifier_evaluation", "classifier_alternatives"),
            *("explain_all", "feedback_model", "feedback_refit"),
        )
    },
    "version: profiles.embeddings": WAITS,
    "version: profiles.estimate_evaluation": WAITS,
}
"""'kind: name' -> why it is no longer there, or 'version: step' -> why its results are computed anew."""


@pytest.fixture
def held(request):
    """Return a function that holds what there is now to what the release before kept under a name, or keeps it."""

    def compared(kind, now, lost):
        if request.config.getoption("freeze", default=False):
            RELEASE[kind] = now
            KEPT.write_text(json.dumps(RELEASE, indent=0, sort_keys=True) + "\n")
            return
        assert set(lost(RELEASE[kind], now)) - CHANGED.keys() == set()

    return compared


def blank(cls):
    """Return a settings record with something in every field that has no default."""
    hints = typing.get_type_hints(cls)
    given = {}
    for one in dataclasses.fields(cls):
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            kind = hints[one.name]
            if typing.get_origin(kind) is tuple:
                given[one.name] = ()
            else:
                given[one.name] = {str: "x", int: 1, float: 1.0}.get(kind) or blank(kind)
    return cls(**given)


def settings_changed(before, now):
    for step, kept in before.items():
        if step not in now:
            yield f"gone: {step}"
        elif now[step] != kept:
            yield f"version: {step}"
            assert now[step]["version"] > kept["version"], step


def test_the_default_settings_of_a_step_have_the_key_that_they_had(held):
    now = {
        step: {"version": question.version, "digest": digest(canonical_json(blank(question.settings)))}
        for step, question in STORED.items()
    }
    held("steps", now, settings_changed)


def missing(kind):
    """Return what yields 'kind: group name' of names that are not in their group any more."""

    def of(before, now):
        for group, names in before.items():
            for name in set(names) - set(now.get(group, ())):
                yield f"{kind}: {group} {name}"

    return of


def options_of(command, path=()):
    """Yield (words of a command, its parameters) of the whole tree."""
    if hasattr(command, "commands"):
        for name in list(command.commands):
            yield from options_of(command.commands[name], (*path, name))
    else:
        yield " ".join(path), command.params


def test_every_option_of_every_command_is_still_accepted(held):
    now = {
        command: sorted({word for one in parameters for word in (*one.opts, *one.secondary_opts)})
        for command, parameters in options_of(typer.main.get_command(commands))
    }
    held("options", now, missing("option"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder / "home", whole_home.make(folder, tmp_path_factory)


def now_called(table):
    """Return the name of a table with its view's name of now."""
    view, _, key = table.partition(": ")
    page, _, tab = view.partition(" ")
    return f"{page} {tabs.renamed(f'{page}_tab', tab)}".strip() + f": {key}"


def test_a_view_that_was_renamed_is_known_by_its_former_name(monkeypatch):
    monkeypatch.setitem(tabs.FORMER, "memory_tab", {"Roll-up": "Plan"})
    assert now_called("memory Roll-up: ") == "memory Plan: "
    assert now_called("memory Bins: x") == "memory Bins: x"
    assert now_called("memory Models: x") == "memory Compare: x"
    assert now_called("runs: runs_table") == "runs: runs_table"
    for key, former in tabs.FORMER.items():
        assert set(former) & set(former.values()) == set(), f"{key}: a former name is one of today's"


@pytest.mark.slow
def test_every_view_is_plain_and_every_parameter_of_a_link_and_every_heading_is_still_there(
    app, home, whole, monkeypatch, held
):
    monkeypatch.setattr(controls, "HOLDS_BACK", False)  # what a closed fold holds counts
    whole[0].rename(home)
    known, headings = {}, {}
    for view in views():
        test = app(view.page, **view.parameters(whole[1]))
        assert problems(test) == [], view
        assert all(chart.proto.alt for chart in test.get("plotly_chart")), view
        assert_plain(test)
        tab = f"{view.page}_tab"
        if tab in test.session_state and test.session_state[tab] == view.parameters(whole[1]).get(
            tab, test.session_state[tab]
        ):
            known.setdefault(view.page, set()).add(tab)  # the open view: in the address, but no bound control
        for node in addresses.everything(test):
            if name := addresses.parameter(node):
                known.setdefault(view.page, set()).add(name)
            if node.type in ("dataframe", "arrow_data_frame"):
                headings.setdefault(f"{view!r}: {node.key or ''}", set()).update(map(str, node.value.columns))
    home.rename(whole[0])
    held("links", {page: sorted(names) for page, names in known.items()}, missing("link"))
    now = {table: sorted(names) for table, names in headings.items()}
    renamed = {now_called(table): names for table, names in RELEASE["headings"].items()}
    held("headings", now, lambda _, now: missing("heading")(renamed, now))


def keys_of(document, path=""):
    """Yield every path of keys of a JSON document; of a list those of all its items, whose order may differ.

    The profiles of a trace are as many as it has: their numbers count as one key.
    """
    if isinstance(document, dict):
        for name, item in document.items():
            key = f"{path}.{'N' if path.endswith('.by_profile') else name}"
            yield key
            yield from keys_of(item, key)
    elif isinstance(document, list):
        for item in document:
            yield from keys_of(item, f"{path}[]")


def arguments(hashes):
    """Return name in the release's record -> words of the command."""
    heavy, run = records_for_memory.HEAVY, whole_home.RUN
    of_tasks = {
        "memory assess": [],
        "memory bins": ["--task", heavy],
        "memory curve": ["--task", heavy],
        "memory train": ["--task", heavy, "-k", "2", "--sampling", "none", "--trials", "0"],
        "memory train --tables": [
            *("--task", heavy, "-k", "2", "--sampling", "none", "--trials", "0", "--models", "svm", "--tables")
        ],
        "memory replay": ["--policies", "workprof,preset,p95"],
        "memory rollup": [],
        "memory why": ["--task", heavy],
        **{f"memory {name}": [] for name in ("plan", "schedule", "ledger", "over-time", "chargeback")},
        "memory fact": ["--column", "duration_s", "--task", heavy],
    }
    of_jobs = {
        "memory bins --profile": ["--profile", "0"],
        "profiles fit": [],
        "profiles sweep": [],
        "profiles hopkins": [],
        "profiles baseline": [],
        "profiles stability": ["--resamples", "2"],
        "durations": [],
        "classify evaluate": [],
        "classify explain": [],
        "classify predict": ["--set", "task_name=ps"],
    }
    of_nodes = {"nodes rank": [], "nodes groups": [], "nodes detect": []}
    of_phases = {
        "phases runs": [],
        "phases show": ["--run", run],
        "phases detect": ["--run", run],
        "phases fingerprints": [],
        "phases library": [],
        "phases match": ["--unknown", run],
    }
    each = ((of_tasks, hashes.tasks), (of_jobs, hashes.jobs), (of_nodes, hashes.nodes), (of_phases, hashes.phases))
    found = {
        name: [name.partition(" --")[0], dataset, *words] for rows, dataset in each for name, words in rows.items()
    }
    return found | {"datasets": ["datasets"], "runs": ["runs"]}


@pytest.mark.slow
def test_every_key_of_every_json_document_is_still_there(whole, monkeypatch, held):
    monkeypatch.setenv("WORKPROF_HOME", str(whole[0]))
    now = {}
    for name, (words, *rest) in arguments(whole[1]).items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            commands(args=[*words.split(), *rest, "--json"], standalone_mode=False)
        now[name] = sorted(set(keys_of(json.loads(out.getvalue()))))
    held("json", now, missing("json"))


TWO = BinSettings(task=records_for_memory.HEAVY, k=2)
SOURCE = Source("prod", "files", "/nowhere")
ROW = f"task_name={records_for_memory.HEAVY},request=64"


def fill(folder):
    """Fill a folder's home with a dataset, results, and everything that people keep; return what is in it."""
    records_for_memory.jobs().to_parquet(folder / "memory.parquet")
    with Workbench(from_environment()) as bench:
        dataset = bench.dataset(bench.ingest([folder / "memory.parquet"]).hash)
        bins, verdict = bench.bins(dataset.hash, TWO), bench.verdict(dataset.hash)
        bench.profiles(dataset.hash)
        bench.set_profile_note(dataset.hash, ProfileSettings(), ProfileNote(0, "heavy ones", "ask the team"))
        nan = float("nan")
        kept = Scenario("two bins", "runs", dataset.hash, "", "p95", {}, nan, nan, nan, nan, nan, 0, -1, nan, "EUR", "")
        bench.save_scenario(dataset.hash, kept)
        bench.save_scope("mine", "group=small")
        bench.decide(dataset.hash, ROW, "accepted")
        bench.add_alert("waste", dataset.name, "unused_share > 60 %")
        bench.add_source(SOURCE)
        pinned = next(one.run for one in bench.stored_runs() if one.step == "memory.bins")
        bench.pin_run(pinned, True)
        return {
            "dataset": dataset.name,
            "hash": dataset.hash,
            "pinned": pinned,
            "runs": sorted(one.key for one in bench.stored_runs()),
            "edges_bytes": list(bins.edges_bytes),
            "charged_gb_h": verdict.memory.judged.charged,
        }


def test_a_home_of_the_release_opens_with_what_was_computed_and_kept(tmp_path, monkeypatch, request):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WORKPROF_READONLY", raising=False)
    if request.config.getoption("freeze", default=False):
        (tmp_path / "expected.json").write_text(json.dumps(fill(tmp_path)))
        with tarfile.open(HERE / "home.tar.xz", "w:xz") as packed:
            for name in ("expected.json", "home"):
                packed.add(tmp_path / name, name)
        shutil.rmtree(tmp_path / "home")
    with tarfile.open(HERE / "home.tar.xz") as packed:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python of Debian 12 has none
        packed.extractall(tmp_path, **safe)
    expected = json.loads((tmp_path / "expected.json").read_text())
    with Workbench(from_environment()) as bench:
        dataset = bench.dataset(expected["dataset"]).hash
        assert dataset == expected["hash"]
        assert sorted(one.key for one in bench.stored_runs()) == expected["runs"]
        assert [one.run for one in bench.stored_runs() if one.pinned] == [expected["pinned"]]
        assert [one.name for one in bench.scenarios(dataset)] == ["two bins"]
        assert list(bench.scopes()) == ["mine"]
        assert [one.row_key for one in bench.decisions(dataset)] == [ROW]
        assert [one.name for one in bench.alerts()] == ["waste"]
        assert [(one.name, one.kind) for one in bench.sources()] == [("prod", "files")]
        bench.profiles(dataset)  # found anew since, and they keep their names
        assert [one.name for one in bench.profile_notes(dataset, ProfileSettings()).values()] == ["heavy ones"]
        assert list(bench.bins(dataset, TWO).edges_bytes) == expected["edges_bytes"]
        charged = bench.verdict(dataset).memory.judged.charged  # no longer priced by hours that were to come: 11 % less
        assert charged == pytest.approx(expected["charged_gb_h"], rel=0.15)
