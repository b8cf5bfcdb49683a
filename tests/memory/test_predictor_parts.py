"""Inputs, encoding, sampling, splits and decisions of the bin predictor, one by one."""

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import ColumnMissing, SettingsError
from workprof.core.units import GB
from workprof.memory.bin_models import (
    MODELS,
    SMOTE_NEIGHBOURS,
    Balanced,
    Calibration,
    PredictorSettings,
    RetrySizes,
    balanced,
    calibrate,
    chain_costs,
    cheapest_bins,
    default_parameters,
    faithful_predictor,
    train_model,
)
from workprof.memory.bin_search import BinSettings
from workprof.memory.model_data import (
    facts_of,
    fit_encoder,
    folds_by_bin,
    predictor_data,
    split_by_bin,
    split_by_use,
)
from workprof.memory.retry import RetrySettings

RUNS = pd.DataFrame(
    {
        "row_id": range(6),
        "user": ["a", "b", "a", None, "b", "a"],
        "requested_memory_bytes": [16e9, 16e9, 16e9, 32e9, 16e9, 48e9],
        "attempt": [1, 1, 1, 2, 1, 3],
        "tag": "one value",
        "peak_memory_bytes": [1e9, 2e9, 3e9, 4e9, 5e9, 6e9],
        "rss": [1e9, 2e9, 3e9, 4e9, 5e9, 6e9],
        "rchar": [1.0, 2, 3, 4, 5, 6],
        "duration_s": [1.0, 2, 3, 4, 5, 6],
        "submit_time_s": [1.0, 2, 3, 4, 5, 6],
        "memory": [1.0, 2, 3, 4, 5, 6],
        "region": list("xyxyxy"),
        "truth_profile": range(6),
    }
)


@pytest.mark.parametrize("headroom", [0.0, 0.05, 0.5, 4.0])
def test_models_learn_the_bins_that_keep_the_headroom_and_are_judged_by_those_that_hold_the_run(headroom):
    random = np.random.default_rng(1)
    use = random.uniform(1, 10, 200) * GB
    jobs = pd.DataFrame({"requested_memory_bytes": 16 * GB, "peak_memory_bytes": use, "duration_s": 60.0})
    data = predictor_data(jobs, PredictorSettings(bins=BinSettings(k=4, headroom=headroom)))
    for rows, share in ((data.learning, headroom), (data.test, 0.0)):
        for used, own in zip(use[rows], data.bins[rows], strict=True):
            holding = [b for b, edge in enumerate(data.edges_bytes) if edge * (1 + 1e-9) >= used * (1 + share)]
            assert own == (holding[0] if holding else 3)


def columns(facts):
    return [fact.column for fact in facts.inputs]


def test_only_what_is_known_before_the_run_unless_ticked():
    assert columns(facts_of(RUNS)) == ["user"]
    facts = facts_of(RUNS, before=("region",), after=("rchar",))
    assert [(f.column, f.known, f.numeric) for f in facts.inputs] == [
        ("user", "before the run", False),
        ("region", "before the run", False),
        ("rchar", "after the run", True),
    ]
    assert list(facts.table.columns) == columns(facts)
    assert {"duration_s", "memory", "submit_time_s"} <= set(facts.unused)
    assert not {"truth_profile", "peak_memory_bytes", "rss", "row_id"} & set(facts.unused)


def test_requests_of_later_attempts_do_not_tell_the_outcome():
    """The request varies here only because it was lifted after failures; then it is no input at all."""
    facts = facts_of(RUNS)
    assert "requested_memory_bytes" not in columns(facts)
    assert "2 run(s) are later attempts" in facts.notes[0]
    varied = RUNS.assign(requested_memory_bytes=[8e9, 16e9, 24e9, 32e9, 16e9, 48e9])
    asked = facts_of(varied).table["requested_memory_bytes"].tolist()
    assert asked == [8e9, 16e9, 24e9, 16e9, 16e9, 16e9]


