"""Every view of every page is compared with the library, the commands, the files and the report, or says why not."""

import ast

import pytest

from pages._frame.visit import SAMPLES
from tests.pages.all_views import views
from tests.pages.conftest import ROOT
from workprof.report.tour import STOPS

COMPARED = {
    "home": "test_home.py::test_a_job_trace_in_figures",
    "home of benchmarks": "test_home.py::test_benchmark_runs_in_figures",
    "home of telemetry": "test_home.py::test_counters_in_figures",
    "data Preview": "test_data.py::test_exports_are_those_of_the_command",
    "data Columns": "test_data.py::test_columns_are_those_of_the_library_and_the_report",
    "data Validation": "test_data.py::test_checks_and_rejects_are_those_of_the_command",
    "profiles Profile": "test_profiles.py::test_a_card_tells_its_profile_as_the_command_and_the_rows_do",
    "profiles Box plots": "test_profiles.py::test_a_view_shows_what_the_report_prints",
    "profiles Silhouettes": "test_profiles.py::test_a_view_shows_what_the_report_prints",
    "profiles Map": "test_profiles.py::test_a_view_shows_what_the_report_prints",
    "profiles Metadata": "test_profiles.py::test_a_view_shows_what_the_report_prints",
    "classify One job": "test_classify.py::test_a_job_gets_the_same_answer_everywhere",
    "classify Batch": "test_classify.py::test_many_new_jobs",
    "classify Model": "test_classify.py::test_the_classifier_is_scored_alike_everywhere",
    "classify Drift": "test_classify.py::test_finished_jobs_in_figures",
    "durations Observed": "test_durations.py::test_observed_curves_are_the_reports_and_the_rows",
    "durations Prediction error": "test_durations.py::test_errors_are_the_commands",
    "sweep Ranking": "test_sweep.py::test_runs_of_the_page_are_the_commands",
    "sweep Score map": "test_sweep.py::test_a_view_shows_what_the_report_prints",
    "sweep All settings": "test_sweep.py::test_a_view_shows_what_the_report_prints",
    "sweep Summary": "test_sweep.py::test_the_summary_and_the_targets_are_the_commands",
    "sweep Target": "test_sweep.py::test_the_summary_and_the_targets_are_the_commands",
    "sweep Compare two": "test_sweep.py::test_two_runs_differ_as_the_fits_of_their_settings_do",
    "memory Plan": "test_verdict.py::test_the_page_and_its_file_show_what_the_command_prints",
    "memory Explore": "test_memory.py::test_tasks",
    "memory Bins": "test_memory.py::test_bins",
    "memory Compare": "test_memory.py::test_policies",
    "memory Scenarios": "test_memory_scenarios.py::test_the_comparison_is_the_librarys_and_its_file",
    "nodes Ranking": "test_nodes.py::test_ranking",
    "nodes Groups": "test_nodes.py::test_groups",
    "nodes Degradation": "test_nodes.py::test_degradation",
    "nodes Over time": "test_nodes.py::test_nodes_over_time",
    "nodes Transfer": "test_nodes_chosen.py::test_transfers_to_other_machines",
    "nodes Scenarios": "test_nodes_chosen.py::test_kept_rankings_side_by_side",
    "phases Timeline": "test_phases.py::test_timeline",
    "phases Fingerprint": "test_phases.py::test_a_cell_of_the_fingerprint_is_the_commands_statistic",
    "phases Match": "test_phases.py::test_match",
    "phases Library": "test_phases.py::test_distances_between_known_runs",
    "phases Evaluation": "test_phases.py::test_evaluation",
    "phases Live": "test_phases.py::test_a_recording_in_progress_is_followed_as_the_library_follows_it",
    "runs": "test_runs.py::test_two_runs_differ_by_what_the_commands_tell",
    "report": "test_report.py::test_the_files_of_the_page_are_the_commands",
    "tour home": "test_tour.py::test_the_waste_is_that_of_home_and_of_the_commands",
    "tour profiles": "test_tour.py::test_the_profiles_are_those_of_the_page",
    "tour classify": "test_tour.py::test_how_well_a_profile_is_predicted_is_the_commands",
    "tour memory": "test_verdict.py::test_the_tour_says_the_same",
    "tour report": "test_tour.py::test_the_report_of_the_tour_holds_the_tables_of_the_command",
}
"""View -> the test that compares it."""

WITHOUT_FIGURES = {
    "help": "words about methods and formats; no figure of a dataset",
    "help Glossary": "words",
    "help Settings": "words",
    "help Methods": "words and citations",
    "help As published": "published numbers with their sources; none is computed",
    "help Formats": "the declarations of the formats",
    "help Limits and shortcuts": "words",
    "help Diagnostics": "versions and sizes of this installation",
}
"""View -> why there is nothing to compare."""

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py") if not path.stem.startswith("_"))


def views_of(page):
    """Return the names of a page's views as its source spells them out; one without a name where it has no tabs."""
    for line in ast.parse((ROOT / "pages" / f"{page}.py").read_text()).body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Dict) and line.targets[0].id == "VIEWS":
            return [f"{page} {key.value}" for key in line.value.keys if isinstance(key, ast.Constant)]
    return [page]


def everything():
    """Return every view: of the pages' sources, of the list that the other tests of pages walk through, of the tour."""
    found = [name for page in PAGES for name in views_of(page)] + [repr(view) for view in views()]
    found += [f"home of {kind}" for kind in SAMPLES if kind != "jobs"]
    return list(dict.fromkeys([*found, *(f"tour {stop.page}" for stop in STOPS)]))


@pytest.mark.parametrize("view", everything())
def test_a_view_is_compared_or_has_nothing_to_compare(view):
    assert (view in COMPARED) != (view in WITHOUT_FIGURES)


def test_no_view_is_named_that_is_gone():
    assert set(COMPARED) | set(WITHOUT_FIGURES) == set(everything())


@pytest.mark.parametrize("view", COMPARED)
def test_the_comparison_is_there_and_opens_the_view(view):
    """The page of the view is opened in the named file, and its tab is named there."""
    file, _, name = COMPARED[view].partition("::")
    source = (ROOT / "tests" / "same" / file).read_text()
    tests = {one.name for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)}
    assert name in tests
    page, _, tab = view.partition(" ")
    texts = {one.value for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant)}
    opened = {page} if page != "tour" else {tab}
    assert opened <= texts
    if page not in ("tour", "home"):
        assert not tab or tab in texts


def test_every_page_that_the_other_tests_walk_through_is_a_page():
    assert {view.page for view in views()} == set(PAGES)
