"""Configuration search: which machine, and how many, is cheapest for a workload, found by trying few of them.

A table of measured configurations is searched as if none were known: every trial tells the optimiser one row.
CherryPick (Alipourfard et al., NSDI 2017) models the logarithm of the cost by a Gaussian process; Arrow (Hsu et al.,
ICDCS 2018) predicts it from pairs of configurations and the low-level metrics of those tried. Both take the
configuration with the largest expected improvement next. With scores of machines, Perona (Scheinert et al., 2022,
Fig. 5) raises that of machines which are good at what the workload uses.

Ours differs from Perona's code: scores are divided by the price of the machine (cost / runtime / count) unless they are
to count as published, since a search for the least cost is led astray by what is fast and dear. First trials are drawn
at random, not by a Sobol sequence; CherryPick's features are the count, the options and whatever numbers the table has
of a machine, costs have a fixed small noise, and expected improvement stands for its noisy variant.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import numpy as np
import pandas as pd

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError, TraceError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import HOUR_S
from workprof.core.words import counted
from workprof.nodes.advice import TYPES_OF_RESOURCE, acquisition_with_scores, scaled_scores, utilisation

CHERRYPICK, ARROW = "cherrypick", "arrow"
PER_PRICE, AS_PUBLISHED = "price", "published"
RANDOM, WITHOUT, WITH_SCORES = "at random", "without scores", "with scores"
FIRST_TRIALS = 3
"""Drawn at random before there is a model; with scores the first is, and two follow the scores alone."""
FEWEST_CONFIGURATIONS = FIRST_TRIALS + 1
NAMED = ("workload", "machine", "count", "runtime", "cost")
PRICE = "price_per_h"
"""Column of the price of one machine per hour, which stands for a cost."""
RUNTIMES = ("runtime", "runtime_s", "runtime_seconds")
"""Names that the column of runtimes may have, also where a dataset is made of the table."""
USED = {resource: f"{resource}_percent" for resource in TYPES_OF_RESOURCE}
"""Resource -> column of its mean utilisation in a run, 0-100, which the scores are weighed by."""
TREES, DEPTH = 101, 5
"""Of Arrow's extra trees."""
NOISE = 1e-3
"""Variance of the noise of a measured cost, in standard deviations squared."""
UNITS = {"_mib": "MiB", "_mb": "MB", "_gib": "GiB", "_gb": "GB", "_s": "s"}
"""Ending of a column's name -> unit of its values, in the words for a configuration."""
DRAWS = 2_000
CONFIDENCE = 0.9
TOLERANCE = 1e-9


@settings
class SearchSettings:
    """How configurations are tried."""

    optimizer: Annotated[
        str,
        Setting(
            "What predicts the cost of configurations that were not tried.",
            choices={
                CHERRYPICK: "a Gaussian process on machine and count",
                ARROW: "extra trees on pairs of configurations and the low-level metrics of those tried",
            },
            shown={CHERRYPICK: "CherryPick", ARROW: "Arrow"},
        ),
    ] = CHERRYPICK
    trials: Annotated[
        int, Setting("Configurations that are tried at most.", least=1, most=100, key="nodes_search_trials")
    ] = 10
    seeds: Annotated[int, Setting("Searches, each from other first trials.", least=1, most=1000)] = 20
    limit_s: Annotated[
        float,
        Setting("Longest runtime that is acceptable.", "s", least=0, empty="none", label="Runtime limit"),
    ] = 0.0
    weigh: Annotated[
        str,
        Setting(
            "How scores of machines count.",
            choices={
                PER_PRICE: "divided by the price of the machine, which is known before a trial",
                AS_PUBLISHED: "as they are, whatever the machine costs",
            },
            shown={PER_PRICE: "Per price (default)", AS_PUBLISHED: "As published"},
            key="nodes_search_weigh",
            label="Scores count",
        ),
    ] = PER_PRICE
    seed: Annotated[int, Setting("Of the first of the searches.", least=0, key="nodes_search_seed")] = 0
    options: Annotated[
        tuple[str, ...],
        Setting(
            "Columns that a configuration consists of beside machine and count, where the table has them.",
            empty="none",
        ),
    ] = ("threads", "workers", "memory_mib", "memory_gb")
    prices_per_h: Annotated[
        dict[str, float],
        Setting(
            "Prices MACHINE=0.12,... of one machine per hour: a run costs runtime x count x price. "
            "Machines without one are left out.",
            above=0,
            empty="the table's cost, or its price_per_h",
            flag="--prices",
            key="nodes_search_prices",
            label="Prices per hour",
        ),
    ] = field(default_factory=dict)
    runs: Annotated[
        str,
        Setting(
            "Dataset of benchmark runs: with the scores of its nodes, named as the machines of the table, too.",
            empty="none",
            key="nodes_search_runs",
            label="Node scores",
        ),
    ] = ""


