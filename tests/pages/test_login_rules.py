"""Who may come in; and a login that cannot work lets nobody in."""

import contextlib
import math

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import Secrets

from pages._login import login
from pages._login.login import LoginRules, login_rules
from tests.pages.conftest import problems
from workprof.core.errors import SettingsError

NOW = 1_800_000_000.0
VISITOR = {"email": "User@Example.org", "email_verified": True, "iat": NOW - 60}
RULES = LoginRules(True, ("user@example.org", "@trusted.example"))
WHOLE = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "0123456789abcdef0123456789abcdef",
    "client_id": "a",
    "client_secret": "b",
    "server_metadata_url": "http://localhost:1/.well-known/openid-configuration",
}


@pytest.mark.parametrize("allow", [(), ("user@example.org",), ("@example.org",), ("other@x.org", "@example.org")])
def test_who_is_named_comes_in(allow):
    assert LoginRules(True, allow).refusal(VISITOR, NOW) == ""
    unsaid = {name: value for name, value in VISITOR.items() if name != "email_verified"}
    assert LoginRules(True, allow).refusal(unsaid, NOW) == ""


@pytest.mark.parametrize(
    "email",
    [
        "user@example.org.evil.example",
        "user@sub.trusted.example",
        "stranger@nottrusted.example",
        "stranger@evil.example@trusted.example",
        "@trusted.example",
        "trusted.example",
        "user@example.org,stranger@evil.example",
        "stranger@evil.example\n@trusted.example",
        "",
        None,
        ["user@example.org"],
    ],
)
def test_what_looks_alike_does_not(email):
    assert RULES.refusal(VISITOR | {"email": email}, NOW)


@pytest.mark.parametrize("said", [False, "false", "False", 0, None, "no", ""])
def test_an_unverified_address_counts_for_nothing(said):
    assert "not verified" in RULES.refusal(VISITOR | {"email_verified": said}, NOW)
    without_list = LoginRules(True)  # the provider's word is enough
    assert without_list.refusal(VISITOR | {"email_verified": said}, NOW) == ""


@pytest.mark.parametrize("made", [NOW - 12 * 3600 - 1, None, "now", True, math.nan, -math.inf, math.inf])
def test_a_login_that_is_old_or_undated_is_over(made):
    for rules in (RULES, LoginRules(True)):
        assert "12 hours" in rules.refusal(VISITOR | {"iat": made}, NOW)
    assert RULES.refusal(VISITOR | {"iat": NOW - 12 * 3600 + 1}, NOW) == ""


def test_the_variables_are_read():
    said = {
        "WORKPROF_LOGIN": "yes",
        "WORKPROF_LOGIN_ALLOW": " User@Example.org,, @X.org ",
        "WORKPROF_LOGIN_HOURS": "1.5",
    }
    assert login_rules(said) == LoginRules(True, ("user@example.org", "@x.org"), 1.5)
    assert login_rules({}) == LoginRules(None)
    assert login_rules({"WORKPROF_LOGIN": "0"}).wanted is False


@pytest.mark.parametrize(
    "said",
    [
        {"WORKPROF_LOGIN": "ja"},
        {"WORKPROF_LOGIN_ALLOW": "example.org"},
        {"WORKPROF_LOGIN_ALLOW": "@"},
        {"WORKPROF_LOGIN_ALLOW": "user@example.org other@example.org"},
        {"WORKPROF_LOGIN_ALLOW": " , "},
        {"WORKPROF_LOGIN_HOURS": "0"},
        {"WORKPROF_LOGIN_HOURS": "nan"},
        {"WORKPROF_LOGIN_HOURS": "1e9"},
    ],
)
def test_a_variable_that_cannot_be_used_is_named(said):
    with pytest.raises(SettingsError, match=next(iter(said))):
        login_rules(said)


@pytest.mark.parametrize("page", ["home", "data", "help"])
def test_a_login_that_cannot_work_lets_nobody_in(app, loaded, monkeypatch, page):
    monkeypatch.setenv("WORKPROF_LOGIN", "1")
    test = app()
    assert [title.value for title in test.title] == ["Nobody can log in"]
    assert problems(test) and "section" in problems(test)[0]
    assert len(test.main) == 4 and len(test.sidebar) == 0  # the width of the window, a title, why, what to do
    if page != "home":
        test.switch_page(f"pages/{page}.py").run()
        assert [title.value for title in test.title] == ["Nobody can log in"]


