"""Who somebody is that comes through a door: by a proxy that vouches for them, or by name and password."""

import base64
import ipaddress
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workprof.core.errors import SettingsError
from workprof.core.settings import switch

HEADER, FROM, HOURS = "WORKPROF_PROXY_HEADER", "WORKPROF_PROXY_FROM", "WORKPROF_LOGIN_HOURS"
FORWARDED = "FORWARDED_ALLOW_IPS"
"""Of uvicorn: whose X-Forwarded-For takes the place of the peer's address; it is read before the app is loaded."""
DEFAULT_HOURS = 12.0
LONGEST_NAME = 200
_FIELD = re.compile(r"[A-Za-z0-9-]{1,60}")
Headers = Iterable[tuple[bytes, bytes]]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Proxy:
    """A proxy that logs people in, and says in a header who they are."""

    header: bytes  # in small letters
    networks: tuple[Network, ...]  # the proxy's own addresses

    def name_of(self, headers: Headers, peer: str) -> str:
        """Who the proxy at an address says this is; '' for any other peer, and for a header that is not one name."""
        given = [value for name, value in headers if name.lower() == self.header]
        if len(given) != 1 or not self._is(peer):
            return ""
        try:
            name = given[0].decode("utf-8").strip()
        except UnicodeDecodeError:
            return ""
        return name if name.isprintable() and len(name) <= LONGEST_NAME else ""

    def _is(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self.networks)


def proxy_of(environment: Mapping[str, str]) -> Proxy | None:
    """The proxy whose word counts; None where none was named.

    Raises SettingsError where only its header or only its address is given, or one of them cannot be used.
    """
    header, given = environment.get(HEADER, "").strip(), environment.get(FROM, "").strip()
    if not header and not given:
        return None
    if not (header and given):
        one, other = (HEADER, FROM) if header else (FROM, HEADER)
        raise SettingsError(f"{one} is set and {other} is not; the header counts only from the proxy's own address")
    if not _FIELD.fullmatch(header):
        raise SettingsError(f"{HEADER} is {header[:40]!r}; give the name of a header, such as X-Remote-User")
    networks = []
    for text in (part.strip() for part in given.split(",")):
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            raise SettingsError(f"{FROM} has {text[:60]!r}; give addresses such as 10.0.0.5 or 10.0.0.0/28") from None
        if not network.prefixlen:
            raise SettingsError(f"{FROM} has {text}, which is everybody; give the proxy's own address")
        networks.append(network)
    return Proxy(header.lower().encode("ascii"), tuple(networks))


def basic_of(header: bytes) -> tuple[str, str] | None:
    """Name and password of an Authorization header; None where it has none (RFC 7617)."""
    scheme, _, given = header.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        name, sign, password = base64.b64decode(given.strip(), validate=True).decode("utf-8").partition(":")
    except ValueError:
        return None
    return (name, password) if sign else None


def login_hours(environment: Mapping[str, str]) -> float:
    """Hours after which one has to log in again; raises SettingsError for what is none."""
    text = environment.get(HOURS, "")
    try:
        hours = float(text) if text.strip() else DEFAULT_HOURS
    except ValueError:
        hours = math.nan
    if not 0.0 < hours <= 24.0 * 30:
        raise SettingsError(f"{HOURS} is {text!r}; give hours, more than 0 and at most 720 (a cookie lasts 30 days)")
    return hours


NO_DOOR = (
    "nobody would have to log in; add people with `workprof user add NAME --role admin`, or set {more}, or name a "
    "proxy that logs people in (WORKPROF_PROXY_HEADER and WORKPROF_PROXY_FROM)"
)


def refuse_open_host(host: str, environment: Mapping[str, str], *, passwords: bool, api: bool) -> None:
    """Refuse to listen for other machines where nobody has to say who they are; raises SettingsError."""
    known = environment.get("WORKPROF_TOKEN") if api else switch(environment, "WORKPROF_LOGIN")
    if known or passwords or proxy_of(environment):
        return
    more = "WORKPROF_TOKEN to a long random text" if api else "WORKPROF_LOGIN=1 with OpenID Connect"
    raise SettingsError(f"--host is {host!r}, which others can reach, and {NO_DOOR.format(more=more)}")