@pytest.mark.parametrize("name", ["peak_memory_bytes", "rss", "truth_profile", "row_id"])
def test_the_target_is_never_an_input(name):
    with pytest.raises(SettingsError, match=name):
        facts_of(RUNS, after=(name,))
    with pytest.raises(SettingsError, match=name):
        facts_of(RUNS, before=(name,))


def test_refused_inputs():
    with pytest.raises(SettingsError, match="known only after the run"):
        facts_of(RUNS, before=("rchar",))
    with pytest.raises(SettingsError, match="named twice"):
        facts_of(RUNS, before=("region",), after=("region",))
    with pytest.raises(ColumnMissing, match="colour"):
        facts_of(RUNS, before=("colour",))


def test_encoding_pools_rare_values_and_survives_unseen_and_missing_ones():
    seen = pd.DataFrame(
        {"user": ["a"] * 5 + ["b"] * 5 + ["c", None], "requested_memory_bytes": [2.0**i for i in range(11)] + [np.nan]}
    )
    encoder = fit_encoder(seen, facts_of(seen).inputs)
    assert encoder.codes[0].texts == ("a", "b")
    assert encoder.codes[1].logarithm
    known = encoder.encode(seen)
    assert np.isfinite(known).all()
    assert encoder.columns_of == ("user",) * 4 + ("requested_memory_bytes",) * 2
    new = pd.DataFrame({"user": ["never seen", None, "c"], "requested_memory_bytes": [-5.0, np.inf, np.nan]})
    coded = encoder.encode(new)
    assert np.isfinite(coded).all()
    assert coded[0, :4].tolist() == coded[2, :4].tolist() == [0, 0, 1, 0]
    assert coded[1, :4].tolist() == [0, 0, 0, 1]
    assert coded[:, 5].tolist() == [0, 1, 1]


def test_the_recipe_comes_from_the_training_rows_alone():
    table = pd.DataFrame({"user": list("aaabbb"), "input_bytes": [1.0, 2, 3, 4, 5, 6]})
    inputs = facts_of(table).inputs
    alone = fit_encoder(table.iloc[:4], inputs)
    assert alone.codes[0].texts == ("a",)
    assert alone.codes[1].centre == pytest.approx(2.5)


def blobs(counts, seed=0):
    random = np.random.default_rng(seed)
    bins = np.repeat(np.arange(len(counts)), counts)
    return random.normal(size=(len(bins), 2)) + 10 * bins[:, None], bins


@pytest.mark.parametrize("sampling", ["random", "smote"])
def test_sampling_brings_every_bin_up(sampling):
    inputs, bins = blobs([30, 12, 7])
    made = balanced(inputs, bins, sampling, 0)
    assert made.sampling == sampling
    assert np.bincount(made.bins).tolist() == [30, 30, 30]
    assert (made.inputs[: len(bins)] == inputs).all()
    for b in range(3):  # made-up rows stay between rows of their own bin
        own = made.inputs[made.bins == b]
        assert (own >= inputs[bins == b].min(axis=0) - 1e-9).all()
        assert (own <= inputs[bins == b].max(axis=0) + 1e-9).all()


def test_smote_gives_way_where_neighbours_are_missing():
    inputs, bins = blobs([20, SMOTE_NEIGHBOURS])
    assert balanced(inputs, bins, "smote", 0).sampling == "random"
    inputs, bins = blobs([20, SMOTE_NEIGHBOURS + 1])
    assert balanced(inputs, bins, "smote", 0).sampling == "smote"


def test_weights_make_bins_count_alike():
    inputs, bins = blobs([30, 10])
    made = balanced(inputs, bins, "weighted", 0)
    assert np.bincount(made.bins, weights=made.weights).tolist() == pytest.approx([20, 20])
    assert balanced(inputs, np.zeros(40, dtype=np.int64), "smote", 0).sampling == "none"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("counts", [[40, 40], [40, 40, 40], [40, 0, 40]])
