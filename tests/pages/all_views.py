"""Every view of every page with what has a kept result there, and the controls that do not stand in the address."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.pages import whole_home
from workprof.forecasts.questions import EVALUATE_ESTIMATES
from workprof.nodes.questions import HISTORY
from workprof.phases.questions import EVALUATE

NOT_IN_THE_ADDRESS = {
    "*_tab": "stands in the address by hand, so that Back leads to the view before",
    "shell_dataset": "is the address's ds",
    "window": "tells how wide the window is",
    "image_format": "is how pictures are saved, and no figure of a page",
    "csv_mark": "is how files are saved, and no figure of a page",
    "profiles_slider": "writes profiles_min_cluster_size",
    "recut_*": "writes the form of the profiles",
    "profiles_picked": "is in profiles_selected",
    "profiles_map_plot_*": "is in profiles_selected",
    "profiles_fingerprints_*": "a click is in profiles_profile",
    "note_*": "is written by its own button",
    "*_note": "is written by its own button",
    "*_shown": "opens the table behind a chart",
    "*_upload*": "is a file of the visitor's",
    "map_*": "is about a file that is being loaded",
    "mapping_chosen": "offers the buttons that rename and remove a mapping",
    "mapping_new_*": "names what its button renames",
    "memory_keep_*_name": "names what its button keeps",
    "nodes_keep_name": "names what its button keeps",
    "*_doomed": "names what its button removes",
    "data_alert_*": "fills in the alert that its button adds, or names the one that it removes",
    "data_add_*": "fills in the source that its button adds",
    "data_new_name": "names what its button renames",
    "phases_label": "is written by its own button",
    "phases_label_of": "says for what the button beside it is",
    "home_over_time": "writes home_cell_row and home_cell_bin",
    "phases_timeline": "writes phases_from and phases_to",
    "memory_edges_table_*": "writes memory_edges",
    "nodes_price_table_*": "writes nodes_prices",
    "memory_tasks": "offers the button that writes memory_task",
    "memory_verdict_*table": "offers the buttons that decide about the selected rows",
    "memory_ledger_findings": "offers the button that chooses the runs that are listed",
    "memory_ledger_rows": "offers the button that chooses the runs that are listed",
    "sweep_runs": "offers links of the selected runs",
    "runs_table": "writes runs_run",
    "classify_hits_*": "writes classify_job",
    "scope_*": "is in ds, the dataset of the address",
    "profiles_pair": "writes profiles_must or profiles_must_not",
    "runs_remove": "asks before something is removed",
    "": "is a popover of fields for a button",
}
"""Name (with * for the rest) -> why a control is not in the address."""

OTHER_PROFILES = {"profiles_min_cluster_size": whole_home.OTHER_SIZE, "profiles_min_samples": whole_home.OTHER_SIZE}
FORM = (
    "profiles_min_*",
    "profiles_must*",
    "classify_mode",
    "classify_f*",
    "classify_threshold",
    "classify_wrong_cost",
    "classify_rare_*",
)
FORM += ("classify_least_*", "classify_latest_*", "classify_seed", "classify_interval_*", "classify_coverage")
KEPT_MODELS = {"memory_task": "HEAVY", "memory_k": "2", "memory_sampling": "none", "memory_trials": "0"}
KEPT_REPLAY = {"memory_policies": list(whole_home.POLICIES)}
KEPT_PHASES = {"phases_run": whole_home.RUN, "phases_mode": "faithful", "phases_splits": "1", "phases_open_splits": "0"}


PAGES = Path(__file__).resolve().parents[2] / "pages"
OTHER_PREFIX = {"feedback": "classify"}
"""Beginning of a control's name -> its page, where that is another word."""


@cache
def folds():
    """Return page -> its folded sections, by their parameters in the address: what is given to `fold` as its key."""
    result = {}
    for path in sorted(set(PAGES.rglob("*.py")) - set((PAGES / "_parts").rglob("*.py"))):  # those name no section
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for key in (call.args[1] for call in calls if getattr(call.func, "attr", "") == "fold"):
            name = key.value if isinstance(key, ast.Constant) else getattr(module_of(path), key.id)
            prefix = name.split("_")[0]
            result.setdefault(OTHER_PREFIX.get(prefix, prefix), []).append(name)
    return result


