"""A saved result, and a second one beside it."""

import streamlit as st

from pages._frame import cross_link
from pages._frame.visit import Visit
from pages._parts import clusterings, controls, tables
from pages._parts.controls import choice
from pages._runs import links
from pages._runs.links import Parameters
from workprof.answers.saved_runs import (
    changed_words,
    comparison_sentence,
    number_changes_table,
    raw_name,
    run_label,
    run_sentence,
    run_title,
    run_words,
    setting_changes_table,
    settings_table,
    when,
)
from workprof.answers.tasks import task_labels
from workprof.core.runs import RunAgain, StoredRun
from workprof.core.words import markdown_text
from workprof.memory.assessment import AssessmentSettings
from workprof.profiles.questions import FIT
from workprof.workbench.declared import STORED
from workprof.workbench.runs import flat_settings


def one(visit: Visit, run: StoredRun) -> None:
    """Show one run."""
    st.header(markdown_text(run_title(run), 120), help=markdown_text(raw_name(run), 200))
    st.caption(markdown_text(run_sentence(run), 400))
    if not run.current:
        st.caption("The method has changed since: opening it computes a new result.")
    again = visit.workbench.run_again(run.run)
    _actions(visit, run, again.settings)
    _settings(run)
    _again(again)


def _actions(visit: Visit, run: StoredRun, settings: object | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        page = links.page_of(run.step)
        if st.button(f"Open on {page.capitalize()}", icon=":material/open_in_new:", key="runs_open", type="primary"):
            label = _task_label(visit, run, settings)
            parameters = links.parameters_of(run.step, run.dataset_hash, settings, label)
            cross_link.go(page, parameters | _clustering(visit, run, page))
        words, icon = ("Unpin", ":material/keep_off:") if run.pinned else ("Pin", ":material/keep:")
        help_words = visit.refusal or "A pinned result is not removed when space is needed."
        if st.button(words, icon=icon, key="runs_pin", disabled=visit.readonly, help=help_words):
            visit.workbench.pin_run(run.run, not run.pinned)
            st.rerun()
        _removal(visit, run)


def _clustering(visit: Visit, run: StoredRun, page: str) -> Parameters:
    """Return the parameter of the clustering that a run rests on, for the pages that choose one."""
    if run.clustering and page == FIT.page:
        return links.fit_parameters(run.step, visit.workbench.clustering_of(run))
    if not run.clustering or page not in links.CHOOSE_CLUSTERING:
        return {}
    dataset = visit.workbench.dataset(run.dataset_hash)
    return {f"{page}_clustering": clusterings.name_of_key(visit, dataset, run.clustering)}


def _removal(visit: Visit, run: StoredRun) -> None:
    with controls.popup(
        "Remove", "runs_remove", icon=":material/delete:", disabled=bool(visit.admins_only), help=visit.admins_only
    ):
        st.markdown(
            f"**{markdown_text(run_title(run), 120)}** will be removed from this home folder. The dataset stays; "
            "the result can be computed again."
        )
        if st.button(
            "Remove result", icon=":material/delete:", key="runs_remove_now", disabled=bool(visit.admins_only)
        ):
            visit.workbench.remove_run(run.run)
            controls.close("runs_remove")


def _settings(run: StoredRun) -> None:
    flat = flat_settings(run.settings)
    changed = changed_words(run.settings, STORED[run.step].settings) if run.step in STORED else ()
    chosen = "\n".join(f"- {markdown_text(words, 200)}" for words in changed)
    st.markdown(f"Changed settings:\n\n{chosen}" if chosen else "Default settings.")
    with st.expander(
        f"All {len(flat)} settings", icon=":material/tune:", key="runs_settings", on_change="rerun", bind="query-params"
    ) as fold:
        if fold.open:
            tables.saved_frame(
                settings_table(flat), f"run-{run.run}", key="runs_settings_table", alt="Settings of the run"
            )


def _again(again: RunAgain) -> None:
    for words, code, why_not, language in (
        ("in Python", again.python, again.why_no_python, "python"),
        ("on the command line", again.shell, again.why_no_shell, "bash"),
    ):
        st.markdown(f"**Reproduce {words}**")
        if code:
            st.code(code, language=language, wrap_lines=True)
        else:
            st.caption(markdown_text(f"Not possible: {why_not}.", 300))
    st.caption("Both read the saved result from this home folder (WORKPROF_HOME), or compute it in another one.")


def _task_label(visit: Visit, run: StoredRun, settings: object) -> str:
    """Return how the Memory page calls the task of a run."""
    within = getattr(settings, "bins", settings)
    task = getattr(within, "task", "")
    if not task:
        return ""
    target, request = getattr(within, "target", "peak_rss"), getattr(within, "request_bytes", 0.0)
    result = visit.workbench.assessment(run.dataset_hash, AssessmentSettings(target=target, request_bytes=request))
    labels = task_labels([one.task for one in result.tasks])
    return next((label for label, name in labels.items() if name == task), "")


NONE = "none"


def compare(visit: Visit, runs: tuple[StoredRun, ...], chosen: StoredRun) -> None:
    """Show a second run of the same step beside the chosen one."""
    st.header("Compare with")
    others = {run_label(run): run for run in runs if run.step == chosen.step and run.run != chosen.run}
    if not others:
        st.caption("No other result of this type.")
        return
    words = {label: run_words(run) for label, run in others.items()}
    label = choice("Other result of this type", "runs_other", (NONE, *others), "Of any dataset.", shown=words)
    if label == NONE:
        return
    other = others[label]
    result = visit.workbench.compare_runs(chosen.run, other.run)
    names = (f"{chosen.run}, {when(chosen)}", f"{other.run}, {when(other)}")
    for note in result.notes:
        st.warning(f"{markdown_text(note[:1].upper() + note[1:], 300)}.", icon=":material/warning:")
    st.markdown(f"**{markdown_text(comparison_sentence(result.settings, result.numbers, result.n_equal), 300)}**")
    stem = f"runs-{chosen.run}-{other.run}"
    if result.settings:
        table = setting_changes_table(result.settings, names)
        tables.saved_frame(table, f"{stem}-settings", key="runs_changed", alt="Settings that differ")
    if result.numbers:
        table = number_changes_table(result.numbers, names)
        tables.saved_frame(table, f"{stem}-numbers", key="runs_numbers", alt="Numbers that differ")
