"""The Classify page in every state: nothing, no profiles, not trained, a job, own fields, a batch, a model, a loop."""

import shutil
import time

import pytest

from tests.pages import whole_home
from tests.pages.conftest import SAMPLE, by_options, labels, problems, words
from workprof.core.question import parameters_of
from workprof.core.settings import from_environment
from workprof.core.units import format_share
from workprof.core.words import formatted
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.questions import FORECASTER, OBSERVE
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

FEW_ROWS, FINISHED_ROWS = 300, 200
ROWS = whole_home.ROWS
HOSTILE = "<script>alert(1)</script>"


def settle(test, met, patience_s=120):
    """Run the page until a background job has made a difference."""
    end = time.monotonic() + patience_s
    while not met(test):
        assert time.monotonic() < end, words(test)
        time.sleep(0.2)
        test.run()
    return test


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The whole home, whose forecaster is trained, with the four splits and the finished jobs of another sample."""
    folder = tmp_path_factory.mktemp("classify")
    part = whole_home.make(folder, tmp_path_factory).jobs
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            whole = workbench.ingest([SAMPLE])
            workbench.sample(whole.hash, "workload", FINISHED_ROWS, "finished", seed=3)
            workbench.remove(whole.hash)
            workbench.classifier_evaluation(part)
            workbench.held_out(part, ForecasterSettings())
            workbench.observe(part, "finished")
    return folder / "home", part


@pytest.fixture
def part(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def unchecked(home, tmp_path, tmp_path_factory):
    """The whole home as a release before left it: trained, without held-out jobs and validation."""
    part = whole_home.make(tmp_path / "whole", tmp_path_factory).jobs
    shutil.copytree(tmp_path / "whole" / "home", home)
    return part


@pytest.mark.slow
@pytest.mark.soak
def test_one_button_finds_profiles_trains_and_shows_an_answer(app, home):
    with Workbench(from_environment()) as workbench:
        whole = workbench.ingest([SAMPLE])
        few = workbench.dataset(workbench.sample(whole.hash, "workload", FEW_ROWS, "few").dataset).hash
    test = app("classify", ds=few[:8])
    assert "This dataset has no profiles with these settings yet" in words(test)
    next(button for button in test.button if button.label == "Find profiles and train").click().run()
    assert "Cancel" in labels(test)
    settle(test, lambda page: "Random job" in labels(page))
    assert not problems(test)


def test_a_past_job_has_its_profile_needs_reasons_and_neighbours(app, part, house):
    workbench = house().workbench
    known = trained_on(workbench, part)
    test = app("classify", ds=part[:8], classify_job=str(known), classify_similar="true")
    assert not problems(test)
    assert f"Run {known}: " in words(test)
    assert " Actual: " in words(test)
    assert "in the training data; expect lower accuracy" in words(test)
    loaded = workbench.loaded_forecaster(part, ForecasterSettings())
    said = loaded.forecast(workbench.past_jobs(part, [known]))
    assert format_share(said.profiles.probability[0], 0) in words(test)
    assert {"weight", "profile"} <= set(test.dataframe[-1].value.columns)
    assert "Duration (s)" not in test.dataframe[-1].proto.columns  # its cells have their unit
    assert "Peak memory" in test.dataframe[-1].proto.columns


def trained_on(workbench, part):
    """Return a run that was not held out."""
    held = workbench.held_out(part, ForecasterSettings()).row_ids
    return next(row for row in range(ROWS) if row not in held)


def test_it_opens_on_a_job_that_training_did_not_see(app, part, house):
    test = app("classify", ds=part[:8])
    assert not problems(test)
    workbench = house().workbench
    held = workbench.loaded_held_out(part, ForecasterSettings())
    row = held.held_out.example
    past = workbench.past_jobs(part, [row])
    said = held.forecaster.forecast(past)
    answer = words(test)
    assert f"Held-out run {row}: " in answer
    assert "Actual: " in answer
    for target in ("duration_s", "peak_memory_bytes"):
        assert formatted(target, float(said.estimates[target].point[0])) in answer
        assert formatted(target, float(past[target].iloc[0])) in answer
    assert "in the training data" not in words(test)
    assert [metric.label for metric in test.metric] == ["Precision", "Recall", "F1"]
    assert len(test.get("plotly_chart")) == 4
    one = held.held_out.compared["peak_memory_bytes"]
    place = held.held_out.row_ids.tolist().index(row)
    assert all(of.inside[place] for of in held.held_out.compared.values())
    assert f"{format_share(one.hit_rate, 0)} of " in answer


@pytest.mark.soak
def test_without_checks_it_opens_on_a_recent_job_and_offers_them(app, unchecked, house):
    test = app("classify", ds=unchecked[:8])
    assert not problems(test)
    assert "in the training data; expect lower accuracy" in words(test)
    assert "not validated yet" in words(test)
    test.button(key="classify_check").click().run()
    assert not problems(test)
    assert {job.step for job in house().workbench.jobs()} == {"profiles.held_out", "profiles.classifier_evaluation"}
    for job in house().workbench.jobs():
        house().workbench.wait(job.key, 120)
    test.run()
    assert "Held-out run" in words(test)


def test_search_and_random_draw_give_a_row(app, part):
    test = app("classify", ds=part[:8])
    test.text_input(key="classify_search").set_value("ps").run()
    assert len(test.dataframe) >= 1
    test.text_input(key="classify_search").set_value(HOSTILE).run()
    assert not problems(test)
    assert "No job matches" in words(test)
    test.button(key="classify_random").click().run()
    assert test.number_input(key="classify_job").value is not None
    assert " Actual: " in words(test)
    assert "Held-out run" in words(test)


def test_a_new_job_begins_as_the_most_recent_one_with_a_profile(app, part, house):
    test = app("classify", ds=part[:8])
    test.segmented_control(key="classify_from").set_value("own fields").run()
    assert not problems(test)
    workbench = house().workbench
    recent = workbench.past_jobs(part, [workbench.recent_job(part, ProfileSettings())]).iloc[0]
    for name in ("user", "task_name", "workload", "group", "job_name"):
        assert test.selectbox(key=f"classify_{name}").value == recent[name]
    memory = test.number_input(key="classify_requested_memory_gb").value
    assert memory == pytest.approx(recent["requested_memory_bytes"] / 1e9)
    profiles = workbench.profiles(part, ProfileSettings())
    label = dict(zip(profiles.row_ids.tolist(), profiles.labels.tolist(), strict=True))
    inside = [row for row, profile in label.items() if profile >= 0]
    assert int(recent["row_id"]) in inside
    times = workbench.past_jobs(part, inside)["start_time_s"]
    assert recent["start_time_s"] == times.max()
    test.selectbox(key="classify_user").set_value(test.selectbox(key="classify_user").options[0]).run()
    assert not problems(test)
    assert test.selectbox(key="classify_task_name").value == recent["task_name"]


def test_a_memory_that_a_former_link_has_in_gib_stands_there_in_gb(app, part):
    test = app("classify", ds=part[:8], classify_from="own fields", classify_requested_memory_gib="18")
    assert not problems(test)
    assert test.number_input(key="classify_requested_memory_gb").value == pytest.approx(18 * 1024**3 / 1e9)
    assert "classify_requested_memory_gib" not in test.query_params


def test_own_fields_answer_and_unseen_values_are_named(app, part):
    test = app("classify", ds=part[:8], classify_from="own fields")
    assert not problems(test)
    for box in test.selectbox:
        unseen = [option for option in box.options if "unseen" in option.lower()]
        if unseen:
            box.set_value(unseen[0])
    test.run()
    assert not problems(test)
    assert "No profile" in words(test) or "no profile" in words(test)


def test_the_model_tab_has_every_split(app, part):
    test = app("classify", ds=part[:8], classify_tab="Model")
    assert not problems(test)
    assert "The profile is predicted correctly for" in words(test)
    explain = next(button for button in test.button if button.label.startswith("Explain"))
    explain.click().run()
    assert not problems(test)
    assert len(test.get("plotly_chart")) == 3
    folds = {f"classify_{name}": "true" for name in ("scores", "calibration", "shap", "method")}
    test = app("classify", ds=part[:8], classify_tab="Model", **folds)
    assert not problems(test)
    assert len(test.get("plotly_chart")) == 10


def test_a_former_link_opens_the_drift_tab(app, part):
    test = app("classify", ds=part[:8], classify_tab="Finished jobs")
    assert not problems(test)
    assert "Drift" in test.query_params["classify_tab"]
    assert "finished jobs compared" in words(test)


def test_the_loop_shows_what_was_observed_and_takes_more(app, part, house):
    test = app("classify", ds=part[:8], classify_tab="Drift", feedback_quality="true")
    assert not problems(test)
    assert "overall score" in words(test)
    test.segmented_control(key="feedback_from").set_value("dataset").run()
    (finished,) = [one for one in test.selectbox(key="feedback_dataset").options if one.startswith("finished (")]
    test.selectbox(key="feedback_dataset").set_value(finished).run()
    next(button for button in test.button if button.label == "Compare").click().run()
    (observed,) = house().observed.views()
    assert house().observed.wait(observed.key, 120).state == "done"
    test.run()
    assert not problems(test)
    assert "compared before" in words(test)


def test_faithful_mode_is_flagged(app, part):
    test = app("classify", ds=part[:8], classify_mode="faithful")
    assert not problems(test)
    assert "As published: one column per value" in words(test)


@pytest.mark.parametrize("made", [parameters_of, by_options])
def test_a_link_holds_every_setting_of_a_forecaster_and_its_clustering(app, part, made):
    profiles = ProfileSettings(min_cluster_size=40, mode="faithful")
    classifier = ClassifierSettings(profiles, ("user",), "corrected", 5, 0.5, 2.0, 0.3, 20, seed=4)
    linked = made(FORECASTER, ForecasterSettings(classifier, "by_group", 0.8))
    test = app("classify", ds=part[:8], **linked)
    assert not problems(test)
    assert "in the link" not in words(test)
    assert '"mode": "faithful"' in str(test.query_params["classify_profiles"])
    assert test.multiselect(key="classify_fields").value == ["user"]
    numbers = {
        "rare_rows": 5,
        "threshold": 0.5,
        "wrong_cost": 2.0,
        "calibration_share": 30,
        "least_support": 20,
        "seed": 4,
    }
    assert {name: test.number_input(key=f"classify_{name}").value for name in numbers} == numbers
    assert test.number_input(key="classify_coverage").value == 80
    assert test.selectbox(key="classify_interval_split").value == "by_group"
    test.selectbox(key="classify_mode").set_value("faithful").run()
    assert not problems(test)
    assert "classify_profiles" not in test.query_params


def test_the_comparison_with_finished_jobs_has_every_setting_in_its_address(app, part):
    settings = FeedbackSettings(window_jobs=500, alarm_share=0.05, refit=True)
    linked = parameters_of(OBSERVE, settings)
    test = app("classify", ds=part[:8], classify_tab="Drift", **linked)
    assert not problems(test)
    assert test.number_input(key="feedback_window").value == 500
    assert test.number_input(key="classify_alarm_share").value == 5
    assert test.toggle(key="classify_refit").value is True
