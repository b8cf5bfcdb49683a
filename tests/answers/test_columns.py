"""One number has one name, unit, heading and format, and every face takes them from its column."""

import ast
import csv
import io
import json
from collections import defaultdict
from pathlib import Path

import pytest

import workprof.answers
from pages._parts import tables as on_page
from tests.charts import records_for_nodes, records_for_phases, records_for_tests
from tests.charts.test_duration_charts import EVALUATION, GROUPS, OBSERVED, SLO
from tests.charts.test_sweep_charts import BEST, PAIRS, RUNS
from workprof.answers.degradation import detection_answer
from workprof.answers.durations import durations_answer
from workprof.answers.estimates import estimate_answer
from workprof.answers.profiles import fit_answer
from workprof.answers.recognition import evaluation_answer, library_answer, match_answer
from workprof.answers.sweep import sweep_answer
from workprof.core.answer import to_csv, to_json, to_text
from workprof.core.table import MEASURES
from workprof.profiles.sweep import Sweep, SweepSettings

ROOM = Path(workprof.answers.__file__).parent
ARGUMENTS = ("name", "value", "heading", "form", "help", "pinned", "width", "unit")
SEVERAL_HEADINGS = {
    "kills": "Policies count sizes that are too small, the verdict counts killed attempts: both keys are released.",
    "n": "How many the row has of what it is about: predictions of a method, answers on a workload, runs of a task.",
    "k": "How many parts were chosen: bins of a task, groups of nodes.",
    "failures": "Mean attempts over seeds have digits, those of one replay have none.",
    "edges_gb": "The limits of searched bins and those of trained ones, which are as they were given.",
}
"""Name of a column of numbers -> why it has more than one look."""
SEVERAL_NAMES = {
    "Runs": "Released keys: rows of files, runs of tables, n_runs of the verdict, n_jobs of advice, n of tasks.",
    "Test runs": "The support of a class is the field's standard name in JSON; of a split it is n_test.",
    "Saved": "As a share in the comparison of policies, in GB·h in the rows of the verdict.",
    "Requested": "Booked are the hours of all attempts, requested those of the runs that finished.",
    "Bins": "How many there are to search, and how many were chosen.",
}
"""Heading of numbers -> why several names have it."""
LEFT = {
    *("requested_gb", "size_gb", "saved_share", "optimal_improvement", "n_runs"),
    *("Largest use", "Median use", "Never finished", "Next", "Today", "Used", "Values", "Kills", "Unused", "Time"),
    "95 % interval",
}
"""Of memory, still to be given one name: take them out here when they have it."""


def declared():
    """Return (place, name, heading, unit, form) of every column of numbers with a name and a heading of its own."""
    found = []
    for path in sorted(ROOM.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column":
                given = dict(zip(ARGUMENTS, node.args, strict=False)) | {one.arg: one.value for one in node.keywords}
                texts = {key: _text(given.get(key)) for key in ("name", "heading", "form", "unit")}
                unit = texts["unit"] or ""
                form = texts["form"] or (MEASURES[unit].form if unit in MEASURES else "")
                if texts["name"] and texts["heading"] and form:
                    unit = unit if unit in MEASURES and (MEASURES[unit].in_heading or unit == "share") else ""
                    found.append((f"{path.stem}:{node.lineno}", texts["name"], texts["heading"], unit, form))
    return found


def _text(node):
    return node.value if isinstance(node, ast.Constant) else None if node else ""


def test_a_number_has_one_heading_unit_and_format():
    looks = defaultdict(dict)
    for place, name, *look in declared():
        looks[name].setdefault(tuple(look), place)
    several = {name: places for name, places in looks.items() if len(places) > 1}
    assert set(several) - LEFT == set(SEVERAL_HEADINGS), several


def test_a_heading_has_one_number():
    names = defaultdict(dict)
    for place, name, heading, *_ in declared():
        names[heading].setdefault(name, place)
    several = {heading: places for heading, places in names.items() if len(places) > 1}
    assert set(several) - LEFT == set(SEVERAL_NAMES), several


def test_the_search_of_the_room_finds_what_it_should():
    found = declared()
    assert len(found) > 100
    assert ("Separation", "", "%.3f") in {tuple(one[2:]) for one in found}
    assert {"estimates", "sweep", "verdict", "bins"} <= {place.partition(":")[0] for place, *_ in found}


FIT = records_for_tests.fit()
ANSWERS = {
    "durations": durations_answer(OBSERVED, GROUPS, SLO),
    "estimates": estimate_answer(EVALUATION),
    "sweep": sweep_answer(Sweep.of(SweepSettings(preset="paper"), PAIRS)),
    "profiles": fit_answer(FIT, {card.profile: f"P{card.profile}" for card in FIT.cards}),
    "degradation": detection_answer(records_for_nodes.detection()),
    "evaluation": evaluation_answer(records_for_phases.evaluation()),
    "library": library_answer(records_for_phases.library()),
    "match": match_answer(records_for_phases.scored_match()),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_face_of_a_table_takes_names_headings_and_cells_from_the_columns(name):
    answer = ANSWERS[name]
    assert answer.tables
    for table in answer.tables:
        names = [end.name for column in table.held for end in column.ends()]
        assert next(csv.reader(io.StringIO(table.csv().decode()))) == names
        assert all(set(names) <= set(line) for line in table.documents())
        assert list(table.shown()) == [column.name for column in table.seen]
        shown = on_page.columns(table.seen)
        for column in table.seen:
            if column.heading:
                assert (shown[column.name]["label"]) == column.title
    first = answer.table()
    assert to_csv(answer).decode() == first.csv().decode()
    text = to_text(answer)
    for table in answer.tables:
        if table.rows:
            heading = next(line for line in text.splitlines() if all(one.title in line for one in table.seen))
            body = text[text.index(heading) :].splitlines()[1]
            assert all(column.cell(table.rows[0]) in body for column in table.seen)


@pytest.mark.parametrize("name", ANSWERS)
def test_figures_have_their_name_in_documents_and_their_words_on_screen(name):
    answer = ANSWERS[name]
    told = json.loads(json.dumps(to_json(answer), allow_nan=False))
    assert told["sentence"] == answer.sentence
    text = to_text(answer)
    for figure in answer.figures:
        assert figure.column.name in told
        assert [line for line in text.splitlines() if line.startswith(figure.label) and figure.value in line]


def test_the_records_are_not_empty():
    assert BEST >= 0
    assert len(RUNS) > 10
