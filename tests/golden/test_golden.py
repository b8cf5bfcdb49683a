"""Every command prints what is kept of it; where a change is meant, `python -m tests.golden` writes the files anew."""

import pytest

from tests.golden.answers import KEPT, REPORT, answer
from tests.golden.commands import ASKED, NOT_KEPT, every_command, fill
from tests.golden.schemas import FILE, made
from tests.made_once import made_once

MOST_BYTES = 600_000


def _ask(folder):
    fill(folder)
    return {name: answer(folder, name) for name in ASKED}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return made_once(tmp_path_factory, "golden", _ask)[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_a_command_prints_what_is_kept(printed, name):
    assert printed[name].splitlines() == _kept(name)


@pytest.mark.soak
def test_the_reports_have_the_headings_that_are_kept(tmp_path):
    fill(tmp_path)
    assert answer(tmp_path, REPORT).splitlines() == _kept(REPORT)


def _kept(name):
    return (KEPT / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_every_command_is_kept_or_said_why_not():
    kept = {" ".join(words) for words in _beginnings()}
    every = set(every_command())
    assert every - kept == set(NOT_KEPT) - kept
    assert not set(NOT_KEPT) - every


def _beginnings():
    for line in ASKED.values():
        words = line.split()
        yield from (words[:n] for n in range(1, len(words) + 1))


def test_no_file_is_left_over_and_all_are_small():
    assert {path.stem for path in KEPT.iterdir()} == {*ASKED, REPORT}
    assert sum(path.stat().st_size for path in KEPT.iterdir()) <= MOST_BYTES


def test_the_service_describes_the_answers_that_are_kept():
    assert FILE.read_text(encoding="utf-8") == made(), (
        "run python -m tests.golden with a name, or write the schemas alone"
    )
