"""Who may do what: three roles, the deeds that change a home, and who acts now."""

import contextvars
import getpass
import os
from dataclasses import dataclass
from enum import IntEnum

from workprof.core.errors import NotAllowed, SettingsError


class Role(IntEnum):
    """Each may do what the ones before it may."""

    VIEWER = 1
    PLANNER = 2
    ADMIN = 3

    def __str__(self) -> str:
        return self.name.lower()


ROLES = tuple(map(str, Role))


def role_of(text: str, named: str) -> Role:
    """The role of a name; raises SettingsError, which says where it was given and which there are."""
    if text.strip().lower() not in ROLES:
        raise SettingsError(f"{named} is {text[:40]!r}; give {', '.join(ROLES[:-1])} or {ROLES[-1]}")
    return Role[text.strip().upper()]


@dataclass(frozen=True)
class Deed:
    """A change of a home: its name in the audit log, and the least role that may do it."""

    name: str
    least: Role

    def refuse(self, role: Role) -> None:
        """Refuse it to a lower role; raises NotAllowed."""
        if role < self.least:
            raise NotAllowed(
                f"{self.name}: only {'an' if self.least is Role.ADMIN else 'a'} {self.least} may do that here, and "
                f"you are a {role}; ask whoever runs this server"
            )


PREPARE = Deed("prepare the home", Role.VIEWER)
EXPORT = Deed("export", Role.VIEWER)
DECIDE = Deed("decide", Role.PLANNER)
NOTE = Deed("note on a profile", Role.PLANNER)
SCENARIO = Deed("scenario", Role.PLANNER)
SCOPE = Deed("saved scope", Role.PLANNER)
OBSERVE = Deed("finished runs", Role.PLANNER)
PIN = Deed("pin a result", Role.PLANNER)
UNPIN = Deed("unpin a result", Role.PLANNER)
IMPORT = Deed("import", Role.ADMIN)
RENAME = Deed("rename", Role.ADMIN)
REMOVE = Deed("remove", Role.ADMIN)
REMOVE_RESULT = Deed("remove a result", Role.ADMIN)
MAPPING = Deed("mapping", Role.ADMIN)
SOURCE = Deed("source", Role.ADMIN)
REFRESH = Deed("refresh", Role.ADMIN)
NOTICE = Deed("alerts and digests", Role.ADMIN)
USERS = Deed("users", Role.ADMIN)
SEE_AUDIT = Deed("look at the audit log", Role.ADMIN)


@dataclass(frozen=True)
class Actor:
    """Who acts, and through which door: dashboard, service or command."""

    name: str  # '' = the server, with what others handed in and were noted for: the audit log tells nothing
    door: str


_acting: contextvars.ContextVar[Actor | None] = contextvars.ContextVar("acting", default=None)


def actor() -> Actor:
    """Who acts in this thread; the account of this process where nobody else was named."""
    return _acting.get() or Actor(whoami(), "command")


def act_as(who: Actor) -> None:
    """Name who acts in this thread from now on: for the audit log, never for what is allowed."""
    _acting.set(who)


def whoami() -> str:
    """The account that runs this process, by name, else by number: a container may know no names."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return str(os.getuid())
