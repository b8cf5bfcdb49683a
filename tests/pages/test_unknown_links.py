"""A link to a dataset that is not here says so on every page, and keeps what else it says."""

import itertools

from tests.pages.conftest import problems
from tests.same.test_every_view import PAGES


def warned(test):
    return " ".join(item.value for item in test.warning).replace("\\", "")


def test_every_page_says_that_there_is_no_such_dataset(app, loaded):
    """By a name and by a hash in turn."""
    for page, asked in zip(PAGES, itertools.cycle(("gone", "0123456789abcdef" * 2)), strict=False):
        test = app(page, ds=asked)
        assert problems(test) == [], page
        assert f"This link is about the dataset **{asked}**, which is not loaded here" in warned(test), page
        assert f"Loaded: {loaded.dataset}." in warned(test), page
        assert loaded.hash[:8] not in " ".join(item.value for item in test.markdown), page
        assert test.query_params["ds"] in (asked, [asked]), page


def test_an_empty_home_says_that_nothing_is_loaded(app, home):
    assert "This link is about the dataset **gone**, which is not loaded here. Nothing is loaded yet." in warned(
        app("memory", ds="gone")
    )


def test_the_rest_of_the_link_holds_for_the_dataset_that_is_chosen_then(app, loaded):
    test = app("durations", ds="gone", durations_percentile="90", durations_slo="60")
    test.sidebar.selectbox(key="shell_dataset").set_value(loaded.hash).run()
    assert problems(test) == []
    assert test.query_params["ds"] in (loaded.hash, [loaded.hash])
    assert test.number_input(key="durations_percentile").value == 90
    assert test.number_input(key="durations_slo").value == 60
