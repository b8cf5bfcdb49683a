"""Models of a run's bin: settings, scores, rare bins, boosting and support vectors, the search for parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.extras import needed
from workprof.core.fields import Setting, settings
from workprof.core.stats import Interval, wilson
from workprof.memory.bin_search import BinSettings, faithful_bins
from workprof.memory.retry import Demand, RetrySettings, Sizes, lifted_by, try_sizes

PENALTY = 10.0
"""What an under-estimate weighs in the thesis' u-score when an over-estimate weighs 1."""


@dataclass(frozen=True)
class BinScores:
    """Scores of predicted bins."""

    n: int  # runs that were predicted
    accuracy: float  # share of runs in their own bin
    over_rate: float  # share predicted above their bin
    u_rate: float  # share predicted below their bin; these runs fail at first
    u_score: float  # 100 (over + penalty x under) / n; 0 is perfect, lower is better
    u_rate_interval: Interval  # Wilson, 95 %
    # (n_bins, n_bins) runs; rows = true bin, columns = predicted; under-estimates stand left of the diagonal
    confusion: Ints


def bin_scores(true: Ints, predicted: Ints, n_bins: int, penalty: float = PENALTY) -> BinScores:
    """The scores of predicted bins (n,); `penalty` is the weight of an under-estimate.

    Raises NotEnoughData without a run.

    Source: The load-aware provisioning thesis, section 5; ours differs in nothing.
    """
    n = len(true)
    if not n:
        raise NotEnoughData("no run is left to be scored; give more runs or a larger test share")
    confusion = np.bincount(true * n_bins + predicted, minlength=n_bins**2).reshape(n_bins, n_bins).astype(np.int64)
    under, over = int(np.tril(confusion, -1).sum()), int(np.triu(confusion, 1).sum())
    return BinScores(
        n=n,
        accuracy=(n - under - over) / n,
        over_rate=over / n,
        u_rate=under / n,
        u_score=100 * (over + penalty * under) / n,
        u_rate_interval=wilson(under, n),
        confusion=confusion,
    )


def run_costs(true: Ints, predicted: Ints, penalty: float = PENALTY) -> Floats:
    """(n,) 0, 1 (above its bin) or the penalty (below it) of each run; 100 x their mean is the u-score."""
    return np.where(predicted < true, penalty, np.where(predicted > true, 1.0, 0.0))


def estimated_improvement(optimal_time_based: float, accuracy: float, u_rate: float) -> float:
    """The thesis' estimate of the saving as a share: optimal x accuracy - u_rate.

    It knows neither how far off a prediction is nor what a failed attempt costs; the replay does.
    """
    return optimal_time_based * accuracy - u_rate


CORRECTED, FAITHFUL = "corrected", "faithful"

XGBOOST, SVM = "xgboost", "svm"
MODELS = (XGBOOST, SVM)

NONE, RANDOM, SMOTE, WEIGHTED = "none", "random", "smote", "weighted"
SAMPLINGS = (NONE, RANDOM, SMOTE, WEIGHTED)

MOST_TRIALS = 1000
MOST_PENALTY = 1000.0


