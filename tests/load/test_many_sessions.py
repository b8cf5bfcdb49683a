"""Twenty visitors, two datasets, 4,000 interactions with a server: each sees its own, the server does not grow."""

import asyncio
import contextlib
import random

import pytest

from tests.load.homes import furnish
from tests.load.servers import dashboard
from tests.load.visitor import opened
from tests.load.visits import LINKS, Visitor

SESSIONS = 20
INTERACTIONS = 200
ROUNDS = 4
MOST_GROWTH = 1.2
"""Of the server's own memory after all 4,000, against after the first 1,000."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    home = tmp_path_factory.mktemp("load") / "home"
    return home, furnish(home)


async def visitor(stack, server, known, number, answers):
    """Return a visitor whose tab is closed with the stack."""
    word = list(known.jobs)[number % len(known.jobs)]
    tab = await stack.enter_async_context(opened(server.port, f"visitor {number}", ds=known.jobs[word].hash))
    return Visitor(server.port, tab, known.jobs, known.others, word, answers)


async def many_visits(server, known):
    """Return the server's own memory after every round, and how often each kind of interaction was done."""
    answers = {}
    async with contextlib.AsyncExitStack() as stack:
        visitors = [await visitor(stack, server, known, number, answers) for number in range(SESSIONS)]
        for alone in visitors[: len(known.jobs)]:
            for page, parameters in LINKS:
                await alone.fresh(page, parameters)
        draws = [random.Random(number) for number in range(SESSIONS)]
        sizes = []
        for _ in range(ROUNDS):
            async with asyncio.TaskGroup() as group:
                for one, draw in zip(visitors, draws, strict=True):
                    group.create_task(several(one, draw, INTERACTIONS // ROUNDS))
            sizes.append(await settled_bytes(server))
        return sizes, {kind: sum(one.done[kind] for one in visitors) for kind in visitors[0].done}


async def several(one, draw, count):
    for _ in range(count):
        await one.step(draw)


async def settled_bytes(server):
    """Return the server's own memory once it has nothing left to do."""
    before = -1.0
    while server.cpu_s() - before > 0.02:
        before = server.cpu_s()
        await asyncio.sleep(1)
    return server.own_bytes()


@pytest.mark.soak
def test_twenty_visitors_see_only_their_own_and_the_server_does_not_grow(furnished):
    home, known = furnished
    with dashboard(home) as server:
        sizes, done = asyncio.run(many_visits(server, known))
        cpu_s = server.cpu_s()
    print(
        f"\nown memory after each 1,000: {[round(size / 1e6) for size in sizes]} MB; {done}; server CPU {cpu_s:.0f} s"
    )
    assert sum(done.values()) == SESSIONS * INTERACTIONS
    assert min(done.values()) > SESSIONS, "every kind of interaction came to pass"
    assert sizes[-1] <= MOST_GROWTH * sizes[0]
    assert "Traceback" not in server.log.read_text()
