"""The bin predictor on tasks whose truth is planted: what it must find, what it must admit, what it must not see."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.published_memory import u_score_of
from workprof.answers.models import models_answer, models_sentence
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import Packed, pack, to_json, unpack
from workprof.core.settings import from_environment
from workprof.core.units import GB
from workprof.memory.bin_models import MODELS, SAMPLINGS, PredictorSettings, faithful_predictor
from workprof.memory.bin_search import BinSettings
from workprof.memory.model_tables import TableSettings, train_tables
from workprof.memory.models import clearly_cheaper, ranking_of, train_predictors
from workprof.memory.retry import RetrySettings
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

K3 = BinSettings(task="t", k=3)
QUICK = PredictorSettings(bins=K3, models=("svm",), sampling=("none",), trials=0)


def planted(n=160, seed=0, told=True):
    """Return runs whose use is set by their group and input size, which `told` leaves in or mixes up."""
    random = np.random.default_rng(seed)
    group = random.choice(["small", "middle", "large"], n, p=[0.6, 0.3, 0.1])
    base = pd.Series(group).map({"small": 1.0, "middle": 6.0, "large": 30.0}).to_numpy()
    use = base * random.uniform(0.8, 1.0, n) * GB
    shown = group if told else random.permutation(group)
    return pd.DataFrame(
        {
            "task_name": "t",
            "user": random.choice(["ann", "bob", "eve"], n),
            "group": shown,
            "rchar": use * random.uniform(0.99, 1.01, n),
            "requested_memory_bytes": 64.0 * GB,
            "peak_memory_bytes": use,
            "duration_s": random.uniform(1800, 7200, n),
        }
    )


def trained(jobs, settings):
    return train_predictors({"jobs": jobs}, settings)


@pytest.fixture(scope="module")
def told():
    return trained(planted(), PredictorSettings(bins=K3, trials=2))


def test_a_fact_that_decides_the_bin_is_found_by_every_model(told):
    assert [(m.model, m.sampling) for m in told.models] == [(m, s) for m in MODELS for s in SAMPLINGS]
    for made in (*told.models, *told.cheapest):
        assert made.accuracy == 1.0, made.name
        assert made.u_score == 0.0
        assert not made.fell_back
        assert made.replayed_improvement == pytest.approx(told.optimal_improvement)
        assert made.estimated_improvement == pytest.approx(told.optimal_improvement)
    assert told.importance[0].column == "group"
    assert not told.ranks_differ
    assert not told.uses_after_the_run
    assert told.unused == ("rchar", "duration_s")


def test_every_run_is_in_one_part(told):
    assert told.n_train + told.n_validation + told.n_test == 160
    assert told.n_test == 48 == len(told.test_rows) == len(set(told.test_rows.tolist()))
    assert told.bin_runs.sum() == 160


def test_the_record_survives_storage(told):
    packed = pack(told)
    again = unpack(type(told), Packed(packed.document, packed.arrays))
    assert pack(again).document == packed.document
    assert again.models[0].u_rate_interval == told.models[0].u_rate_interval


def test_nothing_to_know_falls_back_to_the_majority_and_says_so():
    found = trained(planted(told=False), PredictorSettings(bins=K3, trials=2))
    majority = int(found.bin_runs.argmax())
    for made in found.models:
        assert made.fell_back, made.name
        assert (made.predicted == majority).all()
    assert any("no better than chance" in note for note in found.notes)
    assert found.importance == ()


@pytest.mark.slow
def test_luck_passes_for_knowledge_as_seldom_as_promised():
    both = replace(QUICK, models=MODELS)
    passed = sum(
        not all(made.fell_back for made in trained(planted(seed=seed, told=False), both).models)
        for seed in range(1, 21)
    )
    assert passed <= 4  # of 20 at 5 %: more than 4 happen once in 400


def test_a_model_that_saves_more_by_chance_is_not_called_better(told):
    """Two test runs of 48 differ: nothing that the best of many models does not find by luck."""
    assert "percentage points better than one bin for every run" in models_sentence(told)
    one_bin = told.constant.charged_each_gb_h.copy()
    lucky = one_bin - np.where(np.arange(len(one_bin)) < 2, 0.5 * one_bin, 0.0)
    best = replace(told.constant, model="svm", charged_each_gb_h=lucky, replayed_improvement=0.9)
    few = replace(told, models=(best,) * 6, cheapest=())
    assert "percentage points less, which may be chance" in models_sentence(few)
    assert not clearly_cheaper(best, told.constant, 6) and clearly_cheaper(told.models[0], told.constant, 12)
    document = json.dumps(to_json(models_answer(told).document))
    assert "charged_each_gb_h" not in document


def test_without_any_fact_the_majority_is_answered():
    bare = planted()[["task_name", "requested_memory_bytes", "peak_memory_bytes", "duration_s"]]
    found = trained(bare, PredictorSettings(bins=K3, trials=2))
    assert all(made.fell_back for made in found.models)
    assert any("nothing that is known before the run" in note for note in found.notes)
    assert found.constant.accuracy == found.models[0].accuracy


def test_identity_and_replay_of_every_model():
    found = trained(planted(told=False), replace(faithful_predictor("t", 3), trials=0))
    for made in (*found.models, *found.cheapest, found.constant):
        assert made.u_score == pytest.approx(u_score_of(made.accuracy, made.u_rate))
        assert made.confusion.sum() == made.n_test == found.n_test
        assert made.replayed_improvement <= found.optimal_improvement + 1
        assert made.failures >= round(made.u_rate * made.n_test)
        assert made.u_rate_interval.low <= made.u_rate <= made.u_rate_interval.high


def test_replay_equals_a_plain_loop():
    """Start at the predicted edge; while it is too small pay for it and go to the next edge, then double."""
    jobs = planted(told=False)
    found = trained(jobs, replace(QUICK, mode="faithful", sampling=("weighted",)))
    made, edges = found.models[0], found.edges_bytes.tolist()
    charged = requested = 0.0
    for row, place in zip(found.test_rows, made.predicted, strict=True):
        used, hours = jobs["peak_memory_bytes"][row], jobs["duration_s"][row] / 3600
        size = edges[place]
        while size < used:
            charged += size * hours
            size = min([e for e in edges if e > size], default=2 * size)
        charged += size * hours
        requested += 64 * GB * hours
    assert made.charged_gb_h == pytest.approx(charged / GB)
    assert made.replayed_improvement == pytest.approx(1 - charged / requested)


def test_cheap_failures_lower_the_charge_and_nothing_else():
    jobs = planted(told=False)
    full = trained(jobs, replace(QUICK, mode="faithful"))
    early = trained(jobs, replace(QUICK, mode="faithful", retry=RetrySettings(time_to_failure=0.1)))
    assert (full.models[0].predicted == early.models[0].predicted).all()
    assert early.models[0].charged_gb_h <= full.models[0].charged_gb_h


def test_a_high_price_of_failures_moves_the_cheapest_bin_up():
    jobs = planted(told=False)
    free, dear = (trained(jobs, replace(QUICK, failure_price_gb_h=price)) for price in (0.0, 1e6))
    assert dear.cheapest[0].failures <= free.cheapest[0].failures
    assert (dear.cheapest_constant.predicted == 2).all()


def test_the_test_runs_are_new_to_edges_inputs_and_models():
    """What is learned must not move when the uses and facts of the test runs do."""
    jobs = planted()
    first = trained(jobs, QUICK)
    assert first.test_rows.tolist() != sorted(range(48))
    changed = jobs.copy()
    place = changed.columns.get_loc("duration_s")
    changed.iloc[first.test_rows, place] = 1e6
    changed.iloc[first.test_rows, changed.columns.get_loc("user")] = "somebody new"
    largest_last = jobs["peak_memory_bytes"].iloc[first.test_rows] * 1.0000001
    changed.loc[first.test_rows, "peak_memory_bytes"] = largest_last
    second = trained(changed, QUICK)
    assert second.test_rows.tolist() == first.test_rows.tolist()
    assert second.edges_bytes.tolist() == first.edges_bytes.tolist()
    assert second.models[0].parameters == first.models[0].parameters
    assert second.models[0].gain_over_chance == first.models[0].gain_over_chance
    assert second.models[0].predicted.tolist() == first.models[0].predicted.tolist()


def test_facts_after_the_run_are_seen_only_where_ticked():
    jobs = planted(told=False)
    blind = trained(jobs, QUICK)
    same = trained(jobs.assign(rchar=0.0), QUICK)
    assert blind.models[0].predicted.tolist() == same.models[0].predicted.tolist()
    ticked = trained(jobs, replace(QUICK, after_the_run=("rchar",)))
    assert ticked.uses_after_the_run
    assert [f.known for f in ticked.inputs if f.column == "rchar"] == ["after the run"]
    assert ticked.models[0].accuracy > 0.95 > blind.models[0].accuracy
    assert any("known only after the run" in note for note in ticked.notes)


def test_one_seed_one_result():
    settings = PredictorSettings(bins=K3, trials=3, sampling=("smote",), seed=7)
    first, second = (trained(planted(), settings) for _ in range(2))
    blank = {"confusion": 0, "predicted": 0, "charged_each_gb_h": 0, "seconds": 0}  # arrays, and the time
    for a, b in zip(first.models, second.models, strict=True):
        assert replace(a, **blank) == replace(b, **blank)
        assert (a.predicted == b.predicted).all()
        assert (a.charged_each_gb_h == b.charged_each_gb_h).all()
    other = trained(planted(), replace(settings, seed=8))
    assert other.test_rows.tolist() != first.test_rows.tolist()


def test_smote_gives_way_and_says_so():
    found = trained(planted(60), replace(QUICK, sampling=("smote",), models=MODELS))
    assert {made.sampling_done for made in found.models} == {"random"}
    assert any("smote was not possible" in note for note in found.notes)


def test_edges_can_be_given():
    bins = BinSettings(task="t", edges_bytes=(40 * GB, 2 * GB, 10 * GB))
    found = trained(planted(), replace(QUICK, bins=bins))
    assert found.edges_bytes.tolist() == [2 * GB, 10 * GB, 40 * GB]
    assert found.models[0].accuracy == 1.0
    with pytest.raises(SettingsError):
        trained(planted(), replace(QUICK, bins=replace(bins, edges_bytes=(-1.0,))))


def test_rankings_that_differ_are_told(told):
    def made(estimated, replayed):
        return replace(told.models[0], estimated_improvement=estimated, replayed_improvement=replayed)

    agreed = ranking_of((made(0.1, 0.2), made(0.3, 0.4), made(0.3, 0.5)))
    assert (agreed.n_pairs, agreed.n_turned) == (2, 0)  # equal estimates contradict nothing
    turned = ranking_of((made(0.1, 0.5), replace(made(0.3, 0.4), sampling="smote"), made(0.2, 0.1)))
    assert (turned.n_pairs, turned.n_turned) == (3, 2)
    assert (turned.best_by_estimate, turned.best_by_replay) == ("xgboost, smote", "xgboost, none")


@pytest.mark.slow
def test_tables_of_any_task():
    told = []
    settings = TableSettings(PredictorSettings(bins=K3, trials=0))
    tables = train_tables({"jobs": planted()}, settings, lambda share, _: told.append(share))
    assert [(row.k, row.model) for row in tables.models] == [(k, m) for k in (2, 3, 4) for m in MODELS]
    assert len(tables.samplings) == 3 * len(MODELS) * len(SAMPLINGS)
    for row in tables.models:
        assert row.u_score == min(s.u_score for s in tables.samplings if (s.k, s.model) == (row.k, row.model))
    assert [row.k for row in tables.binnings] == [2, 3, 4]
    assert tables.best_k_by_replay in (3, 4)  # three kinds of runs: two bins cannot hold them
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    with pytest.raises(SettingsError):
        TableSettings(k=(2, 2))


@pytest.mark.parametrize("mode", ["corrected", pytest.param("faithful", marks=pytest.mark.slow)])
def test_hostile_tables(mode):
    settings = replace(QUICK, mode=mode, models=MODELS, sampling=SAMPLINGS)
    alike = planted(40).assign(peak_memory_bytes=1.0 * GB)
    one = trained(alike, settings)
    assert all(made.accuracy == 1.0 for made in one.models)
    assert any("one bin" in note for note in one.notes)
    holes = planted(40)
    holes.loc[::3, "group"] = None
    holes["instances"] = np.where(np.arange(40) % 5 == 0, np.nan, 1.0)
    holes["requested_memory_bytes"] = np.nan
    holes["duration_s"] = 0.0
    notes = " ".join(trained(holes, settings).notes)
    assert "no run has a request" in notes
    assert "every run time is 0" in notes
    with pytest.raises(NotEnoughData, match="5 usable runs"):
        trained(planted(5), settings)
    with pytest.raises(SettingsError, match="no task"):
        trained(planted(), replace(settings, bins=BinSettings(task="elsewhere")))


def test_odd_settings():
    jobs = planted(60)
    one = trained(jobs, replace(QUICK, bins=BinSettings(task="t", k=1), penalty=1.0))
    assert one.models[0].accuracy == 1.0
    low = trained(jobs, replace(QUICK, bins=BinSettings(edges_bytes=(0.1 * GB, 0.2 * GB))))
    assert low.task == "all runs"
    assert any("use more than the top edge" in note for note in low.notes)
    assert low.models[0].failures > 0
    capped = trained(jobs, replace(QUICK, bins=K3, retry=RetrySettings(cap_bytes=5 * GB)))
    assert capped.models[0].n_never_finished > 0
    assert any("never finish" in note for note in capped.notes)
    some = jobs.assign(requested_memory_bytes=np.where(np.arange(60) < 20, np.nan, 64.0 * GB))
    assert trained(some, QUICK).bin_runs.sum() == 40
    given = replace(QUICK, bins=replace(K3, request_bytes=50 * GB))
    assert trained(some, given).bin_runs.sum() == 60


@pytest.mark.slow
def test_two_lonely_large_runs():
    jobs = planted(40)
    jobs["peak_memory_bytes"] = np.where(np.arange(40) < 2, 50.0, 1.0) * GB
    found = trained(jobs, replace(QUICK, models=MODELS, sampling=SAMPLINGS, bins=BinSettings(task="t", k=4)))
    assert any("instead of 4" in note for note in found.notes)
    assert np.isfinite([made.replayed_improvement for made in found.models]).all()


def test_of_a_large_trace_models_learn_from_runs_of_the_task_that_are_drawn(tmp_path, monkeypatch):
    draw = np.random.default_rng(4)
    table = pd.DataFrame({"job_name": [f"j{n}" for n in range(900)], "task_name": ["sort", "it's"] * 450})
    size = draw.integers(1, 50, 900)
    table = table.assign(duration_s=60.0, requested_memory_bytes=8e9, peak_memory_bytes=size * 1e8, files=size)
    found = {}
    for most in (900, 300, 600):
        monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / str(most)))
        monkeypatch.setattr("workprof.workbench.memory.MOST_USED", most)
        with Workbench(from_environment()) as bench:
            bins = BinSettings(task="it's", k=2)
            settings = PredictorSettings(bins=bins, models=("xgboost",), sampling=("none",), trials=0)
            found[most] = bench.bin_models(bench.ingest(table).hash, settings)
    assert [len(one.test_rows) for one in found.values()] == [135, 90, 135]
    (told,) = [note for note in found[300].notes if "drawn at random" in note]
    assert told == "300 runs of it's were drawn at random; the trace has 900"
    assert found[600].models[0].accuracy == found[900].models[0].accuracy  # all 450 of the task
    assert not [note for note in (*found[600].notes, *found[900].notes) if "drawn" in note]