@settings
class PredictorSettings:
    """Which models of a run's bin are trained, on what, and how they are judged."""

    bins: BinSettings = field(default_factory=BinSettings)
    models: Annotated[
        tuple[str, ...], Setting("Models A,B.", choices=MODELS, key="memory_model", some=True, label="Models")
    ] = MODELS
    sampling: Annotated[
        tuple[str, ...],
        Setting(
            "What is done about rare bins in the training part, each with each model.",
            choices={
                NONE: "as they are",
                RANDOM: "rows drawn again",
                SMOTE: "rows in between",
                WEIGHTED: "class weights",
            },
            shown={NONE: "None", RANDOM: "Oversampling", SMOTE: "SMOTE", WEIGHTED: "Class weights"},
            key="memory_sampling",
            label="Class balancing",
            some=True,
        ),
    ] = SAMPLINGS
    penalty: Annotated[
        float,
        Setting(
            "Weight of an under-estimate in the u-score that the search minimises.",
            least=1,
            most=MOST_PENALTY,
            key="memory_penalty",
            label="Penalty of under-estimates",
        ),
    ] = PENALTY
    trials: Annotated[
        int,
        Setting(
            "Of the search for parameters, for each model and sampling.",
            least=0,
            most=MOST_TRIALS,
            key="memory_trials",
            label="Trials per model",
            empty="default parameters",
        ),
    ] = 20
    mode: Annotated[
        str,
        Setting(
            "faithful: as published, limits and optimum from all runs, and no model gives way to a constant.",
            choices={CORRECTED: "default", FAITHFUL: "as published"},
            shown={CORRECTED: "Default", FAITHFUL: "As published"},
            key="memory_model_mode",
        ),
    ] = CORRECTED
    before_the_run: Annotated[
        tuple[str, ...],
        Setting(
            "Further columns known before a run, A,B.",
            columns="any",
            flag="--before",
            key="memory_before",
            label="Also known before the run",
        ),
    ] = ()
    after_the_run: Annotated[
        tuple[str, ...],
        Setting(
            "Columns known only after a run that are used all the same; the result is labelled so.",
            columns="any",
            flag="--after",
            key="memory_after",
            label="Known only after the run (optimistic)",
        ),
    ] = ()
    dates: Annotated[
        bool,
        Setting(
            "Inputs made of dates and names count, too: weekday, hour, days since the task's last run, days between "
            "dates, parts of names.",
            key="memory_dates",
            label="Dates and parts of names",
        ),
    ] = False
    failure_price_gb_h: Annotated[
        float,
        Setting(
            "What one failed attempt costs beside the memory that it held, for the cheapest bin.",
            unit="GB·h",
            least=0,
            flag="--failure-price",
            key="memory_failure_price",
            label="Cost of a failure",
        ),
    ] = 0.0
    retry: RetrySettings = field(default_factory=RetrySettings)
    test_share: Annotated[
        float, Setting("Of the runs.", unit="share", least=0.05, most=0.5, key="memory_test_share")
    ] = 0.3
    validation_share: Annotated[
        float, Setting("Of the other runs.", unit="share", least=0.05, most=0.5, key="memory_validation_share")
    ] = 0.25
    seed: Annotated[int, Setting("Of every random draw.", least=0, key="memory_seed")] = 0

    def __post_init__(self) -> None:
        for name, given in (("models", self.models), ("sampling", self.sampling)):
            if len(set(given)) < len(given):
                raise SettingsError(f"{name}: {', '.join(given)}; choose each once")


def faithful_predictor(task: str = "", k: int = 3) -> PredictorSettings:
    """The settings of the thesis: its bins, and its six pairs of model and sampling among ours."""
    return PredictorSettings(bins=faithful_bins(task, k), mode=FAITHFUL)


SMOTE_NEIGHBOURS = 5
"""imbalanced-learn's default, which the thesis keeps; the smallest bin needs one row more than that."""


@dataclass(frozen=True)
class Balanced:
    """Training rows after sampling."""

    inputs: Floats  # (n_rows, n_columns)
    bins: Ints  # (n_rows,)
    weights: Floats  # (n_rows,) of the rows; all 1 unless the sampling is 'weighted'
    sampling: str  # what was done, which may differ from the setting


