"""Commands on phases: where they begin, what a run is most like, how well that is known."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, warn
from workprof.cli.phases_text import evaluation_text, match_text, phases_text
from workprof.errors import SettingsError
from workprof.phases.changepoints.settings import METHODS, MODES, READOUTS
from workprof.phases.detection import Phases
from workprof.phases.evaluation.records import Evaluation
from workprof.phases.matching.matching import Match
from workprof.phases.settings import (
    DetectSettings,
    EvaluationSettings,
    LibrarySettings,
    MatchRunSettings,
    faithful_library,
)

HELP = "Phases of a run, fingerprints, and which known workload a run is like."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Counters = Annotated[
    str, typer.Option("--counters", help="system72 (as far as there are), all (but proc.*), or a FILE with names.")
]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
C = Annotated[
    float | None,
    typer.Option("--c", help="Accept up to mean + c sd; default: chosen on the known runs.", show_default=False),
]
Seed = Annotated[int, typer.Option("--seed", help="Of splits and models.")]
SHOWN_NOTES = 10


@app.callback()
def phases() -> None:
    """Phases of a run, fingerprints, and which known workload a run is like."""


@app.command()
def detect(
    dataset: Dataset,
    run: Annotated[str, typer.Option("--run", help="run or workload/run; default: the first.")] = "",
    method: Annotated[str | None, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = None,
    readout: Annotated[str | None, typer.Option("--readout", help=f"Of bcpd: {', '.join(READOUTS)}.")] = None,
    hazard: Annotated[float | None, typer.Option("--hazard", help="Expected samples of a phase.")] = None,
    penalty: Annotated[float | None, typer.Option("--penalty", help="Of the other methods, per change.")] = None,
    counters: Counters = "system72",
    mode: Mode = "corrected",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Find the phases of one run, counter by counter."""
    with opened(home) as workbench:
        library = _library(workbench, dataset, counters, mode, 0)
        search = library.fingerprints.change_points
        given: dict[str, Any] = {"method": method, "readout": readout, "hazard_samples": hazard, "penalty": penalty}
        search = replace(search, **{name: value for name, value in given.items() if value is not None})
        library = replace(library, fingerprints=replace(library.fingerprints, change_points=search))
        found = workbench.run_phases(dataset, DetectSettings(run, library), progress_line())
    _warn(found.notes)
    emit(phases_answer(found), as_json, lambda: phases_text(found))


@app.command()
def evaluate(
    dataset: Dataset,
    train: Annotated[
        str | None, typer.Option("--train", help="Dataset to learn from; default: splits of this one.")
    ] = None,
    counters: Counters = "system72",
    splits: Annotated[int, typer.Option("--splits", help="Repeated splits of known workloads.")] = 20,
    open_splits: Annotated[
        int, typer.Option("--open-splits", help="Splits in which each workload is left out in turn.")
    ] = 2,
    leave_out: Annotated[
        str | None, typer.Option("--leave-out", help="Workloads A,B that are left out together; default: each in turn.")
    ] = None,
    c: C = None,
    mode: Mode = "corrected",
    seed: Seed = 0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Measure how well known workloads are recognised and unknown ones rejected."""
    with opened(home) as workbench:
        library = _with_c(_library(workbench, train or dataset, counters, mode, seed), c)
        out = names(leave_out) if leave_out else ()
        settings = EvaluationSettings(library, splits=splits, open_splits=min(open_splits, splits), left_out=out)
        found = workbench.evaluate_phases(dataset, settings, train, progress_line())
    _warn(found.notes)
    emit(evaluation_answer(found), as_json, lambda: evaluation_text(found))


@app.command()
def match(
    dataset: Dataset,
    unknown: Annotated[str, typer.Option("--unknown", help="run or workload/run; it is kept out of the library.")],
    counters: Counters = "system72",
    c: C = None,
    mode: Mode = "corrected",
    seed: Seed = 0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Compare one run with all others and tell which workload it is, or that it is unknown."""
    with opened(home) as workbench:
        library = _with_c(_library(workbench, dataset, counters, mode, seed), c)
        found = workbench.match_run(dataset, MatchRunSettings(unknown, library), progress_line())
    _warn(found.notes)
    emit(match_answer(found), as_json, lambda: match_text(found))


def phases_answer(found: Phases) -> dict[str, Any]:
    """Return the JSON document of the phases of a run."""
    return {
        "workload": found.workload,
        "run": found.run,
        "n_samples": found.n_samples,
        "step_s": found.step_s,
        "counters": {
            one.counter: {
                "change_points_s": one.change_points_s,
                "phases": [
                    {"start_s": start, "end_s": end, "mean": mean, "sd": sd}
                    | dict(zip((f"z_{name}" for name in found.statistic_names), row, strict=True))
                    for start, end, mean, sd, row in zip(
                        one.start_s, one.end_s, one.mean, one.sd, one.statistics, strict=True
                    )
                ],
                "note": one.note,
            }
            for one in found.counters
        },
        "dropped": list(found.dropped),
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def match_answer(found: Match) -> dict[str, Any]:
    """Return the JSON document of a match."""
    verdict = asdict(found.verdict)
    return {
        "unknown": found.unknown,
        "matches": [asdict(line) for line in found.matches],
        "verdict": verdict.pop("workload"),
        **verdict,
        "scores": found.scores,
        "notes": list(found.notes),
    }


def evaluation_answer(found: Evaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    known = (
        None
        if found.known is None
        else asdict(found.known) | {"per_class": [asdict(one) for one in found.known.per_class]}
    )
    return {
        "mode": found.mode,
        "counters": list(found.counters),
        "known": known,
        "baselines": found.baselines,
        "c": found.c,
        "unknown": [asdict(one) for one in found.unknown],
        "rejected_share": found.rejected_share,
        "false_reject_share": found.false_reject_share,
        "curves": [asdict(one) for one in found.curves],
        "distances": [asdict(one) for one in found.distances],
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _library(workbench: Any, dataset: str, counters: str, mode: str, seed: int) -> LibrarySettings:
    chosen = _counters(workbench, dataset, counters)
    if mode not in MODES:
        raise SettingsError(f"mode is {mode!r}; choose from {', '.join(MODES)}")
    return faithful_library(chosen, seed) if mode == "faithful" else LibrarySettings(counters=chosen, seed=seed)


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


def _with_c(library: LibrarySettings, c: float | None) -> LibrarySettings:
    return library if c is None else replace(library, match=replace(library.match, c=c))


def _warn(notes: tuple[str, ...]) -> None:
    for note in notes[:SHOWN_NOTES]:
        warn(f"note: {note}")
    if len(notes) > SHOWN_NOTES:
        warn(f"note: {len(notes) - SHOWN_NOTES} more; see --json")
