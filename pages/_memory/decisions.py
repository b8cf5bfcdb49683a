"""Rows of the verdict in a table: found by words, and accepted, declined, left alone or noted by who looks at them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import streamlit as st

from pages._frame.errors import refused
from pages._login.login import visitor
from pages._memory.scope import PageContext
from pages._parts import tables
from workprof.answers.decisions import STATE, missing_words
from workprof.answers.tasks import names_of
from workprof.core.answer import Table
from workprof.core.errors import WorkprofError
from workprof.core.table import Column
from workprof.core.words import counted, markdown_text
from workprof.memory.decided import row_key
from workprof.memory.decisions import ACCEPTED, DECLINED, MOST_NOTE, NEVER, Decision
from workprof.memory.verdict import ResourceVerdict, Verdict, VerdictSettings
from workprof.memory.verdict_rows import VerdictRow

TASK = "task_name"
UNDO, TURN = "memory_decided_before", "memory_decided_turn"
BUTTONS = (
    (ACCEPTED, "Accept", ":material/check:", "Take these sizes: marked in tables and exports."),
    (DECLINED, "Decline", ":material/close:", "Keep these requests: left out of savings and exports."),
    (NEVER, "Never touch", ":material/lock:", "Keep these requests for good."),
)


@dataclass(frozen=True)
class Before:
    """What the decisions were before the last change."""

    dataset: str  # name
    words: str
    decisions: Mapping[str, Decision | None]


def choose(context: PageContext, settings: VerdictSettings, one: ResourceVerdict, table: Table, key: str) -> None:
    """Show rows of a resource, and what can be decided about those that are selected."""
    turn = st.session_state.get(TURN, 0)
    tasks = names_of(row.key.get(TASK, "") for row in one.rows)
    always = tuple(_on_page(column, tasks) for column in table.columns)
    shown = Table(table.name, table.title, always, table.rows[: tables.MOST_ROWS])
    picked = tables.answer(
        shown,
        key=f"{key}_{turn}" if turn else key,
        on_select="rerun",
        selection_mode="multi-row",
        alt=f"{len(shown.rows)} rows with today's request, the next one, and what was decided",
    )
    rows: Sequence[VerdictRow] = [shown.rows[at] for at in picked["selection"]["rows"] if at < len(shown.rows)]
    chosen = [row_key(row, one) for row in rows if row.by]
    if chosen:
        _buttons(context, settings, chosen, key)
    elif not context.visit.readonly:
        st.caption("Select rows to accept, decline or note them.")


@dataclass(frozen=True)
class _Label:
    """The label of a row's task; equal ones let a table be made once."""

    tasks: tuple[tuple[str, str], ...]  # name, label

    @cached_property
    def _labels(self) -> dict[str, str]:
        return dict(self.tasks)

    def __call__(self, row: VerdictRow) -> str | None:
        """Return it."""
        return self._labels.get(row.key.get(TASK, "")) or None


def _on_page(column: Column, tasks: Mapping[str, str]) -> Column:
    """Return a column as this page has it: the decision always, a task by the last parts of its path, moving along."""
    if column.name == TASK:
        return replace(column, value=_Label(tuple(tasks.items())), pinned=False, width="medium")
    return replace(column, optional=False) if column is STATE else column


def _buttons(context: PageContext, settings: VerdictSettings, chosen: list[str], key: str) -> None:
    bench, dataset, visit = context.workbench, context.dataset.hash, context.visit
    rows = counted(len(chosen), "row")

    def decide(state: str | None, note: str | None = None) -> None:
        bench.decide(dataset, chosen, state, note=note, by=visitor().name, settings=settings)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{rows}**", width="content")
        for state, words, icon, meaning in BUTTONS:
            if st.button(
                words,
                key=f"{key}_{state.partition(' ')[0]}",
                icon=icon,
                disabled=visit.readonly,
                help=visit.refusal or meaning,
            ):
                _change(context, chosen, f"{rows} {state}", partial(decide, state))
        with st.popover("Note", icon=":material/edit_note:", disabled=visit.readonly, help=visit.refusal):
            note = st.text_input("Note", key=f"{key}_note", max_chars=MOST_NOTE)
            if st.button("Save note", key=f"{key}_note_save"):
                _change(context, chosen, f"{rows} noted", partial(decide, None, note))
        known = {one.row_key for one in bench.decisions(dataset)}
        decided = [one for one in chosen if one in known]
        if decided and st.button("Clear", key=f"{key}_clear", icon=":material/backspace:", disabled=visit.readonly):
            _change(context, decided, f"{rows} cleared", partial(bench.forget_decisions, dataset, decided))


def _change(context: PageContext, keys: Sequence[str], words: str, change: Callable[[], object]) -> None:
    """Make a change that can be undone, and show the page anew with nothing selected."""
    known = {one.row_key: one for one in context.workbench.decisions(context.dataset.hash)}
    try:
        change()
    except WorkprofError as error:
        refused(str(error))
        return
    before = {key: known.get(key) for key in keys}
    st.session_state[UNDO] = Before(context.dataset.name, words, before)
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1
    st.rerun()


def undo(context: PageContext) -> None:
    """Show what was decided last, and the button that takes it back."""
    before: Before | None = st.session_state.get(UNDO)
    if before is None or before.dataset != context.dataset.name:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(markdown_text(f"{before.words}.", 100), width="content")
        if st.button("Undo", key="memory_decided_undo", icon=":material/undo:", disabled=context.visit.readonly):
            try:
                context.workbench.restore_decisions(context.dataset.hash, before.decisions)
            except WorkprofError as error:
                refused(str(error))
                return
            del st.session_state[UNDO]
            st.rerun()


def gone(context: PageContext, result: Verdict) -> None:
    """Show the decisions on rows that are not there, and the button that forgets them."""
    if not result.missing:
        return
    st.caption(markdown_text(missing_words(result), 600))
    keys = [one.row_key for one in result.missing]
    if st.button("Forget them", key="memory_decided_forget", disabled=context.visit.readonly):
        forget = context.workbench.forget_decisions
        _change(
            context, keys, f"{counted(len(keys), 'decision')} forgotten", partial(forget, context.dataset.hash, keys)
        )
