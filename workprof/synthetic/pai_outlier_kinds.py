"""Kinds of jobs whose every row is scattered: the published outliers per workload, by task.

Rows per workload are the published outlier counts (inception 9,535; graphlearn 5,940 with the one row by which the
strata exceed the profile list; ctr 4,743; bert 3,591; rl 524; all of resnet, nmt, vgg and xlnet) less the stray
rows of regular jobs; they are split over tasks so that the task totals of the sample come out.
"""

from __future__ import annotations

from workprof.synthetic.pai_kinds import TAIL_USERS, Bundle, JobKind, Role
from workprof.synthetic.pai_published import OUTLIER

_GPU: tuple[Bundle, ...] = (
    (100, 8.0, 50), (300, 12.0, 100), (500, 16.0, 25), (600, 32.0, 100), (700, 24.0, 50),
    (900, 32.0, 100), (1200, 64.0, 200), (1600, 128.0, 400),
)  # fmt: skip
_NO_GPU: tuple[Bundle, ...] = (
    (100, 8.0, None), (300, 12.0, None), (500, 16.0, None), (700, 32.0, None), (800, 24.0, None),
    (900, 32.0, None), (1200, 64.0, None), (1500, 128.0, None),
)  # fmt: skip
"""Round requests in whole GiB, which no regular kind makes."""

_SIZES = ((1, 0.3), (2, 0.25), (4, 0.2), (10, 0.15), (20, 0.08), (50, 0.02))


def _scattered(workload: str, users: tuple[tuple[int, float], ...], **rows: int) -> JobKind:
    """Return the outlier kind of a workload; `rows` are rows by task name, the largest first."""
    roles = tuple(
        Role(task, count, OUTLIER, _NO_GPU if task in {"ps", "OpenmpiTracker", "OssToVolumeWorker"} else _GPU)
        for task, count in rows.items()
    )
    return JobKind(f"{workload} scattered", workload, roles, users, _SIZES)


OUTLIER_KINDS = (
    _scattered(
        "bert",
        ((0, 0.47), (8, 0.28), (TAIL_USERS, 0.25)),
        worker=1_391, ps=1_529, evaluator=10, PyTorchWorker=160, tensorflow=66, OssToVolumeWorker=4, OpenmpiTracker=1,
    ),
    _scattered("ctr", ((2, 0.12), (5, 0.30), (7, 0.42), (TAIL_USERS, 0.16)), worker=1_350, ps=1_795, evaluator=1_098),
    _scattered("graphlearn", ((3, 0.56), (TAIL_USERS, 0.44)), worker=2_870, ps=2_870),
    _scattered("inception", ((4, 0.83), (9, 0.11), (TAIL_USERS, 0.06)), worker=2_888, ps=2_887),
    _scattered("rl", ((6, 1.0),), worker=514, PyTorchWorker=10),
    _scattered("resnet", ((TAIL_USERS, 1.0),), worker=84, ps=82),
    _scattered("nmt", ((TAIL_USERS, 1.0),), PyTorchWorker=33, worker=4),
    _scattered("vgg", ((TAIL_USERS, 1.0),), worker=16, ps=16),
    _scattered("xlnet", ((TAIL_USERS, 1.0),), worker=22, ps=21),
)  # fmt: skip
"""Kinds whose rows form no profile."""
