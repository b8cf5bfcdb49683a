"""The Phases page in every state: no data, every view, windows, boundaries, jobs, a library changed by hand, live."""

import csv
import json
import shutil
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from pages._phases import timeline
from pages._phases.known import BUTTON
from pages._runs import links
from tests.charts import records_for_phases as given
from tests.faults.soundness import until
from tests.made_once import keep
from tests.pages import addresses, whole_home
from tests.pages.conftest import labels, problems, words
from workprof.charts.phases.fingerprints import EVERY
from workprof.core.question import address_of
from workprof.core.settings import from_environment
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.early import EarlySettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.fingerprints import FingerprintSettings
from workprof.phases.growing import GrowingSettings
from workprof.phases.library import LibraryEdits, LibrarySettings, LibraryViewSettings, RunLabel, faithful_library
from workprof.phases.matching import KnownMatchSettings, MatchRunSettings
from workprof.phases.methods import MethodsSettings
from workprof.phases.partial import CourseSettings
from workprof.phases.questions import TIMELINE
from workprof.phases.similarity import MatchSettings
from workprof.phases.timeline import OwnBoundaries, TimelineSettings
from workprof.phases.typical import TypicalSettings
from workprof.workbench import Workbench

RUN = "two steps/1"
PUBLISHED = {"phases_mode": "faithful"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The whole home, which has published results of its runs, with a dataset of one run and a view of a library."""
    folder = tmp_path_factory.mktemp("phases")
    runs, single = whole_home.make(folder, tmp_path_factory).phases, folder / "single.csv"
    given.samples().query("workload == 'one step' and run == '1'").to_csv(single, index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            hashes = [runs, workbench.ingest([single]).hash]
            view = LibraryViewSettings(library=faithful_library())
            workbench.wait(workbench.library_view.start(runs, view).key, 120)
    return folder / "home", hashes


@pytest.fixture
def runs(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1][0]


@pytest.fixture
def page(app, runs):
    return lambda tab="Timeline", **more: app("phases", **{"ds": runs, "phases_tab": tab, "phases_run": RUN} | more)


def spec(test, place=0):
    return test.get("plotly_chart")[place].proto.spec


def test_a_job_trace_is_not_offered_here(app, loaded):
    test = app("phases")
    assert not problems(test)
    assert "counters by the second" in words(test)


def test_a_window_is_computed_anew_and_can_be_left(page):
    test = page(phases_counters=given.CPU, phases_from="10", phases_to="24")
    assert not problems(test)
    assert "two steps/1, 10 to 24 s" in words(test)
    assert '"x0":8.0' not in spec(test).replace(" ", "")
    next(button for button in test.button if button.label == "Whole run").click().run()
    assert "two steps/1 has three phases: 0-8 s near average, " in words(test)


def test_a_dragged_box_becomes_the_window(page):
    test = page(phases_counters=given.CPU)
    event = {"selection": {"box": [{"x": [20.02, 4.98], "y": [0, 1]}], "points": []}}
    test.session_state[timeline.CHART] = event
    assert not problems(test.run())
    assert timeline.window_of(event) == (5.0, 20.0)
    assert timeline.window_of(None) is None
    assert timeline.window_of({"selection": {"points": []}}) is None
    assert timeline.window_of({"selection": {"box": [{"x": [3, 3]}]}}) is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"phases_from": "20", "phases_to": "10"}, "ends before it begins"),
        ({"phases_from": "0", "phases_to": "3"}, "fewer than two phases"),
        ({"phases_own": "eight"}, "times in seconds with commas"),
        ({"phases_run": "no such/9"}, "`phases_run` in the link could not be read: “no such/9” is not one of"),
        ({"phases_run": "two steps/4"}, "marked short"),
        ({"phases_library": "gone 12345678", "phases_tab": "Match"}, "`phases_library` in the link could not be read"),
    ],
)
def test_what_cannot_be_done_is_said(page, query, said):
    query = dict(query)
    if "fewer" in said:
        query["phases_least"] = "2"
    test = page(**query)
    assert not problems(test)
    assert said in words(test)


def test_a_window_beside_the_run_says_the_next_step(page):
    test = page(phases_from="100", phases_to="200")
    assert problems(test) == []
    (told,) = [item.value.replace("\\", "") for item in test.info if "lasts" in item.value]
    assert "it lasts from 0 to 24 s" in told


def test_boundaries_of_ones_own_are_drawn_and_counted(page):
    test = page(phases_counters=given.CPU, phases_own="4, 12.0")
    assert not problems(test)
    drawn = spec(test).replace(" ", "")
    assert '"x0":4.0' in drawn
    assert '"dash":"dash"' in drawn
    assert '"x0":8.0' not in drawn


def test_another_run_forgets_window_and_boundaries(page):
    test = page(phases_from="10", phases_own="12")
    test.selectbox(key="phases_run").select("one step/2").run()
    assert not problems(test)
    assert "one step/2 has two phases: 0-10 s " in words(test)
    assert test.session_state["phases_from"] is None
    assert test.session_state["phases_own"] == ""


def test_published_definitions_carry_the_flag(page):
    assert "published definitions" not in words(page())
    assert "published definitions" in words(page(phases_two_sided="true"))
    assert "published definitions" in words(page(**PUBLISHED))


def test_the_fingerprint_has_one_statistic_or_all(page):
    one = page("Fingerprint", phases_statistic="adf", phases_every="true")
    assert not problems(one)
    assert "no phase" in spec(one, 1)  # a former link opens the fold
    every = page("Fingerprint", phases_statistic=EVERY)
    assert not problems(every)
    assert "90 % quantile" in spec(every, 1)
    assert {"Fingerprint, JSON", "Fingerprint, NPZ"} <= {button.label for button in every.get("download_button")}


@pytest.mark.slow
def test_a_match_is_laid_over_the_nearest_run(page):
    test = page("Match", **PUBLISHED, phases_alignment="true")
    if "phases_over" not in {box.key for box in test.selectbox}:
        test.session_state["phases_alignment"] = True
        test.run()
    assert not problems(test)
    assert "are at most" in words(test)


@pytest.mark.slow
def test_a_match_that_is_not_there_is_asked_for_and_made(page, runs, house):
    test = page("Match", **PUBLISHED, phases_run="one step/2")
    assert "Not matched with these settings yet" in words(test)
    next(button for button in test.button if button.label == BUTTON).click().run()
    workbench = house().workbench
    until(lambda: not any(job.active for job in workbench.jobs()))
    test.run()
    assert not problems(test)
    found = workbench.match_run.cached(runs, MatchRunSettings("one step/2", faithful_library())).result
    assert found.verdict.nearest in words(test).replace("\\", "")


def test_a_library_is_changed_by_hand_and_put_back(page, runs, house):
    test = page("Library", **PUBLISHED)
    test.selectbox(key="phases_label_of").select("all runs of one step").run()
    test.text_input(key="phases_label").input("a new name").run()
    next(button for button in test.button if button.label == "Add or rename").click().run()
    assert not problems(test)
    assert test.selectbox(key="phases_label_of").value is None  # of the old name there is none, and no other is chosen
    assert next(button for button in test.button if button.label == "Exclude").disabled
    workbench = house().workbench
    assert {one.label for one in workbench.library_edits(runs).labels} == {"a new name"}
    assert "not compared with these settings yet" in words(test)
    test.selectbox(key="phases_label_of").select("one step/1").run()
    next(button for button in test.button if button.label == "Exclude").click().run()
    edits = workbench.library_edits(runs)
    assert edits.label_of("one step", "1") == ""
    assert edits.label_of("one step", "2") == "a new name"
    next(button for button in test.button if button.label == "As recorded").click().run()
    assert workbench.library_edits(runs).labels == ()
    assert "The nearest other run" in words(test)


def test_a_changed_library_is_another_question(page, house, runs):
    test = page("Library", **PUBLISHED)
    test.selectbox(key="phases_label_of").select("all runs of two steps").run()
    next(button for button in test.button if button.label == "Exclude").click().run()
    test = page("Match", **PUBLISHED)
    assert "Not matched with these settings yet" in words(test)


def test_a_read_only_server_changes_no_library(page, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    test = page("Library", **PUBLISHED)
    assert "Add or rename" not in labels(test)
    assert "read-only" in words(test)


def test_a_dataset_of_one_run_has_phases_but_no_match(app, runs, kept):
    single = kept[1][1]
    test = app("phases", ds=single)
    assert not problems(test)
    assert "one step/1 has two phases: 0-10 s " in words(test)
    other = app("phases", ds=single, phases_tab="Match")
    assert not problems(other)
    assert len(other.selectbox(key="phases_library").options) == 2


@pytest.mark.slow
def test_a_long_run_is_a_job(page, monkeypatch, house):
    monkeypatch.setattr(timeline, "LONG_RUN", 10)
    test = page()
    assert "the search runs beside the page" in words(test)
    next(button for button in test.button if button.label == "Find the phases").click().run()
    until(lambda: not any(job.active for job in house().workbench.jobs()))
    test.run()
    assert not problems(test)
    assert "two steps/1 has three phases: 0-8 s near average, " in words(test)
    test.number_input(key="phases_least").set_value(3).run()
    assert "for the previous settings" in words(test)


@pytest.fixture
def recording(tmp_path):
    """A recording in progress, in the data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "now.csv.partial"
    write(path, given.samples().query("workload == 'one step' and run == '2'").drop(columns="status").head(12))
    return path


def write(path, samples):
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(samples.columns)
        rows.writerows(samples.to_numpy().tolist())


@pytest.mark.slow
def test_a_recording_is_followed_to_its_end(page, recording, house):
    test = page("Live", **PUBLISHED)
    assert "now.csv.partial" in test.selectbox(key="phases_live").options
    next(button for button in test.button if button.label == "Learn the known workloads").click().run()
    until(lambda: not any(job.active for job in house().workbench.jobs()))
    test.run()
    assert not problems(test)
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Recorded"] == "12 s"
    write(recording, given.samples().query("workload == 'one step' and run == '2'").drop(columns="status"))
    test.run()
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Recorded"] == "24 s"
    recording.unlink()
    test.run()
    assert not problems(test)


def test_a_recording_without_common_counters_says_so(page, recording):
    write(recording, given.samples()[["workload", "run", "t"]].assign(**{"other.counter": np.arange(288.0)}))
    test = page("Live")
    assert not problems(test)
    assert "no counter in common" in words(test)


def test_a_file_that_is_no_recording_is_refused(page, recording):
    recording.write_text("a,b\n1,2\n")
    (told,) = [item.value for item in page("Live").info if "recording" in item.value]
    assert "is no recording" in told


SEARCH = ChangePointSettings("bcpd", "drop", "joint", 12.0, 3, 5, 7.0, 0.5, 2.0, 3.0, 0.2, 0.01, "faithful")
OTHER = LibrarySettings(
    (given.NET, given.CPU),
    FingerprintSettings("mixed", True, False, "hist", SEARCH),
    MatchSettings("none", False, True, 2.5, True, False, 0.3),
    seed=7,
)
PUBLISHED_BUT = replace(
    faithful_library(),
    fingerprints=replace(faithful_library().fingerprints, normalise="train", absolute=False),
    match=replace(faithful_library().match, c=None, flat=False),
)
LOOKS = {
    "the defaults": TimelineSettings(RUN),
    "nothing at its default": TimelineSettings(
        RUN, 2.0, 20.0, (OwnBoundaries(given.CPU, (9.0,)), OwnBoundaries(given.NET, (5.0, 12.5))), OTHER
    ),
    "as published": TimelineSettings(RUN, library=faithful_library()),
    "as published but for a few": TimelineSettings(RUN, library=PUBLISHED_BUT),
}


@pytest.mark.some(3)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("link", ["of the page", "of a shell"])
def test_a_link_to_a_timeline_has_every_setting(app, runs, house, look, link):
    if link == "of the page":
        parameters = links.parameters_of("phases.timeline", runs, LOOKS[look])
    else:
        query = urlsplit(address_of(TIMELINE, runs, LOOKS[look])).query
        parameters = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
    test = app("phases", **parameters)
    assert not problems(test)
    workbench = house().workbench
    (made,) = (run for run in workbench.stored_runs() if run.step == "phases.timeline")
    assert workbench.run_settings(made.run) == LOOKS[look]


@pytest.mark.parametrize(
    "settings",
    [
        EvaluationSettings(OTHER, 7, 0.4, 1, ("one step",)),
        EvaluationSettings(faithful_library(), splits=1, open_splits=0),
        EvaluationSettings(train_hash="other"),
    ],
)
def test_a_link_to_an_evaluation_has_every_setting(app, runs, kept, house, settings):
    settings = replace(settings, train_hash=kept[1][1]) if settings.train_hash else settings
    workbench = house().workbench
    keep(workbench, workbench.evaluate_phases, runs, settings, given.evaluation())
    test = app("phases", **links.parameters_of("phases.evaluate", runs, settings))
    assert not problems(test)
    assert "Not evaluated with these settings" not in words(test)
    assert "of held-out runs are recognised" in words(test)


def test_evaluations_that_ask_the_same_share_a_result(runs, kept, house):
    key, single = house().workbench.evaluate_phases.key, kept[1][1]
    assert key(runs, EvaluationSettings(splits=1)) == key(runs, EvaluationSettings(splits=1, open_splits=1))
    elsewhere = EvaluationSettings(trained_elsewhere=True, train_hash=single)
    assert key(runs, train="single") == key(runs, EvaluationSettings(train_hash=single)) == key(runs, elsewhere)
    assert key(runs, train="single") != key(runs)


def test_a_link_to_a_match_has_the_labels_given_by_hand_and_the_other_dataset(app, runs, kept, house):
    edits = LibraryEdits((RunLabel("one step", "2", "two steps"),))
    settings = KnownMatchSettings("one step/1", edits, runs, faithful_library())
    workbench, single = house().workbench, kept[1][1]
    keep(workbench, workbench.known_match, single, settings, given.match())
    test = app("phases", **links.parameters_of("phases.known_match", single, settings))
    assert not problems(test)
    assert "Not matched with these settings yet" not in words(test)
    assert "1 label by hand from the link, not the 0 that are saved here" in words(test)
    next(button for button in test.button if button.label == "Use those saved").click().run()
    assert "phases_edits" not in test.query_params
    assert "Not matched with these settings yet" in words(test)


def test_as_published_and_back_changes_what_follows_from_it(page):
    test = page(phases_normalise="run", phases_seed="3")
    test.selectbox(key="phases_mode").select("faithful").run()
    assert not problems(test)
    assert (test.selectbox(key="phases_scale").value, test.text_input(key="phases_c").value) == ("none", "1")
    assert (test.toggle(key="phases_abs").value, test.toggle(key="phases_log").value) == (True, False)
    assert test.number_input(key="phases_seed").value == 0
    test.selectbox(key="phases_scale").select("standard").run()
    assert addresses.address(test)["phases_scale"] == "standard"
    next(button for button in test.button if button.label == "Reset").click().run()
    assert test.selectbox(key="phases_mode").value == "corrected"
    assert (test.selectbox(key="phases_scale").value, test.text_input(key="phases_c").value) == ("standard", "")
    assert {name for name in addresses.address(test) if name.startswith("phases_")} <= {"phases_tab"}


def names(test):
    return {json.loads(chart.proto.config)["toImageButtonOptions"]["filename"] for chart in test.get("plotly_chart")}


def test_pelt_and_the_other_methods_stand_beside_the_bayesian_search(page, runs, house):
    house().workbench.phase_methods(runs, MethodsSettings(run=RUN))
    test = page("Timeline", phases_methods="true")
    assert not problems(test)
    assert "change-point-methods" in names(test)
    (table,) = [one.value for one in test.dataframe if "method_name" in one.value]
    assert "PELT" in table["method_name"].tolist()


def test_the_typical_runs_stand_with_the_library(page, runs, house):
    house().workbench.typical_runs(runs, TypicalSettings(library=faithful_library()))
    house().workbench.growing_sizes(runs, GrowingSettings(counter="app.flat"))
    test = page(
        "Library",
        phases_typical="true",
        phases_shapes="true",
        phases_growing="true",
        phases_growing_counter="app.flat",
        **PUBLISHED,
    )
    assert not problems(test)
    assert {"typical-runs", "growing-sizes"} <= set(names(test))


def test_parts_of_runs_stand_with_the_match_and_the_evaluation(page, runs, house):
    library = faithful_library()
    house().workbench.run_course(runs, CourseSettings(RUN, library=library))
    house().workbench.early_recognition(runs, EarlySettings(library=library))
    house().workbench.match_run(runs, MatchRunSettings(RUN, library))
    test = page("Match", phases_course="true", phases_run=RUN, **PUBLISHED)
    assert not problems(test)
    assert "phases-course" in names(test)
    test = page("Evaluation", phases_early="true", phases_run=RUN, **PUBLISHED)
    assert not problems(test)
    assert "phases-early" in names(test)
