"""What a bin predictor is asked to be: the cache key, the form, the command's options and the link."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.memory.bins.settings import BinSettings, faithful_bins
from workprof.memory.predictor.bin_scores import PENALTY
from workprof.memory.retry import RetrySettings

CORRECTED, FAITHFUL = "corrected", "faithful"
MODES = (CORRECTED, FAITHFUL)

XGBOOST, SVM = "xgboost", "svm"
MODELS = (XGBOOST, SVM)

NONE, RANDOM, SMOTE, WEIGHTED = "none", "random", "smote", "weighted"
SAMPLINGS = (NONE, RANDOM, SMOTE, WEIGHTED)

MOST_TRIALS = 1000
MOST_PENALTY = 1000.0


@dataclass(frozen=True)
class PredictorSettings:
    """Settings of the models of one task.

    Attributes:
        bins: task, number of bins or edges, how edges are searched, what is sized for.
        models: which models.
        sampling: what is done about rare bins in the training part, each with each model: nothing, rows drawn again,
            SMOTE, or class weights.
        penalty: weight of an under-estimate in the u-score that the search minimises.
        trials: of the search for parameters, per model and sampling; 0 = default parameters.
        mode: 'corrected', or 'faithful' = as published: edges from all runs, the optimal improvement of all runs, and
            no model gives way to a constant; see `faithful_predictor` for its bins.
        before_the_run: columns of the trace's own that are known before a run.
        after_the_run: columns known only after a run that are used all the same; the result labels them so.
        failure_price_gb_h: what one failed attempt costs beside the memory that it held, for the cheapest bin.
        retry: how a failed run is lifted and charged in the replay; 'published' and 'next_edge' go to the next bin.
        test_share: of the runs.
        validation_share: of the other runs.
        seed: of every random draw.
    """

    bins: BinSettings = field(default_factory=BinSettings)
    models: tuple[str, ...] = MODELS
    sampling: tuple[str, ...] = SAMPLINGS
    penalty: float = PENALTY
    trials: int = 20
    mode: str = CORRECTED
    before_the_run: tuple[str, ...] = ()
    after_the_run: tuple[str, ...] = ()
    failure_price_gb_h: float = 0.0
    retry: RetrySettings = field(default_factory=RetrySettings)
    test_share: float = 0.3
    validation_share: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise SettingsError(f"mode is {self.mode!r}; use one of {', '.join(MODES)}")
        for name, given, known in (("models", self.models, MODELS), ("sampling", self.sampling, SAMPLINGS)):
            if not given or len(set(given)) < len(given) or not set(given) <= set(known):
                raise SettingsError(
                    f"{name}: {', '.join(given) or 'nothing'}; choose each once from {', '.join(known)}"
                )
        if not 1 <= self.penalty <= MOST_PENALTY:
            raise SettingsError(f"penalty is {self.penalty}; give 1 to {MOST_PENALTY:g}")
        if not 0 <= self.trials <= MOST_TRIALS:
            raise SettingsError(f"trials is {self.trials}; give 0 (default parameters) to {MOST_TRIALS}")
        if not 0 <= self.failure_price_gb_h < math.inf:
            raise SettingsError(f"failure_price_gb_h is {self.failure_price_gb_h}; give 0 or more GB·h")
        for name in ("test_share", "validation_share"):
            if not 0.05 <= getattr(self, name) <= 0.5:
                raise SettingsError(f"{name} is {getattr(self, name)}; give 0.05 to 0.5")
        if self.seed < 0:
            raise SettingsError(f"seed is {self.seed}; give 0 or more")


def faithful_predictor(task: str = "", k: int = 3) -> PredictorSettings:
    """Return the settings of the thesis: its bins, and its six pairs of model and sampling among ours."""
    return PredictorSettings(bins=faithful_bins(task, k), mode=FAITHFUL)