def balanced(inputs: Floats, bins: Ints, sampling: str, seed: int) -> Balanced:
    """Training rows with the rarer bins brought up; no value of the inputs is missing.

    `sampling`: 'none'; 'random' = rows of rarer bins drawn again; 'smote' = rows made up between neighbours; 'weighted'
    = rows of rarer bins weigh more.

    Source: SMOTE: Chawla et al. 2002, by imbalanced-learn. With fewer than 6 rows in the smallest bin its 5 neighbours
    do not exist, and rows are drawn again instead, as 'random' does; `sampling` of the result says so.
    """
    counts = np.bincount(bins)
    present = np.flatnonzero(counts)
    ones = np.ones(len(bins))
    if sampling == NONE or len(present) < 2:
        return Balanced(inputs, bins, ones, NONE)
    if sampling == WEIGHTED:
        return Balanced(inputs, bins, len(bins) / (len(present) * counts[bins]), WEIGHTED)
    if sampling == SMOTE and counts[present].min() > SMOTE_NEIGHBOURS and inputs.shape[1]:
        return _smote(inputs, bins, seed)
    rows = _drawn_again(bins, counts, seed)
    return Balanced(inputs[rows], bins[rows], np.ones(len(rows)), RANDOM)


def _smote(inputs: Floats, bins: Ints, seed: int) -> Balanced:
    from imblearn import over_sampling  # type: ignore[import-untyped]  # noqa: PLC0415  heavy

    made, labels = over_sampling.SMOTE(k_neighbors=SMOTE_NEIGHBOURS, random_state=seed).fit_resample(inputs, bins)
    return Balanced(np.asarray(made, dtype=np.float64), np.asarray(labels, dtype=np.int64), np.ones(len(labels)), SMOTE)


def _drawn_again(bins: Ints, counts: Ints, seed: int) -> Ints:
    """All rows, then drawn ones until every bin has as many as the largest."""
    random = np.random.default_rng(seed)
    most = int(counts.max())
    extra = [random.choice(np.flatnonzero(bins == b), most - counts[b]) for b in np.flatnonzero(counts)]
    return np.concatenate([np.arange(len(bins)), *extra]).astype(np.int64)


BASE_SCORE = 0.5
"""Today's default, the bins' log shares, makes the first steps of rare bins so long that the loss grows."""

LEAST_SCORE = -1e9
"""Of a bin that training did not have."""


@dataclass(frozen=True)
class BoostingParameters:
    """Of XGBoost: the rest are its defaults."""

    n_rounds: int = 60
    depth: int = 3
    learning_rate: float = 0.3
    least_child_weight: float = 1.0


@dataclass(frozen=True)
class MachineParameters:
    """Of the support vector machine: `gamma` is in units of scikit-learn's 'scale', 1 / (columns x variance)."""

    penalty_c: float = 10.0
    gamma: float = 1.0


Parameters = BoostingParameters | MachineParameters


@dataclass(frozen=True)
class BinModel:
    """A trained classifier."""

    model: str  # 'xgboost' or 'svm'
    fitted: Any  # the library's own object
    present: Ints  # (n_present,) bins that training had, rising
    n_bins: int  # of the task

    def scores(self, inputs: Floats) -> Floats:
        """(n_rows, n_bins) scores whose largest is the answer; not yet probabilities."""
        out = np.full((len(inputs), self.n_bins), LEAST_SCORE)
        if not len(inputs):
            return out
        if len(self.present) == 1:
            out[:, self.present] = 0.0
        elif self.model == XGBOOST:
            out[:, self.present] = _margins(self.fitted, inputs)
        else:
            decision = np.asarray(self.fitted.decision_function(inputs), dtype=np.float64)
            out[:, self.present] = np.column_stack([-decision, decision]) / 2 if decision.ndim == 1 else decision
        return out


def default_parameters(model: str) -> Parameters:
    """The parameters without a search."""
    return BoostingParameters() if model == XGBOOST else MachineParameters()


def train_model(model: str, parameters: Parameters, training: Balanced, n_bins: int) -> BinModel:
    """A classifier trained on rows that are balanced already.

    Raises TypeError when the parameters are not those of the model.
    """
    present, labels = np.unique(training.bins, return_inverse=True)
    is_constant = len(present) == 1 or not training.inputs.shape[1]
    if is_constant:
        present = present[np.bincount(labels, weights=training.weights).argmax()][None]
        return BinModel(model, None, present, n_bins)
    if isinstance(parameters, BoostingParameters):
        fitted = _boosted(parameters, replace(training, bins=labels.astype(np.int64)), len(present))
    else:
        fitted = _machine(parameters, replace(training, bins=labels.astype(np.int64)))
    return BinModel(model, fitted, present, n_bins)


