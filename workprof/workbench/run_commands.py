"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.sweep import SweepSettings
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


OF_ANY_CLUSTERING = ("profiles.durations", "profiles.baseline")
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


_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "profiles.hopkins": _hopkins,
    "profiles.baseline": _baseline,
    "profiles.stability": _stability,
    "profiles.sweep_group": _sweep,
    "profiles.forecaster": _forecaster,
    "profiles.explain_all": _explanation,
    "profiles.classifier_evaluation": _classify,
    "profiles.estimate_evaluation": _estimates,
    **VIEW_COMMANDS,
    **MEASURED_COMMANDS,
}
