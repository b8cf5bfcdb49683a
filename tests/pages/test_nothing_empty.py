"""No page or tab opens with a lone button: each has a chart or a table of results, which starts by itself.

Its words are looked at, too: no banned one, no raw name, no long sentence.
"""

import time

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._frame import visit
from tests.pages import whole_home
from tests.pages.all_views import views
from tests.pages.conftest import APP, PATIENCE_S, problems
from tests.pages.test_shown_words import assert_plain

NO_RESULTS = {
    "help": "is text to read",
    "report": "is a form for what to download",
    "runs": "has a table of its own, which is not a data frame",
}
"""View -> why it has neither chart nor table."""
ROUNDS = 8
"""Of waiting for what a view started: profiles, then a training, then what rests on it."""


def opened():
    """Return the first view of every tab and page."""
    found = {}
    for view in views():
        found.setdefault(repr(view), view)
    return {name: view for name, view in found.items() if name not in NO_RESULTS}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    hashes = whole_home.make(folder, tmp_path_factory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.setenv("WORKPROF_DATA", str(folder / "data"))
        patch.setenv("WORKPROF_AHEAD", "3000")  # of a busy machine, whose waits are multiplied
        st.cache_resource.clear()
        yield hashes
        st.cache_resource.clear()


def results(test):
    return len(test.get("plotly_chart")) + len(test.dataframe)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", opened())
def test_each_view_opens_with_a_chart_or_a_table(whole, name):
    view = opened()[name]
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    dataset = view.parameters(whole)["ds"]
    parameters = {"ds": dataset} | ({f"{view.page}_tab": view.tab} if view.tab else {})
    for key, value in parameters.items():
        test.query_params[key] = value
    if view.page != "home":
        test.switch_page(f"pages/{view.page}.py")
    test.run()
    for _ in range(ROUNDS):
        if results(test):
            break
        workbench, end = visit.open_home().workbench, time.monotonic() + PATIENCE_S
        while any(job.active for job in workbench.jobs()) and time.monotonic() < end:
            time.sleep(0.2)
        test.run()
    assert problems(test) == []
    assert results(test), [button.label for button in test.button]
    assert_plain(test)
