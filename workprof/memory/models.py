"""Models that predict a run's bin before it runs: trained, replayed on runs they never saw."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval
from workprof.core.units import GB
from workprof.memory.bin_models import (
    CORRECTED,
    NONE,
    BinModel,
    Parameters,
    PredictorSettings,
    Recipe,
    RetrySizes,
    balanced,
    bin_scores,
    calibrate,
    chain_costs,
    cheapest_bins,
    estimated_improvement,
    run_costs,
    scores_of,
    train_model,
    tuned_parameters,
)
from workprof.memory.bin_search import PINNED, BinSettings
from workprof.memory.facts import AFTER
from workprof.memory.model_data import InputFact, PredictorData, folds_by_bin, predictor_data, run_hours
from workprof.memory.retry import Demand, Outcome, RetrySettings, try_sizes
from workprof.memory.usage import ALL_RUNS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Waterfall:
    """What every step adds to the GB·h of the test runs; the five figures but `used_gb_h` add up to `planned_gb_h`."""

    now_gb_h: float  # what the runs ask for
    bins_gb_h: float  # the change if every run came into its own bin and the bins had no headroom; below 0 = saved
    margin_gb_h: float  # what the headroom in the edges adds to that
    model_gb_h: float  # what runs hold beyond their own bin that start in too large a one
    # what runs that fail at first are charged beyond their own bin: failed attempts, and what they are lifted to. Those
    # told too small a bin are among them, and those above the top edge.
    retries_gb_h: float
    planned_gb_h: float  # charged in the replay
    used_gb_h: float  # what the runs use: no plan can be charged less
    n_too_large: int  # runs that start in too large a bin and hold it
    n_failed: int  # runs that fail at first
    n_unfinished: int  # of them, runs that never finish; they are charged for their attempts only


@dataclass(frozen=True)
class Started:
    """The test runs and what became of them."""

    demand: Demand  # what they use, and their hours
    requested_bytes: Floats  # (n_test,) what they ask for
    own_bins: Ints  # (n_test,) their true bins; the last one for runs above the top edge
    outcome: Outcome  # of the replay


def waterfall_of(started: Started, edges_bytes: Floats, bins: BinSettings, retry: RetrySettings) -> Waterfall:
    """What leads from requests to the replayed charge of the test runs; retries' floor and cap hold for all sizes.

    Source: ours: the thesis gives the optimal, the estimated and no replayed saving. A run above the top edge counts
    what it uses as its own bin's size, and so does one that only the headroom of the top edge holds.
    """
    used, hours, outcome = started.demand.used_bytes, started.demand.hours, started.outcome
    cap = np.inf if retry.cap_bytes is None else retry.cap_bytes
    own = np.maximum(used, np.clip(edges_bytes, retry.floor_bytes, cap)[started.own_bins])
    ideal = np.minimum(own, np.maximum(used, bare_edges(edges_bytes, bins)[started.own_bins]))
    failed, hours_per_gb = outcome.failures > 0, hours / GB
    held, lifted = outcome.final_bytes - own, outcome.charged_gb_h - own * hours_per_gb  # held: NaN where unfinished
    return Waterfall(
        now_gb_h=float((started.requested_bytes * hours_per_gb).sum()),
        bins_gb_h=float(((ideal - started.requested_bytes) * hours_per_gb).sum()),
        margin_gb_h=float(((own - ideal) * hours_per_gb).sum()),
        model_gb_h=float((held * hours_per_gb)[~failed].sum()),
        retries_gb_h=float(lifted[failed].sum()),
        planned_gb_h=float(outcome.charged_gb_h.sum()),
        used_gb_h=float((used * hours_per_gb).sum()),
        n_too_large=int((held[~failed] > 0).sum()),
        n_failed=int(failed.sum()),
        n_unfinished=int(np.isnan(outcome.final_bytes).sum()),
    )


def bare_edges(edges_bytes: Floats, bins: BinSettings) -> Floats:
    """(n_bins,) edges without the headroom in them; given edges have none, and a pinned top has none."""
    if bins.edges_bytes:
        return edges_bytes
    bare = edges_bytes / (1.0 + bins.headroom)
    if bins.top == PINNED:
        bare[-1] = edges_bytes[-1]
    return bare


LIKELIEST, CHEAPEST = "likeliest", "cheapest"


CHANCE = 0.05
"""Below it, the best model is called better than one bin for every run."""


@dataclass(frozen=True)
class ModelResult:
    """One model on the test runs."""

    model: str  # 'xgboost', 'svm', or 'constant'
    sampling: str  # requested
    sampling_done: str  # what was done; SMOTE gives way to random draws where the smallest bin has too few runs
    decision: str  # 'likeliest' bin, or 'cheapest' bin (of least expected cost)
    accuracy: float  # share of test runs in their own bin
    u_score: float  # percent, see `bin_scores`
    u_rate: float  # share of test runs predicted below their bin
    u_rate_interval: Interval  # Wilson, 95 %
    confusion: Ints  # (n_bins, n_bins) rows = true bin, columns = predicted; under-estimates left of the diagonal
    estimated_improvement: float  # the thesis' formula, a share of what one static size costs
    replayed_improvement: float  # the same share by replay of every test run, failures and all
    saved_share: float  # 1 - charged / requested over the test runs, by replay
    failures: int  # failed attempts of the replay
    # test runs that the replay gave up, at the cap or after the last retry; they are charged for their attempts only,
    # so that a saving with such runs is no saving
    n_never_finished: int
    charged_gb_h: float  # of the replay
    charged_each_gb_h: Floats  # (n_test,) of it, by run
    n_test: int  # test runs
    waterfall: Waterfall  # what leads from the requests of the test runs to `charged_gb_h`
    predicted: Ints  # (n_test,) bins
    parameters: dict[str, float]  # tuned
    # by how much the u-score is lower than that of the same answers dealt out at random, in cross-validation on the
    # runs that were learned from; NaN for a constant
    gain_over_chance: float
    fell_back: bool  # that gain was not clearly above 0, so the answers are those of a constant
    seconds: float  # tuning, training and test

    @property
    def name(self) -> str:
        """Model and sampling in words, such as 'xgboost, smote'; the cheapest bin is said."""
        shown = f"{self.model}, {self.sampling}" if self.sampling else self.model
        return f"{shown}, cheapest bin" if self.decision == CHEAPEST else shown


@dataclass(frozen=True)
class Ranking:
    """The models by the thesis' estimate and by the replay."""

    best_by_estimate: str  # name; the first of equals
    best_by_replay: str  # name; the first of equals
    n_pairs: int  # pairs of models that both tell apart
    n_turned: int  # pairs that the two put in opposite order


