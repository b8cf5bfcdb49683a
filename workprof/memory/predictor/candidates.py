"""One model with one sampling: tuned, checked against chance, trained, asked for the test runs and replayed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.predictor.bin_decision import Ladder, calibrate, chain_costs, cheapest_bins
from workprof.memory.predictor.bin_models import BinModel, Parameters, train_model
from workprof.memory.predictor.bin_scores import bin_scores, estimated_improvement, run_costs
from workprof.memory.predictor.oversampling import balanced
from workprof.memory.predictor.prepared import PredictorData, run_hours
from workprof.memory.predictor.results import CHEAPEST, LIKELIEST, ModelResult
from workprof.memory.predictor.settings import CORRECTED, NONE, PredictorSettings
from workprof.memory.predictor.split import folds_by_bin
from workprof.memory.predictor.tuning import Recipe, scores_of, tuned_parameters
from workprof.memory.predictor.waterfall import Started, waterfall_of
from workprof.memory.retry import Demand, try_sizes
from workprof.units import GB

FOLDS = 5
CONSTANT = "constant"

LUCK = 0.05
"""Of tasks without any knowledge: the share in which some model may pass for knowing something."""


@dataclass(frozen=True)
class Trained:
    """A model after training: its answers for the test runs by both rules, and the model itself.

    Attributes:
        likeliest: the likeliest bin taken.
        cheapest: the bin of least expected cost taken.
        model: trained on all learning rows; None where it gave way to the constant.
    """

    likeliest: ModelResult
    cheapest: ModelResult
    model: BinModel | None


def majority_bin(data: PredictorData) -> int:
    """Return the bin of most learning runs; the smallest of equals."""
    return int(np.bincount(data.learning_rows.bins).argmax())


def cheapest_bin(data: PredictorData, settings: PredictorSettings) -> int:
    """Return the bin that costs the learning runs least when all of them get it."""
    counts = np.bincount(data.learning_rows.bins, minlength=len(data.edges_bytes))
    return int(cheapest_bins((counts / counts.sum())[None], _costs(data, settings))[0])


def constant_results(data: PredictorData, settings: PredictorSettings) -> tuple[ModelResult, ModelResult]:
    """Return how well one bin for every run does: the most frequent, and the cheapest."""
    found = [
        replace(_result(data, settings, np.full(len(data.test), b, dtype=np.int64)), model=CONSTANT, decision=decision)
        for b, decision in ((majority_bin(data), LIKELIEST), (cheapest_bin(data, settings), CHEAPEST))
    ]
    return found[0], found[1]


def trained(data: PredictorData, settings: PredictorSettings, recipe: Recipe, tell: Callable[[float], None]) -> Trained:
    """Return one model's results.

    Parameters are tuned on the validation part. Then the model is compared with chance by cross-validation on training
    and validation runs, with the parameters found: in corrected mode it gives way to the constants unless its u-score
    is clearly lower than that of the same answers dealt out at random. The model that answers is trained on both parts.
    """
    started = time.perf_counter()
    rows, inner = data.learning_rows, data.inner
    parameters = tuned_parameters(recipe, rows.take(inner.kept), rows.take(inner.held_out), tell)
    held_out = _held_out_scores(data, recipe, parameters)
    gain, error = _gain(held_out.argmax(axis=1), rows.bins, recipe)
    fell_back = settings.mode == CORRECTED and not gain > _clearly(settings) * error
    ready = balanced(rows.inputs, rows.bins, recipe.sampling, recipe.seed)
    model = train_model(recipe.model, parameters, ready, recipe.n_bins)
    likeliest, cheapest = _answers(data, settings, model.scores(data.test_inputs), held_out, ready.sampling != NONE)
    if fell_back:
        likeliest = np.full(len(data.test), majority_bin(data), dtype=np.int64)
        cheapest = np.full(len(data.test), cheapest_bin(data, settings), dtype=np.int64)
    shared = replace(
        _result(data, settings, likeliest),
        model=recipe.model,
        sampling=recipe.sampling,
        sampling_done=ready.sampling,
        parameters={name: float(value) for name, value in vars(parameters).items()},
        gain_over_chance=gain,
        fell_back=fell_back,
        seconds=time.perf_counter() - started,
    )
    other = _result(data, settings, cheapest)
    kept = ("model", "sampling", "sampling_done", "parameters", "gain_over_chance", "fell_back", "seconds")
    priced = replace(other, decision=CHEAPEST, **{name: getattr(shared, name) for name in kept})
    return Trained(shared, priced, None if fell_back else model)


def _held_out_scores(data: PredictorData, recipe: Recipe, parameters: Parameters) -> Floats:
    """Return (n_learning, n_bins) scores of each learning run by a model that did not see it."""
    rows = data.learning_rows
    folds = folds_by_bin(rows.bins, FOLDS, recipe.seed)
    out = np.zeros((len(rows), recipe.n_bins))
    for fold in range(FOLDS):
        asked = np.flatnonzero(folds == fold)
        if len(asked):
            training = rows.take(np.flatnonzero(folds != fold))
            out[asked] = scores_of(recipe, parameters, training, rows.inputs[asked])
    return out


def _clearly(settings: PredictorSettings) -> float:
    """Return the standard errors above chance that count as knowledge, for as many models as are tried (Bonferroni)."""
    return NormalDist().inv_cdf(1 - LUCK / (len(settings.models) * len(settings.sampling)))


def _gain(said: Ints, true: Ints, recipe: Recipe) -> tuple[float, float]:
    """Return by how much the u-score is below that of the same answers dealt out at random, and its standard error.

    Chance keeps how often each bin is answered, so that neither caution nor the penalty looks like knowledge.
    """
    shares = np.bincount(said, minlength=recipe.n_bins) / len(said)
    chance = sum(
        share * run_costs(true, np.full(len(true), b), recipe.penalty) for b, share in enumerate(shares.tolist())
    )
    gains = 100 * (chance - run_costs(true, said, recipe.penalty))
    return float(gains.mean()), float(gains.std(ddof=1) / math.sqrt(len(gains)))


def _answers(
    data: PredictorData, settings: PredictorSettings, scores: Floats, held_out: Floats, was_balanced: bool
) -> tuple[Ints, Ints]:
    """Return (n_test,) the likeliest bins, and those of least expected cost."""
    rows = data.learning_rows
    calibration = calibrate(held_out, rows.bins, was_balanced=was_balanced)
    likeliest = scores.argmax(axis=1).astype(np.int64)
    return likeliest, cheapest_bins(calibration.probabilities(scores), _costs(data, settings))


def _costs(data: PredictorData, settings: PredictorSettings) -> Floats:
    return chain_costs(ladder_of(data, settings), _expected_hours(data), settings.failure_price_gb_h)


def _expected_hours(data: PredictorData) -> Floats:
    """Return (n_bins,) mean hours of the learning runs of each bin; of all of them for a bin without one."""
    hours, true = run_hours(data.task.runs)[data.learning], data.learning_rows.bins
    n_bins = len(data.edges_bytes)
    counts = np.bincount(true, minlength=n_bins)
    sums = np.bincount(true, weights=hours, minlength=n_bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), hours.mean())


def ladder_of(data: PredictorData, settings: PredictorSettings) -> Ladder:
    """Return the sizes that failed runs of the task climb."""
    return Ladder(data.edges_bytes, float(data.task.runs.used_bytes[data.learning].max()), settings.retry)


def _result(data: PredictorData, settings: PredictorSettings, said: Ints) -> ModelResult:
    """Return the scores and the replay of answers for the test runs, yet without a name."""
    scores = bin_scores(data.bins[data.test], said, len(data.edges_bytes), settings.penalty)
    runs, hours = data.task.runs.take(data.test), run_hours(data.task.runs)[data.test]
    demand = Demand(runs.used_bytes, hours)
    replay = try_sizes(demand, ladder_of(data, settings).sizes(said), settings.retry)
    charged = float(replay.charged_gb_h.sum())
    requested = np.nan_to_num(runs.requested_bytes, nan=data.task.bins.request_bytes)
    started = Started(demand, requested, data.bins[data.test], replay)
    return ModelResult(
        model="",
        sampling="",
        sampling_done="",
        decision=LIKELIEST,
        accuracy=scores.accuracy,
        u_score=scores.u_score,
        u_rate=scores.u_rate,
        u_rate_interval=scores.u_rate_interval,
        confusion=scores.confusion,
        estimated_improvement=estimated_improvement(data.optimal_improvement, scores.accuracy, scores.u_rate),
        replayed_improvement=_saved(charged, data.task.static_bytes / GB * float(hours.sum())),
        saved_share=_saved(charged, float((requested / GB * hours).sum())),
        failures=int(replay.failures.sum()),
        n_never_finished=replay.n_never_fit + replay.n_given_up,
        charged_gb_h=charged,
        n_test=scores.n,
        waterfall=waterfall_of(started, data.edges_bytes, data.task.bins, settings.retry),
        predicted=said,
        parameters={},
        gain_over_chance=float("nan"),
        fell_back=False,
        seconds=0.0,
    )


def _saved(charged: float, before: float) -> float:
    return 1.0 - charged / before if before > 0 else float("nan")
