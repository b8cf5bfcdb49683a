"""Figures and tables of a sweep: best first, units, words for everyone, readable cells, published values apart."""

import math
from dataclasses import replace

import numpy as np
import pytest
from plotly.colors import sample_colorscale, unlabel_rgb

from tests.charts import records_for_tests as made
from workprof.answers.how_long import expected_sweep, sweep_words
from workprof.answers.sweep import (
    SCORES,
    chosen_sentence,
    comparison_answer,
    in_use_sentence,
    left_out_table,
    ranked,
    run_name,
    runner_up,
    runs_table,
    standing_words,
    summary_sentence,
    summary_table,
)
from workprof.charts.sweep import moved_jobs, overlap_heatmap, parallel_coordinates, score_heatmap, target_bars
from workprof.charts.theme import BLACK, SCALE, ink, relative_luminance
from workprof.profiles.sweep import (
    Standing,
    SweepGroup,
    SweepRun,
    SweepSettings,
    best_run,
    chosen_run,
    compare_runs,
    summarise_runs,
    winners_by_target,
)

ROWS = 230
SETTINGS = SweepSettings(preset="paper")


def run(settings, size, clusters, silhouette):
    labels = (np.arange(ROWS) % (clusters + 1) - 1).astype(np.int16)
    scores = replace(
        made.scores(),
        n_clusters=clusters,
        n_outliers=int((labels < 0).sum()),
        avg_silhouette=silhouette,
        acquires=silhouette / 2,
        davies_bouldin=2 - silhouette,
    )
    return SweepRun(settings.of_size(size), size, scores, labels, 0.1)


def grid():
    """Return the paper's groups, each with two runs and a size left out."""
    pairs = []
    for i, settings in enumerate(SETTINGS.groups()):
        runs = tuple(run(settings, size, 2 + j + i % 5, 0.1 + 0.04 * i + 0.01 * j) for j, size in enumerate((50, 100)))
        left_out = {"1000": "230 rows cannot hold two profiles of 1,000"}
        pairs.append((settings, SweepGroup(runs, left_out, np.arange(ROWS), ROWS, 0.3)))
    return pairs


