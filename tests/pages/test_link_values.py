"""A value of a link that a control cannot hold is dropped with a word; every kind of control, every kind of value."""

import pytest
from streamlit.testing.v1 import AppTest

HOSTILE_NUMBERS = (
    "1e309",
    "nan",
    "inf",
    "-inf",
    "-0",
    "1e-400",
    "9" * 400,
    "١٢",
    "1_000",
    " 5",
    "12abc",
    "",
    ["1", "2"],
)


def page():
    import streamlit as st

    from pages._frame import link

    link.watch("a page")
    told = st.container()
    options = ("a", "b", "c")
    st.number_input("n", 0, 100, 7, key="whole", bind="query-params")
    st.number_input("n", 0.0, 100.0, 7.0, key="real", bind="query-params")
    st.number_input("n", 0.0, 100.0, None, key="maybe", bind="query-params")
    st.slider("n", 0, 100, 7, key="slider", bind="query-params")
    st.pagination(9, key="leaf", bind="query-params")
    st.toggle("t", key="switch", bind="query-params")
    st.expander("e", key="fold", on_change="rerun", bind="query-params")
    st.tabs(list(options), key="tab", on_change="rerun", bind="query-params")
    st.selectbox("s", options, key="word", bind="query-params")
    st.segmented_control("s", options, default="a", required=True, key="pill", bind="query-params")
    st.multiselect("m", options, default=["a"], max_selections=2, key="some", bind="query-params")
    st.text_input("x", max_chars=9, key="short", bind="query-params")
    st.text_input("x", key="text", bind="query-params")
    st.session_state["own_found"] = link.read("own", link.one_of("yes"), "no")
    with told:
        link.notice()


def opened(**parameters):
    test = AppTest.from_function(page, default_timeout=60)
    for name, value in parameters.items():
        test.query_params[name] = value
    test.run()
    assert [item.message for item in test.exception] == []
    return test


def told(test):
    return "\n".join(item.value for item in test.warning)


def refused(name, value):
    test = opened(**{name: value})
    return f"`{name}` in the link could not be read" in told(test) and test.session_state[name] == DEFAULTS[name]


DEFAULTS = {"whole": 7, "real": 7.0, "maybe": None, "slider": 7, "leaf": 1, "switch": False, "word": "a", "pill": "a"}
DEFAULTS |= {"some": ["a"], "short": "", "text": ""}


@pytest.mark.parametrize("name", ["whole", "real", "slider", "leaf"])
def test_no_number(name):
    beyond = (*HOSTILE_NUMBERS, "-1", "101", "1e18", "x" * 20_000)
    assert [value for value in beyond if not refused(name, value)] == []


def test_an_empty_field_is_a_number_that_is_not_given():
    assert [value for value in HOSTILE_NUMBERS if value and not refused("maybe", value)] == []
    assert told(opened(maybe="")) == ""


@pytest.mark.parametrize("name", ["whole", "slider", "leaf"])
def test_no_whole_number(name):
    assert refused(name, "2.5")
    assert "is not a whole number" in told(opened(**{name: "2.5"}))


@pytest.mark.parametrize("name", ["word", "pill"])
@pytest.mark.parametrize("value", ["d", "A", "", ["a", "b"], "x" * 20_000, "[x](http://evil)"])
def test_no_choice(name, value):
    assert refused(name, value)


@pytest.mark.parametrize("value", ["yes", "1", "", ["true", "false"], "TRUE "])
def test_no_switch(value):
    assert refused("switch", value)
    for name in ("fold", "tab"):
        assert f"`{name}` in the link could not be read" in told(opened(**{name: value}))


def test_of_several_choices_the_known_ones_are_kept():
    test = opened(some=["b", "d", "c"])
    assert test.session_state["some"] == ["b", "c"]
    assert "“d” is not one of the choices; the others are used" in told(test)
    assert refused("some", "d")
    assert "at most 2 can be" in told(opened(some=["a", "b", "c"]))
    assert "more than once" in told(opened(some=["b", "b"]))


def test_no_text():
    assert refused("short", "0123456789")
    assert refused("text", "x" * 20_000)
    assert refused("text", ["a", "b"])
    assert "it is given 2 times" in told(opened(text=["a", "b"]))


def test_a_parameter_of_the_page_itself():
    assert opened(own="yes").session_state["own_found"] == "yes"
    for value in ("no", "", ["yes", "yes"], "yes" * 10_000):
        test = opened(own=value)
        assert test.session_state["own_found"] == "no"
        assert "`own` in the link could not be read" in told(test)
        assert "own" not in test.query_params


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("whole", "12", 12),
        ("whole", "1e1", 10),
        ("real", "2.5e-1", 0.25),
        ("real", "0", 0.0),
        ("maybe", "3", 3.0),
        ("slider", "9", 9),
        ("leaf", "3", 3),
        ("switch", "TRUE", True),
        ("word", "b", "b"),
        ("pill", "c", "c"),
        ("some", ["b", "a"], ["b", "a"]),
        ("some", "", []),
        ("short", "012345678", "012345678"),
        ("text", "nan", "nan"),
    ],
)
def test_what_can_be_read_is_taken_without_a_word(name, text, value):
    test = opened(**{name: text})
    assert test.session_state[name] == value
    assert told(test) == ""


def test_the_default_by_its_own_words_is_no_mistake():
    assert told(opened(whole="7", real="7", slider="7", leaf="1", switch="false", word="a", pill="a", some="a")) == ""


def test_the_word_stays_until_the_setting_is_changed():
    test = opened(whole="1e309", real="x")
    test.toggle(key="switch").set_value(True).run()
    assert "`whole`" in told(test) and "`real`" in told(test)
    test.number_input(key="whole").set_value(3).run()
    assert "`whole`" not in told(test) and "`real`" in told(test)


def test_a_value_is_quoted_and_no_markup():
    assert told(opened(word="[x](http://evil) `y` \u202e")).count("\\[x\\]") == 1
