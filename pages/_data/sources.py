"""Sources of traces that grow: when each was refreshed, what came, what failed; a form for more."""

from functools import partial

import streamlit as st

from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import running_work, tables
from workprof.answers.sources import refresh_sentence, source_answer, sources_answer
from workprof.background import TaskView
from workprof.core.progress import Progress
from workprof.core.refreshes import Refresh, SourceStatus
from workprof.core.words import markdown_text
from workprof.sources.source import BY_URL, FILES, KINDS, KUBERNETES, PULL, SLURM, Credentials, Source, seconds_of

REFRESH = "work_refresh"
OPENED = "data_refreshed"
ADDRESSES = {
    **dict.fromkeys((*BY_URL, KUBERNETES), "URL of the server"),
    SLURM: "Host that ssh reaches (empty: this one)",
    FILES: "Folder or pattern on this server",
    PULL: "Address of the engine",
}
WHERE = "`env:VARIABLE` or `file:PATH` on this server; the secret itself is never kept."


def section(visit: Visit) -> None:
    """Show the sources of this home and their refreshes."""
    busy = _follow(visit)
    with guard():
        sources = visit.workbench.sources()
        with st.expander("Sources that refresh", expanded=busy or bool(sources), icon=":material/sync:"):
            answer = sources_answer(sources)
            st.markdown(markdown_text(answer.sentence, 300))
            if sources:
                tables.answer(answer.table(), key="data_sources", alt=answer.sentence)
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    _act(visit, sources, busy)
                _history(visit, sources)
            if not visit.admins_only:
                _form(visit)


def _act(visit: Visit, sources: tuple[SourceStatus, ...], busy: bool) -> None:
    names = [one.name for one in sources]
    name = st.selectbox("Source", names, key="data_source_name", bind="query-params", width=240)
    refusal = visit.admins_only or ("A refresh runs already." if busy else None)
    if st.button("Refresh", icon=":material/sync:", key="data_refresh", disabled=refusal is not None, help=refusal):
        view = visit.app_state.refreshing.begin(name, partial(_refreshed, visit, name))
        running_work.begun(REFRESH, view.key)
        st.rerun()
    what = visit.admins_only or "Forgets the source and its history; its dataset stays."
    if st.button(
        "Forget source", icon=":material/delete:", key="data_forget", disabled=bool(visit.admins_only), help=what
    ):
        visit.workbench.remove_source(name)
        st.rerun()


def _refreshed(visit: Visit, name: str, progress: Progress) -> Refresh:
    return visit.workbench.refresh(name, progress, apart=True)


def _history(visit: Visit, sources: tuple[SourceStatus, ...]) -> None:
    name = st.session_state.get("data_source_name") or sources[0].name
    source = next((one for one in sources if one.name == name), sources[0])
    answer = source_answer(source, visit.workbench.refreshes(source.name, 20))
    if answer.table("refreshes").rows:
        st.caption(markdown_text(f"Refreshes of {source.name}", 120))
        tables.answer(answer.table("refreshes"), key="data_refreshes", alt=answer.sentence)


def _follow(visit: Visit) -> bool:
    view = running_work.follow(visit.app_state.refreshing, REFRESH)
    if view is not None and view.result is not None:
        _done(visit, view, view.result)
    elif view is not None:
        running_work.task_panel(visit.app_state.refreshing, view, "Refreshing")
    return view is not None and view.active


def _done(visit: Visit, view: TaskView[Refresh], result: Refresh) -> None:
    if st.session_state.get(OPENED) != view.key:
        st.session_state[OPENED] = view.key
        entry = next((one for one in visit.workbench.datasets() if one.name == result.source), None)
        if entry is not None:
            datasets.select(entry.hash, entry.kind)
        st.rerun()
    st.success(markdown_text(refresh_sentence(result), 300), icon=":material/check_circle:")


def _form(visit: Visit) -> None:
    with st.popover("Add a source", icon=":material/add:"), guard():
        kind = st.selectbox("Kind", KINDS, key="data_add_kind")
        name = st.text_input("Name of source and dataset", key="data_add_name")
        address = st.text_input(ADDRESSES[kind], key="data_add_address")
        every = st.text_input("Refresh every (empty: by hand)", key="data_add_every", placeholder="1h")
        token = ""
        if kind in (*BY_URL, KUBERNETES):
            token = st.text_input("Token", key="data_add_token", help=WHERE, placeholder="env:PROM_TOKEN")
        st.markdown("Further options: `workprof source add --help`. `workprof refresh --every own` refreshes on time.")
        if st.button("Add", key="data_add", disabled=not name):
            credentials = Credentials(token=token)
            made = Source(name, kind, address, every_s=seconds_of(every, "Refresh every"), credentials=credentials)
            visit.workbench.add_source(made)
            st.rerun()
