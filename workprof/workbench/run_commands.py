"""A kept computation as a command line; only where the command's options can say exactly these settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.profiles.settings import ProfileSettings
from workprof.workbench.run_command_line import (
    CommandLine,
    Resolve,
    fit_words,
    shell_line,
    written,
)
from workprof.workbench.run_commands_views import VIEW_COMMANDS

OF_ANY_CLUSTERING: tuple[str, ...] = ()
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


_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    **VIEW_COMMANDS,
}
