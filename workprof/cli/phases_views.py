"""Commands on phases that look: the runs there are, one run's timeline, fingerprints, a library, two runs together."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line
from workprof.cli.further_settings import With, further
from workprof.cli.phases_library import Counters, Dataset, Mode, Seed, library_settings, tell_notes, with_c
from workprof.cli.phases_views_text import aligned_text, fingerprints_text, library_text, runs_text, timeline_text
from workprof.errors import SettingsError
from workprof.phases.fingerprints import STATISTICS, Fingerprint
from workprof.phases.library import MEASURES, Library, LibraryEdits, LibraryView, LibraryViewSettings
from workprof.phases.runs import RunList
from workprof.phases.timeline import AlignedRuns, AlignmentSettings, Timeline, TimelineSettings

C = Annotated[float | None, typer.Option("--c", help="Accept up to mean + c sd; default: chosen.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (runs, show, fingerprints, library, align):
        app.command()(command)


def runs(dataset: Dataset, home: Home = None, as_json: Json = False) -> None:
    """List the runs of a dataset, by workload and name."""
    with opened(home) as workbench:
        found = workbench.phase_runs(dataset, progress_line())
    emit(runs_answer(found), as_json, lambda: runs_text(found))


def show(
    dataset: Dataset,
    run: Annotated[str, typer.Option("--run", help="run or workload/run; default: the first.")] = "",
    from_s: Annotated[float | None, typer.Option("--from", help="Second at which the stretch begins.")] = None,
    to_s: Annotated[float | None, typer.Option("--to", help="Second at which it ends.")] = None,
    counters: Counters = "system72",
    mode: Mode = "corrected",
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Look at one run, or a stretch of it: its samples, its phases, their statistics (the fingerprint)."""
    with opened(home) as workbench:
        asked = TimelineSettings(run, from_s, to_s, library=library_settings(workbench, dataset, counters, mode))
        found = workbench.timeline(dataset, further(asked, given), progress_line())
    tell_notes(found.notes)
    emit(timeline_answer(found), as_json, lambda: timeline_text(found))


