"""The commands on phases: what their results are as JSON and as text; their options are the declared settings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from workprof.cli.console import OUT, Dataset, emit, opened, parameter, progress_line, register, table
from workprof.cli.questions import Face, add, add_others, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.records import to_json
from workprof.core.units import format_share
from workprof.phases import questions
from workprof.phases.evaluation import Evaluation
from workprof.phases.fingerprints import STATISTICS, Fingerprint
from workprof.phases.library import MEASURES, Library, LibraryView
from workprof.phases.matching import Match
from workprof.phases.runs import RunList
from workprof.phases.timeline import AlignedRuns, Phases, Timeline

HELP = "Phases of a run, fingerprints, and which known workload a run is like."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

SHOWN_NOTES = 10
SHOWN_MATCHES = SHOWN_STEPS = 12
WIDEST_MATRIX = 12
"""Runs whose distances fit a line; `--json` has them all."""
NO_LIMIT = (
    "too few runs of each workload for a threshold: every run gets its nearest workload, none is called unknown; "
    "record at least four of each"
)
EDITED = parameter(
    "edited",
    Annotated[bool, typer.Option("--edited", help="With the labels given by hand on the Phases page.")],
    False,
)


@app.callback()
def phases() -> None:
    """Phases of a run, fingerprints, and which known workload a run is like."""


def _notes(result: Any) -> Iterable[str]:
    rest = len(result.notes) - SHOWN_NOTES
    return (*result.notes[:SHOWN_NOTES], *((f"{rest} more; see --json",) if rest > 0 else ()))


def _completed(workbench: Any, dataset: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with the counters by their names, and with the labels given by hand where they are wanted."""
    known = given.get("train") or dataset
    completed = dict(given, counters=_counters(workbench, known, given["counters"]))
    if given.get("edited") and given["labels"] is None:
        completed["labels"] = json.dumps(to_json(workbench.library_edits(known).labels))
    return completed


def _counters(workbench: Any, dataset: str, text: str | None) -> str | None:
    """Return the names that `--counters` stands for: those of a file, all but those of the own processes, or its own.

    Raises:
        SettingsError: when it is no file, and no counter of the dataset either.
    """
    if text == "all":
        return json.dumps(workbench.system_counters(dataset))
    if text in (None, "", "system72") or "," in text or text.startswith("["):
        return text
    path = Path(text)
    if not path.is_file():
        if text in {one.name for one in workbench.columns(dataset)}:
            return text
        raise SettingsError(
            f"counters is {text!r}; give system72, all, names A,B,... that there are, or a file with one name per line"
        )
    try:
        names = tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise SettingsError(f"{text} is no text in UTF-8; give one counter per line") from error
    if not names:
        raise SettingsError(f"{text} names no counter; give one per line")
    return json.dumps(list(dict.fromkeys(names)))


def runs_json(result: RunList) -> list[dict[str, Any]]:
    """Return the JSON document of the runs of a dataset."""
    return [asdict(line) for line in result.runs]


def runs_text(result: RunList) -> str:
    """Return the runs as a table."""
    rows: list[dict[str, object]] = [
        {
            "workload": line.workload,
            "run": line.run,
            "samples": line.samples,
            "from (s)": f"{line.first_s:g}",
            "to (s)": f"{line.last_s:g}",
            "status": line.status,
        }
        for line in result.runs
    ]
    return table(rows)


