"""What the release before promised still holds: cache keys, options, links, JSON keys, headings, homes.

`release.json` and `home.tar.xz` were made by the release before. What is changed on purpose stands in CHANGED, with its
reason, and in the CHANGELOG.
"""

import contextlib
import dataclasses
import io
import json
import tarfile
import typing
from pathlib import Path

import pytest
import typer

from pages._parts import controls, tabs
from tests.charts import records_for_memory
from tests.pages import addresses, whole_home
from tests.pages.all_views import views
from workprof.cli.main import app as commands
from workprof.core.records import canonical_json, digest
from workprof.core.settings import from_environment
from workprof.memory.bin_search import BinSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED

HERE = Path(__file__).parent
RELEASE = json.loads((HERE / "release.json").read_text())
MONEY = ("money", *(f"money.{key}" for key in ("after", "before", "note", "price", "price.currency")))
MONEY += ("money.price.per_gb_h", "money.saved", "money.span_hours")
MONEY += tuple(f"money.monthly_{key}" for key in ("after", "before", "saved"))
OF_WHAT_IF = ("memory_by", "memory_cores", "memory_currency", "memory_floor", "memory_least_runs", "memory_margin")
OF_WHAT_IF += ("memory_measure", "memory_plan_step", "memory_price", "memory_rule")
OF_ROLLUP = ("name", "runs", "memory_before_gb", "memory_after_gb", "before_gb_h", "after_gb_h", "saved_gb_h")
OF_ROLLUP += ("failures", "cores_before", "cores_after", "money_before", "money_saved", "currency", "full_name")
WORDED_ONCE = {
    "durations Observed:  ": ("columns are called as in the file and the command", ("at the cursor",)),
    "durations Prediction error:  ": (
        "columns are called as in the file and the command",
        (
            "factor p50",
            "factor p90",
            "mean abs. error",
            "predictor",
            "promised too little",
            "ratio p50",
            "ratio p80",
            "ratio p90",
            "within 2×",
            "≤ 100 %",
            "≤ 20 %",
            "≤ 5 %",
            "≤ 500 %",
        ),
    ),
    "memory Models:  ": (
        "columns are called as in the command; an interval is one cell",
        ("estimated", "never_finished", "remark", "replayed", "saved_of_requested", "u_rate_high"),
    ),
    "memory Policies:  ": (
        "columns are called as in the command; an interval is one cell, the time is in its JSON",
        ("failed_high", "saved_high", "saved_percent", "seconds"),
    ),
    "memory Tasks:  ": (
        "columns are called as in the command; shares are shares",
        ("runs", "tasks", "used_by_time_percent", "used_percent"),
    ),
    "memory Tasks: memory_tasks ": (
        "columns are called as in the command; shares are shares",
        (
            "cpu_used_percent",
            "evidence",
            "full_name",
            "over_request",
            "runs",
            "used_by_time_percent",
            "used_percent",
            "without_request",
        ),
    ),
    "nodes Degradation:  ": ("an interval is one cell", ("to",)),
    "nodes Ranking:  ": (
        "an interval is one cell; why a node has no rank is in the file",
        ("high", "low", "no_rank_because"),
    ),
    "phases Evaluation:  ": ("columns are called as in the command", ("runs",)),
    "profiles Take away:  ": (
        "is in the file; the page shows what tells profiles apart",
        (
            "definitions",
            "duration_max_s",
            "duration_p25_s",
            "duration_p50_s",
            "duration_p5_s",
            "duration_p75_s",
            "duration_p95_s",
            "groups",
            "job_purity",
            "jobs",
            "labels",
            "profile",
            "share",
            "spike_s",
            "spike_share",
            "typical_gpu_type",
            "typical_group",
            "typical_job_name",
            "typical_node",
            "typical_task_name",
            "typical_user",
            "typical_workload",
            "users",
        ),
    ),
    "sweep Runs:  ": ("is in the file; the page shows what tells settings apart", ("size",)),
    "sweep Runs: sweep_runs ": (
        "is in the file; the page shows what tells settings apart",
        ("ccpm", "min_cluster_size", "n_outliers", "n_rows", "scores_v3", "silhouette_method", "silhouette_se", "size"),
    ),
    "sweep Summary (Table IV):  ": ("columns are called as in the command", ("published mean", "runs")),
}
"""Table of a page -> why headings are not there any more, and which."""