@dataclass(frozen=True)
class Importance:
    """How much an input matters to the best model by replay: what the u-score loses when its values are mixed up."""

    column: str
    known: str
    u_score_lost: float


@dataclass(frozen=True, repr=False)
class PredictorResult(Shown):
    """Models that tell the bin of a run of one task before it runs."""

    settings: PredictorSettings
    task: str
    models: tuple[ModelResult, ...]  # every model with every sampling, the likeliest bin taken; in the order requested
    cheapest: tuple[ModelResult, ...]  # the same models, the bin of least expected cost taken
    constant: ModelResult  # one bin for every run, the most frequent one of the runs that were learned from
    cheapest_constant: ModelResult  # one bin for every run, the cheapest one
    edges_bytes: Floats  # (n_bins,) rising
    static_bytes: float  # the one size that improvements compare with
    bin_runs: Ints  # (n_bins,) runs of each bin
    optimal_improvement: float  # time-based, if every run came into its own bin
    n_train: int  # and `n_validation`, `n_test`: runs of the parts
    n_validation: int
    n_test: int
    inputs: tuple[InputFact, ...]  # what the models see; `known` says when; 'after the run' where it was ticked
    uses_after_the_run: bool  # whether any input is known only after the run
    pooled: tuple[str, ...]  # facts known before the run whose values are too rare or too equal to learn from
    unused: tuple[str, ...]  # columns that are not known to be there before the run
    test_rows: Ints  # (n_test,) positions in the table
    test_bins: Ints  # (n_test,) true bins
    ranking: Ranking  # of `models`
    ranks_differ: bool  # whether estimate and replay put any two of them in opposite order
    importance: tuple[Importance, ...]  # of the inputs, the largest first
    left_out: dict[str, int]  # reason -> rows of the table
    notes: tuple[str, ...]  # what a reader must know, in words
    seconds: float  # of it all


def ranking_of(models: tuple[ModelResult, ...]) -> Ranking:
    """How the estimate and the replay order models."""
    pairs = [
        (a.estimated_improvement - b.estimated_improvement) * (a.replayed_improvement - b.replayed_improvement)
        for i, a in enumerate(models)
        for b in models[:i]
    ]
    return Ranking(
        best_by_estimate=max(models, key=lambda m: m.estimated_improvement).name,
        best_by_replay=max(models, key=lambda m: m.replayed_improvement).name,
        n_pairs=sum(product != 0 for product in pairs),
        n_turned=sum(product < 0 for product in pairs),
    )


