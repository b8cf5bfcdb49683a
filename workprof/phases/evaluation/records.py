"""What an evaluation of recognition found."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.arrays import Floats, Ints


@dataclass(frozen=True)
class ClassFigures:
    """One workload over all test runs of it; 0 where a share has no runs."""

    workload: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class KnownFigures:
    """Recognition of held-back runs of known workloads, by nearest workload: a rejection is no error here.

    Attributes:
        accuracy: share of right answers, rejections left aside.
        accuracy_sd: over the splits; they share runs, so it is no standard error. NaN for a single split.
        accuracy_with_rejections: the same where a rejected run counts as wrong; NaN where nothing was rejected in turn.
        precision: mean over the workloads that were tested, unweighted, like the next two.
        recall: likewise.
        f1: likewise.
        per_class: one per tested workload.
        workloads: names of the rows and columns of `confusion`.
        confusion: (n, n) test runs by workload (row) and answer (column).
        n_splits: repeated splits; 1 with a dataset of its own to learn from.
        n_test: answers, over all splits.
        learners: further answers to the same question -> accuracy: 'pair_model', 'boosted_fingerprints' (as
            published), 'nearest_ed', 'nearest_dtw'.
        n_truncated: test runs that had more phases than the training runs and were cut for 'boosted_fingerprints'.
    """

    accuracy: float
    accuracy_sd: float
    accuracy_with_rejections: float
    precision: float
    recall: float
    f1: float
    per_class: tuple[ClassFigures, ...]
    workloads: tuple[str, ...]
    confusion: Ints
    n_splits: int
    n_test: int
    learners: dict[str, float]
    n_truncated: int


@dataclass(frozen=True)
class UnknownFigures:
    """Runs of a workload that was not learned.

    Attributes:
        workload: label.
        nearest: workload -> share of its runs that are nearest to it.
        rejected_share: answered 'unknown', as they should be.
        n: answers.
    """

    workload: str
    nearest: dict[str, float]
    rejected_share: float
    n: int


@dataclass(frozen=True)
class Curve:
    """Rejections as c grows.

    Attributes:
        measure: 'pair_model', 'ed', 'dtw', 'either' (unknown by one of both distances) or 'both'.
        c: (n,) standard deviations above the mean.
        rejected: (n,) share of unknown runs that are rejected, mean over their workloads.
        false_rejects: (n,) share of known runs that are.
    """

    measure: str
    c: Floats
    rejected: Floats
    false_rejects: Floats


@dataclass(frozen=True)
class InnerDistances:
    """Distances among the runs of one workload (the paper's Table IV); NaN for a single run."""

    workload: str
    dtw_mean: float
    dtw_std: float
    ed_mean: float
    ed_std: float
    n_pairs: int


@dataclass(frozen=True)
class Evaluation:
    """Recognition of known and unknown workloads, measured.

    Attributes:
        mode: 'corrected' or 'faithful'.
        counters: that were used.
        known: see there; None where no tested run is of a known workload.
        baselines: name -> accuracy on the same test runs.
        c: standard deviations above the mean up to which a run was accepted, mean over the training parts; NaN where
            too few runs are known for any limit.
        unknown: one per workload that was left out or is absent from the other dataset.
        rejected_share: of unknown runs, mean over their workloads; NaN where there is none.
        false_reject_share: of held-back known runs, in the same training parts; NaN where there is none.
        curves: both over c.
        distances: one per workload.
        notes: what was filled, dropped or missing.
        seconds: it took.
    """

    mode: str
    counters: tuple[str, ...]
    known: KnownFigures | None
    baselines: dict[str, float]
    c: float
    unknown: tuple[UnknownFigures, ...]
    rejected_share: float
    false_reject_share: float
    curves: tuple[Curve, ...]
    distances: tuple[InnerDistances, ...]
    notes: tuple[str, ...]
    seconds: float
