"""The settings of a ranking, and which runs it stands on: every other run is counted with its reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.words import counted, listed
from workprof.nodes.metrics import ASPECT_OF, ASPECTS, METRICS
from workprof.nodes.parsed_runs import ParsedRuns

RATIO, PERONA = "ratio", "perona"
EXCLUDE_NONE, STRESSED, FLAGGED = "none", "stressed", "flagged"


@settings
class RankSettings:
    """Which runs of which nodes are compared, how much each aspect weighs, and what the nodes cost.

    Raises SettingsError for a value out of bounds, weights that are all 0, or a window that ends before it starts.
    """

    weights: Annotated[
        dict[str, float],
        Setting(
            "Weights of the aspects; one that is not named counts 0.",
            least=0,
            most=1e9,
            choices=ASPECTS,
            empty="all alike",
            key="nodes_w",
        ),
    ] = field(default_factory=dict)
    score: Annotated[
        str,
        Setting(
            "How a node is scored.",
            choices={
                RATIO: "twice as fast is twice the score",
                PERONA: "10-norm of the code, as published; it ranks and does not measure",
            },
            shown={RATIO: "Ratio (default)", PERONA: "As published"},
        ),
    ] = RATIO
    exclude: Annotated[
        str,
        Setting(
            "Runs that do not count.",
            choices={
                STRESSED: "those labelled as under load do not",
                EXCLUDE_NONE: "all count, medians resist outliers",
                FLAGGED: "those that the detection of degradation flags do not",
            },
            shown={STRESSED: "Under load", EXCLUDE_NONE: "None", FLAGGED: "Flagged as degraded"},
            label="Excluded runs",
        ),
    ] = STRESSED
    since_s: Annotated[
        float | None,
        Setting(
            "Runs before do not count; changes are measured against the window before, of the same length.",
            unit="time",
            empty="any time",
            flag="--since",
            key="nodes_since",
            label="From",
        ),
    ] = None
    until_s: Annotated[
        float | None,
        Setting(
            "Runs after do not count.", unit="time", empty="any time", flag="--until", key="nodes_until", label="To"
        ),
    ] = None
    nodes: Annotated[
        tuple[str, ...],
        Setting(
            "Nodes that are compared; ratios of two nodes do not depend on which others are chosen.",
            columns="node",
            empty="all",
            key="nodes_only",
        ),
    ] = ()
    prices_per_h: Annotated[
        dict[str, float],
        Setting(
            "Prices NODE=0.12,... per hour, for score per price; or any other measure of size, such as cores.",
            above=0,
            empty="none",
            flag="--prices",
            key="nodes_prices",
            label="Prices per hour",
        ),
    ] = field(default_factory=dict)
    confidence: Annotated[float, Setting("Confidence of intervals.", "share", least=0.5, most=0.99)] = 0.95
    n_draws: Annotated[
        int, Setting("Resamples behind an interval.", least=100, most=20_000, flag="--draws", label="Resamples")
    ] = 2000
    seed: Annotated[int, Setting("Seed of the resamples.", least=0, most=2**32 - 1)] = 0

    def __post_init__(self) -> None:
        if self.weights and not sum(self.weights.values()) > 0:
            raise SettingsError("all weights are 0; give at least one aspect a weight above 0, such as cpu=1")
        if self.since_s is not None and self.until_s is not None and self.since_s >= self.until_s:
            raise SettingsError(
                f"the window starts at {self.since_s} and ends at {self.until_s}; give the earlier first"
            )

    @property
    def shares(self) -> dict[str, float]:
        """The weight of every aspect, summing to 1."""
        weights = self.weights or dict.fromkeys(ASPECTS, 1.0)
        total = sum(weights.values())
        return {aspect: weights.get(aspect, 0.0) / total for aspect in ASPECTS}


@dataclass(frozen=True)
class MeasuredSettings(RankSettings):
    """A ranking by metrics of one's own."""

    weights_of: dict[str, float] = field(default_factory=dict)  # aspect -> weight; empty = all alike
    aspects: tuple[str, ...] = ()  # of the table, filled in

    @property
    def shares(self) -> dict[str, float]:
        """The weight of every aspect, summing to 1."""
        weights = self.weights_of or dict.fromkeys(self.aspects, 1.0)
        total = sum(weights.values()) or 1.0
        return {aspect: weights.get(aspect, 0.0) / total for aspect in self.aspects}


