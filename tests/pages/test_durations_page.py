"""The Durations page in every state: no data, no profiles, observed, not tested, tested, running, cancelled, failed."""

import json
import shutil

import pandas as pd
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from tests.faults.soundness import until
from tests.pages.conftest import SAMPLE, by_options, labels, problems, words
from workprof.answers.estimates import MEASURES
from workprof.core.progress import hearing
from workprof.core.question import parameters_of
from workprof.core.records import pack
from workprof.core.settings import from_environment
from workprof.core.units import format_share
from workprof.forecasts.durations import GROUPINGS, DurationSettings
from workprof.forecasts.estimate_evaluation import evaluate_estimates
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.questions import EVALUATE_ESTIMATES
from workprof.jobs import Jobs
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

ROWS = 500
ERRORS = {"durations_tab": "Prediction error"}
TESTED = ERRORS | {"durations_split": "by_time"}
OTHER = ProfileSettings(min_cluster_size=40)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with a part of the sample: two clusterings, and the predictors tested on the last of the time."""
    folder = tmp_path_factory.mktemp("durations") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder))
        with Workbench(from_environment()) as workbench:
            whole = workbench.ingest([SAMPLE])
            part = workbench.sample(whole.hash, "workload", ROWS, "part").dataset
            part = workbench.dataset(part).hash
            workbench.remove(whole.hash)
            for settings in (ProfileSettings(), OTHER):
                workbench.profiles(part, settings)
            for mode in ("corrected", "faithful"):
                estimates = EstimateSettings(split="by_time", mode=mode)
                workbench.estimate_evaluation(part, EstimateEvaluationSettings(estimates))
    return folder, part


@pytest.fixture
def part(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def unclustered(home, kept):
    """The same dataset without any kept result."""
    shutil.copytree(kept[0], home)
    shutil.rmtree(home / "cache")
    return kept[1]


@pytest.mark.some(3)
@pytest.mark.parametrize("by", GROUPINGS)
@pytest.mark.parametrize("layout", ["together", "one each"])
def test_observed_curves_of_every_grouping(app, part, by, layout):
    test = app("durations", durations_by=by, durations_layout=layout)
    assert problems(test) == []
    assert "80 % of runs finish within" in words(test)
    charts = test.get("plotly_chart")
    assert all(chart.proto.alt for chart in charts)
    groups = len(test.dataframe[-1].value) - 1
    assert len(charts) == 1
    if layout == "one each" and groups:
        names = next(one["text"] for one in json.loads(charts[0].proto.spec)["data"] if one.get("mode") == "text")
        assert len(names) == groups


def test_it_opens_on_small_multiples_with_few_controls_above(app, part):
    test = app("durations")
    assert problems(test) == []
    (chart,) = test.get("plotly_chart")
    assert "Small multiples" in chart.proto.alt
    assert len(test.dataframe[-1].value) - 1 > 1
    assert words(test).index("80 % of runs finish within") < words(test).index("Vertical: share of runs")
    assert test.selectbox(key="durations_layout").value == "one each"
    assert "effective sample size" in words(test).lower()


@pytest.mark.parametrize("target", ["peak_memory_bytes", "cpu_usage_percent", "gpu_usage_percent"])
def test_other_quantities_have_a_limit_in_their_unit(app, part, target):
    key = f"durations_limit_{target.replace('_bytes', '_gb')}"
    test = app("durations", durations_target=target, durations_by="workload", **{key: "2"})
    assert problems(test) == []
    assert "80 % of runs stay at or below" in words(test)
    assert f"meet the limit {'2 GB' if target == 'peak_memory_bytes' else '2 %'}" in words(test)


def test_a_limit_in_gib_of_a_former_link_means_what_it_meant(app, part):
    former = "durations_limit_peak_memory_bytes"
    test = app("durations", durations_target="peak_memory_bytes", durations_by="workload", **{former: "2"})
    assert problems(test) == []
    assert "meet the limit 2.15 GB" in words(test)
    assert test.number_input(key="durations_limit_peak_memory_gb").value == pytest.approx(2 * 1024**3 / 1e9)
    assert former not in test.query_params


def test_where_no_profiles_can_be_it_opens_on_another_grouping(app, house, home):
    rows = pd.DataFrame({"task_name": ["a", "b"] * 9, "duration_s": range(1, 19), "peak_memory_bytes": 1e9})
    rows.to_parquet(home.parent / "tiny.parquet")
    test = app("durations", ds=house().workbench.ingest([home.parent / "tiny.parquet"]).hash)
    assert problems(test) == []
    assert test.selectbox(key="durations_by").value == "task_name"
    assert "need profiles" not in words(test)


def test_without_profiles_all_jobs_are_shown_and_a_button_finds_them(app, unclustered, house):
    test = app("durations")
    assert problems(test) == []
    assert "Curves per profile need profiles" in words(test)
    assert "Find profiles" in labels(test)
    assert list(test.dataframe[-1].value["group"]) == ["all runs"]
    assert house().workbench.jobs() == ()


def test_another_kept_clustering_makes_other_groups(app, part, house):
    test = app("durations")
    options = test.selectbox(key="durations_clustering").options
    other = next(option for option in options if ", 40 rows" in option)
    before = test.dataframe[-1].value
    test.selectbox(key="durations_clustering").set_value(other).run()
    assert problems(test) == []
    assert not before.equals(test.dataframe[-1].value)
    workbench, by_profile = house().workbench, DurationSettings()
    one, two = (workbench.observed_durations(part, by_profile, fit=settings) for settings in (None, OTHER))
    assert [group.n_rows for group in one.groups] != [group.n_rows for group in two.groups]


def test_a_link_to_a_clustering_that_is_not_kept_says_so(app, part):
    test = app("durations", durations_clustering="hdbscan, power, euclidean, 7 rows, abcdef01")
    assert problems(test) == []
    assert "`durations_clustering` in the link could not be read" in words(test)


@pytest.mark.parametrize("made", [parameters_of, by_options])
def test_a_link_holds_every_setting_of_a_test_and_its_clustering(app, part, made):
    estimates = EstimateSettings("cpu_usage_percent", ("user", "group"), "faithful", "by_time", 0.8, 5, 3)
    linked = made(EVALUATE_ESTIMATES, EstimateEvaluationSettings(estimates, OTHER, "part"))
    test = app("durations", **(ERRORS | linked))
    assert problems(test) == []
    assert "in the link" not in words(test)
    assert ", 40 rows" in test.selectbox(key="durations_clustering").value
    assert test.selectbox(key="durations_target").value == "cpu_usage_percent"
    assert test.multiselect(key="durations_fields").value == ["user", "group"]
    assert test.selectbox(key="durations_mode").value == "faithful"
    assert test.number_input(key="durations_nominal").value == 80
    assert test.number_input(key="durations_n_folds").value == 5
    assert test.number_input(key="durations_seed").value == 3
    assert test.text_input(key="durations_tested").value == "part"


def test_a_link_that_describes_a_clustering_without_profiles_here_says_so(app, part):
    linked = parameters_of(EVALUATE_ESTIMATES, EstimateEvaluationSettings(profiles=ProfileSettings(seed=7)))
    test = app("durations", **ERRORS, **linked)
    assert problems(test) == []
    assert "its profiles are not saved here" in words(test)
    assert test.selectbox(key="durations_clustering").value == "default"


def test_before_a_test_there_is_an_estimate_and_nothing_runs(app, part, house):
    test = app("durations", **ERRORS, durations_split="by_group")
    assert problems(test) == []
    assert "Not evaluated with these settings yet. It takes" in words(test)
    assert "Evaluate predictors" in labels(test)
    assert house().workbench.jobs() == ()


@pytest.mark.some(2)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_of_a_finished_test(app, part, measure):
    test = app("durations", **TESTED, durations_measure=measure)
    assert problems(test) == []
    told = words(test)
    answers = {"ratio": "miss by at most", "percent": "miss by at most", "factor": "are within a factor of"}
    assert f"80 % of predictions {answers.get(measure, 'are at most')}" in told
    assert "% interval covers" in told
    assert ("10,000 jobs" in told) is (measure in ("ratio", "percent"))
    assert len(test.get("plotly_chart")) == 1
    assert len(test.metric) == 4
    test = app("durations", **TESTED, durations_measure=measure, durations_profiles="true")
    assert problems(test) == []
    assert len(test.get("plotly_chart")) == 2
    assert all(chart.proto.alt for chart in test.get("plotly_chart"))


def test_the_table_is_that_of_the_library_and_baselines_can_be_left_out(app, part, house):
    asked = EstimateEvaluationSettings(EstimateSettings(split="by_time"))
    found = house().workbench.estimate_evaluation.cached(part, asked).result
    test = app("durations", **TESTED)
    shown = next(frame for frame in test.dataframe if "within_2x" in frame.value.columns)
    table, texts = shown.value, convert_arrow_bytes_to_pandas_df(shown.proto.arrow_data.styler.display_values)
    assert table["label"].iloc[0] == "workprof ★ best"
    best = found.predictors["chosen"]
    assert (table["within_2x"].iloc[0], table["ratio_error_p90"].iloc[0]) == (best.within_2x, best.ratio_error.p90)
    assert texts["within_2x"].iloc[0] == format_share(best.within_2x)  # one spelling of all shares
    assert texts["ratio_error_p90"].iloc[0] == format_share(best.ratio_error.p90)
    assert len(table) == len(found.predictors)
    test.toggle(key="durations_baselines").set_value(False).run()
    assert problems(test) == []
    table = next(frame.value for frame in test.dataframe if "within_2x" in frame.value.columns)
    assert len(table) == 6


def test_what_is_found_before_the_end_is_drawn(app, part, house, monkeypatch):
    workbench = house().workbench
    jobs, heard = workbench.past_jobs(part, range(200)), []
    with hearing(heard.append):
        evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=2))
    for found in heard:
        monkeypatch.setattr(Jobs, "so_far", lambda self, key, found=found: pack(found))
        test = app("durations", **ERRORS)
        assert problems(test) == []
        assert "The first figures; the rest is being computed." in words(test)
        (chart,) = test.get("plotly_chart")
        assert f"of {len(found.predictors)} predictors" in chart.proto.alt
        assert "give no interval" not in words(test)


def test_faithful_mode_is_flagged(app, part):
    test = app("durations", **TESTED, durations_mode="faithful")
    assert problems(test) == []
    assert "As published: the published estimators" in words(test)
    assert "give no interval" in words(test)


@pytest.mark.slow
def test_a_test_that_cannot_be_made_ends_in_a_clear_message(app, unclustered, house):
    test = app("durations", **TESTED, durations_mode="faithful")
    assert "Predictors from profiles need profiles" in words(test)
    test.button(key="durations_start").click().run()
    workbench = house().workbench
    until(lambda: not workbench.jobs()[0].active)
    test.run()
    assert test.exception.len == 0
    assert "need the jobs' profiles" in " ".join(item.value for item in test.error).replace("\\", "")


@pytest.mark.slow
def test_profiles_are_found_from_here(app, unclustered, house):
    test = app("durations")
    test.button(key="durations_find").click().run()
    workbench = house().workbench
    until(lambda: not workbench.jobs()[0].active)
    test.run()
    assert problems(test) == []
    assert len(test.dataframe[-1].value) > 1
