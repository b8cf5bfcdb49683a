"""What the Phases page is about: the run, the counters, and the settings that all its views share."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._frame import header, link
from pages._frame.visit import Visit
from pages._parts import forms
from pages._parts.controls import choice
from workprof.core.errors import SettingsError
from workprof.core.fields import get, leaves, read
from workprof.core.question import form_text, in_form
from workprof.core.text import visible
from workprof.core.words import counted, shortened
from workprof.phases.library import LibraryEdits, LibrarySettings, faithful_library
from workprof.phases.questions import LEARN, PAGE
from workprof.phases.runs import RunLine, RunList
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

TAB, RUN, COUNTERS, SOURCE, EDITS = "phases_tab", "phases_run", "phases_counters", "phases_library", "phases_edits"
FROM, TO, OWN, OWN_OF = "phases_from", "phases_to", "phases_own", "phases_own_of"
BEGAN_WITH = "phases_began_with"
NOT_COUNTERS = ("workload", "run", "t", "status")
AUTO, ALL, THIS = "auto", "all", "this dataset"
SHOWN = 5
MOST_SHOWN = 24
SHORTEST_HASH = 8
LIMIT = "match.c"
"""Empty means chosen, also where the published settings have a number: its field is a text."""


@dataclass(frozen=True)
class PageContext:
    """What the page is about."""

    visit: Visit  # this run of the page
    dataset: Dataset  # looked at
    runs: RunList  # that it holds
    line: RunLine  # the chosen run
    counters: tuple[str, ...]  # chosen to be shown; () = those with the strongest changes
    library: LibrarySettings  # settings of phases, fingerprints and matches
    views: DeltaGenerator  # where the views are shown, above the settings

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench

    @property
    def shared(self) -> dict[str, Any]:
        """The library's settings by their paths in a question that has them within."""
        return forms.within("library", self.library)


def context_of(visit: Visit, dataset: Dataset) -> PageContext | None:
    """Show run and counters, below the views the settings, and return what was chosen; None where there is no run."""
    with st.spinner("Reading the runs…"):
        runs = visit.workbench.phase_runs(dataset.hash)
    if not runs.runs:
        st.info("This dataset holds no run.", icon=":material/info:")
        return None
    with st.grid(min_column_width=260, gap="small"):
        line = _run(runs)
        counters = st.multiselect(
            "Counters shown",
            counter_columns(visit, dataset),
            format_func=visible,
            key=COUNTERS,
            bind="query-params",
            max_selections=MOST_SHOWN,
            placeholder=f"The {SHOWN} with the strongest changes",
            help="All counters of the set are searched for phases; these are drawn.",
        )
    views, settings = st.container(), st.container()
    with settings:
        library = _library(visit, dataset)
    return PageContext(visit, dataset, runs, line, tuple(counters), library, views)


