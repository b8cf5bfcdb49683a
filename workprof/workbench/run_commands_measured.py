"""Commands of the steps about nodes and phases, from the settings as they are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.nodes.advice import AdviceSettings
from workprof.nodes.detection import DegradationSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.selection import RankSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibrarySettings, faithful_library
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings
from workprof.workbench.run_command_line import CommandLine, Resolve, Words, flags, mode_words

SEARCH = "library.fingerprints.change_points."


def _rank(_: RankSettings, __: Resolve) -> CommandLine:
    options = flags("weights", "score", "exclude", "nodes", "confidence", "seed")
    options |= {"--prices": "prices_per_h", "--since": "since_s", "--until": "until_s"}
    return CommandLine(("nodes", "rank"), RankSettings(), options, begins=RankSettings())


def _groups(_: GroupSettings, __: Resolve) -> CommandLine:
    options = flags("exclude", "nodes", "seed", within="ranking.") | flags("mode", "reference")
    return CommandLine(("nodes", "groups"), GroupSettings(), options, begins=GroupSettings())


def _degraded(asked: DegradationSettings, _: Resolve) -> CommandLine:
    options = flags("detector", "trials", "epochs", "mode", "seed", within="detect.")
    options |= {"--false-alarms": "detect.false_alarm_share"}
    base = DegradationSettings(train=asked.train)
    return CommandLine(("nodes", "detect"), base, options, _train(asked.train), base)


def _advice(asked: AdviceSettings, _: Resolve) -> CommandLine:
    options = flags("weights", "exclude", "seed", within="ranking.") | {"--prices": "ranking.prices_per_h"}
    base = AdviceSettings(asked.jobs, asked.profile, asked.clustering)
    after = ("--jobs", asked.jobs, "--profile", str(asked.profile))
    return CommandLine(("nodes", "advise"), base, options, after, base)


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
    "nodes.rank": _rank,
    "nodes.groups": _groups,
    "nodes.detect": _degraded,
    "nodes.advice": _advice,
    "phases.detect": _phases,
    "phases.match": _match,
    "phases.evaluate": _evaluation,
}