def module_of(path):
    """Return the module of a file of the pages."""
    return import_module(".".join(path.relative_to(PAGES.parent).with_suffix("").parts))


def unfolded(page):
    """Return the parameters that open all folded sections of a page."""
    return dict.fromkeys(folds().get(page, ()), "true")


class View:
    """A view of a page: where it is, what is given in the address, and which controls keep what is given."""

    def __init__(self, page, tab="", given=(), keep=()):
        self.page, self.tab, self.given, self.keep = page, tab, dict(given), tuple(keep)

    def parameters(self, hashes):
        dataset = {"memory": hashes.tasks, "nodes": hashes.nodes, "phases": hashes.phases}.get(self.page, hashes.jobs)
        tab = {f"{self.page}_tab": self.tab} if self.tab else {}
        return {"ds": dataset} | tab | unfolded(self.page) | self.given

    def __repr__(self):
        return f"{self.page} {self.tab}".strip()


def keys(question):
    """Return the names of the controls of every setting of a question: another value asks for another result."""
    return tuple(leaf.key(question.page) for leaf in question.leaves)


def views():
    """Return every view of every page, each with what has a kept result."""
    for tab in ("Profile", "Map", "Box plots", "Silhouettes", "Metadata"):
        yield View("profiles", tab, OTHER_PROFILES, FORM)
    yield View("profiles", "Map", OTHER_PROFILES | {"profiles_selected": "p0_1", "profiles_jobs_page": "2"}, FORM)
    yield View("classify", "One job", {"classify_job": "7"}, (*FORM, "classify_job"))
    yield View("classify", "One job", {"classify_from": "own fields"}, (*FORM, "classify_from"))
    yield View("classify", "One job", {"classify_search": "ps"}, FORM)
    for tab in ("Batch", "Model", "Drift"):
        yield View("classify", tab, {}, FORM)
    yield View("durations", "Observed", {}, ("durations_clustering",))
    yield View("durations", "Prediction error", {"durations_split": "by_time"}, keys(EVALUATE_ESTIMATES))
    for tab in ("Score map", "Ranking", "All settings", "Summary", "Target", "Compare two"):
        yield View("sweep", tab, {}, ("sweep_[!tbm]*", "sweep_m[!a]*"))
    for tab in ("Plan", "Explore", "Bins", "Scenarios"):
        yield View("memory", tab)
    yield View("memory", "Explore", {"memory_explore": "Ledger"})
    yield View("memory", "Explore", {"memory_explore": "Nodes needed"}, ("memory_schedule_*",))
    yield View("memory", "Explore", {"memory_explore": "Demand"}, ("memory_demand_*",))
    yield View("memory", "Bins", {"memory_edges": "10, 60"})
    yield View("memory", "Compare", KEPT_MODELS | {"memory_compare": "Models"}, ("memory_*",))
    yield View("memory", "Compare", KEPT_REPLAY, ("memory_policies", "memory_[!p]*", "memory_p[!i]*"))
    for tab in ("Groups", "Transfer", "Scenarios"):
        yield View("nodes", tab)
    yield View("nodes", "Over time", {}, keys(HISTORY))
    yield View("nodes", "Ranking", {"nodes_prices": "calm=0.5"}, ("nodes_score", "nodes_exclude"))
    yield View("nodes", "Ranking", {"nodes_profile": "0"}, ("nodes_score", "nodes_exclude"))
    yield View(
        "nodes",
        "Degradation",
        {},
        ("nodes_detect_*", "nodes_detector", "nodes_alarms", "nodes_train*", "nodes_trials", "nodes_epochs"),
    )
    for tab in ("Timeline", "Fingerprint"):
        yield View("phases", tab, {"phases_run": whole_home.RUN})
    for tab in ("Match", "Library", "Evaluation"):
        yield View("phases", tab, KEPT_PHASES, ("phases_run", "phases_set", *keys(EVALUATE)))
    yield View("phases", "Live")
    for tab in ("Validation", "Columns", "Preview"):
        yield View("data", tab)
    yield View("home", "", dict.fromkeys(("home_steps", "home_findings", "home_profiles", "home_data"), "true"))
    yield View("home", "", {"home_cell": "true", "home_cell_bin": "0", "home_bin": "day"}, ("home_bin",))
    for page in ("home", "runs", "report", "help"):
        yield View(page)
