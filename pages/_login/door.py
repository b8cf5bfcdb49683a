"""The gate: nothing of a page runs for a visitor who has to log in first."""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages._login import way_back
from pages._login.setup import LoginSetup, login_setup
from workprof.charts.text import markdown_text
from workprof.errors import SettingsError

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def gate(page: StreamlitPage | None = None) -> None:
    """Return where the visitor may see the page; otherwise show the login and end this run.

    Args:
        page: that was asked for; None where that is not known.
    """
    try:
        setup = login_setup()
    except SettingsError as error:
        _closed(str(error))
    if setup is None:
        return
    claims = _claims()
    refused = setup.rules.refusal(claims, time.time()) if claims else ""
    if not claims or refused:
        _ask(setup, claims, refused, page)


def go_on(pages: dict[str, list[StreamlitPage]], page: StreamlitPage) -> None:
    """Go where the visitor wanted to go before the login, when this run is the first one after it."""
    if st.session_state.get("login_arrived") or not _logged_in():
        return
    st.session_state["login_arrived"] = True
    wanted = way_back.take()
    if wanted is None or page.url_path or st.query_params:
        return
    for member in (member for members in pages.values() for member in members):
        if member.url_path == wanted.name:
            st.switch_page(member, query_params=list(wanted.parameters))


def account() -> None:
    """Show in the sidebar who is logged in and how to leave, or that the house has no lock where it needs one."""
    if login_setup() is not None:
        with st.sidebar.container():
            st.caption(f"Logged in as {markdown_text(_name(_claims()), 60)}")
            st.button("Log out", key="login_out", icon=":material/logout:", type="tertiary", on_click=st.logout)
    elif st.get_option("server.address") not in LOOPBACK:
        st.sidebar.caption(
            ":material/lock_open: No login: whoever reaches this address can see and change everything here."
        )


def _closed(message: str) -> None:
    st.title("Nobody can log in")
    st.error(markdown_text(message, 1200), icon=":material/lock:")
    st.write("Until the operator of this server has put that right, nothing is shown.")
    st.stop()


def _ask(setup: LoginSetup, claims: Mapping[str, object], refused: str, page: StreamlitPage | None) -> None:
    st.title("workprof")
    if refused:
        st.error(f"{markdown_text(_name(claims), 80)}: {refused}", icon=":material/block:")
        st.button("Log out", key="login_out", icon=":material/logout:", on_click=st.logout)
    else:
        st.write("This server asks for a login.")
    if not refused or setup.rules.expired(claims, time.time()):
        for provider in setup.providers:
            words = "Log in" if len(setup.providers) == 1 else f"Log in with {provider}"
            if st.button(words, key=f"login_{provider}", type="primary", icon=":material/login:"):
                way_back.keep(page.url_path if page else "")
                st.login(provider)
    address = st.context.url or ""
    if address and not address.startswith((f"{setup.origin}/", f"{setup.origin}?")) and address != setup.origin:
        st.caption(f"The login works at {markdown_text(setup.origin, 200)} only; open this server there.")
    st.stop()


def _logged_in() -> bool:
    return bool(_claims())


def _claims() -> Mapping[str, object]:
    """Return what the provider says about the visitor; empty where nobody is logged in."""
    claims: Mapping[str, object] = st.user.to_dict()
    return claims if claims.get("is_logged_in") is True else {}


def _name(claims: Mapping[str, object]) -> str:
    return str(claims.get("name") or claims.get("email") or claims.get("sub") or "somebody")
