"""The journal of finished runs: what one request gives up stops no other."""

import os
import threading
from concurrent.futures import CancelledError

import pytest

from workprof.service.observations import Journal, Run

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
