"""A process ends as Python would end it: with its status, its output and its handlers; it only frees nothing."""

import subprocess
import sys

import pytest

START = """
import atexit, sys, threading, time
from workprof.core.ending import ending_at_once

class Freed:
    def __del__(self):
        print("freed")

kept = Freed()
with ending_at_once():
    atexit.register(print, "handler")
    threading.Timer(0.2, print, ["thread"]).start()
    print("said", end=" ")
"""


@pytest.mark.parametrize(
    ("last", "status", "told"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('why')", 1, "why"),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
    ],
)
def test_what_runs_at_the_end_of_a_process_runs_and_its_status_stands(last, status, told):
    done = subprocess.run([sys.executable, "-c", f"{START}    {last}"], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stdout == "said thread\nhandler\n"
    assert told in done.stderr
