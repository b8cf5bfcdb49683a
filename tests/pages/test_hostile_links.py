"""A link may say anything: a page opens with what it understands of it and refuses the rest in words."""

import shutil

import pytest

from tests.hostile_texts import MARK
from tests.pages import hostile_home
from tests.pages.addresses import everything, parameter, values
from tests.pages.all_views import View
from tests.pages.conftest import problems

pytestmark = pytest.mark.slow

VALUES = (
    "1e309",
    ["1", "1"],
    "-0",
    "x" * 20_000,
    "1e-400",
    "٣",
    "[" * 1_500,
    "nan",
    "-1",
    f'{{"features": 3, "{MARK}": [1]}}',
    "1e400",
    "99999999999999999999",
    f"<b>{MARK}",
    "p1~l0_0_1_1_2_nan",
    "",
)
OWN = (
    "classify_profiles", "classify_job", "profiles_selected", "profiles_jobs_page", "runs_run", "durations_clustering",
    "memory_task", "memory_limits", "memory_edges", "memory_currency", "phases_run", "phases_source", "phases_from",
    "phases_to", "nodes_jobs", "nodes_profile", "nodes_prices", "nodes_compared", "demo",
)  # fmt: skip
"""Parameters that pages read besides those of their controls."""

ANY_NUMBER = ("nodes_since", "nodes_until")
"""Every number is a moment, and most leave no run."""
OF_RUNS = {"profiles_must", "profiles_must_not"}
"""Any text may name runs; one that names none is told instead of the profiles, which then cannot be found."""

VIEWS = (
    *(View("profiles", tab) for tab in ("Profile", "Map", "Box plots")),
    *(View("classify", tab) for tab in ("One job", "Model")),
    *(View("memory", tab) for tab in ("Explore", "Bins", "Plan")),
    View("memory", "Explore", {"memory_explore": "Ledger"}),
    View("nodes", "Ranking"),
    View("nodes", "Ranking", {"nodes_profile": "0"}),
    *(View("phases", tab) for tab in ("Timeline", "Match")),
    View("durations", "Observed"),
    View("sweep", "Runs"),
    *(View(page) for page in ("runs", "data", "home")),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_home.make(tmp_path_factory, with_forecaster=False)


@pytest.fixture
def hashes(home, hostile):
    shutil.copytree(hostile[0], home)
    return hostile[1]


@pytest.mark.some(1)
@pytest.mark.parametrize("view", VIEWS, ids=repr)
def test_a_page_opens_whatever_its_link_says_and_tells_what_it_dropped(app, hashes, view):
    given = view.parameters(hashes)
    plain = app(view.page, **given)
    usual = values(plain)
    names = sorted({*OWN, *filter(None, map(parameter, everything(plain)))} - {*given, *ANY_NUMBER, *OF_RUNS})
    for turn in range(3):
        asked = {name: VALUES[(place + turn * 5) % len(VALUES)] for place, name in enumerate(names)}
        test = app(view.page, **given, **asked)
        assert problems(test) == problems(plain)
        assert len(test.title) == 1
        told = "\n".join(item.value for item in test.warning)
        bound = {*map(parameter, everything(test)), "demo"} & asked.keys()
        kept = {
            name for name, value in values(test).items() if value != usual.get(name, value) or value == asked.get(name)
        }
        empty = {name for name in bound if not asked[name] and not usual.get(name, True)}
        assert {name for name in bound - kept - empty if f"`{name}` in the link could not be read" not in told} == set()


@pytest.mark.some(2)
@pytest.mark.parametrize("value", VALUES)
def test_a_dataset_that_there_is_not(app, hashes, value):
    test = app("profiles", ds=value)
    assert [item.message for item in test.exception] == []
