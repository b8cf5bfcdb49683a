"""The answer of bins: one sentence, the same numbers in figures, tables and documents, and what limits them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_memory as given
from tests.charts.records_for_tests import HOSTILE
from workprof.answers.bins import answer, curve_answer, profile_answer, use_sentence
from workprof.answers.scenarios import bins_scenario
from workprof.core.answer import to_frame, to_json, to_text
from workprof.core.units import GB, format_share, gb_h
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import PROFILE_COLUMN, ProfileBinSettings, bins_of, improvement_curve, profile_bins_of
from workprof.store.reports import Dataset

DATASET = Dataset("runs", "ab" * 16, "jobs", "generic", 60, 60, "2026-01-01", "corrected", "runs.csv")
FORMER = {
    *("edges_gb", "optimal_improvement", "time_based_optimal_improvement", "search", "static_gb", "saved_share"),
    *("time_based_saved_share", "weighted_saved_share", "saved_gb_h", "bin_runs", "bin_hours", "bin_least_headroom"),
    *("n_runs", "n_above", "n_used_above", "n_trials", "left_out", "messages", "seconds"),
}
FORMER_OF_A_PROFILE = {
    *("profile", "n_rows", "n_not_clustered", "tasks", "requested_gb_h", "used_gb_h", "wasted_gb_h", "too_few"),
}


def of_profile(task="sort", profile=0, bare=0):
    random = np.random.default_rng(1)
    use = random.uniform(1, 9, 60) * 1e9
    table = pd.DataFrame(
        {
            PROFILE_COLUMN: np.repeat([0.0, 1.0, np.nan], [40, 15, 5]),
            "task_name": [task if place % 4 else f"other {place % 5}" for place in range(60)],
            "peak_memory_bytes": use,
            "requested_memory_bytes": [np.nan] * bare + [16e9] * (60 - bare),
            "duration_s": 3600.0,
        }
    )
    return profile_bins_of({"jobs": table}, ProfileBinSettings(profile))


def test_bins_that_change_nothing_cost_nothing():
    effect = replace(given.bins().effect, time_based_saved_share=-1e-11, saved_gb_h=-1e-7)
    told = answer(replace(given.bins(), effect=effect))
    assert "save at most 0.0 % of" in told.sentence and "costs more" not in told.figures[0].detail


def labelled(told):
    return {one.label: one.value for one in told.figures}


def test_the_sentence_the_figures_the_table_and_the_document_are_one_record():
    found = given.bins()
    told, document = answer(found), to_json(answer(found))
    share = format_share(found.effect.time_based_saved_share)
    assert told.sentence == f"3 bins for HEAVY save at most {share} of the GB·h that 120 runs request."
    assert labelled(told)["Saving, upper bound"] == share
    assert document["saving_upper_bound"] == document["time_based_saved_share"] == found.effect.time_based_saved_share
    assert document["saving_upper_bound_by_count"] == document["saved_share"] == found.effect.saved_share
    table = to_frame(told)
    assert table["edge_gb"].tolist() == document["edges_gb"] == [edge / GB for edge in found.edges_bytes]
    assert table["runs"].tolist() == document["bin_runs"] == found.effect.bin_runs.tolist()
    assert table["runs_share"].sum() == pytest.approx(1)
    assert [row["least_headroom_share"] for row in document["bins"]] == document["bin_least_headroom"]


def test_former_keys_of_the_documents_stay_for_a_release():
    assert to_json(answer(given.bins())).keys() >= FORMER
    assert to_json(profile_answer(of_profile())).keys() >= FORMER | FORMER_OF_A_PROFILE
    curve = to_json(curve_answer(given.curve()))
    assert curve.keys() >= {"task", "bins", "oracle", "continuous", "seconds"}
    shares = {"optimal_improvement", "time_based_optimal_improvement", "saved_share", "time_based_saved_share"}
    assert all(row.keys() >= shares | {"k", "edges_gb", "weighted_saved_share"} for row in curve["bins"])
    assert isinstance(curve["bins"][1]["edges_gb"], list)


def test_runs_above_the_largest_bin_stand_beside_the_saving():
    found = given.bins(edges_bytes=(10.0 * GB, 5.0 * GB))
    told = answer(found)
    above = int((given.jobs().query("task_name == @given.HEAVY")["peak_memory_bytes"] * 1.05 > 10 * GB).sum())
    assert labelled(told)["Above largest bin"] == f"{above} runs"
    assert f"{found.effect.n_used_above} of them would fail" in told.figures[2].meaning
    assert to_frame(told)["runs"].sum() + above == 120
    assert "put in increasing order" in told.notes[0]


@pytest.mark.parametrize("weight", ["time", "count", "cost"])
def test_a_curve_has_a_row_a_number_and_its_bounds(weight):
    found = given.curve(weight=weight)
    told = curve_answer(found, 2)
    table, bounds = to_frame(told), to_frame(told, "bounds")
    assert table["bins"].tolist() == list(found.k)
    assert table["saving_upper_bound"].tolist() == found.time_based_saved_share.tolist()
    assert table["saving_upper_bound_by_count"].tolist() == found.saved_share.tolist()
    assert ("weighted_saved_share" in table) is (weight == "cost")
    assert bounds["bound"].tolist() == ["perfect request + headroom", "perfect request"]
    assert (bounds["saving_upper_bound"] >= table["saving_upper_bound"].max()).all()
    two, more = (format_share(one) for one in (found.weighted_saved_share[1], found.continuous.weighted_saved_share))
    assert told.sentence == f"2 bins save at most {two} of the requests; more bins save at most {more}."


def test_the_words_of_a_profile_say_whose_runs_and_what_they_waste():
    found = of_profile()
    told = profile_answer(found, "P0 readers")
    assert "bins for P0 readers save at most" in told.sentence
    assert told.notes[3].startswith("The profile's runs are of 6 tasks (sort 75.0 %, ")
    assert "and 3 more" in told.notes[3]
    assert list(labelled(told)) == ["Wasted", "Saving, upper bound", "Above largest bin", "Above request"]
    assert labelled(told)["Wasted"] == gb_h(found.wasted_gb_h)
    assert "for profile 0 save" in to_text(profile_answer(found))


def test_what_limits_a_profile_is_noted():
    few = profile_answer(of_profile(profile=1)).notes
    assert "Too few runs: 15, and 34 are the least that sizes should rest on." in few
    notes = profile_answer(of_profile(bare=3)).notes
    assert "3 of the profile's 40 rows have no request, use or run time, and are excluded." in notes
    assert "5 rows of the dataset are in no clustering, so in no profile." in notes


def test_a_hostile_task_name_is_shortened_and_a_scenario_names_the_profile():
    found = of_profile(task=HOSTILE * 5)
    assert max(map(len, profile_answer(found).notes)) < 400
    made = bins_scenario(found.bins, DATASET, "mine", "P0 readers (default)")
    assert made.settings["profile"] == "P0 readers (default)"
    assert (made.n_runs, made.task) == (40, "")


def test_sentences_are_short():
    said = [answer(given.bins()), answer(given.bins(edges_bytes=(1000.0 * GB,))), profile_answer(of_profile())]
    said += [curve_answer(given.curve(), k) for k in (1, 8)]
    sentences = [*(one.sentence for one in said), use_sentence(given.bins())]
    assert [one for one in sentences if len(one.split()) > 20] == []


@pytest.mark.parametrize(
    ("record", "told"),
    [(given.bins, answer), (of_profile, profile_answer), (given.curve, curve_answer)],
)
def test_a_record_of_the_library_shows_its_answer(record, told):
    found = record()
    pd.testing.assert_frame_equal(found.to_frame(), to_frame(told(found)))
    assert told(found).sentence in found._repr_html_()
    assert len(found.figure().data) >= 3


def test_the_curve_names_the_fewest_bins_that_save_as_much():
    runs = pd.DataFrame(
        {
            "task_name": "t",
            "requested_memory_bytes": 8e9,
            "peak_memory_bytes": 4e9,
            "duration_s": np.append(3600.0, np.zeros(11)),
        }
    )
    told = curve_answer(improvement_curve({"jobs": runs}, BinSettings(task="t")))
    assert told.sentence == "1 bin saves at most 47.5 % of the requests; more bins save no more."
    timeless = bins_of({"jobs": runs.assign(duration_s=0.0)}, BinSettings(task="t", k=1))
    assert answer(timeless).sentence.startswith("1 bin for t saves an unknown share")


def test_bins_of_killed_runs_say_that_they_need_not_hold_them():
    runs = pd.DataFrame(
        {
            "task_name": "t",
            "status": ["COMPLETED"] * 8 + ["OUT_OF_MEMORY"] * 2,
            "finished": [True] * 8 + [False] * 2,
            "requested_memory_bytes": 8e9,
            "peak_memory_bytes": [4e9] * 8 + [8e9] * 2,
            "duration_s": 3600.0,
        }
    )
    said = (
        "Of 2 of 10 runs, most killed for memory, only a lower bound of the use is known: the bins need not hold them."
    )
    settings = BinSettings(task="t")
    assert said in answer(bins_of({"jobs": runs}, settings)).notes
    assert said in curve_answer(improvement_curve({"jobs": runs}, settings)).notes
    assert not any("lower bound" in note for note in answer(bins_of({"jobs": runs[:8]}, settings)).notes)
