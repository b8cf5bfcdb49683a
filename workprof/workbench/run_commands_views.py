"""Commands of the single looks that pages take: curves, facts, reasons, violations, one run's timeline, a library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.phases.library import LibrarySettings, LibraryViewSettings, faithful_library
from workprof.phases.matching import KnownMatchSettings
from workprof.phases.runs import RunListSettings
from workprof.phases.timeline import AlignmentSettings, TimelineSettings
from workprof.workbench.run_command_line import CommandLine, Resolve, flags, mode_words
from workprof.workbench.run_setting_paths import told

C = {"--c": "library.match.c"}


def _runs(_: RunListSettings, __: Resolve) -> CommandLine:
    return CommandLine(("phases", "runs"), RunListSettings(), {})


def _timeline(asked: TimelineSettings, _: Resolve) -> CommandLine:
    base = TimelineSettings(library=_library(asked.library))
    options = {"--run": "run", "--from": "from_s", "--to": "to_s"}
    return CommandLine(("phases", "show"), base, options, mode_words(asked.library.mode), begins=base)


def _fingerprints(asked: LibrarySettings, _: Resolve) -> CommandLine:
    base = _library(asked)
    return CommandLine(
        ("phases", "fingerprints"), base, {"--c": "match.c"} | flags("seed"), mode_words(asked.mode), begins=base
    )


def _view(asked: LibraryViewSettings, _: Resolve) -> CommandLine:
    base = LibraryViewSettings(library=_library(asked.library))
    options = C | flags("seed", within="library.")
    return CommandLine(("phases", "library"), base, options, mode_words(asked.library.mode), begins=base)


def _known(asked: KnownMatchSettings, _: Resolve) -> CommandLine:
    base = KnownMatchSettings(asked.unknown, asked.edits, asked.train_hash, _library(asked.library))
    train = ("--train", asked.train_hash) if asked.train_hash else ()
    edits = ("--edited", "--with", told(asked, "edits.labels")) if asked.edits.labels or not train else ()
    after = ("--unknown", asked.unknown, *mode_words(asked.library.mode), *train, *edits)
    return CommandLine(("phases", "match"), base, C | flags("seed", within="library."), after, begins=base)


def _aligned(asked: AlignmentSettings, _: Resolve) -> CommandLine:
    base = AlignmentSettings(asked.first, asked.second, asked.train_hash, _library(asked.library))
    train = ("--train", asked.train_hash) if asked.train_hash else ()
    after = ("--first", asked.first, "--second", asked.second, *train, *mode_words(asked.library.mode))
    return CommandLine(("phases", "align"), base, {}, after, begins=base)


def _library(asked: LibrarySettings) -> LibrarySettings:
    """Return the library that a command asks for with no option but its mode."""
    return faithful_library() if asked.mode == "faithful" else LibrarySettings()


VIEW_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "phases.runs": _runs,
    "phases.timeline": _timeline,
    "phases.learn": _fingerprints,
    "phases.library": _view,
    "phases.known_match": _known,
    "phases.align": _aligned,
}
