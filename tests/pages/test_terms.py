"""The glossary stands in the help of figures, columns and controls: one source, in the words of the Help page."""

import ast
import importlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from pages._parts import tables
from workprof.answers.help.terms import _SPOKEN, explained, glossary_of, meaning_of
from workprof.charts.shapes import Headline
from workprof.core.answer import Table
from workprof.core.table import Column

CHARTS, ANSWERS = (Path(__file__).parents[2] / "workprof" / room for room in ("charts", "answers"))
PLAIN = {
    "Random search", "Separation", "Separation as published", "Overlap", "Overall score",
    "Adjusted Rand, all runs", "Saving by count", "Far from every profile", "Never used", "Saved", "Kills",
    "Accuracy", "After a failure", "As predicted", "Best node", "Brier score", "Changing now", "Clustered twice",
    "Configurations", "Confidence", "Cores", "Killed runs", "Lost", "Saved in fact",
    "Detector", "F1", "F1 of degraded", "F1 of normal", "Finished", "Grouped by", "Groups",
    "Jobs", "Judged on", "Looked at", "Mean size", "Median duration", "Median peak memory",
    "Measurements", "Memory", "Memory requested", "Moved", "Needed less", "Not finished",
    "Needed more", "Next workload", "Of requests", "Ranking robust", "Above largest bin", "Period",
    "Found the cheapest", "Precision", "Recall",
    "Recorded", "Reconstruction error", "Rows", "Runs", "Samples", "Saved money", "Size", "Tasks",
    "Optimum by the thesis' formula",
    "95 % wait at most", "Fullest resource", "Nodes needed", "Nodes saved by the plan",
    "Distance (log-odds)", "Used", "Verdict", "Verdict so far", "Workload", "Workloads",
    "Median relative error",
    "Belong mostly to one profile",
    "Exemplars",
    "Flagged now",
    "Killed or failed",
    "Unused",
    "Unusual runs",
    "Excluded nodes",
    "Nodes to run again",
    "Changes of a verdict",
}  # fmt: skip
"""Labels that say in everyday words what they count; each has a help of its own."""


def labels():
    """Return label -> whether a meaning is given, of every figure that charts and answers make."""
    found = {}
    for path in CHARTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Headline":
                label = node.args[0]
                if isinstance(label, ast.Constant):
                    found[label.value] = len(node.args) > 2
    for path in ANSWERS.glob("*.py"):
        module = importlib.import_module(f"workprof.answers.{path.stem}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Figure":
                column = getattr(module, getattr(node.args[0], "id", ""), None)
                if column is not None:
                    named = any(one.arg == "help" for one in node.keywords)
                    found[column.words] = bool(column.help) or named or len(node.args) > 3
    return found


def test_every_figure_has_a_meaning_and_is_a_term_or_plain():
    found = labels()
    assert len(found) > 60
    assert [label for label, explained_ in found.items() if not explained_] == []
    assert sorted(label for label in found if not glossary_of(label) and label not in PLAIN) == []


def test_the_help_of_a_figure_adds_the_glossary_once():
    figure = Headline("Silhouette", "0.61", "Over 300 rows.")
    assert figure.help == f"Over 300 rows. {meaning_of('silhouette')}"
    assert explained("Silhouette", meaning_of("silhouette")) == meaning_of("silhouette")
    assert Headline("Rows", "3", "In the store.").help == "In the store."
    assert explained("no such term") == ""


@pytest.mark.parametrize("term", _SPOKEN)
def test_other_names_of_a_term_mean_the_term(term):
    for spoken in _SPOKEN[term]:
        assert spoken == spoken.lower()
        assert glossary_of(spoken) == meaning_of(term)


def test_columns_keep_their_settings_and_get_the_meaning():
    number = st.column_config.NumberColumn
    given = {"u_score": number("u-score", format="%.1f", help="Lower is better."), "plain": "plain words"}
    names = ["u_score", "purity", "plain", "something else", "duration_p95_s", "vm.pg_free/s"]
    found = tables.headings(names, given)
    assert found["u_score"]["help"] == f"Lower is better. {meaning_of('u-score')}"
    assert found["u_score"]["type_config"]["format"] == "%.1f"
    assert found["purity"]["help"] == meaning_of("purity")
    assert found["plain"] == "plain words"
    assert found["something else"]["label"] == "Something else"
    assert "vm.pg_free/s" not in found
    assert found["duration_p95_s"]["label"] == "Duration p95 (s)"
    assert given["u_score"]["help"] == "Lower is better."


def test_a_table_is_made_once_for_the_same_rows_under_the_same_columns():
    read = []
    column = Column("x", lambda row: read.append(row) or row.x, "Number")
    rows = [SimpleNamespace(x=1), SimpleNamespace(x=2)]
    table = Table("numbers", "Numbers", (column,), rows)
    frame, config = tables._made_once(table)
    assert (frame["x"].tolist(), config["x"]["label"], len(read)) == ([1, 2], "Number", 2)
    assert tables._made_once(replace(table, rows=tuple(rows)))[0] is frame
    assert len(read) == 2
    others = (
        replace(table, rows=rows[::-1]),
        replace(table, rows=[SimpleNamespace(x=1), rows[1]]),
        replace(table, columns=(replace(column, heading="Other"),)),
        replace(table, columns=(replace(column, value=lambda row: row.x),)),
    )
    assert all(tables._made_once(other)[0] is not frame for other in others)
    assert tables._made_once(others[0])[0]["x"].tolist() == [2, 1]
