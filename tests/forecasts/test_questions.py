"""The questions on forecasts as the workbench asks them: what has to be there first, and what is left open."""

import pytest

from tests.pages.conftest import SAMPLE
from workprof.core.errors import DatasetUnknown, NotEnoughData, WorkprofError
from workprof.core.settings import from_environment
from workprof.forecasts.durations import EVERYTHING, DurationSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.forecasts.feedback.model import RefitSettings
from workprof.forecasts.forecaster import ExplanationSettings, ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

OTHER = ProfileSettings(min_cluster_size=40)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A home with a part of the sample and nothing computed of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(tmp_path_factory.mktemp("forecasts") / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as opened:
            whole = opened.ingest([SAMPLE])
            opened.sample(whole.hash, "workload", 300, "part")
            opened.sample(whole.hash, "workload", 200, "later", seed=3)
            yield opened


@pytest.mark.parametrize(
    "question", ["forecaster", "classifier_evaluation", "feedback_model", "observed_durations", "global_explanation"]
)
def test_what_rests_on_something_that_is_not_there_does_not_start(bench, question):
    with pytest.raises(WorkprofError):
        getattr(bench, question).start("part")
    assert bench.jobs() == ()


def test_durations_of_all_jobs_rest_on_no_profiles(bench):
    everything = DurationSettings(by=EVERYTHING)
    keys = {bench.observed_durations.key("part", everything, fit=fit) for fit in (None, OTHER)}
    assert len(keys) == 1
    assert len({bench.observed_durations.key("part", fit=fit) for fit in (None, OTHER)}) == 2
    started = bench.observed_durations.start("part", everything)
    assert bench.wait(started.key, 60).state == "done"
    assert bench.observed_durations.cached("part", everything).result.n_rows > 0


def test_the_dataset_that_is_tested_on_is_one_whatever_it_is_called(bench):
    later = bench.dataset("later").hash
    keys = {
        bench.estimate_evaluation.key("part", EstimateEvaluationSettings(tested=name))
        for name in ("later", later, later[:8])
    }
    assert len(keys) == 1
    assert bench.estimate_evaluation.key("part") not in keys
    with pytest.raises(DatasetUnknown):
        bench.estimate_evaluation.key("part", EstimateEvaluationSettings(tested="nothing"))


def test_before_finished_jobs_there_is_nothing_to_refit(bench):
    with pytest.raises(NotEnoughData, match="observe some first"):
        bench.refit.cached("part", RefitSettings(ForecasterSettings(), ""))


@pytest.mark.slow
@pytest.mark.soak
def test_an_explanation_trains_its_forecaster_and_a_refit_is_with_the_jobs_of_today(bench):
    explained = bench.global_explanation("part", ExplanationSettings(n_sampled=20))
    assert explained.n_sampled == 20
    assert bench.forecaster.cached("part").result is not None
    assert bench.global_explanation.cached("part", ExplanationSettings(n_sampled=20)).result is not None
    bench.observe("part", "later")
    today = bench.refit.resolved("part", RefitSettings(ForecasterSettings(), ""))
    assert bench.refit.key("part", today) == bench.refit.key("part", RefitSettings(ForecasterSettings(), ""))
    with pytest.raises(NotEnoughData, match="other finished jobs"):
        bench.refit("part", RefitSettings(ForecasterSettings(), "0" * 32))
