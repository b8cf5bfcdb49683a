"""Profiles and Home: page, library, command, CSV files and report say the same of one clustering."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from tests.same.reading import ask_for_the_mark, bar, marked, same_figures, same_metrics
from workprof.answers.profiles import fit_answer, summary_table
from workprof.charts.profiles.jobs import Selection
from workprof.charts.profiles.overview import LABEL_WORDS
from workprof.core.answer import to_json as answer_json
from workprof.core.units import HOUR_S, format_count, format_duration, format_share
from workprof.core.words import label
from workprof.memory.ledger_settings import LedgerSettings
from workprof.profiles.membership import MembershipSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings

pytestmark = pytest.mark.slow

VIEWS = {
    "Box plots": {"spread-cpu_usage_percent"},
    "Silhouettes": {"silhouettes"},
    "Map": {"profile-map"},
    "Sizes": {"profile-sizes"},
    "Tree": {"condensed-tree"},
    "Metadata": {"metadata-workload"},
    "Cluster tendency": {"hopkins"},
}
"""View -> its figures that the report has, too."""

NUMBERS = {
    "Profiles": lambda told: [format_count(told["n_clusters"])],
    "In a profile": lambda told: [format_share(1 - told["n_outliers"] / told["n_rows"])],
    "Unclustered runs": lambda told: [format_count(told["n_outliers"])],
    "Mean size": lambda told: [format_count(told["mean_cluster_size"])],
    "Separation": lambda told: [f"{told['silhouette_clustered']:.3f}"],
    "Separation as published": lambda told: [f"{told['avg_silhouette']:.3f}"],
    "Overlap": lambda told: [f"{told['davies_bouldin']:.3f}"],
    "DBCV": lambda told: [f"{told['dbcv']:.3f}"],
    "Overall score": lambda told: [f"{told['acquires']:.3f}"],
    "scores_v3": lambda told: [f"{told['scores_v3']:.3f}"],
    "CCPM": lambda told: [f"{told['ccpm']:.3f}"],
    "Agreement with ground truth": lambda told: [f"{told['truth_adjusted_rand']:.3f}"],
}
"""Metric of the page -> its texts from the command's numbers."""


@pytest.fixture(scope="module")
def fit(jobs):
    return jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))


@pytest.fixture(scope="module")
def told(jobs, fit):
    return jobs.command("profiles", "fit", "jobs")


@pytest.fixture(scope="module")
def printed(jobs, fit):
    return jobs.report("jobs", "data", "profiles")


def test_the_command_tells_the_record(jobs, fit, told):
    names = jobs.library(lambda bench: bench.profile_names("jobs"))
    assert answer_json(fit_answer(fit, names)) == told


@pytest.mark.some(1)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_what_the_report_prints(jobs, printed, view):
    page = jobs.page("profiles", "jobs", profiles_tab=view)
    assert VIEWS[view] <= same_figures(page, printed, "profiles")


def test_every_metric_is_the_commands_number(jobs, told, printed):
    page = jobs.page("profiles", "jobs", profiles_tab="Silhouettes", profiles_sizes_fold="true")
    assert {label: page.metric(label) for label, _, _ in page.metrics if label in NUMBERS} == {
        label: texts(told) for label, texts in NUMBERS.items()
    }
    same_metrics(page, printed, "profiles", len(NUMBERS))
    sizes = bar(page.figures["profile-sizes"])
    assert {one["name"]: one["size"] for one in told["profiles"]} | {"Unclustered": told["n_outliers"]} == sizes


def test_files_of_the_page_hold_the_record(jobs, fit, printed):
    page = jobs.page("profiles", "jobs", profiles_tab="Export")
    summary = summary_table(fit, {}).csv()
    named = page.csv("jobs-profiles-summary.csv")
    assert list(named["rows"]) == [card.size for card in fit.cards]
    assert list(named["silhouette"]) == [card.silhouette for card in fit.cards]
    assert page.files["jobs-profiles-summary.csv"] == page.files["jobs-profiles-table.csv"]
    assert page.files["jobs-profiles-summary.csv"] == printed.csv("profiles")["profiles"]
    assert pd.read_csv(io.BytesIO(summary)).drop(columns="name").equals(named.drop(columns="name"))
    labels = pd.read_parquet(io.BytesIO(page.files["jobs-profiles-labels.parquet"]))
    assert list(labels["profile"]) == fit.labels.tolist()
    assert list(labels["probability"]) == fit.probabilities.tolist()
    assert list(labels["silhouette"].fillna(9)) == pd.Series(fit.silhouettes).fillna(9).tolist()


def test_every_csv_file_begins_with_the_mark_where_it_is_asked(jobs, fit):
    selected = {"profiles_tab": "Map", "profiles_selected": Selection(rows=(0, 1)).text()}
    pages = [
        jobs.page("profiles", "jobs", act=ask_for_the_mark, **shown) for shown in (selected, {"profiles_tab": "Export"})
    ]
    assert marked(*pages) > {"selected-jobs.csv", "jobs-profiles-summary.csv"}


@pytest.fixture(scope="module")
def cards(jobs, fit):
    """Label -> the page with that profile selected."""
    return {
        card.profile: jobs.page("profiles", "jobs", profiles_tab="Profile", profiles_profile=str(card.profile))
        for card in fit.cards
    }


