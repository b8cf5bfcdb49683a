"""Phases as a table, fingerprints as files."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

import workprof
from workprof.phases.timeline import Timeline
from workprof.records import to_json


def phase_table(found: Timeline, counters: Sequence[str] = ()) -> pd.DataFrame:
    """Return one line per counter and phase: where it lies, what was recorded in it, its statistics; () = all."""
    names = counters or found.counters
    return pd.DataFrame([line for name in names for line in _lines(found, found.counters.index(name))])


def fingerprint_json(found: Timeline, dataset_hash: str) -> bytes:
    """Return the fingerprint as JSON, with the names of its axes and the true number of phases."""
    document = {
        "workprof": workprof.__version__,
        "dataset": dataset_hash,
        "workload": found.fingerprint.workload,
        "run": found.fingerprint.run,
        "start_s": found.start_s,
        "end_s": found.end_s,
        "step_s": found.step_s,
        "counters": list(found.counters),
        "statistics": list(found.statistics),
        "fingerprint": to_json(found.fingerprint),
        "notes": list(found.notes),
    }
    return json.dumps(document, indent=2, allow_nan=False).encode()


def fingerprint_npz(found: Timeline) -> bytes:
    """Return the fingerprint as NPZ: values (counters, phases, statistics) and what tells padding from phases."""
    target, own = io.BytesIO(), found.fingerprint
    np.savez_compressed(
        target,
        values=np.stack([found.statistic(name) for name in found.statistics], axis=-1),
        n_phases=own.n_phases,
        starts=own.starts,
        offsets=own.offsets,
        flags=own.flags,
        counters=np.array(found.counters),
        statistics=np.array(found.statistics),
        workload=np.array(own.workload),
        run=np.array(own.run),
        start_s=np.array(found.start_s),
        step_s=np.array(found.step_s),
    )
    return target.getvalue()


def _lines(found: Timeline, place: int) -> list[dict[str, object]]:
    own = found.fingerprint
    edges = [0, *own.boundaries_of(place).tolist(), own.n_samples]
    lines = []
    for phase, (first, end) in enumerate(itertools.pairwise(edges)):
        recorded = found.recorded[place, first:end]
        present = recorded[np.isfinite(recorded)]
        lines.append(
            {
                "workload": own.workload,
                "run": own.run,
                "counter": found.counters[place],
                "phase": phase + 1,
                "start_s": found.start_s + first * found.step_s,
                "end_s": found.start_s + end * found.step_s,
                "samples": len(present),
                "recorded_mean": float(present.mean()) if len(present) else None,
                "by_hand": bool(found.edited[place]),
                **{f"normalised_{name}": float(found.statistic(name)[place, phase]) for name in found.statistics},
            }
        )
    return lines