FOLDS = 5
CONSTANT = "constant"

LUCK = 0.05
"""Of tasks without any knowledge: the share in which some model may pass for knowing something."""


@dataclass(frozen=True)
class Trained:
    """A model after training: its answers for the test runs by both rules, and the model itself."""

    likeliest: ModelResult  # the likeliest bin taken
    cheapest: ModelResult  # the bin of least expected cost taken
    model: BinModel | None  # trained on all learning rows; None where it gave way to the constant


def majority_bin(data: PredictorData) -> int:
    """The bin of most learning runs; the smallest of equals."""
    return int(np.bincount(data.learning_rows.bins).argmax())


def cheapest_bin(data: PredictorData, settings: PredictorSettings) -> int:
    """The bin that costs the learning runs least when all of them get it."""
    counts = np.bincount(data.learning_rows.bins, minlength=len(data.edges_bytes))
    return int(cheapest_bins((counts / counts.sum())[None], _costs(data, settings))[0])


def constant_results(data: PredictorData, settings: PredictorSettings) -> tuple[ModelResult, ModelResult]:
    """How well one bin for every run does: the most frequent, and the cheapest."""
    result = [
        replace(_result(data, settings, np.full(len(data.test), b, dtype=np.int64)), model=CONSTANT, decision=decision)
        for b, decision in ((majority_bin(data), LIKELIEST), (cheapest_bin(data, settings), CHEAPEST))
    ]
    return result[0], result[1]


def trained(
    data: PredictorData, settings: PredictorSettings, recipe: Recipe, report: Callable[[float], None]
) -> Trained:
    """One model's results.

    Parameters are tuned on the validation part. Then the model is compared with chance by cross-validation on training
    and validation runs, with the parameters found: in corrected mode it gives way to the constants unless its u-score
    is clearly lower than that of the same answers dealt out at random. The model that answers is trained on both parts.
    """
    started = time.perf_counter()
    rows, inner = data.learning_rows, data.inner
    parameters = tuned_parameters(recipe, rows.take(inner.remaining), rows.take(inner.held_out), report)
    held_out = _held_out_scores(data, recipe, parameters)
    gain, error = _gain(held_out.argmax(axis=1), rows.bins, recipe)
    fell_back = settings.mode == CORRECTED and not gain > _clearly(settings) * error
    ready = balanced(rows.inputs, rows.bins, recipe.sampling, recipe.seed)
    model = train_model(recipe.model, parameters, ready, recipe.n_bins)
    likeliest, cheapest = _predictions(data, settings, model.scores(data.test_inputs), held_out, ready.sampling != NONE)
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
    shared_fields = ("model", "sampling", "sampling_done", "parameters", "gain_over_chance", "fell_back", "seconds")
    priced = replace(other, decision=CHEAPEST, **{name: getattr(shared, name) for name in shared_fields})
    return Trained(shared, priced, None if fell_back else model)


def _held_out_scores(data: PredictorData, recipe: Recipe, parameters: Parameters) -> Floats:
    """(n_learning, n_bins) scores of each learning run by a model that did not see it."""
    rows = data.learning_rows
    folds = folds_by_bin(rows.bins, FOLDS, recipe.seed)
    out = np.zeros((len(rows), recipe.n_bins))
    for fold in range(FOLDS):
        test = np.flatnonzero(folds == fold)
        if len(test):
            training = rows.take(np.flatnonzero(folds != fold))
            out[test] = scores_of(recipe, parameters, training, rows.inputs[test])
    return out


def _clearly(settings: PredictorSettings) -> float:
    """The standard errors above chance that count as knowledge, for as many models as are tried (Bonferroni)."""
    return NormalDist().inv_cdf(1 - LUCK / (len(settings.models) * len(settings.sampling)))


def _gain(predicted: Ints, true: Ints, recipe: Recipe) -> tuple[float, float]:
    """By how much the u-score is below that of the same answers dealt out at random, and its standard error.

    Chance keeps how often each bin is answered, so that neither caution nor the penalty looks like knowledge.
    """
    shares = np.bincount(predicted, minlength=recipe.n_bins) / len(predicted)
    chance = sum(
        share * run_costs(true, np.full(len(true), b), recipe.penalty) for b, share in enumerate(shares.tolist())
    )
    gains = 100 * (chance - run_costs(true, predicted, recipe.penalty))
    return float(gains.mean()), float(gains.std(ddof=1) / math.sqrt(len(gains)))


