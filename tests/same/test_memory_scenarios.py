"""Memory, scenarios: what is kept and listed are the commands' own numbers."""

import pytest

from tests.charts import records_for_memory as given
from workprof.answers.scenarios import comparison_table
from workprof.core.table import csv_bytes
from workprof.core.units import format_share, gb_h

pytestmark = pytest.mark.slow

KEPT = {"four bins": ("Bins", "bins"), "sizes": ("Plan", "verdict"), "ours": ("Policies", "policy")}
"""Scenario -> the view that it is kept on, and how its field begins."""

FIGURES = ("saved, killed attempts included", "kills", "upper bound", "held", "wasted", "runs")
FIGURES += ("money saved (assumed price)",)


def kept_as(name, field):
    """Return what a visitor does who keeps a scenario under a name."""

    def act(test):
        test.text_input(key=f"memory_keep_{field}_name").set_value(name)
        next(button for button in test.button if button.label == "Save scenario").click().run()

    return act


@pytest.fixture(scope="module")
def told(tasks):
    """The commands' documents of what the scenarios stand on."""
    return {
        "four bins": tasks.command("memory", "bins", "tasks", "--task", given.HEAVY),
        "sizes": tasks.command("memory", "plan", "tasks"),
        "ours": tasks.command("memory", "replay", "tasks"),
    }


@pytest.fixture(scope="module")
def page(tasks, told):
    for name, (view, field) in KEPT.items():
        tasks.page("memory", "tasks", memory_tab=view, memory_task="HEAVY", act=kept_as(name, field))
    return tasks.page("memory", "tasks", memory_tab="Scenarios", memory_compared=list(KEPT))


def column(page, name):
    """Return line -> text of a scenario in the comparison."""
    table = next(table for table in page.tables if "four bins" in table.columns)
    return dict(zip(table[""], table[name], strict=True))


@pytest.mark.soak
def test_bins_that_were_kept_are_the_commands(page, told):
    shown, bins = column(page, "four bins"), told["four bins"]
    assert shown["upper bound"] == format_share(bins["time_based_saved_share"])
    assert shown["differs: edges_gb"] == ", ".join(f"{edge:.4g}" for edge in bins["edges_gb"])
    assert shown["runs"] == f"{sum(bins['bin_runs']):,}"
    assert shown["saved, killed attempts included"] == shown["kills"] == "not replayed"


def test_a_verdict_that_was_kept_is_the_commands(page, told):
    shown, judged = column(page, "sizes"), told["sizes"]["recommended"]
    assert shown["policy"] == "verdict"
    assert shown["saved, killed attempts included"].startswith(format_share(judged["saved_share"]))
    assert shown["kills"].startswith(f"{judged['failures']:,} in {judged['n_runs']:,} runs")
    assert shown["held"] == gb_h(judged["charged_gb_h"])
    assert shown["wasted"] == gb_h(judged["wasted_gb_h"])


def test_a_policy_that_was_kept_is_the_commands(page, told):
    shown, replay = column(page, "ours"), told["ours"]
    choices = [one for name, one in replay["policies"].items() if not name.startswith("oracle")]
    cheapest = _chosen(replay)
    assert shown["wasted"] == gb_h(cheapest["wasted_gb_h"])
    assert shown["kills"].startswith(f"{round(cheapest['failures']):,} in {replay['n_test']:,} runs")
    used = {round(one["charged_gb_h"] - one["wasted_gb_h"], 6) for one in choices}
    assert len(used) == 1  # every policy holds what the runs use, and wastes the rest
    assert shown["held"] == gb_h(used.pop() + cheapest["wasted_gb_h"])


def test_the_best_of_a_comparison_are_named(page, told):
    shown = {name: column(page, name) for name in KEPT}
    assert [name for name in KEPT if "most" in shown[name]["saved, killed attempts included"]] == [_most_saved(told)]
    fewest = {"sizes": told["sizes"]["recommended"]["failures"], "ours": _failures(shown["ours"])}
    assert [name for name in KEPT if "fewest" in shown[name]["kills"]] == [min(fewest, key=fewest.get)]
    assert set(FIGURES) <= set(shown["ours"])


def _chosen(replay):
    """Return what wastes least with no more failures than the current requests have."""
    choices = [one for name, one in replay["policies"].items() if not name.startswith("oracle")]
    limit = replay["policies"]["preset"]["failures"]
    fit = [one for one in (*choices, *replay["frontier"]) if one["failures"] <= limit]
    return min(fit, key=lambda one: (one["wasted_gb_h"], one["failures"]))


def _most_saved(told):
    now = told["ours"]["policies"]["preset"]
    cheapest = _chosen(told["ours"])
    used = now["charged_gb_h"] - now["wasted_gb_h"]
    saved = {
        "sizes": told["sizes"]["recommended"]["saved_share"],
        "ours": 1 - (used + cheapest["wasted_gb_h"]) / now["charged_gb_h"],
    }
    return max(saved, key=saved.get)


def _failures(shown):
    return int(shown["kills"].partition(" in ")[0].replace(",", ""))


def test_the_comparison_is_the_librarys_and_its_file(tasks, page):
    found = tasks.library(lambda bench: bench.compare_scenarios("tasks", list(KEPT)))
    table = next(table for table in page.tables if "four bins" in table.columns)
    assert table.astype(str).equals(comparison_table(found).astype(str))
    assert page.files["tasks-scenarios.csv"] == csv_bytes(comparison_table(found))
    kept = page.tables[0].set_index("scenario")["saved"].to_dict()
    shares = {one.name: one.saved_share for one in found.scenarios if one.saved_share == one.saved_share}
    assert kept == dict.fromkeys(KEPT, "not replayed") | {name: format_share(share) for name, share in shares.items()}
