"""Commands of the steps about phases, from the settings as they are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibrarySettings, faithful_library
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings
from workprof.workbench.run_command_line import CommandLine, Resolve, Words, flags, mode_words

SEARCH = "library.fingerprints.change_points."


def _phases(asked: DetectSettings, _: Resolve) -> CommandLine:
    options = {"--run": "run", "--hazard": f"{SEARCH}hazard_samples"} | flags(
        "method", "readout", "penalty", within=SEARCH
    )
    base = DetectSettings(library=_library(asked.library))
    return CommandLine(("phases", "detect"), base, options, mode_words(asked.library.mode), base)


def _match(asked: MatchRunSettings, _: Resolve) -> CommandLine:
    base = MatchRunSettings(asked.unknown, _library(asked.library))
    after = ("--unknown", asked.unknown, *mode_words(asked.library.mode))
    return CommandLine(("phases", "match"), base, _known(), after, base)


def _evaluation(asked: EvaluationSettings, _: Resolve) -> CommandLine:
    base = EvaluationSettings(
        library=_library(asked.library), trained_elsewhere=asked.trained_elsewhere, train_hash=asked.train_hash
    )
    options = flags("splits", "open_splits") | {"--leave-out": "left_out"} | _known()
    after = (*_train(asked.train_hash), *mode_words(asked.library.mode))
    return CommandLine(("phases", "evaluate"), base, options, after, base)


def _library(asked: LibrarySettings) -> LibrarySettings:
    """Return the library that a command asks for with no option but its mode; chosen counters stand in a file."""
    return faithful_library() if asked.mode == "faithful" else LibrarySettings()


def _known() -> dict[str, str]:
    return {"--c": "library.match.c", "--seed": "library.seed"}


def _train(dataset: str) -> Words:
    return ("--train", dataset) if dataset else ()


MEASURED_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "phases.detect": _phases,
    "phases.match": _match,
    "phases.evaluate": _evaluation,
}