def test_models_learn_what_is_plain(model, counts):
    inputs, bins = blobs(counts)
    ready = Balanced(inputs, bins, np.ones(len(bins)), "none")
    made = train_model(model, default_parameters(model), ready, len(counts))
    scores = made.scores(inputs)
    assert scores.shape == (len(bins), len(counts))
    assert (scores.argmax(axis=1) == bins).all()


def test_splits_keep_shares_and_overlap_nowhere():
    bins = np.repeat([0, 1, 2, 3], [100, 20, 2, 1])
    parts = split_by_bin(bins, 0.3, 5)
    assert np.bincount(bins[parts.held_out], minlength=4).tolist() == [30, 6, 1, 0]
    used = np.random.default_rng(0).lognormal(size=97)
    by_use = split_by_use(used, 0.3, 5)
    for split, n in ((parts, len(bins)), (by_use, 97)):
        assert sorted([*split.remaining, *split.held_out]) == list(range(n))
    assert len(by_use.held_out) == 29
    assert abs(np.median(used[by_use.held_out]) - np.median(used)) < 0.2
    folds = folds_by_bin(bins, 5, 0)
    assert np.bincount(folds).tolist() == [25, 25, 25, 24, 24]


def test_chain_costs_by_hand():
    """Edges 2, 4, 8 GB, one hour: from the first bin a run that needs the last one pays 2 + 4 + 8."""
    ladder = RetrySizes(np.array([2.0, 4, 8]) * GB, 8.0 * GB, RetrySettings())
    assert chain_costs(ladder, np.ones(3), 0.0).tolist() == [[2, 6, 14], [4, 4, 12], [8, 8, 8]]
    assert chain_costs(ladder, np.ones(3), 10.0)[0].tolist() == [2, 16, 34]


def test_the_cheapest_bin_weighs_waste_against_failures():
    ladder = RetrySizes(np.array([2.0, 8]) * GB, 8.0 * GB, RetrySettings())
    shares = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    free, dear = (cheapest_bins(shares, chain_costs(ladder, np.ones(2), price)) for price in (0.0, 1000.0))
    assert free.tolist() == [0, 0, 1]  # 0.9 x 2 + 0.1 x 10 < 8, 6 < 8, 9.2 > 8
    assert dear.tolist() == [1, 1, 1]


def test_calibration_finds_the_temperature_and_the_shares():
    random = np.random.default_rng(0)
    true_chance = random.dirichlet([1, 1, 1], 4000)
    bins = np.array([random.choice(3, p=p) for p in true_chance])
    found = calibrate(7 * np.log(true_chance), bins, was_balanced=False)
    assert found.temperature == pytest.approx(7, rel=0.15)
    assert found.probabilities(7 * np.log(true_chance)) == pytest.approx(true_chance, abs=0.05)
    rare = np.repeat([0, 1], [900, 100])
    blind = calibrate(np.zeros((1000, 2)), rare, was_balanced=True)
    assert blind.probabilities(np.zeros((1, 2)))[0] == pytest.approx([0.9, 0.1], abs=0.01)
    assert Calibration(1.0, np.zeros(2)).probabilities(np.array([[1e6, -1e9]]))[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "published"},
        {"models": ()},
        {"models": ("svm", "svm")},
        {"sampling": ("adasyn",)},
        {"penalty": 0.5},
        {"penalty": float("nan")},
        {"trials": -1},
        {"failure_price_gb_h": -1.0},
        {"test_share": 0.9},
        {"seed": -1},
    ],
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingsError):
        PredictorSettings(**wrong)


def test_faithful_settings_are_the_published_ones():
    settings = faithful_predictor("t", 4)
    assert (settings.mode, settings.bins.search, settings.bins.top, settings.bins.weight) == (
        "faithful", "stride", "pinned", "count"
    )  # fmt: skip
