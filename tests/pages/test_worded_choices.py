"""Lists that show other words than the address has: link, change, default, Reset, and a word that is not known."""

import pytest
from streamlit.testing.v1 import AppTest

from pages._parts import tabs
from tests.pages import addresses


def page():
    import streamlit as st

    from pages._frame import header, link
    from pages._parts import controls

    link.watch("page")
    shown = {"eom": "Excess of mass", "leaf": "Leaves"}
    st.button("Reset", on_click=header._back, args=("page",))
    st.button("Set", on_click=lambda: st.session_state.update(page_rule="leaf"))
    later = st.toggle("later", key="later")
    if not st.toggle("away", key="away"):
        rule = controls.choice("Rule", "page_rule", ("eom", "leaf", "raw"), shown=shown, index=2 if later else 0)
        row = controls.choice("Row", "page_row", ("eom", "leaf"), shown=shown, row=True, index=1)
        many = controls.worded_many("Many", ("eom", "leaf", "raw"), ("eom",), shown, key="page_many")
        st.text(f"{rule} {row} {many}")
    link.notice()


@pytest.fixture
def opened():
    def run(**parameters):
        test = AppTest.from_function(page)
        for name, value in parameters.items():
            test.query_params[name] = value
        return checked(test.run())

    return run


def checked(test):
    assert not test.exception
    return test


def told(test):
    return test.text[0].value


def test_a_default_leaves_the_address_clean_and_shows_words(opened):
    test = opened()
    assert told(test) == "eom leaf ['eom']"
    assert dict(test.query_params) == {}
    assert test.selectbox[0].options == ["Excess of mass", "Leaves", "raw"]
    assert test.button_group[0].options == ["Excess of mass", "Leaves"]


def test_a_link_has_the_raw_words(opened):
    test = opened(page_rule="leaf", page_row="eom", page_many=["leaf", "raw"])
    assert told(test) == "leaf eom ['leaf', 'raw']"
    assert not test.warning
    assert told(opened(page_many="")) == "eom leaf []"


def test_a_change_writes_the_raw_word_and_back_to_the_default_clears_it(opened):
    test = opened()
    test.selectbox[0].set_value("leaf").run()
    test.button_group[0].set_value("eom").run()
    test.multiselect[0].set_value(["raw"]).run()
    assert told(checked(test)) == "leaf eom ['raw']"
    assert dict(test.query_params) == {"page_rule": "leaf", "page_row": "eom", "page_many": "raw"}
    test.multiselect[0].set_value([]).run()
    assert test.query_params["page_many"] == ""
    test.selectbox[0].set_value("eom").run()
    assert told(test) == "eom eom []"
    assert "page_rule" not in test.query_params


def test_the_address_and_the_page_lead_too(opened):
    test = opened(page_rule="leaf")
    del test.query_params["page_rule"]  # as the browser's Back does
    assert told(test.run()) == "eom leaf ['eom']"
    next(button for button in test.button if button.label == "Set").click().run()
    assert told(checked(test)) == "leaf leaf ['eom']"
    assert test.query_params["page_rule"] == "leaf"


def test_reset_sets_everything_back(opened):
    test = opened(page_rule="leaf", page_row="eom", page_many=["leaf", "raw"])
    next(button for button in test.button if button.label == "Reset").click().run()
    assert told(checked(test)) == "eom leaf ['eom']"
    assert dict(test.query_params) == {}


def test_a_choice_outlives_a_while_in_which_it_is_not_shown(opened):
    test = opened()
    test.selectbox[0].set_value("leaf").run()
    test.toggle(key="away").set_value(True).run()
    del test.query_params["page_rule"]  # another page has another address
    test.run()
    test.toggle(key="away").set_value(False).run()
    assert told(checked(test)) == "leaf leaf ['eom']"
    assert test.query_params["page_rule"] == "leaf"


def test_what_nobody_chose_follows_another_default_and_a_choice_stays(opened):
    for chosen, then in ((None, "raw"), ("leaf", "leaf")):
        test = opened()
        if chosen:
            test.selectbox[0].set_value(chosen).run()
        test.toggle(key="away").set_value(True).run()
        test.toggle(key="later").set_value(True)
        test.toggle(key="away").set_value(False).run()
        assert told(checked(test)) == f"{then} leaf ['eom']"
        assert ("page_rule" in test.query_params) == (chosen is not None)


def test_an_unknown_word_is_named(opened):
    test = opened(page_rule="Excess of mass", page_many=["leaf", "x"])
    assert told(test) == "eom leaf ['leaf']"
    notice = test.warning[0].value
    assert "`page_rule` in the link could not be read" in notice
    assert "Excess of mass" in notice
    assert "`page_many`" in notice
    assert "page_rule" not in test.query_params


def test_tests_of_addresses_know_these_controls(opened):
    test = opened()
    assert {"page_rule", "page_row", "page_many"} <= set(addresses.values(test))
    assert {"page_rule", "page_row", "page_many"} <= set(addresses.change(test))
    test.run()
    assert addresses.address(test) == {"page_rule": "leaf", "page_row": "eom", "page_many": "leaf"}


def former():
    import streamlit as st

    from pages._parts import tabs

    tabs.FORMER["page_tab"] = {"Old": "Second"}
    tabs.show_open("page_tab", {"First": lambda: st.text("first"), "Second": lambda: st.text("second")})


def test_a_former_name_of_a_tab_opens_it():
    test = AppTest.from_function(former)
    test.query_params["page_tab"] = "Old"
    checked(test.run())
    assert test.text[0].value == "second"
    assert test.query_params["page_tab"] == "Second"
    assert tabs.renamed("page_tab", "First") == "First"
    tabs.FORMER.pop("page_tab", None)
