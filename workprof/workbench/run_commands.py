"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bin_models import FAITHFUL, PredictorSettings, faithful_predictor
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings
from workprof.memory.model_tables import TableSettings
from workprof.memory.plan import PlanSettings
from workprof.memory.replay import ReplaySettings
from workprof.memory.rollup import RollupSettings
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.clusterability.baseline import BaselineSettings
from workprof.profiles.clusterability.clusterability import HopkinsSettings
from workprof.profiles.clusterability.stability import StabilitySettings
from workprof.profiles.estimation.settings import EstimateEvaluationSettings, EstimateSettings
from workprof.profiles.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep.settings import SweepSettings
from workprof.workbench.explanations import ExplanationSettings
from workprof.workbench.run_command_line import (
    CommandLine,
    Resolve,
    fit_words,
    flags,
    mode_words,
    said_as,
    shell_line,
    written,
)
from workprof.workbench.run_commands_measured import MEASURED_COMMANDS
from workprof.workbench.run_commands_views import VIEW_COMMANDS

JOB = ("--set", "task_name=any")
"""To train a forecaster from a shell, it has to be asked for a job; any will do."""


OF_ANY_CLUSTERING = ("profiles.durations", "profiles.baseline", "memory.profile_bins", "memory.profile_improvement")
"""Steps that rest on a clustering and whose command takes any, by `--fit`."""


def command_of(step: str, dataset: str, asked: Any, resolve: Resolve) -> str:
    """Return the command that asks exactly this of a dataset, '' where no command can.

    Args:
        step: name.
        dataset: content hash.
        asked: settings that the workbench's method takes; of steps about nodes and phases, those that are kept.
        resolve: names the features and sizes of a clustering.
    """
    make = _COMMANDS.get(step)
    return written(make(asked, resolve), dataset, asked) if make else ""


def with_clustering(command: str, step: str, clustering: ProfileSettings, resolve: Resolve) -> str:
    """Return a command with the clustering that its question rests on, '' where it takes no such."""
    return f"{command} {shell_line(fit_words(clustering, resolve))}" if step in OF_ANY_CLUSTERING else ""


def _fit(_: ProfileSettings, __: Resolve) -> CommandLine:
    words = ("features", "scaler", "metric", "algorithm", "method", "epsilon", "mode", "silhouette")
    numbers = ("min_cluster_size", "min_samples", "target_clusters", "sample_rows", "seed")
    return CommandLine(("profiles", "fit"), ProfileSettings(), flags(*words, *numbers))


def _hopkins(_: HopkinsSettings, __: Resolve) -> CommandLine:
    base = HopkinsSettings()
    return CommandLine(("profiles", "hopkins"), base, flags("features", "scaler", "mode", "seed"), begins=base)


def _baseline(_: BaselineSettings, __: Resolve) -> CommandLine:
    options = flags("by", "features", "scaler", "mode", "silhouette", "seed")
    return CommandLine(("profiles", "baseline"), BaselineSettings(), options, begins=BaselineSettings())


def _stability(asked: StabilitySettings, resolve: Resolve) -> CommandLine:
    chosen = ("features", "scaler", "min_cluster_size", "mode")
    fit = ProfileSettings(**{name: getattr(asked.fit, name) for name in chosen})
    after = [word for flag, name in flags(*chosen).items() for word in said_as(flag, name, getattr(fit, name))]
    base = StabilitySettings(fit=resolve(fit))
    options, begins = flags("resamples", "sample_rows", "seed"), StabilitySettings(fit=fit)
    return CommandLine(("profiles", "stability"), base, options, tuple(after), begins)


def _sweep(_: SweepSettings, __: Resolve) -> CommandLine:
    words = ("preset", "algorithms", "min_samples", "silhouette", "features", "mode", "target_clusters")
    return CommandLine(("profiles", "sweep"), SweepSettings(), flags(*words, "sample_rows", "seed"))


def _classify(asked: ClassifierSettings, resolve: Resolve) -> CommandLine:
    begins = ClassifierSettings(profiles=ProfileSettings(mode=asked.mode), mode=asked.mode)
    base = replace(begins, profiles=resolve(begins.profiles))
    return CommandLine(("classify", "evaluate"), base, flags("fields"), mode_words(asked.mode), begins)


def _forecaster(asked: ForecasterSettings, resolve: Resolve) -> CommandLine:
    line = _classify(asked.classifier, resolve)
    base, begins = ForecasterSettings(line.base), ForecasterSettings(line.begins)
    options = flags("fields", within="classifier.")
    return CommandLine(("classify", "predict"), base, options, (*JOB, *line.after), begins)