def _predictions(
    data: PredictorData, settings: PredictorSettings, scores: Floats, held_out: Floats, was_balanced: bool
) -> tuple[Ints, Ints]:
    """(n_test,) the likeliest bins, and those of least expected cost."""
    rows = data.learning_rows
    calibration = calibrate(held_out, rows.bins, was_balanced=was_balanced)
    likeliest = scores.argmax(axis=1).astype(np.int64)
    return likeliest, cheapest_bins(calibration.probabilities(scores), _costs(data, settings))


def _costs(data: PredictorData, settings: PredictorSettings) -> Floats:
    return chain_costs(retry_sizes_of(data, settings), _expected_hours(data), settings.failure_price_gb_h)


def _expected_hours(data: PredictorData) -> Floats:
    """(n_bins,) mean hours of the learning runs of each bin; of all of them for a bin without one."""
    hours, true = run_hours(data.task.runs)[data.learning], data.learning_rows.bins
    n_bins = len(data.edges_bytes)
    counts = np.bincount(true, minlength=n_bins)
    sums = np.bincount(true, weights=hours, minlength=n_bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), hours.mean())


def retry_sizes_of(data: PredictorData, settings: PredictorSettings) -> RetrySizes:
    """The sizes that failed runs of the task climb."""
    return RetrySizes(data.edges_bytes, float(data.task.runs.used_bytes[data.learning].max()), settings.retry)


def _result(data: PredictorData, settings: PredictorSettings, predicted: Ints) -> ModelResult:
    """The scores and the replay of answers for the test runs, yet without a name."""
    scores = bin_scores(data.bins[data.test], predicted, len(data.edges_bytes), settings.penalty)
    runs, hours = data.task.runs.take(data.test), run_hours(data.task.runs)[data.test]
    demand = Demand(runs.used_bytes, hours)
    replay = try_sizes(demand, retry_sizes_of(data, settings).sizes(predicted), settings.retry)
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
        charged_each_gb_h=replay.charged_gb_h,
        n_test=scores.n,
        waterfall=waterfall_of(started, data.edges_bytes, data.task.bins, settings.retry),
        predicted=predicted,
        parameters={},
        gain_over_chance=float("nan"),
        fell_back=False,
        seconds=0.0,
    )


def clearly_cheaper(best: ModelResult, other: ModelResult, n_models: int) -> bool:
    """Whether the best of so many models holds less than another, run by run, beyond chance and beyond the choice.

    A paired t test on the test runs, its level shared by the models that the best was chosen of (Bonferroni).
    """
    from scipy.stats import ttest_1samp  # noqa: PLC0415  heavy

    less = other.charged_each_gb_h - best.charged_each_gb_h
    if not np.ptp(less) > 0:
        return bool(less.mean() > 0)
    return bool(ttest_1samp(less, 0.0, alternative="greater").pvalue * n_models < CHANCE)


def _saved(charged: float, before: float) -> float:
    return 1.0 - charged / before if before > 0 else float("nan")


MIXINGS = 5
"""Times that an input's values are mixed up to see how much it matters."""

FEW_RUNS = 34
"""Below it a task has too few runs to be sized on (the published harness' own limit)."""


def train_predictors(
    frames: Mapping[str, pd.DataFrame], settings: PredictorSettings, progress: Progress = silent
) -> PredictorResult:
    """Models that tell the bin of a run before it runs, tried on runs that neither they nor the edges saw.

    `frames["jobs"]` has every column that the trace has, see `runs_of` and `facts_of`.

    Raises:
        SettingsError: for a task or an input that cannot be.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: with fewer than 10 usable runs.

    Source: After the load-aware provisioning thesis. In corrected mode ours differs in that the edges do not see the
    test runs, a model that is no better than chance gives way to a constant, and the replay ranks.
    """
    started = time.perf_counter()
    progress(0.0, "Putting the runs into bins")
    data = predictor_data(frames["jobs"], settings)
    made = _all_models(data, settings, progress)
    progress(1.0, "Comparing the models")
    return replace(_collected(data, settings, made), seconds=time.perf_counter() - started)