def test_a_card_tells_its_profile_as_the_command_and_the_rows_do(jobs, fit, told, cards):
    rows = jobs.library(lambda bench: bench.past_jobs("jobs", fit.row_ids.tolist())).set_index("row_id")
    ledger = jobs.library(lambda bench: bench.ledger("jobs", LedgerSettings(by="profile"), fit=ProfileSettings()))
    used = {row.name: row.of("memory").utilisation for row in ledger.rows}
    texts = {label: page.words.partition("## ")[2] for label, page in cards.items()}
    assert set(cards) == {one["profile"] for one in told["profiles"]} | {-1}
    assert texts[-1].startswith("Unclustered")
    assert f"[{told['n_outliers']:,} runs · {format_share(told['n_outliers'] / told['n_rows'])}]" in texts[-1]
    for one in told["profiles"]:
        card = texts[one["profile"]]
        assert card.startswith(one["name"])
        assert f"[{one['size']:,} runs · {format_share(one['share'])}]" in card
        assert f"Silhouette: {one['silhouette']:.2f}" in card
        assert f"{format_share(one['purity'])} share one workload and task" in card
        assert f"largest single job {format_share(one['job_purity'])}" in card
        share = format_share(used[f"profile {one['profile']}"])
        assert f"Memory: **{share}** of the request" in card
        assert all(f"[{LABEL_WORDS.get(label, label)}]" in card for label in one["labels"])
        typical = re.search(r"Typical: (.*)", card)[1]
        assert any(
            f"{label(name)} {top['value']} ({format_share(top['share'])})" in typical
            for name, top in one["top_metadata"].items()
        )
        durations = rows.loc[fit.row_ids[fit.labels == one["profile"]], "duration_s"]
        q25, q50, q75, q95 = (format_duration(value) for value in np.quantile(durations, (0.25, 0.5, 0.75, 0.95)))
        assert f"median **{q50}**, IQR {q25} to {q75}, p95 {q95}" in card


def test_the_fingerprints_are_the_commands_and_the_ledgers_numbers(jobs, fit, told, cards):
    ledger = jobs.library(lambda bench: bench.ledger("jobs", LedgerSettings(by="profile"), fit=ProfileSettings()))
    used = {row.name: row.of("memory").utilisation for row in ledger.rows}
    page = cards[0]
    *_, runs, durations, memory = page.figures["profile-fingerprints"]
    order = runs["customdata"]
    sizes = {one["profile"]: one["size"] for one in told["profiles"]}
    assert dict(zip(order, runs["x"], strict=True)) == sizes
    assert dict(zip(memory["customdata"], memory["x"], strict=True)) == {
        profile: used[f"profile {profile}"] for profile in sizes
    }
    medians = {card.profile: card.duration_quantiles_s[2] for card in fit.cards}
    assert 10 ** np.array(durations["x"]) == pytest.approx([medians[profile] for profile in order])
    share = format_share(1 - told["n_outliers"] / told["n_rows"])
    assert f"{told['n_clusters']} profiles cover {share} of {told['n_rows']:,} runs" in page.words


def test_the_starts_of_a_card_are_those_of_its_rows(jobs, fit, cards):
    """On the trace's own clock, which is eight hours ahead of UTC, and without dates: seven days from the first on."""
    rows = jobs.library(lambda bench: bench.past_jobs("jobs", fit.row_ids.tolist())).set_index("row_id")
    for card in fit.cards:
        starts = rows.loc[fit.row_ids[fit.labels == card.profile], "start_time_s"]
        local = pd.to_datetime(starts + 8 * HOUR_S, unit="s")
        by_hour, by_weekday = cards[card.profile].figures[f"arrivals_{card.profile}"]
        assert by_hour["y"] == np.bincount(local.dt.hour, minlength=24).tolist()
        assert by_weekday["y"] == np.bincount((local.dt.day_of_week - 3) % 7, minlength=7).tolist()
        assert by_weekday["x"][0] == "day 0"


def test_hopkins_and_stability_are_the_commands(jobs, fit):
    jobs.library(lambda bench: bench.stability("jobs", StabilitySettings(fit=ProfileSettings())))
    page = jobs.page("profiles", "jobs", profiles_tab="Cluster tendency")
    hopkins = jobs.command("profiles", "hopkins", "jobs")
    assert f"{hopkins['hopkins']:.3f}" in page.words
    stability = jobs.command("profiles", "stability", "jobs")
    assert page.metric("Adjusted Rand") == [f"{stability['adjusted_rand']:.3f}"]
    names = jobs.library(lambda bench: bench.profile_names("jobs"))
    assert bar(page.figures["profile-stability"][:1]) == {
        names[one["profile"]]: one["jaccard"] for one in stability["per_profile"]
    }


def test_unusual_and_typical_runs_are_the_commands(jobs, fit):
    found = jobs.library(lambda bench: bench.membership("jobs", MembershipSettings()))
    page = jobs.page("profiles", "jobs", profiles_tab="Unusual runs")
    told = jobs.command("profiles", "membership", "jobs")
    assert told["n_rows"] == len(fit.labels)
    assert [run["row_id"] for run in told["unusual"]] == [run.row_id for run in found.unusual]
    assert page.metric("Unusual runs") == [format_count(told["n_unusual"])]
    assert page.metric("Belong mostly to one profile") == [format_share(told["sure_share"])]
    assert sum(page.figures["outlier-scores"][0]["y"]) == told["n_rows"]
    assert {"hdbscan-condensed-tree", "single-linkage"} <= set(page.figures)


def test_home_says_what_the_pages_say(jobs, told, printed):
    home = jobs.page("home", "jobs", home_profiles="true", home_data="true")
    profiles = jobs.page("profiles", "jobs", profiles_tab="Silhouettes", profiles_sizes_fold="true")
    elsewhere = {label: value for label, value, _ in (*printed.metrics("data"), *reversed(profiles.metrics))}
    shared = {label: value for label, value, _ in reversed(home.metrics) if label in elsewhere}
    assert set(shared) >= {"Nodes", "Median duration"}
    assert shared == {label: elsewhere[label] for label in shared}
    assert same_figures(home, printed, "profiles") == {"profile-sizes"}
