"""The printed tables of the load-aware provisioning thesis, as constants, and its roll-up computed from them.

Source: the thesis' sections 5 to 7, Tables 4 and 6 to 13; GB as printed, shares as 0-1, u-scores in percent.

One inconsistency is in the thesis itself and is kept here: heavy task 2 saves 69.7 % of 200 GB (the top edge of its
bins in Table 6), but Table 12 takes the 69.7 % off 100 GB. Against 200 GB it would need 60.6 GB after, which is 39.4 %
less than 100, and Table 13 would end at 355.65 GB (76.6 %) instead of 325.35 GB (78.6 %). That the saving is above
70 % survives. The numbers of light and moderate tasks are not printed: 17 and 8 are the only ones that give 325 GB.
"""

from dataclasses import dataclass

from workprof.memory.rollup import BeforeAfter


@dataclass(frozen=True)
class PublishedGroup:
    """A row of Table 4: tasks that ask for the same."""

    name: str
    n_tasks: int
    cores: int
    memory_gb: int


TABLE_4 = (
    PublishedGroup("normal", 20, 4, 20),
    PublishedGroup("parallel", 4, 5, 100),
    PublishedGroup("memory-intensive", 2, 6, 350),
    PublishedGroup("compute-intensive", 1, 20, 20),
)


@dataclass(frozen=True)
class PublishedBins:
    """A row of Table 6 with the models of Tables 7 to 10 and the estimate of Table 11."""

    task: int  # heavy task 1 or 2
    edges_gb: tuple[int, ...]  # the last one is the static request
    optimal: float  # and `time_based_optimal`: improvement, 0-1 (Table 6)
    time_based_optimal: float
    xgboost: tuple[float, float]  # and `svm`: accuracy (0-1) and u-score (percent) of the chosen models (Tables 7, 8)
    svm: tuple[float, float]
    svm_u_scores: tuple[float, float, float]  # class-weighted, random, SMOTE over-sampling (Table 9)
    xgboost_u_scores: tuple[float, float, float]  # none, random, SMOTE over-sampling (Table 10)
    accuracy: float  # and `u_rate`, `estimated`: of the better model, 0-1 (Table 11)
    u_rate: float
    estimated: float

    @property
    def k(self) -> int:
        """Number of bins."""
        return len(self.edges_gb)


TABLES_6_TO_11 = (
    PublishedBins(
        1, (30, 350), 0.899, 0.793, (0.998, 0.2), (0.991, 3.0), (5.2, 3.0, 3.0), (4.8, 0.2, 2.5), 0.998, 0.0, 0.791
    ),
    PublishedBins(
        1,
        (10, 60, 350),
        0.959,
        0.881,
        (0.975, 4.5),
        (0.966, 5.5),
        (5.5, 5.7, 5.2),
        (10.2, 5.0, 4.5),
        0.975,
        0.002,
        0.857,
    ),
    PublishedBins(
        1,
        (10, 20, 60, 350),
        0.962,
        0.890,
        (0.961, 28.4),
        (0.966, 13.6),
        (13.0, 13.6, 13.6),
        (36.8, 28.4, 18.6),
        0.966,
        0.011,
        0.849,
    ),
    PublishedBins(
        2, (40, 200), 0.787, 0.594, (0.998, 0.2), (0.993, 0.7), (0.7, 0.7, 0.7), (4.8, 0.9, 0.2), 0.998, 0.0, 0.593
    ),
    PublishedBins(
        2,
        (20, 70, 200),
        0.887,
        0.710,
        (0.982, 8.0),
        (0.989, 5.2),
        (5.2, 5.2, 5.2),
        (11.4, 9.3, 8.0),
        0.989,
        0.005,
        0.697,
    ),
    PublishedBins(
        2,
        (10, 30, 70, 200),
        0.934,
        0.743,
        (0.959, 22.5),
        (0.943, 20.0),
        (20.0, 24.8, 24.5),
        (30.7, 21.6, 22.5),
        0.959,
        0.020,
        0.693,
    ),
)


@dataclass(frozen=True)
class PublishedSaving:
    """A row of Table 12: what a kind of task has before and after, and the saving as printed, 0-1."""

    name: str
    unit: str
    before: float
    after: float  # NaN where the table prints the share only
    saved: float


_NOT_PRINTED = float("nan")

TABLE_12 = (
    PublishedSaving("CPU of non-parallel tasks", "cores", 4.5, 1.0, 0.778),
    PublishedSaving("light", "GB", 55.0, 5.0, 0.910),
    PublishedSaving("moderate", "GB", 42.0, 20.0, 0.525),
    PublishedSaving("heavy task 1", "GB", 350.0, _NOT_PRINTED, 0.857),
    PublishedSaving("heavy task 2", "GB", 100.0, _NOT_PRINTED, 0.697),
)

TABLE_13_MEMORY_GB = BeforeAfter(1520.0, 325.0)
TABLE_13_CORES = BeforeAfter(132.0, 43.0)
TABLE_13_SAVED = (0.786, 0.674)
"""Of memory and of cores."""

N_LIGHT, N_MODERATE = 17, 8
"""Inferred, see above."""

PARALLEL = "parallel"
LIGHT_GB, MODERATE_GB = 5.0, 20.0
HEAVY_2_REQUEST_GB, HEAVY_2_TOP_EDGE_GB = 100.0, 200.0
"""The two requests of heavy task 2: in Table 12, and in Table 6."""


def published_rollup_gb(heavy_2_gb: float = HEAVY_2_REQUEST_GB) -> BeforeAfter:
    """Table 13's memory: one instance of every task; heavy task 2 saves off the given request, see above.

    Source: Table 13; before from Table 4, after from Table 12. 325.35 GB, printed as 325.
    """
    before = sum(group.n_tasks * group.memory_gb for group in TABLE_4)
    heavy_1, heavy_2 = TABLE_12[3], TABLE_12[4]
    heavy = heavy_1.before * (1 - heavy_1.saved) + heavy_2_gb * (1 - heavy_2.saved)
    return BeforeAfter(float(before), N_LIGHT * LIGHT_GB + N_MODERATE * MODERATE_GB + heavy)


def published_rollup_cores() -> BeforeAfter:
    """Table 13's cores: one instance of every task, those that are not parallel with one core.

    Source: Table 13, from Table 4. The task of 20 cores is not parallel either.
    """
    before = sum(group.n_tasks * group.cores for group in TABLE_4)
    after = sum(group.n_tasks * (group.cores if group.name == PARALLEL else 1) for group in TABLE_4)
    return BeforeAfter(float(before), float(after))


def u_score_of(accuracy, u_rate, penalty=10.0):
    """Return the u-score in percent of two shares: (100 - accuracy) + (penalty - 1) u_rate."""
    return 100 * ((1 - accuracy) + (penalty - 1) * u_rate)


def u_rate_of(accuracy, u_score, penalty=10.0):
    """Return the share of under-estimates that an accuracy (share) and a u-score (percent) imply; penalty above 1."""
    return (u_score / 100 - (1 - accuracy)) / (penalty - 1)