PAIRS = grid()
RUNS = tuple(run for _, group in PAIRS for run in group.runs)
BEST = best_run(RUNS)
SOME = compare_runs(RUNS[0], RUNS[7], np.arange(ROWS), np.arange(ROWS))
EVERY = {
    "heat": score_heatmap(RUNS, "acquires", "hdbscan"),
    "parallel": parallel_coordinates(RUNS, BEST),
    "targets": target_bars(winners_by_target(RUNS), RUNS),
    "overlap": overlap_heatmap(SOME, "one", "other"),
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("algorithm", ["hdbscan", "optics"])
def test_the_heat_map_shows_every_score_of_one_algorithm(score, algorithm):
    chart = score_heatmap(RUNS, score, algorithm)
    mine = [run for run in RUNS if run.settings.algorithm == algorithm]
    cells = chart.data.to_numpy()[:, 1:].astype(float)
    assert cells.shape == (8, 2)
    assert np.array_equal(cells.ravel(), [SCORES[score].of(run) for run in mine], equal_nan=True)
    assert "runs" in chart.figure.layout.xaxis.title.text


def test_the_heat_map_names_the_best_cell_in_the_direction_of_the_score():
    high = score_heatmap(RUNS, "acquires", "hdbscan").takeaway
    low = score_heatmap(RUNS, "davies_bouldin", "hdbscan").takeaway
    assert high == "Overall score is best (0.195) with power, Manhattan, minimum size 100."
    assert "power, Manhattan, minimum size 100" in low
    neither = score_heatmap(RUNS, "n_clusters", "hdbscan").takeaway
    assert neither == "Profiles: 2 to 7 over the grid."


def test_words_on_cells_have_the_colour_of_the_theme():
    """On the light scale they stand out as on the page (a test of the scale computes it)."""
    words = score_heatmap(RUNS, "acquires", "hdbscan").figure.layout.annotations
    assert len(words) == 16
    assert all(word.font.color is None for word in words)


def test_words_on_the_dark_scale_are_readable_everywhere():
    for share in np.linspace(0, 1, 101):
        luminance = relative_luminance(unlabel_rgb(sample_colorscale(SCALE, [share])[0]))
        words = 0.0 if ink(share) == BLACK else 1.0
        high, low = max(luminance, words), min(luminance, words)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_the_table_stands_best_first_and_names_the_best_in_words():
    table = runs_table(RUNS, BEST, BEST).frame()
    assert table["acquires"].is_monotonic_decreasing
    assert ranked(RUNS)[0] == BEST
    assert list(table["verdict"][:2]) == ["★ chosen, highest overall score", ""]
    assert "truth_adjusted_rand" not in table
    assert len(table) == len(RUNS)


def test_planted_truth_adds_its_column():
    known = [replace(RUNS[0], scores=made.scores(truth=0.9))]
    assert runs_table(known, 0, 0).frame()["truth_adjusted_rand"].tolist() == [0.9]


def test_run_names_are_unique():
    names = [run_name(run) for run in RUNS]
    assert len(set(names)) == len(names)
    assert names[0] == "HDBSCAN, standard, Euclidean, 50"


def planted(share, separation):
    """Return a run that clusters a share of its rows with some separation."""
    scores = replace(RUNS[0].scores, n_rows=1000, n_outliers=round(1000 * (1 - share)), silhouette_clustered=separation)
    return replace(RUNS[0], scores=scores)


def test_the_choice_is_the_best_separation_among_those_that_cluster_enough():
    runs = [planted(0.9, 0.5), planted(0.7, 0.6), planted(0.69, 0.99), planted(1.0, math.nan)]
    assert chosen_run(runs) == 1
    told = chosen_sentence(runs, 1, complete=True)
    assert told.startswith("Best separation with at least 70 % of runs clustered: standard scaling, Euclidean, ")
    assert "separation 0.600" in told and len(told.split()) <= 25
    assert "so far" in chosen_sentence(runs, 1, complete=False)


def test_settings_that_are_as_good_as_the_chosen_one_are_counted():
    runs = [planted(0.9, 0.6), planted(0.8, 0.595), planted(0.6, 0.6), planted(0.9, 0.55)]
    assert chosen_sentence(runs, 0, complete=True).endswith(" 1 other setting within 0.01 of it.")
    unsure = [replace(run, scores=replace(run.scores, silhouette_se=0.03)) for run in runs]
    assert " 2 other settings " in chosen_sentence(unsure, 0, complete=True)
    assert "other setting" not in chosen_sentence(runs[2:], 1, complete=True)


def test_where_none_clusters_enough_the_most_clustered_is_chosen_and_said():
    runs = [planted(0.3, 0.9), planted(0.5, 0.1)]
    assert chosen_run(runs) == 1
    assert "No setting clusters 70 % of the runs; most are clustered: " in chosen_sentence(runs, 1, complete=True)
    assert chosen_run([planted(0.9, math.nan)]) == -1
    assert chosen_sentence([], -1, complete=True).startswith("No setting is chosen")


def test_the_chosen_cell_is_framed():
    chart = score_heatmap(RUNS, "silhouette_clustered", "hdbscan", 0)
    (frame,) = chart.figure.layout.shapes
    assert (frame.x1 - frame.x0, frame.y1 - frame.y0) == (1, 1)
    assert not score_heatmap(RUNS, "silhouette_clustered", "optics", 0).figure.layout.shapes


def test_the_runner_up_is_second_by_the_score():
    assert runner_up(RUNS, BEST) == len(RUNS) - 2
    none = [replace(run, scores=replace(run.scores, acquires=math.nan)) for run in RUNS[:3]]
    assert runner_up(none, 0) == 1


def test_the_standing_counts_groups_runs_and_what_was_left_out():
    part = [(settings, group if i < 3 else None) for i, (settings, group) in enumerate(PAIRS)]
    standing = Standing.of(part)
    assert standing_words(standing) == "6 of 109 settings (3 excluded)"
    assert not standing.complete
    assert standing.fraction(0.5) == pytest.approx(3.5 / 16)
    assert Standing.of(PAIRS).complete


def test_left_out_sizes_have_their_reason():
    table = left_out_table(PAIRS).frame()
    assert len(table) == 16
    assert set(table["grid_size"]) == {1000}
    assert "cannot hold" in table["reason"].iloc[0]
    assert not left_out_table([]).rows


def test_table_iv_puts_the_published_means_beside_hdbscan_only():
    table = summary_table(summarise_runs(RUNS))
    frame = table.frame()
    outliers = frame[frame["score"] == "Unclustered runs"].set_index("algorithm")
    assert outliers.loc["HDBSCAN", "published_mean"] == 40_331
    assert math.isnan(outliers.loc["OPTICS", "published_mean"])
    assert table.columns[-1].cell(table.rows[0]) == "40,331"
    assert "HDBSCAN finds 2 to 7 profiles" in summary_sentence(summarise_runs(RUNS))
    one = [replace(line, minimum=1, maximum=1) for line in summarise_runs(RUNS) if line.score == "n_clusters"]
    assert "HDBSCAN finds 1 profile (" in summary_sentence(one)
    assert summary_sentence(()) == "No setting is finished."


def test_targets_name_the_winner_and_keep_the_published_one_apart():
    chart = EVERY["targets"]
    assert list(chart.data["target"]) == [10, 20, 26, 50, 100]
    assert chart.data.loc[2, "published_winner"] == "power, Euclidean, 300"
    assert "another sample" in chart.note
    assert "Overall score" in chart.figure.layout.xaxis.title.text


def test_parallel_coordinates_draw_every_run_and_leave_out_axes_that_say_nothing():
    chart = parallel_coordinates(RUNS, BEST)
    assert len(chart.figure.data) == len(RUNS)
    assert [trace.line.width for trace in chart.figure.data].index(4) == len(RUNS) - 1
    alike = parallel_coordinates([RUNS[0], RUNS[0]], 0)  # an equal score lies below the best, too
    assert [trace.line.width for trace in alike.figure.data].index(4) == 1
    one = [run for run in RUNS if run.settings.algorithm == "hdbscan"]
    assert "algorithm" not in parallel_coordinates(one, 0).figure.layout.yaxis.ticktext


def test_one_run_alone_and_runs_without_scores_are_drawn():
    bare = replace(RUNS[0], scores=replace(RUNS[0].scores, acquires=math.nan, avg_silhouette=math.nan))
    assert parallel_coordinates([RUNS[0]], 0).takeaway.endswith(".")
    assert parallel_coordinates([bare], -1).takeaway == "No setting has a score yet."
    assert score_heatmap([bare], "acquires", "hdbscan").takeaway.startswith("No finished setting")
    assert target_bars(winners_by_target([bare]), [bare]).takeaway == "No setting has a score yet."


def test_the_overlap_keeps_every_row_and_says_what_dissolved():
    chart = EVERY["overlap"]
    assert chart.data.iloc[:, 1:].to_numpy().sum() == ROWS
    assert np.asarray(chart.figure.data[0].z, dtype=float).sum(axis=1) == pytest.approx(1)
    moved = len(SOME.row_ids)
    assert chart.takeaway.startswith(f"{moved} runs of {SOME.n_common:,} (")
    assert "change group" in chart.takeaway
    assert overlap_heatmap(SOME, "one", "one").takeaway == "The same setting twice: nothing moved."


def test_comparison_figures_carry_their_meaning():
    headlines = comparison_answer(SOME, "one", "other").figures
    assert [item.label for item in headlines] == ["Adjusted Rand", "Adjusted Rand, all runs", "To outliers", "Moved"]
    assert all(item.meaning for item in headlines)


def test_moved_jobs_get_both_groups_in_any_order():
    import pandas as pd

    ids = SOME.row_ids[::-1]
    told = moved_jobs(pd.DataFrame({"row_id": ids}), SOME)
    label = int(SOME.before[-1])
    assert told["first run"].iloc[0] == ("Unclustered" if label < 0 else f"P{label}")
    assert len(told) == len(ids)


def test_the_estimate_grows_with_rows_and_exactness():
    quick = expected_sweep(SweepSettings(), 1_000)
    assert sweep_words(SweepSettings(), 1_000, quick).startswith(f"56 settings on 1,000 runs: {quick.words()}")
    assert quick.seconds < expected_sweep(SETTINGS, 100_001).seconds
    assert "OPTICS on 4,000 of them" in sweep_words(SETTINGS, 100_001, quick)
    assert "on 500 runs" in sweep_words(SweepSettings(sample_rows=500), 100_001, quick)


def test_the_setting_in_use_is_named_where_the_grid_lacks_it():
    fit = made.fit()

    def used(**changes):
        return replace(fit, settings=replace(RUNS[0].settings, **changes))

    assert in_use_sentence(used(), RUNS) == ""
    told = in_use_sentence(used(min_cluster_size=16), RUNS)
    assert told.startswith(
        "Not in this grid: the profiles in use, standard scaling, Euclidean, minimum size 16 (3 profiles"
    )
    assert in_use_sentence(used(min_cluster_size=16, sample_rows=100), RUNS) == ""  # of other runs
