"""`make bench` says what became slower than what the repository keeps."""

import json

from tests.benchmarks.__main__ import KEPT, NAMES, compared, keep


def test_a_ratio_that_fell_by_more_than_a_third_is_named():
    kept = {"recut": 9.0, "replay": 3.0, "silhouette": 20.0}
    (line,) = compared({"recut": 5.9, "replay": 2.1, "silhouette": 40.0}, kept)
    assert "recut" in line
    assert "from 9 to 5.9" in line


def test_what_is_not_kept_is_said_and_nothing_else_fell():
    (line,) = compared({"service": 1.4, "page_cold": None}, {})
    assert "service" in line
    assert "page_cold" not in line
    assert "no ratio fell" in compared({"recut": 6.1}, {"recut": 9.0})[0]
    assert compared({"page_cold": None}, {}) == []


def test_only_the_ratios_of_the_run_are_kept_anew():
    assert keep({"recut": 1186.81, "page_cold": None}, {"replay": 3.0}) == {"recut": 1190.0, "replay": 3.0}


def test_the_kept_ratios_are_of_benchmarks_that_there_are():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert len(kept) >= 8
    assert set(kept) <= set(NAMES)
    assert all(ratio >= 1 for ratio in kept.values())
