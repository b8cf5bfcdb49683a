"""What the commands on phases that look print for people."""

from __future__ import annotations

from workprof.cli.console import table
from workprof.phases.fingerprints import Fingerprint
from workprof.phases.library import Library, LibraryView
from workprof.phases.runs import RunList
from workprof.phases.timeline import AlignedRuns, Timeline

SHOWN_STEPS = 12
WIDEST_MATRIX = 12
"""Runs whose distances fit a line; `--json` has them all."""


def runs_text(found: RunList) -> str:
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
        for line in found.runs
    ]
    return table(rows)


def timeline_text(found: Timeline) -> str:
    """Return the phases of every counter of a run, the ones that move most first."""
    order = sorted(range(len(found.counters)), key=lambda at: -float(found.movement[at]))
    rows: list[dict[str, object]] = [
        {
            "counter": found.counters[at],
            "moves": f"{found.movement[at]:.2f}",
            "phases": int(found.fingerprint.n_phases[at]),
            "begin at (s)": " ".join(f"{second:g}" for second in found.boundaries_s(at)),
            "note": "by hand" if found.edited[at] else "not looked for" if found.fingerprint.flags[at] else "",
        }
        for at in order
    ]
    head = f"{found.fingerprint.name}: {found.start_s:g} to {found.end_s:g} s in steps of {found.step_s:g} s"
    return f"{head}\n\n{table(rows)}"


def fingerprints_text(found: Library, prints: tuple[Fingerprint, ...]) -> str:
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
    counters = len(found.fingerprints.normaliser.counters)
    return f"{counters} counters; --json has the statistics of every phase\n\n{table(rows)}"


def library_text(found: LibraryView) -> str:
    """Return the distances of the first runs, and the thresholds."""
    shown = range(min(len(found.names), WIDEST_MATRIX))
    rows: list[dict[str, object]] = [
        {"": at + 1, "run": f"{found.workloads[at]}/{found.names[at]}"}
        | {str(other + 1): f"{found.distances_ed[at, other]:.3g}" for other in shown}
        for at in shown
    ]
    limits: list[dict[str, object]] = [
        {
            "measure": measure,
            "workload": one.workload,
            "runs": one.n_runs,
            "mean": f"{one.mean:.4g}",
            "sd": f"{one.sd:.3g}",
            "c": f"{found.c[measure]:.3g}",
        }
        for measure, ones in found.thresholds.items()
        for one in ones
    ]
    rest = len(found.names) - len(shown)
    more = f"\n... and {rest} more runs: --json has them" if rest else ""
    return f"Euclidean distances ({found.n_counters} counters)\n\n{table(rows)}{more}\n\n{table(limits)}"


def aligned_text(found: AlignedRuns) -> str:
    """Return the cost and some steps of the path."""
    path, step = found.alignment.path, found.step_s
    every = max(1, -(-len(path) // SHOWN_STEPS))
    rows: list[dict[str, object]] = [
        {found.first: f"{one * step:g} s", f"{found.second} ": f"{other * step:g} s"} for one, other in path[::every]
    ]
    head = (
        f"{found.alignment.mean_cost:.4g} per step and counter, over {len(path)} steps and {found.n_counters} counters"
    )
    return f"{head}\n\n{table(rows)}"
