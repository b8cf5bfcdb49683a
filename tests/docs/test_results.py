"""Figures of docs/results.md are those that their commands print."""

import re
from pathlib import Path

import pytest

from tests.docs import best_guess, coverage, nodes, quantiles, recognition, unfinished
from tests.docs.what_to_request import TRACES, ensemble_row, plain_rule_row, verdict_row
from tests.memory.traces import pai
from tests.shared_data import needs_shared_data
from workprof.forecasts.estimates import TARGETS
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.nodes.allocation import REPLAYED

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "results.md").read_text()


@needs_shared_data
def test_what_the_policies_waste_on_the_real_trace():
    found = replay({"jobs": pai()}, ReplaySettings(("workprof", "preset"), prices_runs=(1.0,)))
    (dearer,) = (one for one in found.frontier if one.by_labels)
    ours, requests = found.policies["workprof"], found.policies["preset"]
    words = " ".join(PAGE.split())
    assert f"wastes {ours.wasted_gb_h:,.0f} GB·h with {ours.failures:.0f} kills by default" in words
    assert f"{dearer.wasted_gb_h:,.0f} with {dearer.failures:.0f} where a kill costs one mean run" in words
    assert f"enforced, {requests.wasted_gb_h:,.0f} with {requests.failures:.0f} (" in words


@needs_shared_data
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in ("PAI", "iwd") else pytest.mark.soak) for one in TRACES]
)
def test_what_the_plain_rule_saves(name):
    assert plain_rule_row(name) in PAGE.splitlines()


@pytest.mark.some(3)
@needs_shared_data
@pytest.mark.parametrize("name", TRACES)
def test_what_the_verdict_saves(name):
    assert verdict_row(name) in PAGE.splitlines()


@pytest.mark.soak
@needs_shared_data
@pytest.mark.parametrize("name", [pytest.param(one, marks=[] if one == "PAI" else pytest.mark.soak) for one in TRACES])
def test_what_the_quantile_ensemble_saves(name):
    assert ensemble_row(name) in PAGE.splitlines()


QUICK = (("PAI", "by_time", "duration_s"), ("iwd", "by_time", "peak_memory_bytes"))


@needs_shared_data
@pytest.mark.parametrize(
    "row", [pytest.param(one, marks=pytest.mark.slow if one in QUICK else pytest.mark.soak) for one in best_guess.ROWS]
)
def test_how_far_the_best_guess_is_off(row):
    assert best_guess.row(*row) in PAGE.splitlines()


@needs_shared_data
def test_no_simple_rule_is_better_than_the_choice_by_more_than_a_tenth():
    begins = tuple(f"| {one} |" for one in best_guess.FILES)
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith(begins)]
    over = {tuple(row[:3]): float(row[9]) for row in rows if len(row) == 12}
    assert len(over) == len(best_guess.ROWS)
    assert max(over.values()) <= 1.10


@needs_shared_data
@pytest.mark.soak
@pytest.mark.parametrize("row", quantiles.ROWS)
def test_how_many_runs_lie_below_a_quantile_and_what_a_kept_guess_loses(row):
    assert quantiles.row(*row) in PAGE.splitlines()


QUICK_INTERVALS = (("PAI", "by_time", "peak_memory_bytes"),)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(one, marks=pytest.mark.slow if one in QUICK_INTERVALS else pytest.mark.soak)
        for one in ((*row, target) for row in coverage.ROWS for target in TARGETS)
    ],
)
@needs_shared_data
def test_how_the_intervals_hold(row):
    assert coverage.row(*row) in PAGE.splitlines()


@needs_shared_data
def test_the_intervals_cover_what_they_are_meant_to():
    """By job, by time, and of PAI by group."""
    begins = tuple(f"| {one} |" for one in (*best_guess.FILES, coverage.SAMPLE))
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith(begins)]
    covered = [float(row[-1]) for row in rows if len(row) == 12]
    covered += [float(row[3].split(",")[0]) for row in rows if len(row) == 6 and " by " in f" {row[2]} "]
    assert len(covered) == len(best_guess.ROWS) + len(coverage.ROWS) * len(TARGETS)
    assert min(covered) >= 0.85
    assert sum(one > 0.95 for one in covered) <= 1  # rnaseq's durations, as the page says
    assert sum("4 of 4" in row[-1] for row in rows if row[0] == "PAI") == len(TARGETS)


def test_how_far_off_needs_of_unfinished_runs_are():
    assert unfinished.sentence() in " ".join(PAGE.split())


@needs_shared_data
@pytest.mark.soak
def test_what_the_limit_rejects_of_whole_rounds():
    assert recognition.round_row() in PAGE.splitlines()


