"""Where people have pseudonyms no page sends a viewer a name: no text, table, chart, file or error."""

import shutil

import pytest

from tests.pages.conftest import problems
from tests.pages.test_readonly_pages import PAGES
from tests.store.test_pseudonyms import NAMES, VIEWER, filled, found  # noqa: F401  a fixture
from workprof.core.roles import Role
from workprof.core.settings import from_environment
from workprof.store.pseudonyms import Pseudonyms
from workprof.workbench import Workbench


@pytest.fixture(scope="module")
def answered(tmp_path_factory, filled):  # noqa: F811
    folder = tmp_path_factory.mktemp("nameless") / "home"
    shutil.copytree(filled, folder)
    with Workbench(from_environment({"WORKPROF_HOME": str(folder), **VIEWER})) as bench:
        assert bench.settings.role is Role.VIEWER
        bench.verdict("runs")
        bench.profiles("runs")
    return folder


@pytest.fixture
def nameless(app, home, answered, monkeypatch):
    shutil.copytree(answered, home)
    for name, value in (VIEWER | {"WORKPROF_AHEAD": "60"}).items():
        monkeypatch.setenv(name, value)
    return app


def sent(test):
    """Return everything that a page sent to the browser, as text."""

    def below(node):
        yield str(getattr(node, "proto", ""))
        for child in getattr(node, "children", {}).values():
            yield from below(child)

    return "\n".join(below(test._tree))


VIEWS = [
    *((page, {}) for page in PAGES),
    ("data", {"data_tab": "Columns"}),
    ("data", {"data_tab": "Preview"}),
    ("memory", {"memory_tab": "Ledger"}),
    ("memory", {"memory_tab": "Decisions"}),
    ("profiles", {"profiles_tab": "Profiles"}),
    ("home", {"home_tab": "Over time"}),
]


@pytest.mark.some(3)
@pytest.mark.parametrize(("page", "parameters"), VIEWS)
def test_no_page_sends_a_name(nameless, page, parameters):
    told = sent(nameless(page, ds="runs", **parameters))
    assert len(told) > 1_000
    assert found(told) == []


def test_the_preview_shows_pseudonyms_and_a_scope_takes_one(nameless, home):
    one = Pseudonyms(home, ("user",)).of("user", NAMES[0])
    test = nameless("data", ds=f"runs?user={one}", data_tab="Preview")
    assert problems(test) == []
    assert one in sent(test)


def test_a_link_with_a_name_finds_nobody_and_names_nobody(nameless):
    told = sent(nameless("data", ds=f"runs?user={NAMES[0]}"))
    assert set(found(told)) <= {NAMES[0]}  # what was asked
    assert "there are user-" in told.replace("\\", "")