def counter_columns(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    """Return the counters that a dataset has."""
    columns = visit.workbench.columns(dataset.hash)
    return tuple(one.name for one in columns if one.numeric and not one.truth and one.name not in NOT_COUNTERS)


def _run(runs: RunList) -> RunLine:
    lines = {line.name: line for line in runs.runs}

    def named(text: str) -> str | None:
        """Return the run that a link calls by its name within the workload."""
        result = [] if text in lines else [line.name for line in runs.runs if line.run == text]
        return result[0] if len(result) == 1 else None

    link.respell(RUN, named)
    chosen: str = st.selectbox(
        "Run",
        list(lines),
        format_func=visible,
        key=RUN,
        bind="query-params",
        on_change=fresh,
        help=f"{counted(len(lines), 'run')} of {counted(len(runs.workloads), 'workload')}, as workload/run.",
    )
    line = lines[chosen]
    if line.status in ("short", "failed"):
        st.caption(f":material/warning: This recording is marked {line.status}.")
    return line


def fresh() -> None:
    """Forget window and boundaries of the run before (a callback)."""
    st.session_state.update({FROM: None, TO: None, OWN: ""})


def _library(visit: Visit, dataset: Dataset) -> LibrarySettings:
    """Show the settings of phases and matches; as published they begin with the published ones."""
    st.divider()
    with st.grid(min_column_width=260, gap="small"):
        mode: str = forms.control(LEARN.leaf("mode"), PAGE)
    begin = faithful_library() if mode == "faithful" else LibrarySettings()
    if st.session_state.get(BEGAN_WITH, mode) != mode:
        for leaf in LEARN.leaves:
            if leaf.path not in ("mode", "counters"):
                value = get(begin, leaf.path)
                st.session_state[leaf.key(PAGE)] = (form_text if leaf.path == LIMIT else in_form)(leaf, value)
    st.session_state[BEGAN_WITH] = mode
    limit = replace(LEARN.leaf(LIMIT), default=get(begin, LIMIT))
    settings = forms.settings(
        visit,
        dataset,
        LEARN,
        main=(),
        given={"mode": mode},
        own={
            "counters": partial(_searched, counter_columns(visit, dataset)),
            LIMIT: partial(forms.control, limit, PAGE, typed=True),
        },
        begin=begin,
        rest_of="Settings of phases and matches",
    )
    if mode == "faithful" or settings.match.two_sided:
        header.published_flag()
    return settings


def _searched(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Show the set of counters that are searched for phases, and the list of those of one's own; () = by default."""
    whole = choice(
        "Counter set",
        "phases_set",
        (AUTO, ALL),
        "Default: the 72 system-wide counters of workprof where the dataset has them, else all but proc.*. All: also "
        "those of the command's own processes.",
        shown={AUTO: "Default", ALL: "All"},
    )
    chosen: tuple[str, ...] = forms.control(LEARN.leaf("counters"), PAGE, columns)
    return chosen or (columns if whole == ALL else ())


def source_of(context: PageContext, label: str = "Known workloads from") -> str:
    """Show the datasets of telemetry and return the hash of the chosen one, '' for the one that is looked at."""
    others = {
        f"{shortened(entry.name, 40)} {entry.hash[:SHORTEST_HASH]}": entry.hash
        for entry in context.workbench.datasets()
        if entry.kind == context.dataset.kind and entry.hash != context.dataset.hash
    }
    by_hash = {hash_: option for option, hash_ in others.items()} | {context.dataset.hash: THIS}
    link.respell(SOURCE, by_hash.get)
    picked = choice(
        label,
        SOURCE,
        (THIS, *others),
        "The labelled runs; of this dataset all but the run itself. Labels are changed under Library.",
    )
    return others.get(picked, "")


def edits_of(context: PageContext, dataset: str) -> LibraryEdits:
    """Return the labels given by hand: those that a link has, else those that are kept for a dataset."""
    saved = context.workbench.library_edits(dataset)
    (leaf,) = leaves(LibraryEdits)

    def parse(text: str) -> LibraryEdits:
        try:
            return LibraryEdits(read(leaf, text))
        except SettingsError as error:
            raise link.Unreadable(f"{link.quoted(text)} is not a list of labels") from error

    edits = link.read(EDITS, parse, saved, "those saved here are used")
    if edits != saved:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f":material/info: {counted(len(edits.labels), 'label')} by hand from the link, not the "
                f"{len(saved.labels)} that are saved here."
            )
            st.button("Use those saved", key="phases_edits_kept", type="tertiary", on_click=_forget_edits)
    return edits


def _forget_edits() -> None:
    """Drop the labels of the link (a callback)."""
    del st.query_params[EDITS]


def measure(label: str, key: str) -> str:
    """Show the two distances and return the chosen one."""
    return choice(
        label,
        key,
        ("euclidean", "dtw"),
        "Euclidean: mean distance of paired phases at the best offset. DTW: cheapest warping path, Manhattan between "
        "phases.",
        shown={"euclidean": "Euclidean", "dtw": "DTW"},
    )