CHANGED: dict[str, str] = {
    **{f"heading: {table}{name}": why for table, (why, names) in WORDED_ONCE.items() for name in names},
    **dict.fromkeys(
        [
            f"heading: memory Bins: memory_edges_table_{edges} {name}_percent"
            for edges in ("4197488646_38555668978_41949824878", "10000000000_60000000000")
            for name in ("used", "runs")
        ],
        "shares are told as shares on every face: used_share, runs_share",
    ),
    "version: nodes.groups": "runs that the detection flagged are left out of a grouping, too, where that is asked for",
    **dict.fromkeys(
        [f"version: memory.{step}" for step in ("bins", "profile_bins", "improvement", "profile_improvement")],
        "a run belongs to the smallest bin that holds its use with its headroom",
    ),
    **dict.fromkeys(
        ("version: memory.train", "version: memory.tables"), "models learn the bins that hold the headroom"
    ),
    "version: memory.assess": "rows that did not finish are counted by cause, and GB·h stand at the top",
    "version: memory.replay": "a run is known from its end on, and nothing later in its size, the price of a kill "
    "neither; `workprof` sizes by what is known at submission, and lifts failed runs by the tail",
    "version: memory.why": "says that it explains `workprof_task`; `by_labels`, `chance`, `cautious` set its sizing; a "
    "missing input is that of the runs known by then",
    **dict.fromkeys(("gone: memory.plan", "gone: memory.violations"), "the verdict answers what to request"),
    "version: memory.rollup": "the judged runs of the verdict, in place of sizes chosen on the same runs",
    **dict.fromkeys(
        [
            f"option: memory violations {flag}"
            for flag in ("--headroom", "--home", "--json", "--most", "--rule", "--with")
        ],
        "the command names its replacement",
    ),
    "option: memory violations dataset": "the command names its replacement",
    "option: memory export --headroom": "of the rules; the headroom of bins stays",
    **dict.fromkeys(
        [f"json: memory rollup .{part}{key}" for part in ("rows[].", "total.") for key in MONEY],
        "money is in `memory plan --price-gb-h`",
    ),
    "json: memory rollup .notes": "says nothing any more",
    "json: memory rollup .one_core_tasks": "cores are those of the verdict",
    **dict.fromkeys([f"link: {name}" for name in OF_WHAT_IF], "the view What if is gone; Plan changes requests"),
    **dict.fromkeys(
        [f"heading: memory Roll-up:  {name}" for name in OF_ROLLUP], "the view is gone; `memory rollup` answers"
    ),
    **dict.fromkeys(
        ("version: nodes.rank", "version: nodes.advice"),
        "no pair is called different in a resource whose differences are within noise, as the groups have it",
    ),
    **dict.fromkeys(
        [
            f"version: profiles.{step}"
            for step in (
                *("forecaster", "held_out", "classifier_evaluation"),
                *("explain_all", "feedback_model", "feedback_refit"),
            )
        ],
        "probabilities have a temperature for each kind of new job; a validation tells new users apart; the best guess "
        "is that of the predictor that validation rows chose",
    ),
    "version: profiles.durations": "runs that were cut short are censored (Kaplan-Meier)",
    "version: profiles.estimate_evaluation": "the best guess is that of the predictor that validation rows chose",
    "version: profiles.fit": "DBCV is the index; what was called so is the relative validity",
    "version: profiles.sweep_group": "as profiles.fit",
    "version: profiles.stability": "its clustering may have pairs of named runs",
    "heading: sweep Runs: sweep_runs dbcv": "is relative_validity, which it was; DBCV is computed for a fit",
    **dict.fromkeys(
        [
            f"version: phases.{step}"
            for step in ("learn", "library", "match", "known_match", "evaluate", "live_library")
        ],
        "recognition compares stretches of phases, and rejects by another limit",
    ),
    **dict.fromkeys(
        ("version: phases.detect", "version: phases.timeline", "version: phases.align"),
        "its settings hold the limit of recognition",
    ),
    "version: nodes.detect": "the network follows the paper's equations: SELU of the mean, terms over all runs; "
    "its random draws are NumPy's",
    "version: phases.align": "holds the recorded counters of both runs, which are drawn over each other",
    "link: phases_entry": "the run of the library that can be opened is the one that the run is compared with",
    "link: classify_requested_memory_gib": "memory is given in GB; a link in GiB is converted",
    "link: memory_models_bins": "a fold; the bins of Models stand under its More settings",
}
"""'kind: name' -> why it is no longer there."""


