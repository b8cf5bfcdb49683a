"""Runtimes predicted on other machines, by published methods and by ours, and how far off they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats
from workprof.core.errors import NoRows, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.shown import Shown
from workprof.nodes.runtime_factors import (
    DEFAULT_FACTOR,
    FACTORS,
    Factor,
    MachineScores,
    TaskBenchmarks,
    TaskTraits,
    exponent,
    factor_named,
    scores_of,
    task_ratio,
    with_own_benchmark,
)
from workprof.nodes.runtime_models import (
    PARTS,
    TaskKey,
    TaskRuns,
    TransferCase,
    TransferCases,
    busy_share,
    line_or_median,
    naive,
    online_m,
    online_p,
    task_runs,
    transfer_cases,
)


@settings
class TransferSettings:
    """From which machine to which, by which factors.

    Raises SettingsError for a value out of bounds, no machine, or a target that is named twice or is the local one.
    """

    local: Annotated[str, Setting("Machine that is learned on.", label="Learned on")]
    targets: Annotated[tuple[str, ...], Setting("Machines A,B that are predicted.", label="Predicted on")]
    factors: Annotated[
        tuple[str, ...],
        Setting(
            "Factors that the runtime on the local machine is scaled by.",
            choices={one.name: one.title for one in FACTORS.values()},
            named={"all": tuple(FACTORS)},
            flag="--factor",
            some=True,
        ),
    ] = tuple(FACTORS)
    confidence: Annotated[
        float, Setting("Confidence of intervals.", "share", least=0.5, most=0.99, key="nodes_transfer_confidence")
    ] = 0.9
    seed: Annotated[int, Setting("Seed of the draws of online_p.", least=0, key="nodes_transfer_seed")] = 0
    history: Annotated[
        bool,
        Setting(
            "Runs on the other machines in the folder, neither learned on nor predicted, tell how a task follows the "
            "scores.",
            label="Learn from other machines",
        ),
    ] = True

    def __post_init__(self) -> None:
        if not self.local or not self.targets:
            raise SettingsError("name one local machine and at least one target")
        if len(set(self.targets)) < len(self.targets):
            raise SettingsError(f"targets are {', '.join(self.targets)}; name each once")
        if self.local in self.targets:
            raise SettingsError(f"targets name {self.local}, the machine that is learned on; name other machines")

    @property
    def default(self) -> str:
        """The name of our factor."""
        return DEFAULT_FACTOR


PERCENTILES = (50, 90, 95)
N_DRAWS = 99
"""Of Online-P: a single draw moves its P90 between .57 and .64, so its figures are the medians over so many."""


@dataclass(frozen=True)
class ErrorFigures:
    """Percentiles of |predicted - measured| / measured over n predictions."""

    median: float
    p90: float
    p95: float
    n: int


@dataclass(frozen=True)
class Predicted:
    """What was predicted and measured; all arrays are (n,)."""

    workflow: NDArray[Any]  # and `task`, `target`: of each prediction
    task: NDArray[Any]
    target: NDArray[Any]
    measured_s: Floats  # runtime on the target
    from_line: Bools  # False where the median stands in for the line
    times_largest_input: Floats  # input size / the largest input learned from; above 1 the line leaves its range
    locally_s: Floats  # what line or median says of the local machine
    by_method: dict[str, Floats]  # method -> runtime in seconds; of online_p the first draw


@dataclass(frozen=True, repr=False)
class Transfer(Shown):
    """Errors of every method on the same predictions."""

    methods: dict[str, ErrorFigures]  # naive, online_m, online_p, lotaru and one per factor -> its errors
    default: str  # our factor
    left_out: dict[str, str]  # factor -> why it could not be computed
    predicted: Predicted  # one by one
    n_untrained: int  # and `n_absent`: see `TransferCases`
    n_absent: int
    history: tuple[str, ...] = ()  # further machines whose runs told how tasks follow the scores


@dataclass(frozen=True)
class _Known:
    """What is known of machines and tasks: scores, the tasks' own benchmarks, and (machine, part) -> runs elsewhere."""

    scores: Mapping[str, MachineScores]
    benchmarks: TaskBenchmarks
    elsewhere: Mapping[tuple[str, int], Mapping[TaskKey, TaskRuns]]

    def traits(self, local: str, case: TransferCase) -> TaskTraits:
        """What a factor may know of the task of a case."""
        task, busy = (case.workflow, case.task), busy_share(case.training)
        measured = []
        for machine, part in self.elsewhere:
            shown = self._shown(case, machine) if part == case.part else None
            if shown is not None:
                own = task_ratio(self.benchmarks, task, local, machine)
                machines = scores_of(local, self.scores), scores_of(machine, self.scores)
                expected = with_own_benchmark(*machines, busy, own)
                measured.append((float(np.log(expected)), shown))
        return TaskTraits(busy, task_ratio(self.benchmarks, task, local, case.target), exponent(measured))

    def _shown(self, case: TransferCase, machine: str) -> float | None:
        """The median ln(runtime there / runtime here) on inputs that both ran; None without one."""
        there = self.elsewhere[machine, case.part].get((case.workflow, case.task))
        if there is None:
            return None
        by_size = dict(zip(there.input_bytes.tolist(), there.runtime_s.tolist(), strict=True))
        here = zip(case.training.input_bytes.tolist(), case.training.runtime_s.tolist(), strict=True)
        logs = [np.log(by_size[size] / runtime_s) for size, runtime_s in here if size in by_size]
        return float(np.median(logs)) if logs else None