@dataclass(frozen=True)
class DroppedMetric:
    """A metric that was measured and is not in the score, and why."""

    metric: str
    reason: str


@dataclass(frozen=True)
class NotPooled:
    """Runs that cannot be compared with the others, because their parameters differ."""

    benchmark: str
    parameters: str
    compared_with: str
    n_runs: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class OrientedRuns:
    """Runs with their metrics turned so that more is better."""

    node: NDArray[Any]  # and `benchmark`: (n_runs,) texts
    benchmark: NDArray[Any]
    started_s: Floats  # (n_runs,)
    logs: Floats  # (n_runs, n_metrics) direction times ln of the value; NaN where there is none
    metrics: tuple[str, ...]  # full names of the columns
    benchmarks: tuple[str, ...]  # benchmark of each column
    aspects: tuple[str, ...]  # what each column is part of: one of `ASPECTS`, or the caller's own


MOST_PARAMETER_SETS = 50


@dataclass(frozen=True)
class Selection:
    """What is compared."""

    positions: Ints  # (n_runs,) positions in the parsed runs
    nodes: tuple[str, ...]  # names in order, those without a usable run included
    left_out: dict[str, int]  # reason -> runs
    not_pooled: tuple[NotPooled, ...]


def select(parsed: ParsedRuns, settings: RankSettings, flagged: Ints | None = None) -> Selection:
    """The runs that are compared; `flagged` are row ids that the detection of degradation flagged.

    Raises:
        SettingsError: for a node that there is not, chosen or with a price.
        NotEnoughData: when no run is left.
    """
    known = {str(node) for node in parsed.node}
    unknown = sorted(set(settings.nodes) - known)
    if unknown:
        raise SettingsError(f"node {unknown[0]!r} is not in this dataset; choose from {', '.join(sorted(known))}")
    unpriced = sorted(set(settings.prices_per_h) - known)
    if unpriced:
        raise SettingsError(
            f"prices name {unpriced[0]!r}, which is no node here; the nodes are {listed(sorted(known))}"
        )
    nodes = tuple(sorted(settings.nodes or known))
    left_out: dict[str, int] = {}
    chosen = np.ones(len(parsed.node), dtype=np.bool_)
    for reason, wrong in _reasons(parsed, settings, nodes, flagged):
        dropped = chosen & wrong
        chosen &= ~wrong
        if dropped.any():
            left_out[reason] = int(dropped.sum())
    other, not_pooled = _other_parameters(parsed, chosen)
    chosen &= ~other
    if other.any():
        left_out["other parameters than most"] = int(other.sum())
    if not chosen.any():
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "there are none"
        raise NotEnoughData(f"no benchmark run is left to compare: {reasons}; widen the window or exclude less")
    return Selection(np.flatnonzero(chosen), nodes, left_out, not_pooled)


def _reasons(
    parsed: ParsedRuns, settings: RankSettings, nodes: tuple[str, ...], flagged: Ints | None
) -> list[tuple[str, Bools]]:
    reasons = [
        ("failed or unreadable", ~parsed.usable),
        ("repeated rows of a run", parsed.repeated),
        ("of a benchmark that is not known", ~np.isin(parsed.benchmark, list(ASPECT_OF))),
        ("of a node that was not chosen", ~np.isin(parsed.node, nodes)),
    ]
    if settings.since_s is not None:
        reasons.append(("before the time window, or without a time", ~(parsed.started_s >= settings.since_s)))
    if settings.until_s is not None:
        reasons.append(("after the time window, or without a time", ~(parsed.started_s <= settings.until_s)))
    if settings.exclude == STRESSED:
        reasons.append(("labelled as stressed", parsed.stressed == 1))
    if settings.exclude == FLAGGED and flagged is not None:
        reasons.append(("flagged as anomalous", np.isin(parsed.row_ids, flagged)))
    return reasons


