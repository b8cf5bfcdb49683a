"""Who may come in: the WORKPROF_LOGIN variables, and the judgement of what the provider says about a person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.settings import switch

DEFAULT_HOURS = 12.0
ALLOW = "WORKPROF_LOGIN_ALLOW"
HOURS = "WORKPROF_LOGIN_HOURS"


@dataclass(frozen=True)
class LoginRules:
    """What the operator asked for.

    Attributes:
        wanted: whether a login is asked of every visitor; None = where Streamlit's secrets have an [auth] section.
        allow: e-mail addresses and @domains in lower case; empty = everybody whom the provider lets in.
        hours: after which one has to log in again.
    """

    wanted: bool | None = None
    allow: tuple[str, ...] = ()
    hours: float = DEFAULT_HOURS

    def refusal(self, claims: Mapping[str, object], now_s: float) -> str:
        """Return why this person may not come in; '' = may.

        Args:
            claims: of the provider's identity token, as Streamlit hands them on after it has checked the signature.
            now_s: seconds since 1970.
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
    return LoginRules(switch(environment, "WORKPROF_LOGIN"), allow, _hours(environment.get(HOURS, "")))


def _hours(text: str) -> float:
    try:
        hours = float(text) if text.strip() else DEFAULT_HOURS
    except ValueError:
        hours = math.nan
    if not 0.0 < hours <= 24.0 * 30:
        raise SettingsError(
            f"{HOURS} is {text!r}; give hours, more than 0 and at most 720 (Streamlit's cookie lasts 30 days)"
        )
    return hours
