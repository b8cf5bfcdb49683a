"""Thirty visitors vanish in the middle of an answer: what they held is given back, and nobody sees what was theirs."""

import asyncio
import contextlib
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.cut_off import CutOff
from tests.load.homes import furnish
from tests.load.servers import ROOT, dashboard
from tests.load.test_many_sessions import settled_bytes, visitor
from tests.load.visits import LINKS

pytestmark = pytest.mark.soak

SESSIONS = 30
STEPS = 40
MOST_GROWTH = 1.2
"""Of the server's own memory once they are forgotten, against after as many visitors who closed their tabs."""

FORGOTTEN_S = 600.0
"""Streamlit pings for a minute and keeps a lost session for two."""


def sessions(server):
    """Return how many sessions the server counts."""
    address = f"http://127.0.0.1:{server.port}/_stcore/metrics?families=active_sessions"
    with urllib.request.urlopen(address, timeout=60) as answer:
        found = re.search(r"^active_sessions\S* (\d+)", answer.read().decode(), re.MULTILINE)
    return int(found.group(1))


async def warmed(server, known):
    """Let as many visitors as will be dropped come, look at everything between them, and close their tabs."""
    answers = {}
    for number in range(SESSIONS):
        async with contextlib.AsyncExitStack() as stack:
            one = await visitor(stack, server, known, number, answers)
            for page, parameters in LINKS if number < len(known.jobs) else LINKS[number % 4 :: 4]:
                await one.fresh(page, parameters)
    return answers


async def looking(server, known, answers):
    """Do many things as a visitor of either dataset; every answer is checked to be their own, alone and afresh."""
    async with contextlib.AsyncExitStack() as stack:
        for number in range(len(known.jobs)):
            one, draw = await visitor(stack, server, known, number, answers), random.Random(number)
            for _ in range(STEPS):
                await one.step(draw)


def test_thirty_sessions_dropped_without_goodbye_leave_nothing(tmp_path):
    home, cut_off = tmp_path / "home", CutOff(tmp_path / "record")
    known = furnish(home)
    hashes = [one.hash for one in known.jobs.values()]
    with dashboard(home, **cut_off.variables) as server:
        answers = asyncio.run(warmed(server, known))
        before = asyncio.run(settled_bytes(server))
        command = [sys.executable, "-m", "tests.load.dropped", str(server.port), str(SESSIONS), *hashes]
        lost = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert lost.stdout.readline() == "ready\n"
            assert sessions(server) == SESSIONS
            lost.send_signal(signal.SIGSTOP)  # from now on it answers no ping, and closes nothing
            asyncio.run(looking(server, known, answers))
            end = time.monotonic() + FORGOTTEN_S
            while sessions(server) and time.monotonic() < end:
                time.sleep(2)
            assert sessions(server) == 0
        finally:
            lost.kill()
            lost.wait(30)
            lost.stdout.close()
        asyncio.run(looking(server, known, answers))
        after = asyncio.run(settled_bytes(server))
        print(f"\nown memory: {before / 1e6:.0f} MB, then {after / 1e6:.0f} MB; tries: {cut_off.tries()}")
        assert after <= MOST_GROWTH * before
        assert cut_off.tries() == []
        assert "Traceback" not in server.log.read_text()
