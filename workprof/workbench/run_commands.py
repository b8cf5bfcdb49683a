"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.sweep import SweepSettings
from workprof.workbench.run_command_line import (
    CommandLine,
    Resolve,
    fit_words,
    flags,
    said_as,
    shell_line,
    written,
)
from workprof.workbench.run_commands_measured import MEASURED_COMMANDS
from workprof.workbench.run_commands_views import VIEW_COMMANDS

OF_ANY_CLUSTERING = ("profiles.baseline",)
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


_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "profiles.hopkins": _hopkins,
    "profiles.baseline": _baseline,
    "profiles.stability": _stability,
    "profiles.sweep_group": _sweep,
    **VIEW_COMMANDS,
    **MEASURED_COMMANDS,
}
