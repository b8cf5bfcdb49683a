"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workprof.memory.bins.settings import BinSettings
from workprof.memory.plans.plans import PlanSettings
from workprof.memory.predictor.settings import FAITHFUL, PredictorSettings, faithful_predictor
from workprof.memory.predictor.tables import TableSettings
from workprof.memory.replay.settings import ReplaySettings
from workprof.memory.rollup.settings import RollupSettings
from workprof.memory.tasks.assessment import AssessmentSettings
from workprof.nodes.groups.records import GroupSettings
from workprof.nodes.ranking.settings import RankSettings
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.clusterability.baseline import BaselineSettings
from workprof.profiles.clusterability.clusterability import HopkinsSettings
from workprof.profiles.clusterability.stability import StabilitySettings
from workprof.profiles.estimation.settings import EstimateEvaluationSettings, EstimateSettings
from workprof.profiles.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep.settings import COUPLED, SweepSettings

Resolve = Callable[[ProfileSettings], ProfileSettings]
"""Names the features and sizes of a clustering, as the workbench does for one dataset."""

Words = tuple[str, ...]
SIZES = ("edges_bytes", "step_bytes", "retry.cap_bytes")
"""Fields that a command takes as sizes with a unit."""

JOB = ("--set", "task_name=any")
"""To train a forecaster from a shell, it has to be asked for a job; any will do."""


@dataclass(frozen=True)
class CommandLine:
    """A command in the making.

    Attributes:
        words: before the dataset.
        base: the settings that it asks with no option but `after`.
        options: flag -> field of the settings that it fills ('plan.rule' = of the record within).
        after: words after the dataset that are always there.
    """

    words: Words
    base: Any
    options: dict[str, str]
    after: Words = ()


def command_of(step: str, dataset: str, asked: Any, resolve: Resolve) -> str:
    """Return the command that asks exactly this of a dataset, '' where no command can."""
    make = _COMMANDS.get(step)
    if make is None:
        return ""
    line = make(asked, resolve)
    words, reached = [*line.words, dataset, *line.after], line.base
    for flag, field in line.options.items():
        value = _value(asked, field)
        if value != _value(reached, field):
            said = _said(flag, field, value)
            if not said:
                return ""
            words += said
            reached = _with(reached, field, value)
    return shlex.join(["workprof", *words]) if reached == asked else ""


def _flags(*fields: str, within: str = "") -> dict[str, str]:
    """Return flag -> field for fields that are called as their options are."""
    return {"--" + field.replace("_", "-"): within + field for field in fields}


def _fit(_: ProfileSettings, __: Resolve) -> CommandLine:
    words = ("features", "scaler", "metric", "algorithm", "method", "epsilon", "mode", "silhouette")
    numbers = ("min_cluster_size", "min_samples", "target_clusters", "sample_rows", "seed")
    return CommandLine(("profiles", "fit"), ProfileSettings(), _flags(*words, *numbers))


def _hopkins(_: HopkinsSettings, __: Resolve) -> CommandLine:
    return CommandLine(("profiles", "hopkins"), HopkinsSettings(), _flags("features", "scaler", "mode", "seed"))


def _baseline(_: BaselineSettings, __: Resolve) -> CommandLine:
    options = _flags("by", "features", "scaler", "mode", "silhouette", "seed")
    return CommandLine(("profiles", "baseline"), BaselineSettings(), options)


def _stability(asked: StabilitySettings, resolve: Resolve) -> CommandLine:
    chosen = ("features", "scaler", "min_cluster_size", "mode")
    fit = ProfileSettings(**{name: getattr(asked.fit, name) for name in chosen})
    after = [word for flag, name in _flags(*chosen).items() for word in _said(flag, name, getattr(fit, name))]
    base = StabilitySettings(fit=resolve(fit))
    return CommandLine(("profiles", "stability"), base, _flags("resamples", "sample_rows", "seed"), tuple(after))


def _sweep(_: SweepSettings, __: Resolve) -> CommandLine:
    words = ("preset", "algorithms", "min_samples", "silhouette", "features", "mode", "target_clusters")
    return CommandLine(("profiles", "sweep"), SweepSettings(), _flags(*words, "sample_rows", "seed"))


def _classify(asked: ClassifierSettings, resolve: Resolve) -> CommandLine:
    base = ClassifierSettings(profiles=resolve(ProfileSettings(mode=asked.mode)), mode=asked.mode)
    return CommandLine(("classify", "evaluate"), base, _flags("fields"), _mode(asked.mode))


def _forecaster(asked: ForecasterSettings, resolve: Resolve) -> CommandLine:
    line = _classify(asked.classifier, resolve)
    base = ForecasterSettings(line.base)
    return CommandLine(("classify", "predict"), base, _flags("fields", within="classifier."), (*JOB, *line.after))


def _estimates(asked: EstimateEvaluationSettings, resolve: Resolve) -> CommandLine:
    mode = asked.estimates.mode
    base = EstimateEvaluationSettings(EstimateSettings(mode=mode), resolve(ProfileSettings(mode=mode)))
    options = {"--test": "tested"} | _flags("target", "fields", "split", "seed", within="estimates.")
    return CommandLine(("estimate", "evaluate", "--train"), base, options, _mode(mode))