@pytest.mark.parametrize("name", ["WORKPROF_LOGIN", "WORKPROF_LOGIN_ALLOW"])
def test_a_slip_of_the_pen_closes_too(app, loaded, monkeypatch, name):
    monkeypatch.setenv(name, "maybe")
    test = app()
    assert [title.value for title in test.title] == ["Nobody can log in"]
    assert name in problems(test)[0].replace("\\", "")


def test_without_a_login_the_pages_are_as_ever(app, loaded):
    test = app()
    assert problems(test) == []
    assert not [button for button in test.button if "Log" in button.label]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"cookie_secret": "short"}, "cookie_secret"),
        ({"redirect_uri": "http://localhost:8501/"}, "oauth2callback"),
        ({"redirect_uri": "ftp://x/oauth2callback"}, "oauth2callback"),
        ({"redirect_uri": None}, "oauth2callback"),
        ({"client_id": None, "client_secret": None, "server_metadata_url": None}, "names no provider"),
        ({"client_secret": None}, "lacks client_secret"),
        ({"my_house": {"client_id": "a", "client_secret": "b", "server_metadata_url": "c"}}, "underscore"),
        ({"house": {"client_id": "a"}}, "lacks client_secret, server_metadata_url"),
    ],
)
def test_secrets_that_cannot_work_are_told(monkeypatch, tmp_path, change, words):
    auth = {name: value for name, value in {**WHOLE, **change}.items() if value is not None}
    with secrets(monkeypatch, tmp_path, toml(auth)):
        if words:
            with pytest.raises(SettingsError, match=words):
                login.login_setup()
        else:
            found = login.login_setup()
            assert found.providers == ("default",)
            assert found.origin == "http://localhost:8501"


@pytest.mark.parametrize(("switch", "asked"), [(None, True), ("1", True), ("0", False)])
def test_an_auth_section_turns_the_login_on(monkeypatch, tmp_path, switch, asked):
    if switch is not None:
        monkeypatch.setenv("WORKPROF_LOGIN", switch)
    with secrets(monkeypatch, tmp_path, toml(WHOLE)):
        assert (login.login_setup() is not None) == asked


def test_secrets_about_other_things_do_not(monkeypatch, tmp_path):
    with secrets(monkeypatch, tmp_path, "colour = 'red'\n"):
        assert login.login_setup() is None


def test_secrets_that_cannot_be_read_close(monkeypatch, tmp_path):
    with secrets(monkeypatch, tmp_path, "[auth\n"), pytest.raises(SettingsError, match="cannot be read"):
        login.login_setup()


@pytest.mark.parametrize(
    "cookie", ["", "2|00|00|0", "1|2", "2|zz|zz|1", "x" * 10_000, "2|00000000|" + "00" * 8 + "|1", "2|||"]
)
def test_a_cookie_of_another_form_names_no_browser(cookie):
    assert login.browser_of(cookie) == ""


def test_the_mask_of_the_cookie_does_not_matter():
    token, other = bytes(range(16)), bytes(range(1, 17))
    names = {login.browser_of(masked(token, mask)) for mask in (b"\0\0\0\0", b"abcd", b"\xff\1\2\3")}
    assert len(names) == 1
    assert login.browser_of(masked(other, b"abcd")) not in names


@contextlib.contextmanager
def secrets(monkeypatch, folder, text):
    """Let Streamlit read these secrets, and forget them afterwards."""
    path = folder / "secrets.toml"
    path.write_text(text)
    before = st.get_option("secrets.files")
    monkeypatch.delenv("WORKPROF_LOGIN_ALLOW", raising=False)
    config.set_option("secrets.files", [str(path)])
    fresh = Secrets()
    monkeypatch.setattr(st, "secrets", fresh)
    try:
        yield
    finally:
        config.set_option("secrets.files", before)


def masked(token, mask):
    return f"2|{mask.hex()}|{bytes(byte ^ mask[i % 4] for i, byte in enumerate(token)).hex()}|1700000000"


def toml(auth):
    plain = [f"{name} = {value!r}\n" for name, value in auth.items() if isinstance(value, str)]
    sections = [
        f"[auth.{name}]\n" + "".join(f"{key} = {text!r}\n" for key, text in value.items())
        for name, value in auth.items()
        if isinstance(value, dict)
    ]
    return "[auth]\n" + "".join(plain) + "".join(sections)
