"""Every control of the Profiles page is in the address: a copied link opens the same numbers on a cold server."""

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from tests.pages.conftest import problems, words
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings

LASSO = "l-50_-50_50_-50_50_50_-50_50"
"""A square around the whole map."""


def selected(test):
    found = [item.value for item in test.markdown if item.value.endswith("runs selected**")]
    return int(found[0].strip("*").split()[0].replace(",", ""))


@pytest.fixture
def map_of(app, loaded):
    def opened(**parameters):
        test = app("profiles", profiles_tab="Map", **parameters)
        assert test.exception.len == 0
        return test

    return opened


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("tab", "name", "value"),
    [
        ("Box plots", "profiles_box_feature", "peak_memory_bytes"),
        ("Metadata", "profiles_map_field", "user"),
    ],
)
def test_the_lists_of_the_charts_are_in_the_link(app, loaded, tab, name, value):
    test = app("profiles", profiles_tab=tab, **{name: value})
    assert problems(test) == []
    assert test.selectbox(key=name).value == value
    assert test.query_params[name] in (value, [value])


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("tab", "name", "value"), [("Box plots", "profiles_box_order", "size"), ("Metadata", "profiles_map_by", "value")]
)
def test_the_orders_of_the_charts_are_in_the_link(app, loaded, tab, name, value):
    test = app("profiles", profiles_tab=tab, **{name: value})
    assert problems(test) == []
    assert test.segmented_control(key=name).value == value


def test_the_form_writes_the_words_of_the_settings(app, loaded, house):
    asked = {"scaler": "robust", "metric": "manhattan", "method": "leaf", "mode": "faithful", "set": "all17"}
    test = app("profiles", **{f"profiles_{name}": value for name, value in asked.items()})
    assert {name: test.selectbox(key=f"profiles_{name}").value for name in asked} == asked


def test_own_features_are_in_the_link(app, loaded):
    own = ["cpu_usage_percent", "peak_memory_bytes", "duration_s"]
    test = app("profiles", profiles_set="own", profiles_features=own)
    assert test.multiselect(key="profiles_features").value == own
    assert "3 features" in words(test)


def test_a_lasso_in_the_link_lists_the_jobs(map_of, loaded):
    test = map_of(profiles_selected=LASSO)
    assert problems(test) == []
    assert selected(test) == loaded.rows


def test_single_rows_in_the_link(map_of):
    test = map_of(profiles_selected="r0_1_2")
    assert problems(test) == []
    assert selected(test) == 3


def test_profiles_in_the_link_and_the_last_choice_wins(map_of, house, loaded):
    sizes = {card.profile: card.size for card in house().workbench.profiles(loaded.hash, ProfileSettings()).cards}
    test = map_of(profiles_selected="p0_1")
    assert test.multiselect(key="profiles_picked").value == [0, 1]
    assert selected(test) == sizes[0] + sizes[1]
    test.multiselect(key="profiles_picked").set_value([-1]).run()
    assert problems(test) == []
    assert selected(test) == sizes[-1]
    assert test.query_params["profiles_selected"] in ("p-1", ["p-1"])
    next(button for button in test.button if button.label == "Clear the selection").click().run()
    assert "profiles_selected" not in test.query_params
    assert "Nothing is selected." in words(test)


@pytest.mark.some(1)
@pytest.mark.parametrize("text", ["x", "l1_2", "l1_2_3_4_nan_inf", "b1_2_3", "r1.5", "p1e400", "~", "l" + "1_" * 5000])
def test_a_broken_selection_is_told_and_selects_nothing(map_of, text):
    test = map_of(profiles_selected=text)
    assert problems(test) == []
    assert "`profiles_selected` in the link could not be read" in words(test)
    assert "Nothing is selected." in words(test)


def test_a_selection_that_is_too_long_is_kept_but_not_in_the_link(map_of):
    text = "r" + "_".join(str(row) for row in range(1_000))
    test = map_of(profiles_selected=text)
    assert problems(test) == []
    assert selected(test) == 1_000
    assert "1,000 runs is too detailed for a link" in words(test)
    assert "profiles_selected" not in test.query_params


def test_a_selection_of_another_map_is_forgotten(map_of, loaded, house):
    house().workbench.profiles(loaded.hash, ProfileSettings(scaler="standard"))
    test = map_of(profiles_selected=LASSO)
    assert selected(test) == loaded.rows
    test.selectbox(key="profiles_scaler").set_value("standard")
    next(button for button in test.button if button.label == "Find profiles with these settings").click().run()
    assert problems(test) == []
    assert selected(test) == 0
    assert "profiles_selected" not in test.query_params


def test_a_recut_keeps_the_selection_as_the_map_stays(map_of, loaded, house):
    test = map_of(profiles_selected=LASSO)
    house().workbench.profiles(loaded.hash, ProfileSettings(min_cluster_size=80, min_samples=45))
    test.number_input(key="profiles_min_cluster_size").set_value(80)
    test.number_input(key="profiles_min_samples").set_value(45)
    next(button for button in test.button if button.label == "Find profiles with these settings").click().run()
    assert problems(test) == []
    assert selected(test) == loaded.rows


def test_the_estimate_rests_on_earlier_fits_of_this_home(app, loaded, house):
    took = [about.seconds for about in house().workbench.runs() if about.step == FIT.name]
    test = app("profiles", profiles_min_samples="36")
    assert len(took) == 1
    assert "15,000 runs × 10 features." in words(test)
    assert "from 1 earlier fit here" in words(test)
    assert "(a guess)" in words(app("profiles", profiles_algorithm="optics"))


def test_the_browser_knows_its_page_before_it_tells_the_width_of_its_window(app, monkeypatch):
    """A phone's browser answers the component at once; before it knows its page that answer would open Home."""
    sent = []
    of_runner = LocalScriptRunner.forward_msgs
    monkeypatch.setattr(LocalScriptRunner, "forward_msgs", lambda runner: sent.append(of_runner(runner)) or sent[-1])
    app("data")
    kinds = [one.WhichOneof("type") for one in sent[-1]]
    asks = [one.delta.new_element.bidi_component.component_name for one in sent[-1]]
    assert kinds.index("navigation") < asks.index("workprof_window")