def _assess(_: AssessmentSettings, __: Resolve) -> CommandLine:
    return CommandLine(("memory", "assess"), AssessmentSettings(), _flags("target"))


def _bins(asked: BinSettings, _: Resolve) -> CommandLine:
    number = {"--edges": "edges_bytes"} if asked.edges_bytes else {"-k": "k"}
    options = number | _flags("weight", "top", "headroom", "search", "target") | {"--step": "step_bytes"}
    return CommandLine(("memory", "bins"), BinSettings(task=asked.task), options, ("--task", asked.task))


def _train(asked: PredictorSettings, _: Resolve) -> CommandLine:
    task, k = asked.bins.task, asked.bins.k
    faithful = asked.mode == FAITHFUL
    base = faithful_predictor(task, k) if faithful else PredictorSettings(bins=BinSettings(task=task, k=k))
    after = ("--task", task, "-k", str(k), *_mode(asked.mode))
    facts = {"--before": "before_the_run", "--after": "after_the_run"}
    options = _flags("models", "sampling", "penalty", "trials", "seed") | facts
    return CommandLine(("memory", "train"), base, options, after)


def _tables(asked: TableSettings, resolve: Resolve) -> CommandLine:
    line = _train(asked.predictor, resolve)
    options = {flag: f"predictor.{field}" for flag, field in line.options.items()}
    return CommandLine(line.words, TableSettings(line.base), options, (*line.after, "--tables"))


def _replay(_: ReplaySettings, __: Resolve) -> CommandLine:
    lifting = {"--retry": "retry.rule", "--time-to-failure": "retry.time_to_failure", "--cap": "retry.cap_bytes"}
    options = _flags("policies", "protocol", "seeds", "target")
    options |= {"--input": "input_column", "--price": "sizing.price_runs"} | lifting
    return CommandLine(("memory", "replay"), ReplaySettings(), options)


def _plan(_: PlanSettings, __: Resolve) -> CommandLine:
    after = ("--to", "json", "-o", "plan.json")
    return CommandLine(("memory", "export"), PlanSettings(), _flags("rule", "headroom"), after)


def _rollup(_: RollupSettings, __: Resolve) -> CommandLine:
    price = {"--price": "price.per_gb_h", "--currency": "price.currency"}
    options = _flags("by", "measure") | _flags("rule", "headroom", within="plan.") | price
    return CommandLine(("memory", "rollup"), RollupSettings(), options)


def _rank(_: RankSettings, __: Resolve) -> CommandLine:
    options = _flags("weights", "score", "exclude", "nodes", "confidence", "seed") | {"--prices": "prices_per_h"}
    return CommandLine(("nodes", "rank"), RankSettings(), options)


def _groups(_: GroupSettings, __: Resolve) -> CommandLine:
    options = _flags("exclude", "nodes", "seed", within="ranking.") | _flags("mode", "reference")
    return CommandLine(("nodes", "groups"), GroupSettings(), options)


_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "profiles.fit": _fit,
    "profiles.tree": _fit,
    "profiles.hopkins": _hopkins,
    "profiles.baseline": _baseline,
    "profiles.stability": _stability,
    "profiles.sweep_group": _sweep,
    "profiles.forecaster": _forecaster,
    "profiles.classifier_evaluation": _classify,
    "profiles.estimate_evaluation": _estimates,
    "memory.assess": _assess,
    "memory.bins": _bins,
    "memory.train": _train,
    "memory.tables": _tables,
    "memory.replay": _replay,
    "memory.plan": _plan,
    "memory.rollup": _rollup,
    "nodes.rank": _rank,
    "nodes.groups": _groups,
}


def _mode(mode: str) -> Words:
    return () if mode == "corrected" else ("--mode", mode)


def _value(record: Any, path: str) -> Any:
    first, _, rest = path.partition(".")
    found = getattr(record, first)
    return _value(found, rest) if rest else found


def _with(record: Any, path: str, value: object) -> Any:
    first, _, rest = path.partition(".")
    return replace(record, **{first: _with(getattr(record, first), rest, value) if rest else value})


def _said(flag: str, field: str, value: Any) -> Words:
    """Return the words of an option, () where it cannot say this value."""
    if field == "min_samples" and value == COUPLED:
        return (flag, "coupled")
    if field == "by" and isinstance(value, tuple):
        each = [_said(flag, "", names) for names in value]
        return tuple(word for words in each for word in words) if all(each) else ()
    if isinstance(value, dict):
        if any("=" in name for name in value):
            return ()
        value = tuple(f"{name}={_text(item)}" for name, item in value.items())
    items = value if isinstance(value, tuple) else (value,)
    texts = [_size(item) if field in SIZES else _text(item) for item in items]
    if not all(texts) or (isinstance(value, tuple) and any("," in text or text != text.strip() for text in texts)):
        return ()
    return (flag, ",".join(texts))


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _size(value: float) -> str:
    """Return whole bytes with their unit; '' for a part of a byte, which no size can say."""
    return f"{value:.0f}B" if value and float(value).is_integer() else ""