def _explanation(asked: ExplanationSettings, resolve: Resolve) -> CommandLine:
    line = _forecaster(asked.forecaster, resolve)
    options = flags("fields", within="forecaster.classifier.") | {"--rows": "n_sampled"}
    base, begins = ExplanationSettings(line.base), ExplanationSettings(line.begins)
    after = mode_words(asked.forecaster.classifier.mode)
    return CommandLine(("classify", "explain"), base, options, after, begins)


def _estimates(asked: EstimateEvaluationSettings, resolve: Resolve) -> CommandLine:
    mode = asked.estimates.mode
    begins = EstimateEvaluationSettings(EstimateSettings(mode=mode), ProfileSettings(mode=mode))
    base = replace(begins, profiles=resolve(begins.profiles))
    options = {"--test": "tested"} | flags("target", "fields", "split", "seed", within="estimates.")
    return CommandLine(("estimate", "evaluate", "--train"), base, options, mode_words(mode), begins)


def _assess(_: AssessmentSettings, __: Resolve) -> CommandLine:
    base = AssessmentSettings()
    return CommandLine(("memory", "assess"), base, flags("target"), begins=base)


def _bins(asked: BinSettings, _: Resolve) -> CommandLine:
    number = {"--edges": "edges_bytes"} if asked.edges_bytes else {"-k": "k"}
    options = number | flags("weight", "top", "headroom", "search", "target") | {"--step": "step_bytes"}
    base = BinSettings(task=asked.task)
    return CommandLine(("memory", "bins"), base, options, ("--task", asked.task), begins=base)


def _profile_bins(asked: ProfileBinSettings, resolve: Resolve) -> CommandLine:
    line = _bins(asked.bins, resolve)
    options = {flag: f"bins.{field}" for flag, field in line.options.items()}
    base = ProfileBinSettings(asked.profile)
    return CommandLine(line.words, base, options, ("--profile", str(asked.profile)), begins=base)


def _train(asked: PredictorSettings, _: Resolve) -> CommandLine:
    task, k = asked.bins.task, asked.bins.k
    faithful = asked.mode == FAITHFUL
    base = faithful_predictor(task, k) if faithful else PredictorSettings(bins=BinSettings(task=task, k=k))
    after = ("--task", task, "-k", str(k), *mode_words(asked.mode))
    facts = {"--before": "before_the_run", "--after": "after_the_run"}
    options = flags("models", "sampling", "penalty", "trials", "seed") | facts
    return CommandLine(("memory", "train"), base, options, after, begins=base)


def _tables(asked: TableSettings, resolve: Resolve) -> CommandLine:
    line = _train(asked.predictor, resolve)
    options = {flag: f"predictor.{field}" for flag, field in line.options.items()}
    base = TableSettings(line.base)
    return CommandLine(line.words, base, options, (*line.after, "--tables"), begins=base)


def _replay(_: ReplaySettings, __: Resolve) -> CommandLine:
    lifting = {"--retry": "retry.rule", "--time-to-failure": "retry.time_to_failure", "--cap": "retry.cap_bytes"}
    options = flags("policies", "protocol", "seeds", "target")
    options |= {"--input": "input_column", "--price": "sizing.price_runs"} | lifting
    return CommandLine(("memory", "replay"), ReplaySettings(), options, begins=ReplaySettings())


def _plan(_: PlanSettings, __: Resolve) -> CommandLine:
    after = ("--to", "json", "-o", "plan.json")
    return CommandLine(("memory", "export"), PlanSettings(), flags("rule", "headroom"), after, PlanSettings())


def _rollup(_: RollupSettings, __: Resolve) -> CommandLine:
    price = {"--price": "price.per_gb_h", "--currency": "price.currency"}
    options = flags("by", "measure") | flags("rule", "headroom", within="plan.") | price
    return CommandLine(("memory", "rollup"), RollupSettings(), options, begins=RollupSettings())


_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "profiles.fit": _fit,
    "profiles.tree": _fit,
    "profiles.hopkins": _hopkins,
    "profiles.baseline": _baseline,
    "profiles.stability": _stability,
    "profiles.sweep_group": _sweep,
    "profiles.forecaster": _forecaster,
    "profiles.explain_all": _explanation,
    "profiles.classifier_evaluation": _classify,
    "profiles.estimate_evaluation": _estimates,
    "memory.assess": _assess,
    "memory.bins": _bins,
    "memory.profile_bins": _profile_bins,
    "memory.train": _train,
    "memory.tables": _tables,
    "memory.replay": _replay,
    "memory.plan": _plan,
    "memory.rollup": _rollup,
    **VIEW_COMMANDS,
    **MEASURED_COMMANDS,
}
