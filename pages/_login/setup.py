"""Whether a login can work at all: the [auth] section of Streamlit's secrets, and the packages that it needs."""

from __future__ import annotations

import importlib.util
import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages._login.rules import LoginRules, login_rules
from workprof.errors import SettingsError

SHORTEST_SECRET = 32
PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
CALLBACK = "/oauth2callback"
HOW = 'The README says how, under "Security".'


@dataclass(frozen=True)
class LoginSetup:
    """A login that can work.

    Attributes:
        rules: who may come in.
        providers: names to log in with, as `st.login` takes them.
        origin: scheme and host under which the login works.
    """

    rules: LoginRules
    providers: tuple[str, ...]
    origin: str


def login_setup() -> LoginSetup | None:
    """Return the login that this server asks for; None where it asks for none.

    It asks for one where WORKPROF_LOGIN says so, and, where that is unset, where the secrets have an [auth] section.

    Raises:
        SettingsError: when a login is asked for and cannot work: nobody may come in then.
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