@dataclass(frozen=True)
class Configurations:
    """Measured configurations of one workload."""

    workload: str  # its name; '' where the table has no such column
    machine: tuple[str, ...]  # (n,) of each configuration
    count: Ints  # (n,) machines
    options: tuple[str, ...]  # (n,) what else a configuration consists of, in words; '' where the table has nothing
    runtime: Floats  # (n,) seconds
    cost: Floats  # (n,) in the table's own unit
    # (n, d) what is known before a trial: count and options, and of the machine what the table says, else which one it
    # is
    known: Floats
    metrics: Floats  # (n, m) low-level metrics that a trial tells, standardised; m may be 0
    used: dict[str, Floats]  # resource -> (n,) mean utilisation in percent, where the table has it

    def name(self, row: int) -> str:
        """'machine x count', and the options behind a comma."""
        return ", ".join(filter(None, (f"{self.machine[row]} x {self.count[row]}", self.options[row])))


@dataclass(frozen=True)
class SearchCurve:
    """How far the best configuration found is from the cheapest, by number of trials."""

    # of these three: (n_trials,) best cost found / least cost over the searches, 5 % and 95 % beside the median
    median: Floats
    low: Floats
    high: Floats
    mean: Floats  # (n_trials,) the same, averaged
    mean_low: Floats  # and `mean_high`: (n_trials,) 90 % bootstrap interval of the mean
    mean_high: Floats
    found_share: Floats  # (n_trials,) of the searches that have found the cheapest


@dataclass(frozen=True)
class Difference:
    """Mean cost ratio with scores less without, after so many trials; below 0 the scores help."""

    trials: int  # after which
    mean: float  # over searches and workloads, each pair of searches begun by the same seed
    low: float  # and `high`: 90 % bootstrap interval over the pairs
    high: float


@dataclass(frozen=True)
class Trial:
    """One step of a search: its number from 1, what was tried, what that took, and the least acceptable cost so far."""

    workload: str
    trial: int
    configuration: str
    runtime_s: float
    cost: float
    best_cost: float | None


@dataclass(frozen=True, repr=False)
class Search(Shown):
    """Searches of every workload of a table."""

    settings: SearchSettings  # as given
    n_configurations: int  # rows that could be tried
    workloads: dict[str, str]  # name -> cheapest configuration
    least_costs: dict[str, float]  # name -> its cost
    curves: dict[str, SearchCurve]  # 'at random', 'without scores', and 'with scores' where there are any
    path: tuple[Trial, ...]  # the first search of each workload, with scores where there are any
    differences: tuple[Difference, ...]  # with less without scores, after each trial; empty without scores
    notes: tuple[str, ...]  # what is missing, and what was left out

    @property
    def n_trials(self) -> int:
        """Trials that the curves follow: as many as the settings say, or as there are configurations of a workload."""
        return len(next(iter(self.curves.values())).mean)


