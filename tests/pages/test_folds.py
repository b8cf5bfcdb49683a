"""Controls of a closed fold: they have their values, and are not sent before the fold is opened or one is set."""

import pytest

from pages._parts import controls

SIZE = "profiles_min_cluster_size"
FOLD = "profiles_settings"


@pytest.fixture(autouse=True)
def held_back(sent, monkeypatch):
    monkeypatch.setattr(controls, "HOLDS_BACK", True)


def shown(test):
    return [one.key for one in (*test.number_input, *test.selectbox) if one.key and one.key.startswith("profiles_")]


def test_controls_of_a_closed_fold_are_sent_once_it_was_opened(app, loaded):
    test = app("profiles", ds=loaded.hash)
    assert SIZE not in shown(test)
    test.session_state[FOLD] = True
    test.run()
    assert SIZE in shown(test)
    test.session_state[FOLD] = False
    test.run()
    assert SIZE in shown(test)


@pytest.mark.parametrize("link", [{SIZE: "300"}, {"profiles_scaler": "robust"}])
def test_controls_of_a_closed_fold_are_sent_where_a_link_sets_one(app, loaded, link):
    test = app("profiles", ds=loaded.hash, **link)
    assert SIZE in shown(test)
    assert str(test.session_state[next(iter(link))]) == next(iter(link.values()))
