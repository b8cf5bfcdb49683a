"""The Classify page in every state: nothing, no profiles, not trained, a job, own fields, a batch, a model, a loop."""

import shutil
import time

import pytest

from tests.pages import whole_home
from tests.pages.conftest import SAMPLE, by_options, problems
from workprof.core.question import parameters_of
from workprof.core.settings import from_environment
from workprof.core.units import format_share
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.questions import FORECASTER, OBSERVE
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

FEW_ROWS, FINISHED_ROWS = 300, 200
HOSTILE = "<script>alert(1)</script>"


def labels(test):
    return [button.label for button in test.button]


def words(test):
    told = (*test.markdown, *test.caption, *test.info, *test.warning, *test.success)
    return " ".join(str(item.value) for item in told).replace("\\", "")


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
            workbench.observe(part, "finished")
    return folder / "home", part


@pytest.fixture
def part(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


def test_an_empty_home_offers_the_sample(app):
    test = app("classify")
    assert not problems(test)
    assert any("sample" in label.lower() for label in labels(test))


@pytest.mark.slow
def test_profiles_first_then_training_then_an_answer(app, home):
    with Workbench(from_environment()) as workbench:
        whole = workbench.ingest([SAMPLE])
        few = workbench.dataset(workbench.sample(whole.hash, "workload", FEW_ROWS, "few").dataset).hash
    test = app("classify", ds=few[:8])
    assert "Find profiles" in labels(test)
    next(button for button in test.button if button.label == "Find profiles").click().run()
    settle(test, lambda page: "Train on current profiles" in labels(page))
    next(button for button in test.button if button.label == "Train on current profiles").click().run()
    assert "Cancel" in labels(test)
    settle(test, lambda page: "Random job" in labels(page))
    assert not problems(test)


def test_a_past_job_has_its_profile_needs_reasons_and_neighbours(app, part, house):
    test = app("classify", ds=part[:8], classify_job="5")
    assert not problems(test)
    assert "What really happened" in words(test)
    assert "Answered in" in words(test)
    workbench = house().workbench
    loaded = workbench.loaded_forecaster(part, ForecasterSettings())
    said = loaded.forecast(workbench.past_jobs(part, [5]))
    assert format_share(said.profiles.top_probability[0, 0]) in words(test)


def test_search_and_random_draw_give_a_row(app, part):
    test = app("classify", ds=part[:8])
    test.text_input(key="classify_search").set_value("ps").run()
    assert len(test.dataframe) >= 1
    test.text_input(key="classify_search").set_value(HOSTILE).run()
    assert not problems(test)
    assert "No job has" in words(test)
    test.button(key="classify_random").click().run()
    assert test.number_input(key="classify_job").value is not None
    assert "What really happened" in words(test)


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
    assert "split" in words(test)
    explain = next(button for button in test.button if button.label.startswith("Explain"))
    explain.click().run()
    assert not problems(test)
    assert len(test.get("plotly_chart")) >= 7


def test_the_loop_shows_what_was_observed_and_takes_more(app, part, house):
    test = app("classify", ds=part[:8], classify_tab="Finished jobs")
    assert not problems(test)
    assert "ACQUIRES" in words(test)
    test.segmented_control(key="feedback_from").set_value("dataset").run()
    (finished,) = [one for one in test.selectbox(key="feedback_dataset").options if one.startswith("finished (")]
    test.selectbox(key="feedback_dataset").set_value(finished).run()
    next(button for button in test.button if button.label == "Observe").click().run()
    (observed,) = house().observed.views()
    assert house().observed.wait(observed.key, 120).state == "done"
    test.run()
    assert not problems(test)
    assert "observed before" in words(test)


def test_faithful_mode_is_flagged(app, part):
    test = app("classify", ds=part[:8], classify_mode="faithful")
    assert not problems(test)
    assert "As published: one column per value" in words(test)


@pytest.mark.parametrize("made", [parameters_of, by_options])
def test_a_link_holds_every_setting_of_a_forecaster_and_its_clustering(app, part, made):
    profiles = ProfileSettings(min_cluster_size=40, mode="faithful")
    classifier = ClassifierSettings(profiles, ("user",), "corrected", 5, 0.5, 2.0, 0.3, 20, 4)
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
    test = app("classify", ds=part[:8], classify_tab="Finished jobs", **linked)
    assert not problems(test)
    assert test.number_input(key="feedback_window").value == 500
    assert test.number_input(key="classify_alarm_share").value == 5
    assert test.toggle(key="classify_refit").value is True
