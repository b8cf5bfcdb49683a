"""Where the known workloads come from: this dataset, or another one of counters by the second."""

from __future__ import annotations

from dataclasses import dataclass

from pages._parts.controls import choice
from pages._phases.asking import Asked
from workprof.charts.text import shortened

SOURCE = "phases_library"
THIS = "this dataset"
SHORTEST_HASH = 8


@dataclass(frozen=True)
class Source:
    """The dataset of the known runs; `train_hash` is '' where it is the one that is looked at."""

    hash: str
    train_hash: str


def chosen(asked: Asked, words: str = "Known workloads from") -> Source:
    """Show the datasets of telemetry and return the chosen one."""
    others = {
        f"{shortened(entry.name, 40)} {entry.hash[:SHORTEST_HASH]}": entry.hash
        for entry in asked.workbench.datasets()
        if entry.kind == asked.dataset.kind and entry.hash != asked.dataset.hash
    }
    picked = choice(
        words,
        SOURCE,
        (THIS, *others),
        "The runs with a workload; of this dataset, the run itself is left out. What counts as what is changed under "
        "Library.",
    )
    other = others.get(picked, "")
    return Source(other or asked.dataset.hash, other)
