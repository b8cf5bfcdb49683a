"""The verdict on every node over time: in service, to be run again, excluded, back; and the runs of one."""

import streamlit as st

from pages._nodes.context import PageContext, notes
from pages._parts import figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.answers.node_history import (
    changes_table,
    history_answer,
    history_sentence,
    node_states_table,
    not_followed_words,
)
from workprof.charts.nodes.history import course_lines, states_over_time
from workprof.core.words import counted, markdown_text
from workprof.nodes.history import History
from workprof.nodes.questions import HISTORY

NODE, CHANGES = "nodes_history_node", "nodes_history_changes"


def history(context: PageContext) -> None:
    """Show which nodes are out and since when, all nodes over time, then one of them."""
    first = st.container()
    settings = forms.settings(
        context.visit, context.dataset, HISTORY, ("exclude", "false_alarm_share", "least_drop_share", "good_runs")
    )
    question = LongQuestion(
        "nodes_history",
        settings,
        context.workbench.node_history,
        "Follow the nodes",
        lambda: not_followed_words(context.dataset.rows),
        "Following the nodes",
    )
    with first:
        result = long_question.result(context.visit, context.dataset, question)
        if result is None:
            return
        figures.headline(markdown_text(history_sentence(result), 600))
        figures.show(states_over_time(result), key="nodes_history_states", sentence=False)
    _one(result)
    figures.fold("Data: changes of a verdict", CHANGES, _changes, result)
    notes(note.removesuffix(".") for note in history_answer(result).notes)


def _one(result: History) -> None:
    lines = node_states_table(result)
    tables.saved(lines, "node-states", key="nodes_history_table", alt=counted(len(lines.rows), "node"))
    node = choice("Node", NODE, tuple(one.node for one in result.nodes), "The node whose runs are shown.")
    figures.show(course_lines(result, node), key="nodes_history_course")


def _changes(result: History) -> None:
    lines = changes_table(result)
    tables.saved(lines, "node-verdict-changes", key="nodes_history_steps", alt=counted(len(lines.rows), "change"))
