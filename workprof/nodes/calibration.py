"""From scores to probabilities or p-values, to verdicts run by run, and how good those are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.stats import reliability_bins
from workprof.nodes.detection_data import COMBINED, PERONA, DetectionData, FittedDetector, Score
from workprof.nodes.histories import UNKNOWN, rounds, with_history

MANY_RUNS = 200
"""From here on an isotonic curve, below it two numbers, which fewer runs can tell."""

STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """How a score becomes a probability."""

    method: str  # 'platt', 'isotonic', or 'as told': the logistic function of the score
    slope: float  # and `intercept`: of Platt's curve
    intercept: float
    scores: Floats  # and `probabilities`: (n,) corners of the isotonic curve; empty for the others
    probabilities: Floats
    n: int  # runs that it was learned from


@dataclass(frozen=True)
class Reliability:
    """Stated probability against what came true, in ten equal bins."""

    rows: Ints  # (10,) runs in each bin
    stated: Floats  # (10,) mean probability; NaN in an empty bin
    observed: Floats  # (10,) share that was anomalous; NaN in an empty bin
    error: float  # expected calibration error 0-1; NaN without runs


AS_GIVEN = Calibration("as told", 1.0, 0.0, np.zeros(0), np.zeros(0), 0)


def logistic(values: Floats) -> Floats:
    """1 / (1 + exp(-values))."""
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def learn_calibration(scores: Floats, anomalous: Bools) -> Calibration:
    """How scores (n,), higher = more anomalous, become probabilities; from runs that the detector had not seen.

    Source: Platt, Probabilistic outputs for support vector machines (1999), with its smoothed targets; Zadrozny and
    Elkan (2002) for the isotonic curve, which ours keeps away from 0 and 1 by one run.
    """
    if not anomalous.any() or anomalous.all():
        return AS_GIVEN
    if len(scores) >= MANY_RUNS:
        return _isotonic(scores, anomalous)
    slope, intercept = _platt(scores, anomalous)
    return Calibration("platt", slope, intercept, np.zeros(0), np.zeros(0), len(scores))


def probability_of(calibration: Calibration, scores: Floats) -> Floats:
    """(n,) probabilities of being anomalous."""
    if calibration.method == "isotonic":
        return np.interp(scores, calibration.scores, calibration.probabilities)
    return logistic(calibration.slope * scores + calibration.intercept)


def reliability(probability: Floats, anomalous: Bools) -> Reliability:
    """How far stated probabilities hold."""
    return Reliability(*reliability_bins(probability, anomalous))


def run_losses(probability: Floats, anomalous: Bools) -> Floats:
    """(n,) -log(probability of what came true)."""
    return np.asarray(-np.log(np.clip(np.where(anomalous, probability, 1 - probability), 1e-6, 1)))


def alarm_threshold(probability: Floats, anomalous: Bools, false_alarm_share: float) -> float:
    """The probability from which on a run is flagged: 0.5, raised until few enough normal runs are flagged.

    It is learned from runs that the detector had not seen. `false_alarm_share` (0-1) is of the normal runs.
    """
    normal = np.sort(probability[~anomalous])
    allowed = int(false_alarm_share * len(normal))
    if allowed >= len(normal):
        return 0.5
    return float(max(0.5, np.nextafter(normal[-1 - allowed], 2.0)))


def _platt(scores: Floats, anomalous: Bools) -> tuple[float, float]:
    """Slope (never negative) and intercept of the smoothed targets' least log loss, by Newton's steps."""
    n_bad, n_good = int(anomalous.sum()), int((~anomalous).sum())
    target = np.where(anomalous, (n_bad + 1) / (n_bad + 2), 1 / (n_good + 2))
    middle, spread = float(scores.mean()), float(scores.std()) or 1.0
    design = np.column_stack([(scores - middle) / spread, np.ones(len(scores))])
    weights = np.array([0.0, np.log((n_bad + 1) / (n_good + 1))])
    for _ in range(STEPS):
        probability = logistic(design @ weights)
        curvature = (design * (probability * (1 - probability))[:, None]).T @ design + 1e-6 * np.eye(2)
        change = np.linalg.solve(curvature, design.T @ (probability - target))
        weights = weights - np.clip(change, -1, 1)
        if np.abs(change).max() < 1e-9:
            break
    slope = max(float(weights[0]), 0.0) / spread
    return slope, float(weights[1]) - slope * middle


def _isotonic(scores: Floats, anomalous: Bools) -> Calibration:
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  heavy

    edge = 1 / (len(scores) + 2)
    curve = IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(scores, anomalous.astype(float))
    corners = np.asarray(curve.X_thresholds_, dtype=np.float64), np.asarray(curve.y_thresholds_, dtype=np.float64)
    return Calibration("isotonic", 0.0, 0.0, *corners, len(scores))


N_DRAWS = 500
CONFIDENCE = 0.95


@dataclass(frozen=True)
class DetectorFigures:
    """Figures of one detector on runs that it was not trained on."""

    f1_normal: float  # and `f1_anomalous`: NaN where nothing is of the class and nothing is taken for it
    f1_anomalous: float
    weighted_accuracy: float  # recall weighted by class support
    pr_auc: float  # average precision over all thresholds; NaN without anomalous runs
    brier: float  # mean squared error of the probability
    f1_anomalous_interval: tuple[float, float]  # 95 %, runs drawn again 500 times
    threshold: float  # probability from which on runs were flagged
    # log loss inside the training part, by which the detector is chosen; NaN where not validated
    validation_loss: float
    reliability: Reliability  # of the probabilities
    n: int  # and `n_anomalous`: labelled runs, and those under stress
    n_anomalous: int


@dataclass(frozen=True)
class LabelledVerdicts:
    """Labelled runs with a detector's verdicts; all (n,)."""

    probability: Floats
    flag: Bools
    anomalous: Bools


