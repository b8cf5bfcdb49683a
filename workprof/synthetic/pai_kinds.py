"""Kinds of jobs: which roles a job has, what each asks for, which behaviour it shows, who submits it."""

from dataclasses import dataclass

from workprof.synthetic.pai_behaviours import OUTLIER

Bundle = tuple[float, float, float | None]
"""plan_cpu (percent of a core), plan_mem (GiB), plan_gpu (percent of a GPU, None = not requested)."""

TAIL_USERS, UNTAGGED_USERS = -1, -2
"""Stand for the many small users, and for those of untagged jobs, in `JobKind.users`."""


@dataclass(frozen=True)
class Role:
    """One task of a job kind."""

    task_name: str  # as in the trace
    rows: int  # its rows in a sample of 100,001
    profile: int  # the behaviour, or OUTLIER for scattered rows
    bundles: tuple[Bundle, ...]  # what is requested; the bundle number is drawn once per template, for all roles
    # bundles of a larger kind, which some recurring templates request; only their group tells them apart
    borrowed: tuple[Bundle, ...] = ()
    second_profile: int | None = None  # a further behaviour of rows of the same job, and
    second_rows: int = 0  # how many of `rows` show it


@dataclass(frozen=True)
class JobKind:
    """A sort of job."""

    name: str  # for people
    workload: str  # the tag; empty = untagged
    roles: tuple[Role, ...]  # the first one sets the size of a job
    users: tuple[tuple[int, float], ...]  # (rank of a top user, TAIL_USERS or UNTAGGED_USERS; weight)
    inst_nums: tuple[tuple[int, float], ...]  # (instances of the first role, weight)
    stray_rows: int = 0  # rows of otherwise regular jobs that behave like nothing else
    pool: str = ""  # kinds of one pool share templates, hence all metadata
    groups: int | None = None  # number of groups where it is fixed; None = one per template
    one_off_share: float = 0.65  # share of jobs whose template never recurs
    # least and largest share of a task's instances that a sample holds (our choice)
    coverage: tuple[float, float] = (0.35, 0.95)

    @property
    def rows(self) -> int:
        """The rows of the kind in a sample of 100,001, stray ones included."""
        return sum(role.rows for role in self.roles) + self.stray_rows

    @property
    def scattered(self) -> bool:
        """Whether every row of the kind is an outlier."""
        return self.roles[0].profile == OUTLIER


_BERT_WORKER: tuple[Bundle, ...] = ((50, 29.296875, 100), (600, 29.296875, 50), (200, 19.53125, 100))
_CTR_WORKER: tuple[Bundle, ...] = ((600, 3.90625, 25), (800, 3.90625, 25))
_CTR_PS: tuple[Bundle, ...] = ((100, 2.0, None), (100, 3.90625, None))
_EVALUATOR: tuple[Bundle, ...] = ((600, 29.296875, 25), (600, 29.296875, None))
_GRAPH_WORKER: tuple[Bundle, ...] = ((600, 9.765625, 50), (800, 9.765625, 50))
_GRAPH_PS: tuple[Bundle, ...] = ((600, 14.6484375, None), (600, 19.53125, None))
_SMALL = ((1, 0.2), (2, 0.3), (4, 0.3), (6, 0.15), (10, 0.05))
_INCEPTION = ((20, 0.45), (50, 0.3), (100, 0.17), (200, 0.08))
_INCEPTION_WORKER: tuple[Bundle, ...] = ((400, 19.53125, 50), (600, 19.53125, 50), (400, 24.4140625, 50))
_INCEPTION_PS: tuple[Bundle, ...] = ((600, 9.765625, None), (600, 14.6484375, None), (400, 9.765625, None))

