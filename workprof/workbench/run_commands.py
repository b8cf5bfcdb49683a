"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench.explanations import ExplanationSettings
from workprof.workbench.run_command_line import (
    CommandLine,
    Resolve,
    fit_words,
    flags,
    mode_words,
    shell_line,
    written,
)
from workprof.workbench.run_commands_views import VIEW_COMMANDS

JOB = ("--set", "task_name=any")
"""To train a forecaster from a shell, it has to be asked for a job; any will do."""


OF_ANY_CLUSTERING = ("profiles.durations",)
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
    "profiles.forecaster": _forecaster,
    "profiles.explain_all": _explanation,
    "profiles.classifier_evaluation": _classify,
    "profiles.estimate_evaluation": _estimates,
    **VIEW_COMMANDS,
}
