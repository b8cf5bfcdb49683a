"""Commands on phases: where they begin, what a run is most like, how well that is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line
from workprof.cli.further_settings import With, further
from workprof.cli.phases_library import Counters, Dataset, Mode, Seed, library_settings, tell_notes, with_c
from workprof.cli.phases_text import evaluation_text, match_text, phases_text
from workprof.phases.changepoints import METHODS, READOUTS
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.library import LibraryEdits, LibrarySettings
from workprof.phases.matching import KnownMatchSettings, Match, MatchRunSettings
from workprof.phases.timeline import DetectSettings, Phases

HELP = "Phases of a run, fingerprints, and which known workload a run is like."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

C = Annotated[
    float | None,
    typer.Option("--c", help="Accept up to mean + c sd; default: chosen on the known runs.", show_default=False),
]


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
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Find the phases of one run, counter by counter."""
    with opened(home) as workbench:
        library = library_settings(workbench, dataset, counters, mode, 0)
        search = library.fingerprints.change_points
        asked: dict[str, Any] = {"method": method, "readout": readout, "hazard_samples": hazard, "penalty": penalty}
        search = replace(search, **{name: value for name, value in asked.items() if value is not None})
        library = replace(library, fingerprints=replace(library.fingerprints, change_points=search))
        settings = further(DetectSettings(run, library), given)
        found = workbench.run_phases(dataset, settings, progress_line())
    tell_notes(found.notes)
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
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Measure how well known workloads are recognised and unknown ones rejected."""
    with opened(home) as workbench:
        library = with_c(library_settings(workbench, train or dataset, counters, mode, seed), c)
        out = names(leave_out) if leave_out else ()
        settings = EvaluationSettings(library, splits=splits, open_splits=min(open_splits, splits), left_out=out)
        found = workbench.evaluate_phases(dataset, further(settings, given), train, progress_line())
    tell_notes(found.notes)
    emit(evaluation_answer(found), as_json, lambda: evaluation_text(found))


@app.command()
def match(
    dataset: Dataset,
    unknown: Annotated[str, typer.Option("--unknown", help="run or workload/run; it is kept out of the library.")],
    counters: Counters = "system72",
    c: C = None,
    mode: Mode = "corrected",
    seed: Seed = 0,
    train: Annotated[str | None, typer.Option("--train", help="Dataset of the known runs; default: this one.")] = None,
    edited: Annotated[bool, typer.Option("--edited", help="With the labels given by hand on the Phases page.")] = False,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Compare one run with all others and tell which workload it is, or that it is unknown."""
    with opened(home) as workbench:
        library = with_c(library_settings(workbench, train or dataset, counters, mode, seed), c)
        found = _matched(workbench, dataset, _Match(unknown, train or "", edited, library, given))
    tell_notes(found.notes)
    emit(match_answer(found), as_json, lambda: match_text(found))


@dataclass(frozen=True)
class _Match:
    """What `match` was asked."""

    unknown: str
    train: str
    edited: bool
    library: LibrarySettings
    given: list[str] | None


def _matched(workbench: Any, dataset: str, asked: _Match) -> Match:
    """Return the match: with all other runs of the dataset, or with a library that is changed or another one's."""
    found: Match
    if not (asked.train or asked.edited):
        whole = further(MatchRunSettings(asked.unknown, asked.library), asked.given)
        found = workbench.match_run(dataset, whole, progress_line())
        return found
    edits = workbench.library_edits(asked.train or dataset) if asked.edited else LibraryEdits()
    other = workbench.dataset(asked.train).hash if asked.train else ""
    known = further(KnownMatchSettings(asked.unknown, edits, other, asked.library), asked.given)
    found = workbench.known_match(dataset, known, progress_line())
    return found


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
