"""Every page and tab on the 100,001-row sample: 95th percentile of what a visitor does once a page has been opened.

A real server, Streamlit's own messages over its web socket, one visitor: from the message to the end of the answer,
without the browser's drawing. Every tab is opened twice and the second counts; every control of the usual ones is set
to each of its values, most of which ask for something new.
"""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tests.benchmarks.dashboard_home import worked_home
from tests.benchmarks.measure import Measured, median
from tests.load.servers import Server, dashboard
from tests.load.visitor import MAIN, Tab, moved, opened, state
from tests.load.visits import CONTROLS, OTHER_KINDS

PAGES = (
    "",
    "data",
    "profiles",
    "classify",
    "sweep",
    "durations",
    "memory",
    "nodes",
    "phases",
    "runs",
    "report",
    "help",
)
KINDS = ("selectbox", "slider", "number_input", "checkbox", "text_input")
SLOWEST_SHOWN = 6


@dataclass(frozen=True)
class Taken:
    """What an interaction took: on the clock, of the server's CPU (by the hundredth), and what it was."""

    seconds: float
    cpu_s: float
    words: str


@dataclass
class Watch:
    """The server, and what every interaction with it took so far."""

    server: Server
    taken: list[Taken] = field(default_factory=list)

    async def timed(self, act: Awaitable[object], words: str) -> None:
        started, cpu_s = time.perf_counter(), self.server.cpu_s()
        await act
        ended = time.perf_counter()
        self.taken.append(Taken(ended - started, self.server.cpu_s() - cpu_s, words.strip() or "home"))


async def measured(server: Server, jobs: str) -> list[Taken]:
    """Return what every interaction took."""
    watch = Watch(server)
    async with opened(server.port, "bench", ds=jobs) as tab:
        for page in PAGES:
            query = {} if page in OTHER_KINDS else {"ds": jobs}
            await tab.visit(page, **query)
            await watch.timed(tab.visit(page, **query), page)
            names = [one.label for one in tab.of("tab")] if tab.of("tab_container") else [""]
            for name in names:
                if name:
                    box = tab.of("tab_container")[0]
                    await tab.change(state(box, name))
                    await watch.timed(tab.change(state(box, name)), f"{page} {name}")
                await controls(tab, f"{page} {name}", watch)
    return watch.taken


async def controls(tab: Tab, place: str, watch: Watch) -> None:
    keys = {key(one) for kind in KINDS for one in tab.of(kind, MAIN)}
    for name in sorted(keys & set(CONTROLS)):
        for value in CONTROLS[name]:
            found = [one for kind in KINDS for one in tab.of(kind, MAIN) if key(one) == name]
            if found and not found[0].disabled:
                slider = found[0].DESCRIPTOR.name == "Slider"
                wanted = moved(found[0], value) if slider else state(found[0], value)
                await watch.timed(tab.change(wanted), f"{place} {name}={value}")


def key(control) -> str:
    return control.id.rpartition("-")[2]


def reading_s(folder) -> float:
    """Return how long pandas takes to read the sample's file."""
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        pd.read_parquet(folder / "sample.parquet")
        taken.append(time.perf_counter() - started)
    return median(taken)


def run() -> Measured:
    home = worked_home()
    with dashboard(home.folder) as server:
        taken = asyncio.run(measured(server, home.jobs))
        own_mb = server.own_bytes() / 1e6
    p95, reference = quantile(taken, 0.95), reading_s(home.folder.parent)
    slowest = sorted(taken, key=lambda one: -one.cpu_s)[:SLOWEST_SHOWN]
    return Measured(
        ratio=reference / p95,
        ours_s=p95,
        reference_s=reference,
        ours_mb=own_mb,
        reference_mb=None,
        reference="pandas reads the sample's Parquet file; 0.3 s is the bar",
        note=f"{len(taken)} interactions, median {quantile(taken, 0.5):.3f} s; "
        f"of the server's CPU: median {cpu_quantile(taken, 0.5):.2f} s, p95 {cpu_quantile(taken, 0.95):.2f} s, most: "
        + ", ".join(f"{one.words} {one.cpu_s:.2f} s" for one in slowest),
    )


def quantile(taken: list[Taken], share: float) -> float:
    return float(np.quantile([one.seconds for one in taken], share))


def cpu_quantile(taken: list[Taken], share: float) -> float:
    return float(np.quantile([one.cpu_s for one in taken], share))