REGULAR_KINDS = (
    JobKind(
        "bert with servers",
        "bert",
        (
            Role("worker", 12_522, 8, _BERT_WORKER),
            Role("ps", 11_604, 9, ((600, 29.296875, None), (600, 19.53125, None), (300, 19.53125, None))),
        ),
        ((0, 0.98), (TAIL_USERS, 0.02)),
        ((1, 0.1), (4, 0.1), (10, 0.42), (16, 0.22), (20, 0.1), (50, 0.04), (100, 0.015), (400, 0.005)),
        stray_rows=430,
    ),
    JobKind(
        "bert alone",
        "bert",
        (Role("worker", 2_101, 0, ((1800, 58.59375, 100), (800, 58.59375, 200)), _BERT_WORKER),),
        ((0, 0.95), (TAIL_USERS, 0.05)),
        ((1, 0.3), (5, 0.2), (10, 0.3), (21, 0.2)),
    ),
    JobKind(
        "ctr long",
        "ctr",
        (
            Role("worker", 5_501, 12, _CTR_WORKER),
            Role("ps", 5_751, 1, _CTR_PS),
        ),
        ((2, 0.97), (TAIL_USERS, 0.03)),
        ((2, 0.2), (7, 0.3), (12, 0.2), (19, 0.15), (25, 0.1), (28, 0.05)),
        stray_rows=300,
    ),
    JobKind(
        "ctr evaluated",
        "ctr",
        (
            Role("worker", 1_943, 16, ((600, 9.765625, 25), (400, 9.765625, 50)), _CTR_WORKER),
            Role("ps", 3_043, 3, ((300, 2.0, None), (300, 3.90625, None)), _CTR_PS),
            Role("evaluator", 2_287, 13, _EVALUATOR, _EVALUATOR),
        ),
        ((2, 0.80), (5, 0.15), (TAIL_USERS, 0.05)),
        ((1, 0.2), (5, 0.35), (10, 0.25), (12, 0.1), (20, 0.1)),
        stray_rows=200,
    ),
    JobKind(
        "ctr wide",
        "ctr",
        (
            Role("worker", 777, 15, ((800, 14.6484375, 25), (1000, 14.6484375, 50)), _CTR_WORKER),
            Role("ps", 836, 2, ((600, 9.765625, None), (800, 9.765625, None)), _CTR_PS),
        ),
        ((5, 0.97), (TAIL_USERS, 0.03)),
        ((4, 0.4), (7, 0.3), (10, 0.3)),
    ),
    JobKind(
        "inception steady",
        "inception",
        (Role("worker", 7_474, 23, _INCEPTION_WORKER), Role("ps", 7_754, 25, _INCEPTION_PS)),
        ((1, 1.0),),
        _INCEPTION,
        stray_rows=2_990,
        pool="inception",
        groups=2,
        one_off_share=0.0,
    ),
    JobKind(
        "inception bursty",
        "inception",
        (Role("worker", 1_891, 22, _INCEPTION_WORKER), Role("ps", 1_994, 24, _INCEPTION_PS)),
        ((1, 1.0),),
        _INCEPTION,
        stray_rows=770,
        pool="inception",
        groups=2,
        one_off_share=0.0,
    ),
    JobKind(
        "inception alone",
        "inception",
        (Role("worker", 737, 7, ((600, 29.296875, 100), (800, 29.296875, 100))),),
        ((4, 1.0),),
        ((10, 0.6), (20, 0.4)),
    ),
    JobKind(
        "graphlearn common",
        "graphlearn",
        (
            Role("worker", 2_072, 19, _GRAPH_WORKER),
            Role("ps", 2_128, 20, _GRAPH_PS),
        ),
        ((3, 0.97), (TAIL_USERS, 0.03)),
        _SMALL,
        stray_rows=150,
    ),
    JobKind(
        "graphlearn light",
        "graphlearn",
        (
            Role("worker", 686, 14, ((200, 7.8125, 100), (300, 7.8125, 100)), _GRAPH_WORKER),
            Role("ps", 648, 10, ((100, 9.765625, None), (100, 7.8125, None)), _GRAPH_PS),
        ),
        ((3, 0.97), (TAIL_USERS, 0.03)),
        _SMALL,
        stray_rows=50,
    ),
    JobKind(
        "graphlearn heavy GPU",
        "graphlearn",
        (
            Role("worker", 567, 17, ((400, 48.828125, 100), (600, 48.828125, 100)), _GRAPH_WORKER),
            Role("ps", 395, 21, ((400, 3.90625, None), (600, 3.90625, None)), _GRAPH_PS),
        ),
        ((3, 0.97), (TAIL_USERS, 0.03)),
        _SMALL,
    ),
    JobKind(
        "graphlearn heavy traffic",
        "graphlearn",
        (
            Role("worker", 585, 18, ((1200, 19.53125, 100), (1000, 19.53125, 100)), _GRAPH_WORKER),
            Role("ps", 302, 11, ((300, 39.0625, None), (200, 39.0625, None)), _GRAPH_PS),
        ),
        ((3, 0.97), (TAIL_USERS, 0.03)),
        _SMALL,
    ),
    JobKind(
        "rl small",
        "rl",
        (Role("worker", 717, 4, ((200, 4.8828125, 25),)),),
        ((6, 1.0),),
        ((30, 0.5), (50, 0.5)),
        groups=1,
        one_off_share=0.0,
    ),
    JobKind(
        "rl single job",
        "rl",
        (Role("worker", 1_075, 5, ((1600, 97.65625, 200),), second_profile=6, second_rows=340),),
        ((6, 1.0),),
        ((1200, 1.0),),
        groups=1,
        one_off_share=0.0,
        coverage=(0.95, 0.95),
    ),
)
"""Kinds whose roles show a behaviour each."""


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
    """The outlier kind of a workload; `rows` are rows by task name, the largest first."""
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
