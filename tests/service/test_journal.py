"""The journal of finished runs: what one request gives up stops no other."""

import os
import threading
import time
from concurrent.futures import CancelledError

import pytest

from workprof.core.settings import Settings
from workprof.service.observations import Journal, Run
from workprof.service.state import CATALOGUE_S, State
from workprof.sources.source import Source
from workprof.workbench import Workbench

PATIENCE_S = 30


def test_a_request_that_is_given_up_stops_no_other(tmp_path, monkeypatch):
    begun, goes_on, flushed = threading.Event(), threading.Event(), os.fsync
    journal = Journal(tmp_path, "a" * 32)

    def slow(number):
        begun.set()
        assert goes_on.wait(PATIENCE_S)
        flushed(number)

    monkeypatch.setattr(os, "fsync", slow)
    first = journal.add([Run("r1", {"a": 1})])
    assert begun.wait(PATIENCE_S)
    waiting = journal.add([Run("r2", {"a": 2})])
    assert not first.cancel()  # it is on its way to the disk
    assert waiting.cancel()
    goes_on.set()
    assert journal.add([Run("r3", {"a": 3})]).result(PATIENCE_S).total == 2
    assert first.result(PATIENCE_S).accepted == 1
    with pytest.raises(CancelledError):
        waiting.result()
    journal.close()


def test_a_refresh_takes_no_run_twice_and_a_look_opens_nothing(tmp_path):
    """Of a dataset and its scopes, however many and long, there is one journal."""
    folder, home = tmp_path / "traces", tmp_path / "home"
    folder.mkdir()

    def write(name, runs):
        rows = [f"j{at},align,{1_700_000_000 + at * 600},60" for at in runs]
        (folder / name).write_text("\n".join(["job,task,start,duration_s", *rows]) + "\n")

    write("a.csv", range(5))
    with Workbench(Settings(home=home, data=tmp_path)) as bench:
        bench.add_source(Source("all", "files", str(folder)))
        bench.refresh("all")
        state = State(bench)
        try:
            longest = "all?" + "&".join(f"job_name=j{at % 5}" for at in range(80))
            assert [state.kept_journal(one) for one in ("all", "all?job_name=j1", longest)] == [None] * 3
            assert not (home / "observations").exists()
            runs = [Run("r1", {"a": 1}), Run("r2", {"a": 1})]
            assert state.journal("all?job_name=j1").add(runs).result(PATIENCE_S).accepted == 2
            for at in range(2):
                write(f"b{at}.csv", range(5 + at, 6 + at))
                bench.refresh("all")
                time.sleep(2 * CATALOGUE_S)
                receipt = state.journal("all").add(runs).result(PATIENCE_S)
                assert (receipt.accepted, receipt.repeated, receipt.total) == (0, 2, 2)
            assert state.kept_journal(longest) is state.journal("all")
        finally:
            state.close()
        again = State(bench)
        assert len(again.kept_journal("all")) == 2
        again.close()
