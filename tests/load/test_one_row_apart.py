"""Two datasets of 60,000 rows that differ in one row: no result of one is ever shown for the other."""

import asyncio

import pandas as pd
import pytest

from tests.load.servers import dashboard
from tests.load.visitor import MAIN, opened
from workprof import Workbench
from workprof.core.settings import Settings
from workprof.memory.verdict import VerdictSettings
from workprof.synthetic.pai import write_pai_sample

ROWS = 60_000
ROW = 41_234
"""The row that differs; any would do that finished."""
ROUNDS = 3
LINKS = (
    ("data", {"data_tab": "Columns"}),
    ("memory", {"memory_tab": "Tasks"}),
    ("memory", {"memory_tab": "Plan"}),
)


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """A home with both, and their hashes: as made, and with one job's peak memory doubled."""
    folder = tmp_path_factory.mktemp("twins")
    write_pai_sample(folder / "one.parquet", ROWS, 3)
    jobs = pd.read_parquet(folder / "one.parquet")
    finished = jobs.index[
        (jobs["status"] == "Terminated") & jobs[["max_mem", "plan_mem", "end_time"]].notna().all(axis=1)
    ]
    jobs.loc[finished[finished >= ROW][0], "max_mem"] = 2 * jobs["max_mem"].max()
    jobs.to_parquet(folder / "other.parquet")
    with Workbench(Settings(home=folder / "home", data=folder)) as workbench:
        return folder / "home", [workbench.ingest([folder / f"{name}.parquet"]).hash for name in ("one", "other")]


@pytest.fixture
def workbench(twins):
    home, _ = twins
    with Workbench(Settings(home=home, data=home.parent)) as opened_home:
        yield opened_home


@pytest.mark.soak
@pytest.mark.slow
def test_their_hashes_and_so_all_their_keys_differ(twins):
    one, other = twins[1]
    assert one != other


@pytest.mark.soak
@pytest.mark.slow
def test_every_result_is_of_its_own_rows(twins, workbench):
    """Asked in turns, computed and then kept, each answer is that of its own dataset."""
    one, other = twins[1]
    for _ in range(2):
        highest = [maximum(workbench, dataset) for dataset in (one, other)]
        assert highest[1] == pytest.approx(2 * highest[0])
        used = [workbench.assessment(dataset).memory.used for dataset in (one, other)]
        assert used[1] > used[0]
        plans = [workbench.verdict(dataset, VerdictSettings()) for dataset in (one, other)]
        assert plans[0] is not plans[1]
    keys = {about.key.split(":")[0] for about in workbench.runs()}
    assert keys == {one, other}


def maximum(workbench, dataset):
    found = [one for one in workbench.column_profiles(dataset) if one.column.name == "peak_memory_bytes"]
    return found[0].maximum


@pytest.mark.soak
def test_two_sessions_side_by_side_never_see_the_others_numbers(twins):
    home, hashes = twins
    with dashboard(home) as server:
        alone = asyncio.run(shown_to_all(server.port, hashes[:1])) | asyncio.run(shown_to_all(server.port, hashes[1:]))
        together = asyncio.run(shown_to_all(server.port, hashes))
    assert together == alone
    for link in range(len(LINKS)):
        figures = [together[dataset, link][1:] for dataset in hashes]
        assert figures[0] != figures[1]


async def shown_to_all(port, hashes):
    """Return what each link shows for each dataset; the sessions go through them at the same time, some times over."""
    found = {}
    async with asyncio.TaskGroup() as group:
        for dataset in hashes:
            group.create_task(through(port, dataset, found))
    return found


async def through(port, dataset, found):
    for _ in range(ROUNDS):
        for number, (page, parameters) in enumerate(LINKS):
            async with opened(port, dataset, page, ds=dataset, **parameters) as tab:
                assert not tab.of("exception")
                assert f"· {dataset[:8]}" in tab.words()
                shown = tab.words().replace(dataset[:8], ""), *tables(tab)
                assert found.setdefault((dataset, number), shown) == shown


def tables(tab):
    specs = [one.spec for one in tab.of("plotly_chart", MAIN)]
    return specs + [one.arrow_data.data for one in tab.of("dataframe", MAIN)]