def _table(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except ValueError as error:  # its own errors and those of the encoding are
        raise TraceError(f"{path} is no CSV text in UTF-8: {' '.join(str(error).split())}; save it as CSV") from error


def _priced(table: pd.DataFrame, prices: Mapping[str, float]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows that have a cost, and a note: of the prices given, else the table's own, else of its prices."""
    if not prices and ("cost" in table.columns or PRICE not in table.columns):
        return table.drop(columns=PRICE, errors="ignore"), ()
    names = table["machine"].astype(str)
    have = ", ".join(sorted(set(names)))
    price = names.map(prices) if prices else pd.to_numeric(table[PRICE], errors="coerce")
    known = price.gt(0) & np.isfinite(price)
    if not known.any():
        raise SettingsError(f"no machine of the table has a price; it has {have}: give --prices MACHINE=0.12,...")
    unknown = sorted(set(prices) - set(names))
    if unknown:
        raise SettingsError(f"prices name {unknown[0]!r}, which is no machine of the table; it has {have}")
    cost = table["runtime"] / HOUR_S * table["count"] * price
    notes = ["a run costs its runtime x the machines x the price of one per hour"]
    if not known.all():
        lacking = ", ".join(sorted(set(names[~known])))
        notes.append(f"no price of {lacking}: {counted(int((~known).sum()), 'measurement')} left out")
    return table.assign(cost=cost)[known].drop(columns=PRICE, errors="ignore"), tuple(notes)


def configurations_of(
    table: pd.DataFrame,
    options: tuple[str, ...] = SearchSettings.options,
    prices: Mapping[str, float] = MappingProxyType({}),
) -> tuple[tuple[Configurations, ...], tuple[str, ...]]:
    """The configurations of each workload of a table, and notes.

    Its columns are machine, count, runtime (s), and cost or price_per_h; workload where there are several; `options`,
    what a configuration consists of besides; cpu_percent, memory_percent, disk_percent, network_percent (mean
    utilisation of the run) and any further numbers. A number that never differs between the rows of a machine
    describes the machine, any other is a low-level metric of the run. A configuration that was measured several times
    has the means.

    `prices`: machine -> price of one per hour, which a cost is made of.

    Raises:
        NoRows: when there is no row.
        ColumnMissing: names the columns that are absent.
        TraceError: for a count, a runtime or a cost that is not above 0.
        SettingsError: when no machine has a price, or there is a price of a machine that the table lacks.
    """
    table = table.rename(columns=lambda name: str(name).strip())
    table = table.rename(columns=dict.fromkeys(RUNTIMES, "runtime"))
    given = {*table.columns, *(("cost",) if prices or PRICE in table.columns else ())}
    absent = [name for name in NAMED[1:] if name not in given]
    if absent:
        raise ColumnMissing(
            f"the table has no column {', '.join(absent)}; it has {', '.join(table.columns)}"
            + ("; give --prices MACHINE=0.12,... of one machine per hour" if absent == ["cost"] else "")
        )
    if not len(table):
        raise NoRows("the table has no row")
    table = _numbers(table, NAMED[2:4])
    table, priced = _priced(table, prices)
    table = _numbers(table, NAMED[4:])
    if "workload" not in table.columns:
        table["workload"] = ""
    workloads = table["workload"].astype("object")  # a column without any is of numbers
    table["workload"] = workloads.where(workloads.notna(), "").astype(str)
    table["machine"] = table["machine"].astype(str)
    measured, own = len(table), [name for name in options if name in table.columns]
    numbers = [name for name in table.select_dtypes("number").columns if name not in NAMED]
    numeric = [name for name in numbers if name not in own]
    texts = set(table.columns) - {*NAMED, *own, *numeric}
    table = table.groupby([*NAMED[:3], *own], as_index=False, dropna=False)[["runtime", "cost", *numeric]].mean()
    again = measured - len(table)
    notes = list(priced)
    notes += [f"further measurements of configurations, averaged with the first: {again}"] if again else []
    lacking = {name: int((~np.isfinite(table[name])).sum()) for name in numbers}
    texts |= {name for name, n in lacking.items() if n == len(table)}
    gaps = [f"{name} of {counted(n, 'configuration')}" for name, n in lacking.items() if n and name not in texts]
    notes += [f"missing values count as the mean of the others: {', '.join(gaps)}"] if gaps else []
    notes += [f"{', '.join(sorted(texts))} holds no numbers and is not used"] if texts else []
    varying = [name for name in numeric if table[name].max() > table[name].min()]
    by_machine = table.groupby("machine")[varying]
    spans = by_machine.max() - by_machine.min()
    of_machine = [name for name in varying if name not in USED.values() and spans[name].fillna(0).eq(0).all()]
    metrics = [name for name in varying if name not in of_machine]
    result = tuple(
        _configurations(str(name), rows.reset_index(drop=True), own, of_machine, metrics)
        for name, rows in table.groupby("workload")
    )
    if not metrics:
        notes.append("the table has no low-level metrics of the runs; Arrow then sees the configurations alone")
    return result, tuple(notes)


def _numbers(table: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """The table with numbers in these columns; refuses one that is not above 0."""
    for name in names:
        numbers = pd.to_numeric(table[name], errors="coerce")
        whole = "whole " if name == "count" else ""
        wrong = ~(numbers > 0) | ~np.isfinite(numbers) | (whole != "") & (numbers % 1 != 0)
        if wrong.any():
            line = int(np.flatnonzero(wrong)[0])
            raise TraceError(f"line {line + 2}: {name} is {table[name].iloc[line]}; give a {whole}number above 0")
        table = table.assign(**{name: numbers})
    return table


def read_configurations(
    path: Path,
    options: tuple[str, ...] = SearchSettings.options,
    prices: Mapping[str, float] = MappingProxyType({}),
) -> tuple[tuple[Configurations, ...], tuple[str, ...]]:
    """`configurations_of` a CSV; raises as that, NoRows when there is no file, TraceError when it is no CSV."""
    if not path.is_file():
        raise NoRows(f"{path} is no file; give a CSV with the columns {', '.join(NAMED[1:])}")
    table = _table(path)
    try:
        return configurations_of(table, options, prices)
    except (NoRows, ColumnMissing, TraceError, SettingsError) as error:
        raise type(error)(f"{path}: {error}") from None


def read_machine_scores(path: Path) -> dict[str, dict[str, float]]:
    """Machine -> score name -> score of a CSV with the columns machine and any of cpu, memory, disk, network.

    Names of benchmarks (cpu-sysbench, disk-fio, ...) are taken, too. Higher is better.

    Raises:
        NoRows: when there is no file.
        ColumnMissing: when it names no machine, or no score.
        SettingsError: for a machine named twice, or a score that is no finite number.
    """
    if not path.is_file():
        raise NoRows(f"{path} is no file; give a CSV with the columns machine, {', '.join(TYPES_OF_RESOURCE)}")
    table = _table(path)
    types = {*TYPES_OF_RESOURCE, *(name for names in TYPES_OF_RESOURCE.values() for name in names)}
    columns = [name for name in table.columns if name in types]
    if "machine" not in table.columns or not columns:
        raise ColumnMissing(f"{path} needs the column machine and any of {', '.join(TYPES_OF_RESOURCE)}")
    twice = table["machine"][table["machine"].duplicated()]
    if len(twice):
        raise SettingsError(f"machine {twice.iloc[0]!r} has two rows of scores; keep one")
    for name in columns:
        wrong = table[name].notna() & ~np.isfinite(pd.to_numeric(table[name], errors="coerce"))
        if wrong.any():
            machine, score = table.loc[wrong, ["machine", name]].iloc[0]
            raise SettingsError(f"{path}: {name} of machine {machine!r} is {score}; give a number, or nothing")
    return _by_machine(table[["machine", *columns]])


def _by_machine(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Machine -> score name -> score of a table of scores; one that is missing is left out."""
    return {
        str(row.pop("machine")): {str(name): float(value) for name, value in row.items() if pd.notna(value)}
        for row in table.to_dict("records")
    }


def search(
    tables: tuple[Configurations, ...],
    given: SearchSettings,
    scores: Mapping[str, Mapping[str, float]] | None = None,
    progress: Progress = silent,
) -> Search:
    """Searches of every workload, without scores and, where there are any, with them.

    `scores`: machine -> score name -> score, higher is better; a machine without one has 0.

    Raises NotEnoughData when a workload has fewer than four configurations, or none within the limit.
    """
    kinds = (RANDOM, WITHOUT, WITH_SCORES) if scores else (RANDOM, WITHOUT)
    ratios: dict[str, list[Floats]] = {kind: [] for kind in kinds}
    workloads, least_costs, path, notes = {}, {}, [], []
    n_trials = min(given.trials, max(len(table.cost) for table in tables))  # no configuration is tried twice
    for place, table in enumerate(tables):
        progress(place / len(tables), f"Searching {table.workload or 'the configurations'}")
        ok = table.runtime <= given.limit_s if given.limit_s else np.ones(len(table.cost), dtype=np.bool_)
        _refuse_few(table, ok, given)
        least = float(table.cost[ok].min())
        least_costs[table.workload] = least
        workloads[table.workload] = table.name(int(np.flatnonzero(ok & (table.cost == least))[0]))
        if scores:
            absent = sorted({*table.machine} - {*scores})
            notes += [f"no scores of {', '.join(absent)}: they count as 0"] if absent else []
            if not table.used:
                notes.append("the table has no utilisation (cpu_percent, ...): every resource counts alike")
            for resource, percent in table.used.items():
                if unknown := int((~_tells(percent)).sum()):
                    of = f" of {table.workload}" if table.workload else ""
                    notes.append(f"{counted(unknown, 'configuration')}{of} without {USED[resource]}: not weighed by it")
        for kind in kinds:
            for number in range(given.seeds):
                if kind == RANDOM:
                    rows = _random_search(table, given, number)
                else:
                    rows = _one_search(table, ok, given, number, scores if kind == WITH_SCORES else None)
                best = np.minimum.accumulate(np.where(ok[rows], table.cost[rows], np.inf))
                worst = float(table.cost.max())  # nothing acceptable yet: as the dearest
                ratios[kind].append(np.pad(np.minimum(best, worst), (0, n_trials - len(best)), mode="edge") / least)
                if not number and kind == kinds[-1]:
                    path += [_trial(table, ok, rows, step) for step in range(len(rows))]
    whole = {kind: np.array(result) for kind, result in ratios.items()}
    return Search(
        settings=given,
        n_configurations=sum(len(table.cost) for table in tables),
        workloads=workloads,
        least_costs=least_costs,
        curves={kind: _curve(result, given.seed) for kind, result in whole.items()},
        path=tuple(path),
        differences=_differences(whole[WITH_SCORES] - whole[WITHOUT], given.seed) if scores else (),
        notes=tuple(dict.fromkeys(notes)),
    )


def expected_improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """(n,) by how much a cost is expected to be below the best one, E max(best - cost, 0), costs normal.

    Source: Jones, Schonlau and Welch (1998), equation 15, for a minimum.
    """
    from scipy.special import ndtr  # noqa: PLC0415  heavy

    gain = best - mean
    at = np.divide(gain, deviation, out=np.zeros_like(gain), where=deviation > 0)
    density = np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)
    result: Floats = np.where(deviation > 0, gain * ndtr(at) + deviation * density, np.maximum(gain, 0.0))
    return np.maximum(result, 0.0)


def _configurations(
    name: str, rows: pd.DataFrame, options: list[str], of_machine: list[str], metrics: list[str]
) -> Configurations:
    count = rows["count"].to_numpy(dtype=np.float64)
    described = rows[of_machine] if of_machine else pd.get_dummies(rows["machine"], dtype=float)
    own = [_of_option(rows[option]) for option in options]
    known = np.column_stack([np.log2(count), *own, described.to_numpy(dtype=np.float64)])
    words = [
        ", ".join(_in_words(option, value) for option, value in zip(options, values, strict=True))
        for values in rows[options].to_numpy(dtype=object).tolist()
    ]
    return Configurations(
        workload=name,
        machine=tuple(rows["machine"]),
        count=count.astype(np.int64),
        options=tuple(words),
        runtime=rows["runtime"].to_numpy(dtype=np.float64),
        cost=rows["cost"].to_numpy(dtype=np.float64),
        known=_standardised(known),
        metrics=_standardised(rows[metrics].to_numpy(dtype=np.float64)),
        used={one: rows[column].to_numpy(dtype=np.float64) for one, column in USED.items() if column in rows},
    )


def _in_words(option: str, value: object) -> str:
    """'threads 2' or 'memory 512 MiB'."""
    name, unit = next(
        ((option.removesuffix(ending), f" {unit}") for ending, unit in UNITS.items() if option.endswith(ending)),
        (option, ""),
    )
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name.replace('_', ' ')} {text}{unit}"


def _of_option(values: pd.Series) -> Floats:
    """An option as numbers: logarithms of sizes, plain ones where one is not above 0, switches of words."""
    if not pd.api.types.is_numeric_dtype(values):
        return pd.get_dummies(values.astype(str), dtype=float).to_numpy()
    numbers = values.to_numpy(dtype=np.float64)
    result: Floats = np.log2(numbers) if (numbers > 0).all() else numbers
    return result


def _standardised(values: Floats) -> Floats:
    """Columns with a value, in standard deviations; what is missing stands at the mean."""
    known = np.isfinite(values)
    filled = np.where(known, values, np.nan)[:, known.any(axis=0)]
    centre = np.nanmean(filled, axis=0)
    filled = np.where(np.isnan(filled), centre, filled)
    spread = filled.std(axis=0)
    result: Floats = (filled - centre) / np.where(spread > TOLERANCE, spread, 1.0)
    return result


def _refuse_few(table: Configurations, ok: Bools, given: SearchSettings) -> None:
    words = f"workload {table.workload}" if table.workload else "the table"
    if len(ok) < FEWEST_CONFIGURATIONS:
        raise NotEnoughData(f"{words} has {len(ok)} configurations; a search needs at least {FEWEST_CONFIGURATIONS}")
    if not ok.any():
        raise NotEnoughData(
            f"{words} has no configuration within {given.limit_s:g} s; the fastest takes {table.runtime.min():g} s"
        )


def _random_search(table: Configurations, given: SearchSettings, number: int) -> Ints:
    """The rows that a search at random tries; it begins as the others of its number do."""
    order = np.random.default_rng([given.seed, number]).permutation(len(table.cost))
    return order[: given.trials].astype(np.int64)


def _one_search(
    table: Configurations,
    ok: Bools,
    given: SearchSettings,
    number: int,
    scores: Mapping[str, Mapping[str, float]] | None,
) -> Ints:
    """The rows that one search tries, in order."""
    rng = np.random.default_rng([given.seed, number])
    first = rng.permutation(len(ok))  # as `_random_search`
    ties = rng.random(len(ok)) * TOLERANCE
    by_type = _scores_of(table, scores, per_price=given.weigh == PER_PRICE) if scores else {}
    tried: list[int] = []
    while len(tried) < min(given.trials, len(ok)):
        if len(tried) < (1 if scores else FIRST_TRIALS):
            tried.append(int(first[len(tried)]))
            continue
        acquisition = np.ones(len(ok))
        if len(tried) >= FIRST_TRIALS:
            acquisition = _acquisition(table, ok, np.array(tried), given, number)
        if scores:
            acquisition = acquisition_with_scores(acquisition, by_type, _used_by(table, np.array(tried)), len(tried))
        acquisition = acquisition + ties
        acquisition[tried] = -np.inf
        tried.append(int(acquisition.argmax()))
    return np.array(tried)


def _used_by(table: Configurations, tried: Ints) -> dict[str, float]:
    """Resource -> how much the trials used it, 0-1, of those that tell; all alike where none tells of any."""
    told = {resource: tried[_tells(percent[tried])] for resource, percent in table.used.items()}
    used = {
        resource: utilisation(table.used[resource][rows], table.count[rows])
        for resource, rows in told.items()
        if len(rows)
    }
    return used or dict.fromkeys(TYPES_OF_RESOURCE, 1.0)


def _tells(percent: Floats) -> Bools:
    return np.isfinite(percent) & (percent >= 0)


def _scores_of(
    table: Configurations, scores: Mapping[str, Mapping[str, float]], *, per_price: bool
) -> dict[str, Floats]:
    """Benchmark type -> (n,) scores, scaled; a score of a resource stands for its first benchmark."""
    price = table.cost / table.runtime / table.count if per_price else np.ones(len(table.cost))
    result = {}
    for resource, types in TYPES_OF_RESOURCE.items():
        for place, name in enumerate(types):
            names = (name, resource) if not place else (name,)
            result[name] = (
                np.array(
                    [
                        next((scores[one][key] for key in names if key in scores.get(one, {})), 0.0)
                        for one in table.machine
                    ]
                )
                / price
            )
    return scaled_scores(result)


def _acquisition(table: Configurations, ok: Bools, tried: Ints, given: SearchSettings, number: int) -> Floats:
    """(n,) expected improvement of the logarithm of the cost, in standard deviations of those tried.

    A runtime above the limit is learned beside the cost; the improvement counts as far as the limit is likely held.
    """
    predict = _by_process if given.optimizer == CHERRYPICK else _by_pairs
    cost = np.log(table.cost)
    mean, deviation = predict(table, cost, tried, number)
    inside = tried[ok[tried]]
    best = float(cost[inside].min()) if len(inside) else float(cost[tried].max())
    spread = float(cost[tried].std()) or 1.0
    result = expected_improvement(mean / spread, deviation / spread, best / spread)
    if given.limit_s:
        from scipy.special import ndtr  # noqa: PLC0415  heavy

        runtime, around = predict(table, np.log(table.runtime), tried, number)
        result = result * ndtr((np.log(given.limit_s) - runtime) / np.maximum(around, TOLERANCE))
    return result


def _by_process(table: Configurations, values: Floats, tried: Ints, number: int) -> tuple[Floats, Floats]:
    """Mean and deviation of the values by a Gaussian process with a Matern 5/2 kernel, as CherryPick's."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  heavy
    from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: PLC0415
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern  # noqa: PLC0415

    kernel = ConstantKernel(1.0, (0.1, 10.0)) * Matern(1.0, (0.3, 10.0), nu=2.5)
    process = GaussianProcessRegressor(kernel, alpha=NOISE, normalize_y=True, random_state=number)
    with warnings.catch_warnings():  # of few trials the likelihood is flat: a length at its bound is no fault
        warnings.simplefilter("ignore", ConvergenceWarning)
        mean, deviation = process.fit(table.known[tried], values[tried]).predict(table.known, return_std=True)
    return np.asarray(mean), np.asarray(deviation)


def _by_pairs(table: Configurations, values: Floats, tried: Ints, number: int) -> tuple[Floats, Floats]:
    """Mean and deviation over the sources: from each one tried to every configuration, as Arrow does."""
    from sklearn.ensemble import ExtraTreesRegressor  # noqa: PLC0415  heavy

    def pairs(sources: Ints, targets: Ints) -> Floats:
        return np.column_stack([table.known[sources], table.metrics[sources], values[sources], table.known[targets]])

    source, target = (part.ravel() for part in np.meshgrid(tried, tried, indexing="ij"))
    apart = source != target
    trees = ExtraTreesRegressor(TREES, max_depth=DEPTH, random_state=number)
    trees.fit(pairs(source[apart], target[apart]), values[target[apart]])
    every = np.arange(len(values))
    source, target = (part.ravel() for part in np.meshgrid(tried, every, indexing="ij"))
    result = trees.predict(pairs(source, target)).reshape(len(tried), len(every))
    return result.mean(axis=0), result.std(axis=0)


def _trial(table: Configurations, ok: Bools, rows: Ints, step: int) -> Trial:
    row, inside = int(rows[step]), rows[: step + 1][ok[rows[: step + 1]]]
    best = float(table.cost[inside].min()) if len(inside) else None
    cost, runtime = float(table.cost[row]), float(table.runtime[row])
    return Trial(table.workload, step + 1, table.name(row), runtime, cost, best)


def _curve(ratios: Floats, seed: int) -> SearchCurve:
    low, median, high = np.quantile(ratios, (0.05, 0.5, 0.95), axis=0)
    found_share = (ratios <= 1 + TOLERANCE).mean(axis=0)
    return SearchCurve(median, low, high, ratios.mean(axis=0), *_interval(ratios, seed), found_share)


def _interval(values: Floats, seed: int) -> tuple[Floats, Floats]:
    """(n_trials,) ends of the bootstrap interval of the mean over the searches (n_searches, n_trials)."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (DRAWS, len(values)))
    counts = np.stack([np.bincount(one, minlength=len(values)) for one in drawn])
    low, high = np.quantile(counts @ values / len(values), ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2), axis=0)
    return low, high


def _differences(differences: Floats, seed: int) -> tuple[Difference, ...]:
    low, high = _interval(differences, seed)
    return tuple(
        Difference(step + 1, float(mean), float(low[step]), float(high[step]))
        for step, mean in enumerate(differences.mean(axis=0))
    )


def search_file(path: Path, given: SearchSettings, scores: Path | None = None, progress: Progress = silent) -> Search:
    """`search` of a CSV of configurations, with the scores of another; raises as the readers and `search`."""
    tables, notes = read_configurations(path, given.options, given.prices_per_h)
    result = search(tables, given, read_machine_scores(scores) if scores else None, progress)
    return replace(result, notes=(*notes, *result.notes))


def search_frames(frames: Mapping[str, pd.DataFrame], settings: SearchSettings, progress: Progress = silent) -> Search:
    """`search` of 'configurations', see `configurations_of`, and 'scores' (machine; cpu, memory, disk, network).

    Raises:
        SettingsError: when no machine of the table has a score.
        NotEnoughData: as `search`.
    """
    tables, notes = configurations_of(frames["configurations"], settings.options, settings.prices_per_h)
    scores = _by_machine(frames["scores"]) if "scores" in frames else None
    machines = {name for table in tables for name in table.machine}
    if scores is not None and not machines & scores.keys():
        raise SettingsError(
            f"the scores are of {', '.join(sorted(scores))}, the machines of the table {', '.join(sorted(machines))}; "
            "choose benchmark runs of nodes with these names, or none"
        )
    result = search(tables, settings, scores, progress)
    return replace(result, notes=(*notes, *result.notes))
