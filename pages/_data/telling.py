"""Alerts on numbers of a dataset, and the digest as it would be sent; folded until somebody looks."""

import streamlit as st

from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import figures, tables
from workprof.answers.alerts import NUMBERS, checked_answer
from workprof.answers.digest import digest_answer, digest_text
from workprof.core.alerts import Alert, alert_of
from workprof.core.scope import split
from workprof.core.text import visible
from workprof.core.words import markdown_text
from workprof.store.reports import Dataset
from workprof.watch.digest import letters_of
from workprof.watch.numbers import checked, looked_up
from workprof.workbench import JOBS

AT_ONCE_RUNS = 100_000
"""Up to so many runs what is missing for a digest is computed while the page waits: some seconds."""
BY_COMMAND = "This trace is large: `workprof digest NAME` shows its digest."


def section(visit: Visit, dataset: Dataset) -> None:
    """Show the fold of the alerts, and that of the digest of a job trace."""
    figures.fold("Alerts", "data_alerts", _alerts, visit, dataset, icon=":material/notifications:")
    if dataset.kind == JOBS:
        figures.fold("Digest", "data_digest", _digest, visit, dataset, icon=":material/mail:")


def _alerts(visit: Visit, dataset: Dataset) -> None:
    own = [one for one in visit.workbench.alerts() if split(one.dataset)[0] == split(dataset.name)[0]]
    answer = checked_answer(checked(visit.workbench, own))
    st.markdown(markdown_text(answer.sentence, 300))
    if own:
        tables.answer(answer.table(), key="data_alerts_table", alt=answer.sentence)
    if visit.admins_only:
        st.caption(f"{visit.admins_only.removesuffix('.')}: alerts cannot be added.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _form(visit, dataset)
        if own:
            _forget(visit, own)


def _form(visit: Visit, dataset: Dataset) -> None:
    with st.popover("Add an alert", icon=":material/add:"), guard():
        name = st.text_input("Name of the alert", key="data_alert_name")
        when = st.text_input("Fires when", key="data_alert_when", placeholder="kills_per_day > 5", help=_help())
        if st.button("Add alert", key="data_alert_add", disabled=not (name and when)):
            looked_up(visit.workbench, dataset.hash, alert_of(name, dataset.name, when).number)
            visit.workbench.add_alert(name, dataset.hash, when)
            st.rerun()


def _help() -> str:
    return f"A number, a sign and a limit. Numbers: {', '.join(NUMBERS)}; or QUESTION:PATH of a command's JSON."


def _forget(visit: Visit, own: list[Alert]) -> None:
    name = st.selectbox("Alert", [one.name for one in own], key="data_alert_doomed", width=240)
    if st.button("Remove alert", key="data_alert_remove", icon=":material/delete:"):
        visit.workbench.remove_alert(name)
        st.rerun()


def _digest(visit: Visit, dataset: Dataset) -> None:
    if dataset.rows > AT_ONCE_RUNS and visit.workbench.changes.cached(dataset.hash).result is None:
        st.markdown(BY_COMMAND)
        return
    with st.spinner("Writing the digest…", show_time=True):
        letters, skipped = letters_of(visit.workbench, dataset.hash)
    answer = digest_answer(letters, skipped, "", sent=False)
    st.markdown(markdown_text(answer.sentence, 300))
    st.code(visible(digest_text(letters)), language=None, wrap_lines=True, height=320)
    st.markdown("Send it with `workprof digest NAME --to webhook --send`, or `--to smtp`.")