def blank(cls):
    """Return a settings record with something in every field that has no default."""
    hints = typing.get_type_hints(cls)
    given = {}
    for one in dataclasses.fields(cls):
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            given[one.name] = {str: "x", int: 1, float: 1.0}.get(hints[one.name]) or blank(hints[one.name])
    return cls(**given)


@pytest.mark.parametrize("step", RELEASE["steps"])
def test_the_default_settings_of_a_step_have_the_key_that_they_had(step):
    if f"gone: {step}" in CHANGED:
        assert step not in STORED
        return
    question, before = STORED[step], RELEASE["steps"][step]
    if f"version: {step}" in CHANGED:
        assert question.version > before["version"]
    else:
        assert question.version == before["version"]
        assert digest(canonical_json(blank(question.settings))) == before["digest"]


def options_of(command, path=()):
    """Yield (words of a command, its parameters) of the whole tree."""
    if hasattr(command, "commands"):
        for name in list(command.commands):
            yield from options_of(command.commands[name], (*path, name))
    else:
        yield " ".join(path), command.params


def test_every_option_of_every_command_is_still_accepted():
    now = dict(options_of(typer.main.get_command(commands)))
    missing = set()
    for command, parameters in RELEASE["options"].items():
        spelled = {word for one in now.get(command, ()) for word in (*one.opts, *one.secondary_opts)}
        wanted = {word for name in parameters for word in name.split("/")}
        missing |= {f"option: {command} {word}" for word in wanted - spelled}
    assert missing - CHANGED.keys() == set()


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
def test_every_parameter_of_a_link_and_every_heading_is_still_there(app, home, whole, monkeypatch):
    monkeypatch.setattr(controls, "HOLDS_BACK", False)  # what a closed fold holds counts
    whole[0].rename(home)
    known, headings = {}, {}
    for view in views():
        test = app(view.page, **view.parameters(whole[1]))
        assert not test.exception, view
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
    lost = {f"link: {name}" for page, names in RELEASE["urls"].items() for name in set(names) - known.get(page, set())}
    assert lost - CHANGED.keys() == set()
    lost = {
        f"heading: {table} {name}"
        for table, names in RELEASE["tables"].items()
        for name in set(names) - headings.get(now_called(table), set())
    }
    assert lost - CHANGED.keys() == set()


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
def test_every_key_of_every_json_document_is_still_there(whole, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(whole[0]))
    lost = set()
    assert set(arguments(whole[1])) == set(RELEASE["json"]) - {"memory violations"}
    for name, (words, *rest) in arguments(whole[1]).items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            commands(args=[*words.split(), *rest, "--json"], standalone_mode=False)
        now = set(keys_of(json.loads(out.getvalue())))
        lost |= {f"json: {name} {key}" for key in set(keys_of(RELEASE["json"][name])) - now}
    assert lost - CHANGED.keys() == set()


def test_a_home_of_the_release_opens_with_its_results_and_scenarios(tmp_path, monkeypatch):
    with tarfile.open(HERE / "home.tar.xz") as packed:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python of Debian 12 has none
        packed.extractall(tmp_path, **safe)
    expected = json.loads((tmp_path / "expected.json").read_text())
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WORKPROF_READONLY", raising=False)
    with Workbench(from_environment()) as bench:
        dataset = bench.dataset(expected["dataset"]).hash
        assert dataset == expected["hash"]
        assert [one.name for one in bench.scenarios(dataset)] == ["two bins"]
        assert [one.run for one in bench.stored_runs() if one.pinned] == [expected["pinned"]]
        assert sorted(one.key for one in bench.stored_runs()) == expected["runs"]
        bins = bench.bins(dataset, BinSettings(task=expected["task"], k=2))
        assert list(bins.edges_bytes) == expected["bins_edges"]
        replayed = bench.replay(dataset, ReplaySettings(policies=("workprof_task", "p95"), known="submitted"))
        wasted = {name.removesuffix("_task"): one.wasted_gb_h for name, one in replayed.policies.items()}
        assert wasted["p95"] == expected["wasted"]["p95"]
        assert wasted["workprof"] == pytest.approx(expected["wasted"]["workprof"], rel=0.01)  # lifts failed runs better
        again = bench.bins(dataset, BinSettings(task=expected["task"], k=3))
        assert again.optimal_improvement >= expected["bins_optimal"]
