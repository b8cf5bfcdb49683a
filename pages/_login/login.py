"""The login: who may come in, how providers are set up, and the way back to the page that was requested."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import threading
import time
import urllib.parse
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages._login.gate import LOGOUT, PERSON, passed
from workprof.core.errors import SettingsError
from workprof.core.roles import Role
from workprof.core.settings import from_environment, switch
from workprof.core.words import markdown_text
from workprof.store.doors import DEFAULT_HOURS, login_hours, proxy_of
from workprof.store.users import Users

ALLOW = "WORKPROF_LOGIN_ALLOW"


@dataclass(frozen=True)
class LoginRules:
    """What the operator set up."""

    # whether a login is asked of every visitor; None = where Streamlit's secrets have an [auth] section
    wanted: bool | None = None
    # e-mail addresses and @domains in lower case; empty = everybody whom the provider lets in
    allow: tuple[str, ...] = ()
    hours: float = DEFAULT_HOURS  # after which one has to log in again

    def refusal(self, claims: Mapping[str, object], now_s: float) -> str:
        """Return why this person may not come in; '' = may.

        The claims are of the provider's identity token, as Streamlit hands them on after it has checked the signature.
        """
        if self.expired(claims, now_s):
            return f"This login is older than {self.hours:g} hours. Log in again."
        if not self.allow:
            return ""
        address = str(claims.get("email") or "").strip().lower()
        if not address:
            return f"The provider tells no e-mail address of this account, and {ALLOW} names who may come in."
        if str(claims.get("email_verified", True)).lower() != "true":
            return "The provider has not verified this account's e-mail address."
        name, _, domain = address.partition("@")
        if name and domain and "@" not in domain and (address in self.allow or f"@{domain}" in self.allow):
            return ""
        return "This account is not on the list of those who may come in."

    def expired(self, claims: Mapping[str, object], now_s: float) -> bool:
        """Return whether the login is too old, or does not say when it was made.

        The claim is `iat`, the second at which the provider made the token (OpenID Connect Core 1.0, section 2).
        """
        made = claims.get("iat")
        if isinstance(made, bool) or not isinstance(made, int | float) or not math.isfinite(made):
            return True
        return now_s - made > self.hours * 3600.0


def login_rules(environment: Mapping[str, str]) -> LoginRules:
    """Return what WORKPROF_LOGIN, WORKPROF_LOGIN_ALLOW and WORKPROF_LOGIN_HOURS ask for.

    Raises:
        SettingsError: when one has a value that cannot be used.
    """
    entries = [entry.strip().lower() for entry in environment.get(ALLOW, "").split(",")]
    allow = tuple(entry for entry in entries if entry)
    for entry in allow:
        if entry.count("@") != 1 or entry.endswith("@") or any(letter.isspace() for letter in entry):
            raise SettingsError(
                f"{ALLOW} has {entry!r}; give addresses like ann@example.org or domains like @example.org"
            )
    if environment.get(ALLOW, "").strip() and not allow:
        raise SettingsError(f"{ALLOW} is set and names nobody; give addresses or domains, or unset it")
    return LoginRules(switch(environment, "WORKPROF_LOGIN"), allow, login_hours(environment))


SHORTEST_SECRET = 32
PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
CALLBACK = "/oauth2callback"
HOW = "docs/security.md says how."


@dataclass(frozen=True)
class LoginSetup:
    """A login that can work."""

    rules: LoginRules  # who may come in
    providers: tuple[str, ...]  # names to log in with, as `st.login` takes them
    origin: str  # scheme and host under which the login works


def login_setup() -> LoginSetup | None:
    """Return the login that this server asks for; None where it asks for none.

    It asks for one where WORKPROF_LOGIN says so, and, where that is unset, where the secrets have an [auth] section.

    Raises:
        SettingsError: when a login is set up and cannot work: nobody may come in then.
    """
    rules = login_rules(os.environ)
    if rules.wanted is False:
        return None
    files = [path for path in st.get_option("secrets.files") if Path(path).exists()]
    if not files and rules.wanted is None:
        return None
    if files and not st.secrets.load_if_toml_exists():
        raise SettingsError(f"the secrets file cannot be read, so a login cannot be checked. {HOW}")
    auth = st.secrets.get("auth") if files else None
    if auth is None and rules.wanted is None:
        return None
    if not isinstance(auth, Mapping):
        raise SettingsError(f"WORKPROF_LOGIN is set and the secrets have no [auth] section. {HOW}")
    return LoginSetup(rules, _providers(auth), _origin(auth))


def _providers(auth: Mapping[str, object]) -> tuple[str, ...]:
    if not (importlib.util.find_spec("authlib") and importlib.util.find_spec("httpx")):
        raise SettingsError(f"WORKPROF_LOGIN needs packages that are missing: pip install authlib httpx. {HOW}")
    if len(str(auth.get("cookie_secret", ""))) < SHORTEST_SECRET:
        raise SettingsError(f"cookie_secret of [auth] has fewer than {SHORTEST_SECRET} characters. {HOW}")
    named = {
        name: section for name, section in auth.items() if isinstance(section, Mapping) and name != "client_kwargs"
    }
    if any(key in auth for key in PROVIDER_KEYS):
        named["default"] = auth
    for name, section in named.items():
        missing = [key for key in PROVIDER_KEYS if not section.get(key)]
        if missing or "_" in name:
            what = f"lacks {', '.join(missing)}" if missing else "has an underscore in its name"
            raise SettingsError(f"the provider {name!r} of [auth] {what}. {HOW}")
    if not named:
        raise SettingsError(f"[auth] names no provider. {HOW}")
    return tuple(named)


def _origin(auth: Mapping[str, object]) -> str:
    redirect = str(auth.get("redirect_uri", "")).replace("{port}", str(st.get_option("server.port")))
    try:
        parts = urllib.parse.urlsplit(redirect)
    except ValueError:
        parts = urllib.parse.SplitResult("", "", "", "", "")
    if parts.scheme not in {"http", "https"} or not parts.netloc or not parts.path.endswith(CALLBACK):
        raise SettingsError(f"redirect_uri of [auth] must be this server's address with {CALLBACK} at its end. {HOW}")
    return f"{parts.scheme}://{parts.netloc}"


COOKIE = "_streamlit_xsrf"
MOST_DESTINATIONS = 1000
LONGEST = 8000
PATIENCE_S = 900.0

_lock = threading.Lock()
_wanted: OrderedDict[str, Destination] = OrderedDict()


@dataclass(frozen=True)
class Destination:
    """A page's address: its name, its parameters, and when it was requested (seconds of the monotonic clock)."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    requested_s: float


