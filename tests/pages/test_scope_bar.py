"""The bar under the title narrows every page to the same runs, in the address."""

import pytest

from pages._frame.header import MENU
from tests.pages.conftest import problems
from workprof.answers.comparison import comparison_answer
from workprof.core.scope import split
from workprof.core.settings import from_environment
from workprof.workbench import Workbench

USER = "08e43745b0f1"
PAGES = ["home", *(one.name for members in MENU.values() for one in members if one.name != "help")]


def captions(test):
    return " ".join(str(one.value) for one in test.caption).replace("\\", "")


def address(test):
    (value,) = test.query_params["ds"] if isinstance(test.query_params["ds"], list) else (test.query_params["ds"],)
    return value


def test_the_bar_says_what_is_shown_and_leads_back_to_all_runs(app, loaded):
    test = app("data", ds=f"{loaded.dataset}?user={USER}&period=30..40")
    assert problems(test) == []
    with Workbench(from_environment()) as workbench:
        entry = workbench.dataset(f"{loaded.hash}?user={USER}&period=30..40")
    assert address(test) == entry.hash
    assert f"user {USER}, days 30 to 40: {entry.rows:,} of 15,000 runs" in captions(test)
    test.button(key="scope_all").click().run()
    assert address(test) == loaded.hash
    assert "of 15,000 runs" not in captions(test)


@pytest.mark.some(4)
@pytest.mark.parametrize(
    "page", ["home", *(one.name for members in MENU.values() for one in members if one.name != "help")]
)
def test_every_page_opens_with_a_scope(app, loaded, page):
    test = app(page, ds=f"{loaded.hash}?user={USER}&period=30..31")
    assert problems(test) == []
    if page in ("nodes", "phases"):
        return
    assert split(address(test)) == (loaded.hash, f"user={USER}&period=30..31")
    assert f"user {USER}, days 30 to 31" in captions(test)


def test_a_scope_of_a_link_that_cannot_be_is_told_and_all_runs_are_shown(app, loaded):
    test = app("data", ds=f"{loaded.hash}?user=nobody")
    assert address(test) == loaded.hash
    assert "no run of" in " ".join(str(one.value) for one in test.warning)
    assert "of 15,000 runs" not in captions(test)


@pytest.mark.soak
def test_home_compares_with_the_period_before(app, loaded):
    test = app("home", ds=f"{loaded.hash}?period=50..60", home_compare="true")
    assert problems(test) == []
    assert test.selectbox(key="home_compare_with").value == "the period before"
    with Workbench(from_environment()) as workbench:
        pair = (f"{loaded.hash}?period=40..50", f"{loaded.hash}?period=50..60")
        answer = comparison_answer(workbench.compare(*pair, "profile"))  # the sample has its profiles
    assert answer.sentence in " ".join(str(one.value) for one in test.markdown).replace("\\", "")


def test_a_scope_is_saved_under_a_name_and_chosen_again(app, loaded):
    test = app("data", ds=f"{loaded.hash}?user={USER}")
    test.button(key="scope_narrow").click().run()
    test.text_input(key="scope_name").set_value("the first user")
    test.button(key="scope_save").click().run()
    assert problems(test) == []
    with Workbench(from_environment()) as workbench:
        assert workbench.scopes() == {"the first user": f"user={USER}"}
    test = app("data", ds=loaded.hash)
    test.session_state["scope_saved"] = "the first user"
    test.button(key="scope_narrow").click().run()
    test.button(key="scope_saved_show").click().run()
    assert problems(test) == []
    assert split(address(test)) == (loaded.hash, f"user={USER}")