def _boosted(parameters: BoostingParameters, training: Balanced, n_present: int) -> Any:
    import xgboost  # noqa: PLC0415  heavy

    matrix = xgboost.QuantileDMatrix(training.inputs, training.bins, weight=training.weights, nthread=1)
    options = {
        "objective": "multi:softprob",
        "num_class": n_present,
        "tree_method": "hist",
        "max_depth": parameters.depth,
        "eta": parameters.learning_rate,
        "min_child_weight": parameters.least_child_weight,
        "base_score": BASE_SCORE,
        "nthread": 1,  # a tree of some hundred rows takes less than threads need to meet
    }
    return xgboost.train(options, matrix, parameters.n_rounds)


def _margins(booster: Any, inputs: Floats) -> Floats:
    import xgboost  # noqa: PLC0415  heavy

    margins = booster.predict(xgboost.DMatrix(inputs, nthread=1), output_margin=True)
    return np.asarray(margins, dtype=np.float64).reshape(len(inputs), -1)


def _machine(parameters: MachineParameters, training: Balanced) -> Any:
    from sklearn.svm import SVC  # noqa: PLC0415  heavy

    variance = float(training.inputs.var())
    gamma = parameters.gamma / (training.inputs.shape[1] * variance) if variance > 0 else parameters.gamma
    fitted = SVC(C=parameters.penalty_c, gamma=gamma, decision_function_shape="ovr")
    return fitted.fit(training.inputs, training.bins, sample_weight=training.weights)


@dataclass(frozen=True)
class LearningRows:
    """Rows with their bins: `inputs` (n_rows, n_columns), `bins` (n_rows,)."""

    inputs: Floats
    bins: Ints

    def __len__(self) -> int:
        return len(self.bins)

    def take(self, rows: Ints) -> LearningRows:
        """The rows at positions."""
        return LearningRows(self.inputs[rows], self.bins[rows])


@dataclass(frozen=True)
class Recipe:
    """How a model is made."""

    model: str  # 'xgboost' or 'svm'
    sampling: str  # of the settings
    n_bins: int  # of the task
    penalty: float  # of an under-estimate
    trials: int  # 0 = default parameters
    seed: int  # of every random draw


def scores_of(recipe: Recipe, parameters: Parameters, training: LearningRows, inputs: Floats) -> Floats:
    """(n_rows, n_bins) scores of a model trained on these rows, its rare bins brought up."""
    rows = balanced(training.inputs, training.bins, recipe.sampling, recipe.seed)
    return train_model(recipe.model, parameters, rows, recipe.n_bins).scores(inputs)


def tuned_parameters(
    recipe: Recipe, training: LearningRows, validation: LearningRows, report: Callable[[float], None]
) -> Parameters:
    """The parameters with the lowest u-score on the validation rows; the default ones are tried first.

    Source: After the thesis: Bayesian search on the u-score, by a tree-structured Parzen estimator (Optuna); the thesis
    used scikit-optimize.
    """
    default = default_parameters(recipe.model)
    if not recipe.trials or not len(validation) or len(np.unique(training.bins)) < 2:
        return default
    optuna = needed("optuna", "memory")

    def objective(trial: Any) -> float:
        report(trial.number / recipe.trials)
        predicted = scores_of(recipe, _suggested(trial, recipe.model), training, validation.inputs).argmax(axis=1)
        return float(run_costs(validation.bins, predicted, recipe.penalty).mean())

    loudness = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=recipe.seed))
        study.enqueue_trial(vars(default))
        study.optimize(objective, n_trials=recipe.trials)
    finally:
        optuna.logging.set_verbosity(loudness)
    return _parameters(recipe.model, study.best_params)


