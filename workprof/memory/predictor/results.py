"""What a trained predictor says of itself: one record per model, and what the models have in common."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.arrays import Floats, Ints
from workprof.memory.predictor.facts import InputFact
from workprof.memory.predictor.settings import PredictorSettings
from workprof.memory.predictor.waterfall import Waterfall
from workprof.memory.replay.intervals import Interval

LIKELIEST, CHEAPEST = "likeliest", "cheapest"


@dataclass(frozen=True)
class ModelResult:
    """One model on the test runs.

    Attributes:
        model: 'xgboost', 'svm', or 'constant'.
        sampling: asked for.
        sampling_done: what was done; SMOTE gives way to random draws where the smallest bin has too few runs.
        decision: 'likeliest' bin, or 'cheapest' bin (of least expected cost).
        accuracy: share of test runs in their own bin.
        u_score: percent, see `bin_scores`.
        u_rate: share of test runs predicted below their bin.
        u_rate_interval: Wilson, 95 %.
        confusion: (n_bins, n_bins) rows = true bin, columns = predicted; under-estimates left of the diagonal.
        estimated_improvement: the thesis' formula, a share of what one static size costs.
        replayed_improvement: the same share by replay of every test run, failures and all.
        saved_share: 1 - charged / requested over the test runs, by replay.
        failures: failed attempts of the replay.
        n_never_finished: test runs that the replay gave up, at the cap or after the last retry; they are charged for
            their attempts only, so that a saving with such runs is no saving.
        charged_gb_h: of the replay.
        n_test: test runs.
        waterfall: what leads from the requests of the test runs to `charged_gb_h`.
        predicted: (n_test,) bins.
        parameters: tuned.
        gain_over_chance: by how much the u-score is lower than that of the same answers dealt out at random, in
            cross-validation on the runs that were learned from; NaN for a constant.
        fell_back: that gain was not clearly above 0, so the answers are those of a constant.
        seconds: tuning, training and test.
    """

    model: str
    sampling: str
    sampling_done: str
    decision: str
    accuracy: float
    u_score: float
    u_rate: float
    u_rate_interval: Interval
    confusion: Ints
    estimated_improvement: float
    replayed_improvement: float
    saved_share: float
    failures: int
    n_never_finished: int
    charged_gb_h: float
    n_test: int
    waterfall: Waterfall
    predicted: Ints
    parameters: dict[str, float]
    gain_over_chance: float
    fell_back: bool
    seconds: float

    @property
    def name(self) -> str:
        """Model and sampling in words, such as 'xgboost, smote'; the cheapest bin is said."""
        shown = f"{self.model}, {self.sampling}" if self.sampling else self.model
        return f"{shown}, cheapest bin" if self.decision == CHEAPEST else shown


@dataclass(frozen=True)
class Ranking:
    """The models by the thesis' estimate and by the replay.

    Attributes:
        best_by_estimate: name; the first of equals.
        best_by_replay: name; the first of equals.
        n_pairs: pairs of models that both tell apart.
        n_turned: pairs that the two put in opposite order.
    """

    best_by_estimate: str
    best_by_replay: str
    n_pairs: int
    n_turned: int


@dataclass(frozen=True)
class Importance:
    """How much an input matters to the best model by replay: what the u-score loses when its values are mixed up."""

    column: str
    known: str
    u_score_lost: float


@dataclass(frozen=True)
class PredictorResult:
    """Models that tell the bin of a run of one task before it runs.

    Attributes:
        settings: as asked.
        task: name.
        models: every model with every sampling, the likeliest bin taken; in the order asked for.
        cheapest: the same models, the bin of least expected cost taken.
        constant: one bin for every run, the most frequent one of the runs that were learned from.
        cheapest_constant: one bin for every run, the cheapest one.
        edges_bytes: (n_bins,) rising.
        static_bytes: the one size that improvements compare with.
        bin_runs: (n_bins,) runs of each bin.
        optimal_improvement: time-based, if every run came into its own bin.
        n_train, n_validation, n_test: runs of the parts.
        inputs: what the models see; `known` says when; 'after the run' where it was ticked.
        uses_after_the_run: whether any input is known only after the run.
        pooled: facts known before the run whose values are too rare or too equal to learn from.
        unused: columns that are not known to be there before the run.
        test_rows: (n_test,) positions in the table.
        test_bins: (n_test,) true bins.
        ranking: of `models`.
        ranks_differ: whether estimate and replay put any two of them in opposite order.
        importance: of the inputs, the largest first.
        left_out: reason -> rows of the table.
        notes: what a reader must know, in words.
        seconds: of it all.
    """

    settings: PredictorSettings
    task: str
    models: tuple[ModelResult, ...]
    cheapest: tuple[ModelResult, ...]
    constant: ModelResult
    cheapest_constant: ModelResult
    edges_bytes: Floats
    static_bytes: float
    bin_runs: Ints
    optimal_improvement: float
    n_train: int
    n_validation: int
    n_test: int
    inputs: tuple[InputFact, ...]
    uses_after_the_run: bool
    pooled: tuple[str, ...]
    unused: tuple[str, ...]
    test_rows: Ints
    test_bins: Ints
    ranking: Ranking
    ranks_differ: bool
    importance: tuple[Importance, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


def ranking_of(models: tuple[ModelResult, ...]) -> Ranking:
    """Return how the estimate and the replay order models."""
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