def detector_figures(judged: LabelledVerdicts, threshold: float, validation_loss: float, seed: int) -> DetectorFigures:
    """The figures of verdicts."""
    flag, truth = judged.flag, judged.anomalous
    return DetectorFigures(
        f1_normal=f1(~flag, ~truth),
        f1_anomalous=f1(flag, truth),
        weighted_accuracy=float((flag == truth).mean()) if len(truth) else float("nan"),
        pr_auc=average_precision(judged.probability, truth),
        brier=float(((judged.probability - truth) ** 2).mean()) if len(truth) else float("nan"),
        f1_anomalous_interval=_interval(flag, truth, seed),
        threshold=threshold,
        validation_loss=validation_loss,
        reliability=reliability(judged.probability, truth),
        n=len(truth),
        n_anomalous=int(truth.sum()),
    )


def f1(flag: Bools, truth: Bools) -> float:
    """The harmonic mean of precision and recall; NaN where nothing is flagged or true."""
    either = flag.sum() + truth.sum()
    return float(2 * (flag & truth).sum() / either) if either else float("nan")


def average_precision(scores: Floats, anomalous: Bools) -> float:
    """The area under precision over recall, step by step; equal scores enter together. NaN without truth."""
    if not anomalous.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(anomalous[order])
    last = np.append(np.diff(scores[order]) != 0, True)
    precision, recall = (hits / np.arange(1, len(hits) + 1))[last], hits[last] / hits[-1]
    return float((np.diff(np.append(0.0, recall)) * precision).sum())


def _interval(flag: Bools, truth: Bools, seed: int) -> tuple[float, float]:
    if not len(truth):
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(truth), (N_DRAWS, len(truth)))
    draws = np.array([f1(flag[rows], truth[rows]) for rows in drawn])
    draws = draws[np.isfinite(draws)]
    if not len(draws):
        return float("nan"), float("nan")
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


PUBLISHED_THRESHOLD = 0.5
Verdict = Callable[[Floats, Ints], tuple[Floats, Bools]]
"""From scores of rows to probabilities (or p-values) and flags."""