def remember(name: str) -> None:
    """Keep the page of this name with the parameters of the present address, for after the login."""
    browser = browser_of(st.context.cookies.get(COOKIE, ""))
    parameters = tuple((key, value) for key in st.query_params for value in st.query_params.get_all(key))
    if not browser or sum(len(key) + len(value) for key, value in parameters) > LONGEST:
        return
    with _lock:
        _wanted[browser] = Destination(name, parameters, time.monotonic())
        _wanted.move_to_end(browser)
        while len(_wanted) > MOST_DESTINATIONS:
            _wanted.popitem(last=False)


def take() -> Destination | None:
    """Return where this browser wanted to go, once; None where that is not known."""
    browser = browser_of(st.context.cookies.get(COOKIE, ""))
    with _lock:
        result = _wanted.pop(browser, None)
    return result if result and time.monotonic() - result.requested_s < PATIENCE_S else None


def browser_of(cookie: str) -> str:
    """Return what stays the same of the cookie `2|mask|masked token|time`; '' where it is not of that form."""
    parts = cookie.strip("\"'").split("|")
    if len(parts) != 4 or parts[0] != "2":
        return ""
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except ValueError:
        return ""
    if len(mask) != 4 or len(masked) < 16:
        return ""
    token = bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked))
    return hashlib.sha256(token).hexdigest()


LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def require_login(page: StreamlitPage | None = None) -> None:
    """Return where the visitor may see the page (None = not known); otherwise show the login and end this run."""
    try:
        setup = login_setup()
        if setup is None and _gated() and not _passed():
            _closed("This page was reached past the login, or the login is over; load it again.")
    except SettingsError as error:
        _closed(str(error))
    if setup is None:
        return
    claims = _claims()
    refused = setup.rules.refusal(claims, time.time()) if claims else ""
    if not claims or refused:
        _show_login(setup, claims, refused, page)


def go_on(pages: dict[str, list[StreamlitPage]], page: StreamlitPage) -> None:
    """Go where the visitor wanted to go before the login, when this run is the first one after it."""
    if st.session_state.get("login_arrived") or not _logged_in():
        return
    st.session_state["login_arrived"] = True
    wanted = take()
    if wanted is None or page.url_path or st.query_params:
        return
    for member in (member for members in pages.values() for member in members):
        if member.url_path == wanted.name:
            st.switch_page(member, query_params=list(wanted.parameters))


def account() -> None:
    """Show in the sidebar who is logged in and how to leave, or that a login is needed and none is set up."""
    if login_setup() is not None:
        with st.sidebar.container():
            st.caption(f"Logged in as {markdown_text(_name(_claims()), 60)}, {visitor().role}")
            st.button("Log out", key="login_out", icon=":material/logout:", type="tertiary", on_click=st.logout)
    elif name := _passed():
        with st.sidebar.container():
            st.caption(f"Logged in as {markdown_text(name, 60)}, {visitor().role}")
            if not proxy_of(os.environ):
                st.markdown(f'<a href="{LOGOUT}" target="_self">Log out</a>', unsafe_allow_html=True)
    elif st.get_option("server.address") not in LOOPBACK:
        st.sidebar.caption(
            ":material/lock_open: No login: whoever reaches this address can see and change everything here."
        )


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page, and what they may do; without a login nobody has a name, and everybody may do all."""

    name: str
    role: Role


def visitor() -> Visitor:
    """Return who looks at this page.

    Whom OpenID Connect lets in may do all where nobody is listed, as before there were roles; else who is not listed
    may look.
    """
    home = from_environment().home
    if claims := _claims():
        users, address = Users(home), str(claims.get("email") or "").strip().lower()
        listed = users.all()
        return Visitor(_name(claims), users.role(address) if listed else Role.ADMIN)
    if name := _passed():
        return Visitor(name, Users(home).role(name))
    return Visitor("", Role.VIEWER if _gated() else Role.ADMIN)


def _gated() -> bool:
    """Return whether the gate before the pages asks who somebody is, or did when this page was opened."""
    asked = PERSON in st.context.headers  # the gate lets nobody else send that
    return asked or proxy_of(os.environ) is not None or Users(from_environment().home).with_passwords


def _passed() -> str:
    """Return whom the gate let in; '' where nobody had to pass it."""
    told = st.context.headers.get(PERSON)
    return passed(from_environment().home, told) if told else ""


def _closed(message: str) -> None:
    st.title("Nobody can log in")
    st.error(markdown_text(message, 1200), icon=":material/lock:")
    st.write("Until the operator of this server has put that right, nothing is shown.")
    st.stop()


def _show_login(setup: LoginSetup, claims: Mapping[str, object], refused: str, page: StreamlitPage | None) -> None:
    st.title("workprof")
    if refused:
        st.error(f"{markdown_text(_name(claims), 80)}: {refused}", icon=":material/block:")
        st.button("Log out", key="login_out", icon=":material/logout:", on_click=st.logout)
    else:
        st.write("Please log in to use this server.")
    if not refused or setup.rules.expired(claims, time.time()):
        for provider in setup.providers:
            words = "Log in" if len(setup.providers) == 1 else f"Log in with {provider}"
            if st.button(words, key=f"login_{provider}", type="primary", icon=":material/login:"):
                remember(page.url_path if page else "")
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
