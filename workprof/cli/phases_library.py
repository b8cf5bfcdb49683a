"""What the commands on phases share: the counters, the library's settings, the notes that are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import warn
from workprof.errors import SettingsError
from workprof.phases.changepoints import MODES
from workprof.phases.library import LibrarySettings, faithful_library

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Counters = Annotated[
    str, typer.Option("--counters", help="system72 (as far as there are), all (but proc.*), or a FILE with names.")
]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
Seed = Annotated[int, typer.Option("--seed", help="Of splits and models.")]
SHOWN_NOTES = 10


def library_settings(workbench: Any, dataset: str, counters: str, mode: str, seed: int = 0) -> LibrarySettings:
    """Return the settings of a library that the common options ask for."""
    chosen = _counters(workbench, dataset, counters)
    if mode not in MODES:
        raise SettingsError(f"mode is {mode!r}; choose from {', '.join(MODES)}")
    return faithful_library(chosen, seed) if mode == "faithful" else LibrarySettings(counters=chosen, seed=seed)


def with_c(library: LibrarySettings, c: float | None) -> LibrarySettings:
    """Return the settings with another width of acceptance, where one is given."""
    return library if c is None else replace(library, match=replace(library.match, c=c))


def tell_notes(notes: tuple[str, ...]) -> None:
    """Print the first notes on stderr."""
    for note in notes[:SHOWN_NOTES]:
        warn(f"note: {note}")
    if len(notes) > SHOWN_NOTES:
        warn(f"note: {len(notes) - SHOWN_NOTES} more; see --json")


def _counters(workbench: Any, dataset: str, counters: str) -> tuple[str, ...]:
    """Return the counters that are asked for; () = the default."""
    if counters == "system72":
        return ()
    if counters == "all":
        found: tuple[str, ...] = workbench.system_counters(dataset)
        return found
    path = Path(counters)
    if not path.is_file():
        raise SettingsError(f"counters is {counters!r}; give system72, all, or a file with one name per line")
    try:
        given = tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise SettingsError(f"{counters} is no text in UTF-8; give one counter per line") from error
    if not given:
        raise SettingsError(f"{counters} names no counter; give one per line")
    return tuple(dict.fromkeys(given))
