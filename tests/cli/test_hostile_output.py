"""No name of a file moves the cursor of a terminal, clears it, or turns a line round."""

import re

import pytest

from tests.charts import records_for_memory
from tests.hostile_texts import MARK, hostile
from workprof.cli.console import plain, table

pytestmark = pytest.mark.slow

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def test_control_characters_are_spelled_out():
    assert plain("a\x1b[31mb\x07\u202ec\r\n\td") == "a\\x1b[31mb\\x07\\u202ec\\r\n\td"
    assert plain("a\u200f\u061c\ufeffb") == "a\\u200f\\u061c\\ufeffb"
    assert plain("24,6 % · größer — 日本") == "24,6 % · größer — 日本"


def test_a_row_of_a_table_is_one_line():
    lines = table([{"na\nme": "a\nb\tc"}, {"na\nme": None}]).splitlines()
    assert [line.rstrip() for line in lines] == ["na\\nme", "a\\nb\\tc"]


@pytest.fixture(scope="module")
def tasks(run_workprof, home):
    path = home / "tasks.parquet"
    jobs = records_for_memory.jobs()
    jobs.assign(**{name: hostile(jobs["group"] + jobs["task_name"]) for name in ("task_name", "group")}).to_parquet(
        path
    )
    assert run_workprof("ingest", path, home=home).status == 0
    return "tasks"


@pytest.mark.parametrize(
    "arguments",
    [
        ("memory", "assess", "tasks"),
        ("memory", "bins", "tasks", "--task", f"\x1b[2J{MARK}\u202e"),
        ("ingest", f"\x1b[2J{MARK}.csv"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]).encode("ascii", "replace").decode().replace("\x1b", ""),
)
def test_nothing_that_is_printed_controls_the_terminal(workprof, tasks, arguments):
    found = workprof(*arguments)
    assert found.status in (0, 2), found.err
    assert not CONTROL.search(found.out) and not CONTROL.search(found.err.replace("\r\n", "\n"))