def transfer(
    reports: Mapping[str, pd.DataFrame],
    scores: Mapping[str, MachineScores],
    settings: TransferSettings,
    benchmarks: TaskBenchmarks | None = None,
) -> Transfer:
    """How well runtimes on one machine tell those on others; further machines that have scores are the history.

    Raises:
        NoRows: when a machine has no report, or nothing can be predicted.
        NotEnoughData: when a machine has no scores, or none of the named factors can be computed.

    Source: Perona (Scheinert et al. 2022), Table III. Ours adds factors that keep the ratio of the scores, and
    `per-task`, which scales computing and waiting apart, medians like lines, and each task as measured elsewhere.
    """
    lacking = [name for name in (settings.local, *settings.targets) if name not in reports]
    if lacking:
        raise NoRows(f"there is no report of machine {lacking[0]!r}; there are: {', '.join(sorted(reports)) or 'none'}")
    cases = transfer_cases(reports, settings.local, settings.targets)
    rng = np.random.default_rng(settings.seed)
    draws = np.array([online_p(one.training, one.input_bytes, rng, N_DRAWS) for one in cases.cases])  # (n, N_DRAWS)
    named = (settings.local, *settings.targets)
    history = tuple(name for name in reports if settings.history and name not in named and name in scores)
    elsewhere = {(name, part): task_runs(reports[name], part) for name in history for part in PARTS}
    predicted, left_out = _predict(cases, draws[:, 0], _Known(scores, benchmarks or {}, elsewhere), settings)
    methods = {name: error_figures(values, predicted.measured_s) for name, values in predicted.by_method.items()}
    of_draws = [error_figures(column, predicted.measured_s) for column in draws.T]
    median, p90, p95 = (float(np.median([getattr(one, name) for one in of_draws])) for name in ("median", "p90", "p95"))
    return Transfer(
        methods | {"online_p": ErrorFigures(median, p90, p95, len(cases.cases))},
        settings.default,
        left_out,
        predicted,
        cases.n_untrained,
        cases.n_absent,
        history,
    )


def error_figures(predicted_s: Floats, measured_s: Floats) -> ErrorFigures:
    """The percentiles of the relative error, by the (n + 1) rule, as published."""
    if not len(measured_s):
        raise NotEnoughData("there is no prediction to judge")
    errors = np.abs(predicted_s - measured_s) / measured_s
    median, p90, p95 = np.percentile(errors, PERCENTILES, method="weibull")
    return ErrorFigures(float(median), float(p90), float(p95), len(errors))


def scaled(factor: Factor, machines: tuple[MachineScores, MachineScores], from_line: bool, traits: TaskTraits) -> float:
    """By how much a factor scales one prediction (local, target): 1 for medians that it leaves alone.

    Raises NotEnoughData when a score that it needs is absent.
    """
    value = factor.rule(*machines, traits)
    return value if from_line or factor.scales_median else 1.0


def _predict(
    cases: TransferCases, one_draw: Floats, known: _Known, settings: TransferSettings
) -> tuple[Predicted, dict[str, str]]:
    locally = [line_or_median(one.training, one.input_bytes) for one in cases.cases]
    from_line = np.array([one.from_line for one in locally])
    locally_s = np.array([one.runtime_s for one in locally])
    traits = [known.traits(settings.local, one) for one in cases.cases]
    by_method = {
        "naive": np.array([naive(one.training, one.input_bytes) for one in cases.cases]),
        "online_m": np.array([online_m(one.training, one.input_bytes) for one in cases.cases]),
        "online_p": one_draw,
    }
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(("lotaru", *settings.factors)):
        try:
            local = scores_of(settings.local, known.scores)
            machines = [(local, scores_of(one.target, known.scores)) for one in cases.cases]
            rows = zip(machines, from_line.tolist(), traits, strict=True)
            by_method[name] = locally_s * np.array([scaled(factor_named(name), *row) for row in rows])
        except NotEnoughData as error:
            left_out[name] = str(error)
    if not any(name in by_method for name in settings.factors):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise NotEnoughData(f"no factor can be computed ({reasons}); give a file with these scores")
    predicted = Predicted(
        np.array([one.workflow for one in cases.cases]),
        np.array([one.task for one in cases.cases]),
        np.array([one.target for one in cases.cases]),
        np.array([one.runtime_s for one in cases.cases]),
        from_line,
        np.array([one.input_bytes / one.training.input_bytes.max() for one in cases.cases]),
        locally_s,
        by_method,
    )
    return predicted, left_out


def default_predictions(result: Transfer) -> Floats:
    """The runtimes in seconds that our factor predicts.

    Raises SettingsError when it was not among the named factors, or could not be computed.
    """
    if DEFAULT_FACTOR not in result.predicted.by_method:
        reason = result.left_out.get(DEFAULT_FACTOR, "it was not requested")
        raise SettingsError(f"there are no predictions by {DEFAULT_FACTOR}: {reason}")
    return result.predicted.by_method[DEFAULT_FACTOR]