def newest_failed(parsed: ParsedRuns, exclude: str) -> dict[str, tuple[str, ...]]:
    """Node -> the benchmarks whose newest run there failed, measured 0 or cannot be read, or of which every run did."""
    counts = ~parsed.repeated & np.isin(parsed.benchmark, list(ASPECT_OF))
    scored = np.array([METRICS[name].scored for name in parsed.metrics])
    well = parsed.usable & ~(parsed.values[:, scored] <= 0).any(axis=1)
    failed = counts & ~well & ~((parsed.stressed == 1) & (exclude == STRESSED))
    found: dict[str, list[str]] = {}
    for node, benchmark in sorted(
        set(zip(parsed.node[failed].tolist(), parsed.benchmark[failed].tolist(), strict=True))
    ):
        here = (parsed.node == node) & (parsed.benchmark == benchmark)
        read = here & counts & well
        newest = np.nanmax(parsed.started_s[read], initial=-np.inf)
        if not read.any() or (parsed.started_s[here & failed] > newest).any():
            found.setdefault(node, []).append(benchmark)
    return {node: tuple(names) for node, names in found.items()}


def failed_words(failed: Mapping[str, Sequence[str]]) -> str:
    """'n3 (cpu-sysbench, disk-fio)'; '' without a node."""
    named = [f"{node} ({', '.join(names)})" for node, names in list(failed.items())[:MOST_FAILED]]
    rest = [counted(len(failed) - MOST_FAILED, "more node")] if len(failed) > MOST_FAILED else []
    return listed([*named, *rest])


MOST_FAILED = 4


def _other_parameters(parsed: ParsedRuns, chosen: Bools) -> tuple[Bools, tuple[NotPooled, ...]]:
    """The runs whose parameters are not those of most nodes (then: of most runs), by benchmark."""
    parameters = np.asarray(parsed.parameters, dtype=np.str_)
    other, not_pooled = np.zeros(len(chosen), dtype=np.bool_), []
    for benchmark in np.unique(parsed.benchmark[chosen]):
        here = chosen & (parsed.benchmark == benchmark)
        sets = np.unique(parameters[here])
        main = max(sets, key=lambda one: _coverage(parsed.node[here & (parameters == one)], one))
        for one in sets[sets != main][:MOST_PARAMETER_SETS]:
            runs = here & (parameters == one)
            nodes = tuple(sorted({str(node) for node in parsed.node[runs]}))
            not_pooled.append(NotPooled(str(benchmark), str(one), str(main), int(runs.sum()), nodes))
        other |= here & (parameters != main)
    return other, tuple(not_pooled)


def _coverage(nodes: NDArray[Any], parameters: str) -> tuple[int, int, str]:
    return len(np.unique(nodes)), len(nodes), parameters


def oriented(parsed: ParsedRuns, positions: Ints) -> OrientedRuns:
    """The scored metrics of the kept runs, direction times ln of the value; 0 and below have no logarithm."""
    names = [name for name in parsed.metrics if METRICS[name].scored]
    columns = np.array([parsed.metrics.index(name) for name in names], dtype=np.int64)
    sign = np.array([1.0 if METRICS[name].direction == "higher" else -1.0 for name in names])
    values = parsed.values[np.ix_(positions, columns)]
    positive = np.where(values > 0, values, np.nan)
    return OrientedRuns(
        node=parsed.node[positions],
        benchmark=parsed.benchmark[positions],
        started_s=parsed.started_s[positions],
        logs=sign * np.log(positive),
        metrics=tuple(names),
        benchmarks=tuple(METRICS[name].benchmark for name in names),
        aspects=tuple(METRICS[name].aspect for name in names),
    )


def dropped_metrics(parsed: ParsedRuns, positions: Ints, used: set[str]) -> tuple[DroppedMetric, ...]:
    """Every metric that was measured and does not make a score, with the reason."""
    dropped = []
    for column, name in enumerate(parsed.metrics):
        values = parsed.values[positions, column]
        if name in used or not np.isfinite(values).any():
            continue
        dropped.append(DroppedMetric(name, _why(name, values)))
    return tuple(dropped)


def _why(name: str, values: Floats) -> str:
    if METRICS[name].direction == "context":
        return "context: neither more nor less of it is better"
    if not METRICS[name].scored:
        return "not in the score: another metric of the benchmark stands for it"
    not_positive = int((values <= 0).sum())
    if not_positive:
        return f"no common value: {not_positive} runs have 0 or less, which has no ratio"
    return "no value on one of the nodes that have the aspect"


def values_without_ratio(parsed: ParsedRuns, positions: Ints) -> dict[str, int]:
    """Metric -> values of 0 or less among the scored ones, which are left out and never replaced."""
    counts: Counter[str] = Counter()
    for column, name in enumerate(parsed.metrics):
        if METRICS[name].scored:
            counts[name] = int((parsed.values[positions, column] <= 0).sum())
    return {name: count for name, count in counts.items() if count}