def _suggested(trial: Any, model: str) -> Parameters:
    if model == XGBOOST:
        return BoostingParameters(
            n_rounds=trial.suggest_int("n_rounds", 10, 150),
            depth=trial.suggest_int("depth", 1, 6),
            learning_rate=trial.suggest_float("learning_rate", 0.03, 0.6, log=True),
            least_child_weight=trial.suggest_float("least_child_weight", 0.25, 8.0, log=True),
        )
    return MachineParameters(
        penalty_c=trial.suggest_float("penalty_c", 0.1, 1000.0, log=True),
        gamma=trial.suggest_float("gamma", 0.05, 20.0, log=True),
    )


def _parameters(model: str, best: dict[str, Any]) -> Parameters:
    return BoostingParameters(**best) if model == XGBOOST else MachineParameters(**best)


TEMPERATURES = np.geomspace(0.05, 20.0, 49)


@dataclass(frozen=True)
class Calibration:
    """What makes scores probabilities: softmax(scores / temperature + shift)."""

    temperature: float  # above 0
    # (n_bins,) logarithm of how much likelier a bin is among all runs than the training rows, once balanced, make it
    # look
    shift: Floats

    def probabilities(self, scores: Floats) -> Floats:
        """(n_rows, n_bins), each row with the sum 1."""
        raised = scores / self.temperature + self.shift
        powers = np.exp(raised - raised.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def calibrate(scores: Floats, bins: Ints, *, was_balanced: bool) -> Calibration:
    """The calibration with the smallest log loss on rows that the scoring models were not trained on.

    `was_balanced` tells whether training made all bins count alike.
    """
    n_bins = scores.shape[1]
    shares = (np.bincount(bins, minlength=n_bins) + 1.0) / (len(bins) + n_bins)
    shift = np.log(shares * n_bins) if was_balanced else np.zeros(n_bins)
    candidates = [Calibration(float(t), shift) for t in TEMPERATURES]
    rows = np.arange(len(bins))
    losses = [-np.log(np.maximum(c.probabilities(scores)[rows, bins], 1e-12)).mean() for c in candidates]
    return candidates[int(np.argmin(losses))]


@dataclass(frozen=True)
class RetrySizes:
    """The sizes that failed runs climb."""

    edges_bytes: Floats  # (n_bins,) rising
    max_seen_bytes: float  # largest use of the runs that were learned from
    retry: RetrySettings  # how failed attempts are lifted and charged

    def sizes(self, bins: Ints) -> Sizes:
        """What is requested when runs start in these bins."""
        own = Sizes(self.edges_bytes[bins], np.broadcast_to(self.edges_bytes, (len(bins), len(self.edges_bytes))))
        return lifted_by(self.retry.rule, own, np.full(len(bins), self.max_seen_bytes))


def chain_costs(retry_sizes: RetrySizes, hours: Floats, failure_price_gb_h: float) -> Floats:
    """(n_bins, n_bins) GB·h of a run that starts at the bin of the row and belongs into that of the column.

    `hours` (n_bins,) is the expected run time in each true bin. The price is of one failed attempt, beside the memory
    that it held.
    """
    k = len(retry_sizes.edges_bytes)
    started, true = (places.ravel() for places in np.indices((k, k)))
    tried = try_sizes(Demand(retry_sizes.edges_bytes[true], hours[true]), retry_sizes.sizes(started), retry_sizes.retry)
    return np.asarray(tried.charged_gb_h + failure_price_gb_h * tried.failures, dtype=np.float64).reshape(k, k)


def cheapest_bins(probabilities: Floats, costs: Floats) -> Ints:
    """(n_rows,) the bin b with the least sum over c of P(c) x cost(chain from b to c).

    Source: ours; expected cost in place of the likeliest bin.
    """
    return np.asarray((probabilities @ costs.T).argmin(axis=1), dtype=np.int64)