def phases_json(result: Phases) -> dict[str, Any]:
    """Return the JSON document of the phases of a run."""
    return {
        "workload": result.workload,
        "run": result.run,
        "n_samples": result.n_samples,
        "step_s": result.step_s,
        "counters": {
            one.counter: {
                "change_points_s": one.change_points_s,
                "phases": [
                    {"start_s": start, "end_s": end, "mean": mean, "sd": sd}
                    | dict(zip((f"z_{name}" for name in result.statistic_names), row, strict=True))
                    for start, end, mean, sd, row in zip(
                        one.start_s, one.end_s, one.mean, one.sd, one.statistics, strict=True
                    )
                ],
                "note": one.note,
            }
            for one in result.counters
        },
        "dropped": list(result.dropped),
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def phases_text(result: Phases) -> str:
    """Return the changes of each counter as a table."""
    rows: list[dict[str, object]] = [
        {
            "counter": one.counter,
            "phases": len(one.start_s),
            "changes (s)": " ".join(f"{at:g}" for at in one.change_points_s),
            "means": " ".join(f"{mean:.4g}" for mean in one.mean),
            "note": one.note,
        }
        for one in result.counters
    ]
    name = f"{result.workload}/{result.run}" if result.workload else result.run
    return f"{name}: {result.n_samples} steps of {result.step_s:g} s\n\n{table(rows)}"


def timeline_json(result: Timeline) -> dict[str, Any]:
    """Return the JSON document of a look at one run: samples as recorded, times in seconds as recorded."""
    return {
        "workload": result.fingerprint.workload,
        "run": result.fingerprint.run,
        "start_s": result.start_s,
        "end_s": result.end_s,
        "step_s": result.step_s,
        "run_from_s": result.run_from_s,
        "run_to_s": result.run_to_s,
        "hazard_samples": result.hazard_samples,
        "times_s": result.times_s,
        "agreement": result.agreement,
        "counters": {name: _counter(result, at) for at, name in enumerate(result.counters)},
        "missing": result.fingerprint.missing,
        "notes": result.notes,
        "seconds": result.seconds,
    }


def _counter(result: Timeline, at: int) -> dict[str, Any]:
    edges = [result.start_s, *result.boundaries_s(at).tolist(), result.end_s]
    values = result.fingerprint.values[at]
    return {
        "values": result.recorded[at],
        "boundaries_s": edges[1:-1],
        "phases": [
            {"start_s": start, "end_s": end} | dict(zip(result.statistics, row, strict=True))
            for start, end, row in zip(edges[:-1], edges[1:], values, strict=False)
        ],
        "movement": result.movement[at],
        "by_hand": result.edited[at],
        "usable": not np.any(result.fingerprint.flags[at]),
    }


def timeline_text(result: Timeline) -> str:
    """Return the phases of every counter of a run, the ones that move most first."""
    order = sorted(range(len(result.counters)), key=lambda at: -float(result.movement[at]))
    rows: list[dict[str, object]] = [
        {
            "counter": result.counters[at],
            "movement": f"{result.movement[at]:.2f}",
            "phases": int(result.fingerprint.n_phases[at]),
            "boundaries (s)": " ".join(f"{second:g}" for second in result.boundaries_s(at)),
            "note": "by hand" if result.edited[at] else "not searched" if result.fingerprint.flags[at] else "",
        }
        for at in order
    ]
    head = f"{result.fingerprint.name}: {result.start_s:g} to {result.end_s:g} s in steps of {result.step_s:g} s"
    return f"{head}\n\n{table(rows)}"


def fingerprints_json(result: Library, prints: tuple[Fingerprint, ...]) -> dict[str, Any]:
    """Return the JSON document of fingerprints: values are counters x phases x statistics, zero beyond a counter's."""
    return {
        "counters": result.fingerprints.normaliser.counters,
        "statistics": STATISTICS[result.settings.fingerprints.distribution],
        "step_s": result.step_s,
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
        **_limits(result),
    }


def _limits(result: Library | LibraryView) -> dict[str, Any]:
    thresholds = {name: [asdict(one) for one in ones] for name, ones in result.thresholds.items()}
    return {"thresholds": thresholds, "c": result.c}


def fingerprints_text(result: Library, prints: tuple[Fingerprint, ...]) -> str:
    """Return the size of every fingerprint."""
    rows: list[dict[str, object]] = [
        {
            "run": one.name,
            "samples": one.n_samples,
            "phases": one.phases,
            "counters with a change": int((one.n_phases > 1).sum()),
            "missing": len(one.missing),
        }
        for one in prints
    ]
    counters = len(result.fingerprints.normaliser.counters)
    return f"{counters} counters; --json has the statistics of every phase\n\n{table(rows)}"


def library_json(result: LibraryView) -> dict[str, Any]:
    """Return the JSON document of a library: distances of all runs from each other in both measures."""
    runs_of = zip(result.workloads, result.names, result.n_phases.tolist(), strict=True)
    return {
        "runs": [dict(zip(("workload", "run", "n_phases"), one, strict=True)) for one in runs_of],
        "distances": {name: result.distances(name) for name in MEASURES},
        **_limits(result),
        "n_counters": result.n_counters,
        "seconds": result.seconds,
    }


def library_text(result: LibraryView) -> str:
    """Return the distances of the first runs, and the thresholds."""
    shown = range(min(len(result.names), WIDEST_MATRIX))
    rows: list[dict[str, object]] = [
        {"": at + 1, "run": f"{result.workloads[at]}/{result.names[at]}"}
        | {str(other + 1): f"{result.distances_ed[at, other]:.3g}" for other in shown}
        for at in shown
    ]
    limits: list[dict[str, object]] = [
        {
            "measure": measure,
            "workload": one.workload,
            "runs": one.n_runs,
            "mean": f"{one.mean:.4g}",
            "sd": f"{one.sd:.3g}",
            "c": f"{result.c[measure]:.3g}",
        }
        for measure, ones in result.thresholds.items()
        for one in ones
    ]
    rest = len(result.names) - len(shown)
    more = f"\n... and {rest} more runs: --json has them" if rest else ""
    return f"Euclidean distances ({result.n_counters} counters)\n\n{table(rows)}{more}\n\n{table(limits)}"


def match_json(result: Match) -> dict[str, Any]:
    """Return the JSON document of a match."""
    verdict = asdict(result.verdict)
    return {
        "unknown": result.unknown,
        "matches": [asdict(line) for line in result.matches],
        "verdict": verdict.pop("workload"),
        **verdict,
        "scores": result.scores,
        "notes": list(result.notes),
    }


def match_text(result: Match) -> str:
    """Return the verdict and the nearest runs."""
    rows: list[dict[str, object]] = [
        {
            "workload": line.workload,
            "run": line.run,
            "Euclidean": f"{line.distance_ed:.4g}",
            "DTW": f"{line.distance_dtw:.4g}",
            "offset": line.offset,
            "within": {True: "yes", False: "no", None: "too few runs"}[line.within_threshold],
        }
        for line in result.matches[:SHOWN_MATCHES]
    ]
    one = result.verdict
    near = f"{one.confidence * 100:.0f} % nearer than the next workload (DTW: {one.confidence_dtw * 100:.0f} %)"
    agree = "" if one.agree else "; the distance measures disagree"
    sure = "matches" if one.agree and math.isfinite(one.limit) else "is most like"
    verdict = f'{sure} "{one.workload}"' if one.workload == one.nearest else f'is unknown, nearest "{one.nearest}"'
    head = f"{result.unknown} {verdict}\n{one.reason}\n{near}{agree}"
    return f"{head}\n\n{table(rows)}"


def aligned_json(result: AlignedRuns) -> dict[str, Any]:
    """Return the JSON document of two runs laid over each other; the path is in samples of each."""
    names = ("first", "second", "step_s", "n_counters")
    return {name: getattr(result, name) for name in names} | asdict(result.alignment)


def aligned_text(result: AlignedRuns) -> str:
    """Return the cost and some steps of the path."""
    path, step = result.alignment.path, result.step_s
    every = max(1, -(-len(path) // SHOWN_STEPS))
    rows: list[dict[str, object]] = [
        {result.first: f"{one * step:g} s", f"{result.second} ": f"{other * step:g} s"} for one, other in path[::every]
    ]
    over = f"over {len(path)} steps and {result.n_counters} counters"
    return f"{result.alignment.mean_cost:.4g} per step and counter, {over}\n\n{table(rows)}"


def evaluation_json(result: Evaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    known = (
        None
        if result.known is None
        else asdict(result.known) | {"per_class": [asdict(one) for one in result.known.per_class]}
    )
    return {
        "mode": result.mode,
        "counters": list(result.counters),
        "known": known,
        "baselines": result.baselines,
        "c": result.c,
        "unknown": [asdict(one) for one in result.unknown],
        "rejected_share": result.rejected_share,
        "false_reject_share": result.false_reject_share,
        "curves": [asdict(one) for one in result.curves],
        "distances": [asdict(one) for one in result.distances],
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def evaluation_text(result: Evaluation) -> str:
    """Return known, baselines and unknown as tables."""
    return "\n\n".join([_known_text(result), _unknown_text(result), _distances_text(result)])


def _known_text(result: Evaluation) -> str:
    if result.known is None:
        return "no run is of a known workload"
    known = result.known
    others: list[dict[str, object]] = [
        {"by": name, "accuracy": format_share(value)}
        for name, value in [*known.learners.items(), *result.baselines.items()]
    ]
    spread = f" ± {known.accuracy_sd:.3f} over {known.n_splits} splits (they share runs)" if known.n_splits > 1 else ""
    return (
        f"known workloads: accuracy {known.accuracy:.3f}{spread}, precision {known.precision:.3f}, recall "
        f"{known.recall:.3f}, F1 {known.f1:.3f}; {known.n_test} answers, rejections aside\n\n{table(others)}"
    )


def _unknown_text(result: Evaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "unknown workload": one.workload,
            "rejected": format_share(one.rejected_share),
            "nearest": ", ".join(f"{name} {format_share(share)}" for name, share in list(one.nearest.items())[:3]),
        }
        for one in result.unknown
    ]
    if math.isnan(result.c):
        return f"{NO_LIMIT}\n\n{table(rows)}"
    head = (
        f"unknown runs rejected: {format_share(result.rejected_share)}; known runs rejected by mistake: "
        f"{format_share(result.false_reject_share)}; c = {result.c:.2f}"
    )
    return f"{head}\n\n{table(rows)}"


def _distances_text(result: Evaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "workload": one.workload,
            "DTW": f"{one.dtw_mean:.4g} ± {one.dtw_std:.3g}",
            "Euclidean": f"{one.ed_mean:.4g} ± {one.ed_std:.3g}",
            "pairs": one.n_pairs,
        }
        for one in result.distances
    ]
    return f"distances among runs of one workload\n\n{table(rows)}"


add(app, Face(questions.RUNS, runs_json, runs_text))
add(app, Face(questions.DETECT, phases_json, phases_text, _notes, complete=_completed))
add(app, Face(questions.TIMELINE, timeline_json, timeline_text, _notes, complete=_completed))
add(app, Face(questions.LIBRARY, library_json, library_text, more=(EDITED,), complete=_completed))
add(app, Face(questions.ALIGN, aligned_json, aligned_text, complete=_completed))
add(
    app,
    Face(questions.MATCH, match_json, match_text, _notes, complete=_completed),
    Face(
        questions.KNOWN_MATCH,
        match_json,
        match_text,
        _notes,
        when="--train --edited --labels",
        more=(EDITED,),
        complete=_completed,
    ),
)
add(app, Face(questions.EVALUATE, evaluation_json, evaluation_text, _notes, complete=_completed))


def _fingerprints(dataset: str, run: str, home: Path | None, as_json: bool, **given: Any) -> None:
    with opened(home) as workbench:
        settings = settings_of(questions.LEARN, _completed(workbench, dataset, given))
        result = workbench.workload_library(dataset, settings, progress_line())
    prints = tuple(one for one in result.prints if run in ("", one.name, one.run))
    if not prints:
        names = ", ".join(one.name for one in result.prints[:12])
        raise SettingsError(f"there is no labelled run {run!r}; choose from {names}")
    emit(fingerprints_json(result, prints), as_json, lambda: fingerprints_text(result, prints))


register(
    app,
    "fingerprints",
    questions.LEARN.title,
    _fingerprints,
    [
        parameter("dataset", Dataset),
        parameter("run", Annotated[str, typer.Option("--run", help="This one only; default: all labelled runs.")], ""),
        *options(questions.LEARN),
        *OUT,
    ],
)
add_others(app, questions.QUESTIONS)