@dataclass(frozen=True)
class CalibratedDetector:
    """A trained detector with its probabilities."""

    name: str  # of the detector
    fitted: FittedDetector  # its scores
    calibration: Calibration  # from scores to probabilities
    threshold: float  # probability from which on a run is flagged
    validation_loss: float  # log loss on training runs that its fold had not seen
    out_of_fold: Floats  # (n_scored,) probabilities of those

    def verdict(self, scores: Floats, rows: Ints) -> tuple[Floats, Bools]:
        """Probabilities and flags of scored rows."""
        probability = probability_of(self.calibration, scores)
        return probability, probability >= self.threshold


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on the runs of the test part; all (n_runs,)."""

    value: Floats  # probability or p-value; NaN where there is no verdict
    flag: Bools  # degraded
    normal: Bools  # what counted as normal for later runs


def calibrated(data: DetectionData, name: str, fitted: FittedDetector, false_alarm_share: float) -> CalibratedDetector:
    """A detector whose probabilities were learned on runs later than those it was trained on.

    Its loss and its threshold come from folds that are dealt out, which judge every training run once.
    """
    later = np.isfinite(fitted.later_blocks)
    calibration = learn_calibration(fitted.later_blocks[later], data.anomalous[later])
    if calibration is AS_GIVEN:
        calibration = learn_calibration(fitted.out_of_fold, data.anomalous)
    out_of_fold = probability_of(calibration, fitted.out_of_fold)
    threshold = alarm_threshold(out_of_fold, data.anomalous, false_alarm_share)
    return CalibratedDetector(
        name, fitted, calibration, threshold, float(run_losses(out_of_fold, data.anomalous).mean()), out_of_fold
    )


def as_published(data: DetectionData, name: str, fitted: FittedDetector) -> CalibratedDetector:
    """A detector that takes its score for a logit and flags from 0.5 on; nothing of it is validated."""
    out_of_fold = probability_of(AS_GIVEN, fitted.out_of_fold)
    return CalibratedDetector(name, fitted, AS_GIVEN, PUBLISHED_THRESHOLD, float("nan"), out_of_fold)


def best_validated(anomalous: Bools, detectors: Mapping[str, CalibratedDetector]) -> str:
    """The detector to go by: of those within a standard error of the least loss, the average before the network.

    An average of two near-equals varies least on runs to come, and the network sees more than the single baselines.
    """
    losses = {name: run_losses(one.out_of_fold, anomalous) for name, one in detectors.items()}
    best = min(losses, key=lambda name: float(losses[name].mean()))
    for name in (COMBINED, PERONA):
        if name in losses:
            more = losses[name] - losses[best]
            if more.mean() <= more.std() / np.sqrt(len(more)):
                return name
    return best


def averaged(parts: tuple[CalibratedDetector, ...]) -> FittedDetector:
    """The mean of the calibrated logits of detectors."""

    def score(rows: Ints, normal: Bools) -> Floats:
        logits = [logit(probability_of(one.calibration, one.fitted.score(rows, normal))) for one in parts]
        return np.asarray(np.mean(logits, axis=0))

    out_of_fold = [logit(one.out_of_fold) for one in parts]
    later = [logit(probability_of(one.calibration, one.fitted.later_blocks)) for one in parts]
    return FittedDetector(score, np.mean(out_of_fold, axis=0), np.mean(later, axis=0))


def logit(probability: Floats) -> Floats:
    """ln(p / (1 - p)), p kept away from 0 and 1."""
    held = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(held / (1 - held)))


def judge(data: DetectionData, score: Score, verdict: Verdict, rows: Ints, *, true_labels: bool = False) -> Verdicts:
    """Verdicts on rows outside the training part.

    A run that cannot be judged for want of history counts as normal for later ones unless it is known not to be.

    `true_labels` feeds labels forward instead of verdicts, where known (published).
    """
    value, flag = np.full(len(data.table), np.nan), np.zeros(len(data.table), dtype=bool)
    normal, label = data.known_normal.copy(), data.table.label
    for members in rounds(data.table, rows):
        judged = with_history(data.histories, members, normal)
        normal[members] = label[members] != 1
        if len(judged):
            value[judged], flag[judged] = verdict(score(judged, normal), judged)
            known = (label[judged] != UNKNOWN) & true_labels
            normal[judged] = np.where(known, label[judged] == 0, ~flag[judged])
    return Verdicts(value, flag, normal)


def p_values(past: Floats, scores: Floats) -> Floats:
    """(1 + past scores at least as large) / (past scores + 1) of each score.

    Equal to the rank test of exchangeable runs, so at most alpha of normal runs lie at or below alpha.
    """
    ordered = np.sort(past)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return np.asarray((1 + at_least) / (len(ordered) + 1))


def p_value_verdict(data: DetectionData, past: Floats, false_alarm_share: float) -> Verdict:
    """A verdict by p-value among the training runs (n_scored,) of the same benchmark; up to the share it is flagged."""
    kinds = data.table.type_id[data.rows]

    def verdict(scores: Floats, rows: Ints) -> tuple[Floats, Bools]:
        p_value = np.ones(len(rows))
        for kind in np.unique(data.table.type_id[rows]).tolist():
            here = data.table.type_id[rows] == kind
            p_value[here] = p_values(past[(kinds == kind) & ~data.anomalous], scores[here])
        return p_value, p_value <= false_alarm_share

    return verdict
