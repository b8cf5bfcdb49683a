"""Kinds of jobs without a workload tag: nine tenths of the trace's jobs; only the raw tables hold them.

Bundles follow the published distribution of GPU requests (15 % below a quarter, 26 % below a half, 13 % below one,
43 % one, 3 % more); instance counts give about 10 instances per job, of which 43 / 25 / 11 / 6 % are aimed at
tasks of at least 50 / 100 / 200 / 400 (trace). That average leaves about 7 % of the instances in tasks of one,
where the trace has 15 %: both cannot hold at 1.2 tasks per job.
"""

from __future__ import annotations

from workprof.synthetic.pai_kinds import UNTAGGED_USERS, Bundle, JobKind, Role
from workprof.synthetic.pai_published import OUTLIER

_GPU_BUNDLES: tuple[Bundle, ...] = (
    (200, 8.0, 10), (400, 9.765625, 10), (600, 9.765625, 20), (600, 29.296875, 25), (400, 16.0, 25),
    (600, 14.6484375, 25), (300, 7.8125, 30), (800, 29.296875, 40), (600, 29.296875, 50), (400, 19.53125, 50),
    (800, 32.0, 75), (600, 29.296875, 100), (600, 29.296875, 100), (800, 48.828125, 100), (1200, 58.59375, 100),
    (1000, 29.296875, 100), (400, 15.625, 100), (1600, 64.0, 100), (900, 39.0625, 100), (2400, 117.1875, 200),
)  # fmt: skip
_CPU_BUNDLES: tuple[Bundle, ...] = ((600, 29.296875, None), (400, 9.765625, None), (800, 19.53125, None))

_UNTAGGED_SIZES = (
    (1, 0.59), (2, 0.07), (5, 0.09), (10, 0.11), (20, 0.09), (50, 0.03),
    (100, 0.0125), (200, 0.005), (400, 0.0017), (800, 0.0008),
)  # fmt: skip
_USERS = ((UNTAGGED_USERS, 1.0),)


def _single(task_name: str, bundles: tuple[Bundle, ...]) -> JobKind:
    """Return the kind of untagged jobs of one task."""
    return JobKind(f"untagged {task_name}", "", (Role(task_name, 1, OUTLIER, bundles),), _USERS, _UNTAGGED_SIZES)


UNTAGGED_KINDS = (
    (0.50, _single("tensorflow", _GPU_BUNDLES)),
    (0.22, _single("PyTorchWorker", _GPU_BUNDLES)),
    (0.09, _single("worker", _GPU_BUNDLES)),
    (0.06, _single("xComputeWorker", _CPU_BUNDLES)),
    (
        0.05,
        JobKind(
            "untagged with servers",
            "",
            (Role("worker", 3, OUTLIER, _GPU_BUNDLES), Role("ps", 1, OUTLIER, _CPU_BUNDLES * 7)),
            _USERS,
            _UNTAGGED_SIZES,
        ),
    ),
    (
        0.008,
        JobKind(
            "untagged evaluated",
            "",
            (
                Role("worker", 3, OUTLIER, _GPU_BUNDLES),
                Role("ps", 1, OUTLIER, _CPU_BUNDLES * 7),
                Role("evaluator", 1, OUTLIER, _GPU_BUNDLES),
            ),
            _USERS,
            _UNTAGGED_SIZES,
        ),
    ),
)
"""(share of untagged jobs, kind)."""
