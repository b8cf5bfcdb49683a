"""Kinds of jobs: which roles a job has, what each role asks for, which behaviour it shows, who submits it.

A kind joins the published profiles that belong to one sort of job: bert workers (8) with their servers (9), ctr
workers (16), servers (3) and evaluators (13), and so on. `rows` are the published profile sizes of the
100,001-row sample; the rows of outlier kinds make up the published outliers per workload and task. Kinds of one
workload ask for different bundles, so that what is known at submission tells them apart; a few recurring groups borrow
the bundles of a larger kind, so that one must know the group. The inception kinds "steady" and "bursty" share every
bundle, user and group (profiles 22/23 and 24/25), and profiles 5 and 6 are one job.
"""

from __future__ import annotations

from dataclasses import dataclass

from workprof.synthetic.pai_published import OUTLIER

Bundle = tuple[float, float, float | None]
"""plan_cpu (percent of a core), plan_mem (GiB), plan_gpu (percent of a GPU, None = not requested)."""

TAIL_USERS, UNTAGGED_USERS = -1, -2
"""Stand for the many small users, and for those of untagged jobs, in `JobKind.users`."""


@dataclass(frozen=True)
class Role:
    """One task of a job kind.

    Attributes:
        task_name: as in the trace.
        rows: its rows in a sample of 100,001.
        profile: the behaviour, or OUTLIER for scattered rows.
        bundles: what is requested; the bundle number is drawn once per template, for all roles.
        borrowed: bundles of a larger kind, which some recurring templates request; only their group tells them apart.
        second_profile: a further behaviour of rows of the same job, and
        second_rows: how many of `rows` show it.
    """

    task_name: str
    rows: int
    profile: int
    bundles: tuple[Bundle, ...]
    borrowed: tuple[Bundle, ...] = ()
    second_profile: int | None = None
    second_rows: int = 0


@dataclass(frozen=True)
class JobKind:
    """A sort of job.

    Attributes:
        name: for people.
        workload: the tag; empty = untagged.
        roles: the first one sets the size of a job.
        users: (rank of a top user, TAIL_USERS or UNTAGGED_USERS; weight).
        inst_nums: (instances of the first role, weight).
        stray_rows: rows of otherwise regular jobs that behave like nothing else.
        pool: kinds of one pool share templates, hence all metadata.
        groups: number of groups where it is fixed; None = one per template.
        one_off_share: share of jobs whose template never recurs.
        coverage: least and largest share of a task's instances that a sample holds (our choice).
    """

    name: str
    workload: str
    roles: tuple[Role, ...]
    users: tuple[tuple[int, float], ...]
    inst_nums: tuple[tuple[int, float], ...]
    stray_rows: int = 0
    pool: str = ""
    groups: int | None = None
    one_off_share: float = 0.65
    coverage: tuple[float, float] = (0.35, 0.95)

    @property
    def rows(self) -> int:
        """Return the rows of the kind in a sample of 100,001, stray ones included."""
        return sum(role.rows for role in self.roles) + self.stray_rows

    @property
    def scattered(self) -> bool:
        """Return whether every row of the kind is an outlier."""
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
