"""The people of a home and what they did: in words."""

from collections.abc import Sequence
from typing import Any

from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.words import counted

USERS = (
    Column("user", "name", "User", pinned=True),
    Column("role", heading="Role"),
    Column("password", lambda one: bool(one.password), "Password", said=lambda one: "yes" if one.password else "none"),
)

AUDIT = (
    Column("at", heading="When", said=lambda one: one.at[:19].replace("T", " ") + " UTC", pinned=True),
    Column("who", heading="Who"),
    Column("role", heading="Role"),
    Column("door", heading="Through"),
    Column("deed", heading="Did"),
    Column("what", heading="To"),
)


def users_answer(users: Sequence[Any], did: str = "") -> Answer:
    """The people of a home, and what was done to them just now."""
    several = (
        f"{counted(len(users), 'user')} may come in."
        if users
        else "There is no user yet; `workprof user add` adds one."
    )
    return Answer(did or several, tables=(Table("users", "Users", USERS, users),))


def audit_answer(entries: Sequence[Any]) -> Answer:
    """Who did what, the latest first."""
    refused = sum(one.deed == "login failed" for one in entries)
    sentence = f"The latest {counted(len(entries), 'deed')}; {counted(refused, 'login')} failed."
    return Answer(
        sentence if entries else "Nothing was done to this home yet.",
        tables=(Table("audit", "Audit log", AUDIT, entries),),
    )
