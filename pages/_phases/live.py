"""A recording in progress, sample by sample: phases so far and the nearest known workload so far."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages._frame import datasets
from pages._frame.errors import guard
from pages._parts import figures, long_question
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from pages._phases.form import MOST_SHOWN, PageContext, counter_columns, edits_of
from workprof.answers.recognition import live_figures
from workprof.charts.phases.matches import first_of_each_source, live_chart
from workprof.core.words import counted, markdown_text
from workprof.phases.library import LEFT_OUT, LibraryEdits, RunLabel
from workprof.phases.live import LiveLibrary, LiveSettings, LiveView
from workprof.phases.runs import SYSTEM72
from workprof.workbench.recordings import Following, counters_of, recordings

EVERY_S = 1.0
REMATCH_EVERY = 3
FOLLOWED, NAME = "phases_followed", "phases_live"
BY_ALL_RUNS = "Normalised over all known runs: that of the run itself needs its end."
NONE = (
    "No recording is in progress. Start one in this server's data folder (WORKPROF_DATA) or home with "
    "`workprof record -o NAME.csv -- COMMAND`."
)


def live(context: PageContext) -> None:
    """Show the recordings, and follow the chosen one."""
    files = recordings(context.visit.app_state.settings)
    ended = st.session_state.get(FOLLOWED)
    if ended is not None and ended[1].ended and ended[1].path.name not in files:
        _ended(context, ended[1], ended[2])
    if not files:
        st.info(NONE, icon=":material/radio_button_unchecked:")
        st.button("Refresh", icon=":material/refresh:", key="phases_look")
        _replayed(context)
        return
    path = files[choice("Recording", NAME, tuple(files), "Files that `workprof record` is writing now.")]
    settings = _settings(context, path)
    if settings is None:
        return
    known = _known(context, settings)
    if known is not None:
        with st.spinner("Opening the recording…"):
            following = _following(path, settings, known)
        st.fragment(_follow, run_every=EVERY_S)(context, following)


def _known(context: PageContext, settings: LiveSettings) -> LiveLibrary | None:
    return long_question.result(
        context.visit,
        context.dataset,
        LongQuestion(
            name="phases_start_live",
            settings=settings,
            compute=context.workbench.live_library,
            button="Learn the known workloads",
            before=lambda: (
                f"To follow it, the workloads of this dataset are learned first, from "
                f"{len(settings.library.counters)} common counters."
            ),
            what="Learning the known workloads",
        ),
    )


def _replayed(context: PageContext) -> None:
    """Show the chosen run as it would have been followed, by a library without it."""
    fingerprints = replace(context.library.fingerprints, normalise="train")
    counters = context.library.counters or _of_a_recording(counter_columns(context.visit, context.dataset))
    library = replace(context.library, counters=counters, fingerprints=fingerprints)
    given = edits_of(context, context.dataset.hash).labels
    own = (context.line.workload, context.line.run)
    others = tuple(one for one in given if (one.workload, one.run) != own)
    settings = LiveSettings(library, LibraryEdits((*others, RunLabel(*own, LEFT_OUT))))
    known = _known(context, settings)
    if known is not None:
        st.caption(
            f"Below, {markdown_text(context.line.name, 80)} as it would have been followed to its end. {BY_ALL_RUNS} "
            "Match knows the whole run, and may be surer."
        )
        with st.spinner("Following the run…"):
            view = context.workbench.replayed_run(context.dataset.hash, context.line, known)
        _drawn(context, view, ended=True)


def _settings(context: PageContext, path: Path) -> LiveSettings | None:
    """Return what the recording is followed with; None (and why) where nothing is in common."""
    recorded = set(counters_of(path))
    mine = context.library.counters or counter_columns(context.visit, context.dataset)
    common = _of_a_recording(tuple(name for name in mine if name in recorded))
    if not common:
        st.info(
            f"{markdown_text(path.name)} and this dataset have no counter in common; choose another dataset.",
            icon=":material/info:",
        )
        return None
    if context.library.fingerprints.normalise != "train":
        st.caption(f":material/info: {BY_ALL_RUNS}")
    fingerprints = replace(context.library.fingerprints, normalise="train")
    library = replace(context.library, counters=common, fingerprints=fingerprints)
    return LiveSettings(library, edits_of(context, context.dataset.hash))


def _of_a_recording(counters: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that a recording has from its first sample on, and a match of a whole run looks at."""
    return tuple(name for name in SYSTEM72 if name in counters) or counters


def _following(path: Path, settings: LiveSettings, known: LiveLibrary) -> Following:
    """Return the recording as this session follows it, from its start where it is another one than before."""
    mark = (str(path), path.stat().st_ino, settings)
    followed = st.session_state.get(FOLLOWED)
    if followed is None or followed[0] != mark:
        followed = (mark, Following(path, known), None)
        st.session_state[FOLLOWED] = followed
    following: Following = followed[1]
    return following


def _follow(context: PageContext, following: Following) -> None:
    with guard():
        mark, _, before = st.session_state[FOLLOWED]
        again = before is None or before.match is None or before.n_ticks % REMATCH_EVERY == 0
        view = following.advance(before, rematch=again)
        st.session_state[FOLLOWED] = (mark, following, view)
        if following.ended:
            st.rerun()
        _shown(context, following, view)


def _shown(context: PageContext, following: Following, view: LiveView | None) -> None:
    if view is None:
        st.markdown(":material/hourglass_empty: No sample yet.")
        return
    _drawn(context, view, ended=following.ended)
    if following.skipped:
        st.caption(f"The first {counted(following.skipped, 'sample')} lie before what is followed.")
    if following.damaged:
        st.caption(f"{counted(following.damaged, 'line')} of the file could not be read and were skipped.")


def _drawn(context: PageContext, view: LiveView, *, ended: bool) -> None:
    chosen = tuple(name for name in context.counters if name in view.counters)
    chart = live_chart(view, chosen[:MOST_SHOWN] or first_of_each_source(view.counters), ended=ended)
    figures.headline(markdown_text(chart.takeaway, 400))
    figures.show(chart, key="phases_live_chart", sentence=False)
    figures.headline_row(live_figures(view))


def _ended(context: PageContext, following: Following, view: LiveView | None) -> None:
    st.success(
        f"{markdown_text(following.path.name.removesuffix('.partial'))} has ended. Load it on the Data page to see it "
        "with perf's counters; what follows is its last state.",
        icon=":material/check_circle:",
    )
    if st.button("To the Data page", icon=":material/database:", key="phases_to_data"):
        st.switch_page(datasets.DATA_PAGE)
    _shown(context, following, view)