def fingerprints(
    dataset: Dataset,
    run: Annotated[str, typer.Option("--run", help="Tell this one only; default: all labelled runs.")] = "",
    counters: Counters = "system72",
    c: C = None,
    mode: Mode = "corrected",
    seed: Seed = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell the fingerprints of the labelled runs: counters x phases x statistics."""
    with opened(home) as workbench:
        asked = with_c(library_settings(workbench, dataset, counters, mode, seed), c)
        found = workbench.workload_library(dataset, further(asked, given), progress_line())
    prints = _chosen(found, run)
    emit(fingerprints_answer(found, prints), as_json, lambda: fingerprints_text(found, prints))


def library(
    dataset: Dataset,
    counters: Counters = "system72",
    c: C = None,
    mode: Mode = "corrected",
    seed: Seed = 0,
    edited: Annotated[bool, typer.Option("--edited", help="With the labels given by hand on the Phases page.")] = False,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell how far apart the labelled runs are, and from where on a run is unknown."""
    with opened(home) as workbench:
        chosen = with_c(library_settings(workbench, dataset, counters, mode, seed), c)
        edits = workbench.library_edits(dataset) if edited else LibraryEdits()
        found = workbench.library_view(dataset, further(LibraryViewSettings(edits, chosen), given), progress_line())
    emit(library_answer(found), as_json, lambda: library_text(found))


def align(
    dataset: Dataset,
    first: Annotated[str, typer.Option("--first", help="run or workload/run.", show_default=False)],
    second: Annotated[str, typer.Option("--second", help="The run laid over it.", show_default=False)],
    train: Annotated[str | None, typer.Option("--train", help="Dataset of the second run; default: this one.")] = None,
    counters: Counters = "system72",
    mode: Mode = "corrected",
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Lay two runs over each other: which second of one goes with which second of the other."""
    with opened(home) as workbench:
        chosen = library_settings(workbench, train or dataset, counters, mode)
        other = workbench.dataset(train).hash if train else ""
        asked = further(AlignmentSettings(first, second, other, chosen), given)
        found = workbench.aligned_runs(dataset, asked, progress_line())
    emit(aligned_answer(found), as_json, lambda: aligned_text(found))


def runs_answer(found: RunList) -> list[dict[str, Any]]:
    """Return the JSON document of the runs of a dataset."""
    return [asdict(line) for line in found.runs]


def timeline_answer(found: Timeline) -> dict[str, Any]:
    """Return the JSON document of a look at one run: samples as recorded, times in seconds as recorded."""
    return {
        "workload": found.fingerprint.workload,
        "run": found.fingerprint.run,
        "start_s": found.start_s,
        "end_s": found.end_s,
        "step_s": found.step_s,
        "run_from_s": found.run_from_s,
        "run_to_s": found.run_to_s,
        "hazard_samples": found.hazard_samples,
        "times_s": found.times_s,
        "agreement": found.agreement,
        "counters": {name: _counter(found, at) for at, name in enumerate(found.counters)},
        "missing": found.fingerprint.missing,
        "notes": found.notes,
        "seconds": found.seconds,
    }


def fingerprints_answer(found: Library, prints: tuple[Fingerprint, ...]) -> dict[str, Any]:
    """Return the JSON document of fingerprints: values are counters x phases x statistics, zero beyond a counter's."""
    return {
        "counters": found.fingerprints.normaliser.counters,
        "statistics": STATISTICS[found.settings.fingerprints.distribution],
        "step_s": found.step_s,
        "runs": [
            {
                "workload": one.workload,
                "run": one.run,
                "n_samples": one.n_samples,
                "n_phases": one.n_phases,
                "boundaries": [one.boundaries_of(at) for at in range(len(one.n_phases))],
                "values": one.values,
                "missing": one.missing,
            }
            for one in prints
        ],
        **_limits(found),
    }


def library_answer(found: LibraryView) -> dict[str, Any]:
    """Return the JSON document of a library: distances of all runs from each other in both measures."""
    runs_of = zip(found.workloads, found.names, found.n_phases.tolist(), strict=True)
    return {
        "runs": [dict(zip(("workload", "run", "n_phases"), one, strict=True)) for one in runs_of],
        "distances": {name: found.distances(name) for name in MEASURES},
        **_limits(found),
        "n_counters": found.n_counters,
        "seconds": found.seconds,
    }


def aligned_answer(found: AlignedRuns) -> dict[str, Any]:
    """Return the JSON document of two runs laid over each other; the path is in samples of each."""
    return {name: value for name, value in asdict(found).items() if name != "alignment"} | asdict(found.alignment)


def _counter(found: Timeline, at: int) -> dict[str, Any]:
    edges = [found.start_s, *found.boundaries_s(at).tolist(), found.end_s]
    values = found.fingerprint.values[at]
    return {
        "values": found.recorded[at],
        "boundaries_s": edges[1:-1],
        "phases": [
            {"start_s": start, "end_s": end} | dict(zip(found.statistics, row, strict=True))
            for start, end, row in zip(edges[:-1], edges[1:], values, strict=False)
        ],
        "movement": found.movement[at],
        "by_hand": found.edited[at],
        "usable": not np.any(found.fingerprint.flags[at]),
    }


def _limits(found: Library | LibraryView) -> dict[str, Any]:
    thresholds = {name: [asdict(one) for one in ones] for name, ones in found.thresholds.items()}
    return {"thresholds": thresholds, "c": found.c}


def _chosen(found: Library, run: str) -> tuple[Fingerprint, ...]:
    chosen = tuple(one for one in found.prints if run in ("", one.name, one.run))
    if not chosen:
        names = ", ".join(one.name for one in found.prints[:12])
        raise SettingsError(f"there is no labelled run {run!r}; choose from {names}")
    return chosen