def _collected(data: PredictorData, settings: PredictorSettings, made: list[Trained]) -> PredictorResult:
    """The result of all models, its seconds yet to come."""
    models = tuple(each.likeliest for each in made)
    ranking, constants = ranking_of(models), constant_results(data, settings)
    inputs = tuple(fact for fact in data.facts.inputs if fact.column in data.encoder.columns_of)
    return PredictorResult(
        settings=settings,
        task=settings.bins.task or ALL_RUNS,
        models=models,
        cheapest=tuple(each.cheapest for each in made),
        constant=constants[0],
        cheapest_constant=constants[1],
        edges_bytes=data.edges_bytes,
        static_bytes=data.task.static_bytes,
        bin_runs=np.bincount(data.bins, minlength=len(data.edges_bytes)).astype(np.int64),
        optimal_improvement=data.optimal_improvement,
        n_train=len(data.inner.remaining),
        n_validation=len(data.inner.held_out),
        n_test=len(data.test),
        inputs=inputs,
        uses_after_the_run=any(fact.known == AFTER for fact in inputs),
        pooled=tuple(fact.column for fact in data.facts.inputs if fact not in inputs),
        unused=data.facts.unused,
        test_rows=data.task.runs.rows[data.test],
        test_bins=data.bins[data.test],
        ranking=ranking,
        ranks_differ=ranking.n_turned > 0,
        importance=_importance(data, settings, made),
        left_out=dict(data.task.runs.left_out),
        notes=(*data.notes, *_notes(data, models), *_ranking_notes(ranking)),
        seconds=0.0,
    )


def _all_models(data: PredictorData, settings: PredictorSettings, progress: Progress) -> list[Trained]:
    pairs = [(model, sampling) for model in settings.models for sampling in settings.sampling]
    made = []
    for place, (model, sampling) in enumerate(pairs):

        def report(share: float, place: int = place, name: str = f"{model}, {sampling}") -> None:
            progress((place + share) / len(pairs), f"Training {name}")

        report(0.0)
        recipe = Recipe(model, sampling, len(data.edges_bytes), settings.penalty, settings.trials, settings.seed)
        made.append(trained(data, settings, recipe, report))
    return made


def _importance(data: PredictorData, settings: PredictorSettings, made: list[Trained]) -> tuple[Importance, ...]:
    """What the u-score of the best model by replay loses on the test runs without each input."""
    standing = [(each.likeliest.replayed_improvement, each.model) for each in made if each.model is not None]
    if not standing or not data.encoder.columns_of:
        return ()
    model = max(standing, key=lambda pair: pair[0])[1]
    true, random = data.bins[data.test], np.random.default_rng(settings.seed)
    columns, known = np.array(data.encoder.columns_of), {fact.column: fact.known for fact in data.facts.inputs}
    before = run_costs(true, model.scores(data.test_inputs).argmax(axis=1), settings.penalty).mean()
    result = []
    for name in dict.fromkeys(data.encoder.columns_of):
        lost = []
        for _ in range(MIXINGS):
            mixed, own = data.test_inputs.copy(), columns == name
            mixed[:, own] = mixed[random.permutation(len(mixed))][:, own]
            predicted = model.scores(mixed).argmax(axis=1)
            lost.append(run_costs(true, predicted, settings.penalty).mean() - before)
        result.append(Importance(name, known[name], float(100 * np.mean(lost))))
    return tuple(sorted(result, key=lambda each: -each.u_score_lost))


def _notes(data: PredictorData, models: tuple[ModelResult, ...]) -> tuple[str, ...]:
    notes, n_runs = [], len(data.bins)
    if n_runs < FEW_RUNS:
        notes.append(f"too few runs: {n_runs}, and {FEW_RUNS} are the least that sizes should rest on")
    if len(np.unique(data.bins)) == 1:
        notes.append("every run belongs into one bin, so there is nothing to learn")
    elif not data.encoder.columns_of:
        notes.append("nothing that is known before the run separates its runs; map or tick more columns")
    unfinished = max(made.n_never_finished for made in models)
    if unfinished:
        notes.append(f"up to {unfinished} test run(s) never finish under the cap and the retries allowed")
    after = [fact.column for fact in data.facts.inputs if fact.known == AFTER]
    if after:
        notes.append(f"{', '.join(after)}: known only after the run, so nobody has these scores beforehand")
    fell = [model.name for model in models if model.fell_back]
    if fell:
        notes.append(
            f"no better than chance, so the most frequent bin, {majority_bin(data) + 1}, is answered: {'; '.join(fell)}"
        )
    changed = [m.sampling for m in models if m.sampling_done != m.sampling]
    if changed:
        done = {m.sampling: m.sampling_done for m in models}
        notes += [f"{s} was not possible in a bin this small; done instead: {done[s]}" for s in dict.fromkeys(changed)]
    return tuple(notes)


def _ranking_notes(ranking: Ranking) -> tuple[str, ...]:
    if not ranking.n_turned:
        return ()
    best = f"best by estimate: {ranking.best_by_estimate}; best by replay: {ranking.best_by_replay}"
    return (f"estimate and replay turn {ranking.n_turned} of {ranking.n_pairs} pairs of models round ({best})",)
