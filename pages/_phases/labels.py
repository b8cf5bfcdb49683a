"""What each run of a library counts as: give it a workload, another one, or none."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._parts import tables
from pages._phases.asking import Asked
from workprof.charts.text import counted
from workprof.phases.library import LEFT_OUT, LibraryEdits, RunLabel
from workprof.phases.runs import RunLine, RunList

LONGEST_LABEL = 80
NEW = "phases_label"


def labels(asked: Asked, dataset: str, runs: RunList, edits: LibraryEdits) -> None:
    """Show the runs of the library and the form that changes what they count as."""
    counts_as = {line.name: edits.label_of(line.workload, line.run) for line in runs.runs}
    inside = [label for label in counts_as.values() if label]
    with st.expander(
        f"{counted(len(inside), 'run')} of {counted(len(set(inside)), 'workload')} are known, "
        f"{len(counts_as) - len(inside)} left out",
        icon=":material/bookmarks:",
        key="phases_labels",
    ):
        tables.show(
            _table(runs, counts_as),
            hide_index=True,
            key="phases_label_table",
            alt=f"{len(counts_as)} runs with the workload that each counts as",
        )
        if asked.visit.readonly:
            st.caption("This server is read-only: the library cannot be changed here.")
        else:
            _form(asked, dataset, runs, edits)


def _table(runs: RunList, counts_as: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "run": line.name,
            "counts as": counts_as[line.name] or "left out",
            "changed by hand": counts_as[line.name] != line.workload,
            "samples": line.samples,
            "status": line.status or "not told",
        }
        for line in runs.runs
    )


def _form(asked: Asked, dataset: str, runs: RunList, edits: LibraryEdits) -> None:
    groups = {f"all runs of {name}": _counting_as(runs, edits, name) for name in _known(runs, edits)}
    options = groups | {line.name: [line] for line in runs.runs}
    with st.grid(min_column_width=220, gap="small"):
        picked = st.selectbox("Workload or run", list(options), key="phases_label_of", persist_state="session")
        label = st.text_input(
            "Counts as", key=NEW, max_chars=LONGEST_LABEL, placeholder="name of a workload", persist_state="session"
        )
    lines = options[picked]
    with st.container(horizontal=True):
        if st.button("Add or rename", icon=":material/label:", key="phases_label_set", disabled=not label.strip()):
            _keep(asked, dataset, edits, lines, label.strip())
        if st.button("Leave out", icon=":material/bookmark_remove:", key="phases_label_out"):
            _keep(asked, dataset, edits, lines, LEFT_OUT)
        if st.button("As recorded", icon=":material/undo:", key="phases_label_undo", disabled=not edits.labels):
            asked.workbench.set_library_edits(dataset, LibraryEdits())
            st.rerun()


def _known(runs: RunList, edits: LibraryEdits) -> tuple[str, ...]:
    found = (edits.label_of(line.workload, line.run) for line in runs.runs)
    return tuple(sorted({label for label in found if label}))


def _counting_as(runs: RunList, edits: LibraryEdits, label: str) -> list[RunLine]:
    return [line for line in runs.runs if edits.label_of(line.workload, line.run) == label]


def _keep(asked: Asked, dataset: str, edits: LibraryEdits, lines: list[RunLine], label: str) -> None:
    """Keep the label of these runs; one that is as recorded needs none."""
    given = {(one.workload, one.run): one.label for one in edits.labels}
    given |= {(line.workload, line.run): label for line in lines}
    kept = tuple(RunLabel(*key, label=own) for key, own in sorted(given.items()) if own != key[0])
    asked.workbench.set_library_edits(dataset, LibraryEdits(kept))
    st.rerun()
