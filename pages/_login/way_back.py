"""Where a visitor wanted to go before the login: Streamlit comes back from the provider at the first page.

The provider sends the browser back to one fixed address, which opens a new session. What outlasts that is a cookie
that Streamlit sets in every browser against forged requests; its token is the key under which this process keeps the
address for a few minutes. Where the cookie is missing or the server was started again meanwhile, the visitor arrives
at Home and opens the link once more.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

import streamlit as st

COOKIE = "_streamlit_xsrf"
KEPT = 1000
LONGEST = 8000
PATIENCE_S = 900.0

_lock = threading.Lock()
_wanted: OrderedDict[str, Destination] = OrderedDict()


@dataclass(frozen=True)
class Destination:
    """A page's address: its name, its parameters, and when it was asked for (seconds of the monotonic clock)."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    asked_s: float


def keep(name: str) -> None:
    """Keep the page of this name with the parameters of the present address, for after the login."""
    browser = browser_of(st.context.cookies.get(COOKIE, ""))
    parameters = tuple((key, value) for key in st.query_params for value in st.query_params.get_all(key))
    if not browser or sum(len(key) + len(value) for key, value in parameters) > LONGEST:
        return
    with _lock:
        _wanted[browser] = Destination(name, parameters, time.monotonic())
        _wanted.move_to_end(browser)
        while len(_wanted) > KEPT:
            _wanted.popitem(last=False)


def take() -> Destination | None:
    """Return where this browser wanted to go, once; None where that is not known."""
    browser = browser_of(st.context.cookies.get(COOKIE, ""))
    with _lock:
        found = _wanted.pop(browser, None)
    return found if found and time.monotonic() - found.asked_s < PATIENCE_S else None


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