@needs_shared_data
@pytest.mark.soak
@pytest.mark.parametrize("name", recognition.FEATURES)
def test_what_extra_trees_recognise(name):
    assert recognition.row(name) in PAGE.splitlines()


@needs_shared_data
@pytest.mark.soak
@pytest.mark.parametrize("mode", recognition.SETTINGS)
def test_what_an_evaluation_finds(mode):
    assert recognition.evaluation_row(mode) in PAGE.splitlines()


@pytest.mark.soak
@pytest.mark.parametrize("n_samples", recognition.DRAWS)
def test_how_many_steps_are_found(n_samples):
    assert recognition.step_row(n_samples) in PAGE.splitlines()


def test_what_the_published_priors_see_in_noise():
    assert f"see a change in {recognition.noise_as_published()} of pure noise" in " ".join(PAGE.split())


@pytest.mark.some(2)
@needs_shared_data
@pytest.mark.parametrize("asked", nodes.TRANSFERS)
def test_how_far_runtimes_carried_over_are_off(asked):
    assert nodes.transfer_row(*asked) in PAGE.splitlines()


@pytest.mark.soak
@needs_shared_data
def test_what_an_allocation_gains():
    assert nodes.allocation_sentence() in " ".join(PAGE.split())
    assert nodes.allocation_sentence().split(": makespan ")[1].startswith(REPLAYED.split(": ")[1].split(" of ")[0])


@pytest.mark.slow
@pytest.mark.parametrize("part", ["history", "steady", pytest.param("metrics", marks=pytest.mark.soak)])
def test_how_soon_a_degraded_node_is_found_and_a_steady_one_suspected(part):
    printed, rows = nodes.PARTS[part]
    lines = (DOCS / "nodes.md").read_text(encoding="utf-8").splitlines()
    assert [one for one in rows if printed(*one) not in lines] == []


@pytest.mark.soak
@pytest.mark.parametrize("asked", nodes.SEARCHES)
def test_what_a_configuration_search_finds(asked):
    assert nodes.search_row(*asked) in PAGE.splitlines()


FIGURES = re.compile(r"(?<![\w/.])\d*\.\d{2,}\b|\d ?%|\d ?MB\b|\d+(?:\.\d+)?x\b")
COMMAND = re.compile(r"`(?:python -m |workprof |make |pytest |du`)")
WITHOUT = {
    "**Nodes.** A score keeps ratios": "Perona's published score, and held machines that are not in the shared data",
    "Whether scores count as published": "drawn tables on which the default was chosen once",
    "The default before phases entered": "a design that was replaced",
    "What the phases carry": "a search for a design that was not kept",
    "One point per run in the same distance": "designs that were tried and not kept",
    "**Classifier, calibration.**": "planted profiles, which no command reads",
    "**Classifier, few known fields.**": "planted profiles, which no command reads",
    "By job the same six": "a mean of the table above, by job",
    "By group the goal is .03": "a look into one group of the table above",
    "About 25 variants of the calibration": "variants that were tried and not kept",
    "How small can the ECE be here": "a bootstrap that was made once",
    "Rounds, leaves and the least": "the paper's figures, of builds that are not in the shared data",
    "They help on two": "keys of the verdict that were tried and not kept",
    "It runs on Linux": "versions",
}
"""How a paragraph begins whose figures no command prints, and why."""


def blocks(text):
    """Return the paragraphs, each with the tables behind it."""
    found = []
    for block in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if block.strip().startswith("|") and found:
            found[-1] += f"\n{block}"
        elif block.strip() and not block.strip().startswith(("#", "![")):
            found.append(block.strip())
    return found


def without_command(text):
    """Return the paragraphs with figures that name no command."""
    return [one for one in blocks(text) if FIGURES.search(one) and not COMMAND.search(one)]


@pytest.mark.parametrize("name", ["README.md", "docs/results.md"])
def test_figures_stand_beside_the_command_that_prints_them(name):
    lacking = without_command((Path(__file__).parents[2] / name).read_text())
    assert [one[:80] for one in lacking if not one.startswith(tuple(WITHOUT))] == []


def test_every_exception_is_needed_and_a_figure_alone_is_found():
    pages = [(Path(__file__).parents[2] / name).read_text() for name in ("README.md", "docs/results.md")]
    begins = [one for page in pages for one in without_command(page)]
    assert [one for one in WITHOUT if not any(found.startswith(one) for found in begins)] == []
    assert without_command("It covers .93 of them.\n\n| a |\n|---|\n| 5 % |") == [
        "It covers .93 of them.\n| a |\n|---|\n| 5 % |"
    ]
    assert without_command("It covers .93 (`workprof x`).\n\n| a |\n|---|\n| 5 % |\n\nNo figure.") == []
