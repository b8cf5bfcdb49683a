"""Who may come in, and what they did: for admins."""

from __future__ import annotations

import functools

from workprof.core.roles import USERS
from workprof.store.audit import Entry
from workprof.store.users import User, Users
from workprof.workbench.question_methods import OpenHome


class PeopleQuestions(OpenHome):
    """Questions about the people of a home."""

    @functools.cached_property
    def people(self) -> Users:
        """Everybody, for a login to ask: names and roles, and whether a password is theirs."""
        return Users(self.settings.home)

    def users(self) -> tuple[User, ...]:
        """Everybody who may come in, by name; raises NotAllowed for others than an admin."""
        USERS.refuse(self.settings.role)
        return tuple(one for _, one in sorted(self.people.all().items()))

    def add_user(self, name: str, role: str, password: str | None = None) -> User:
        """Add somebody; without a password another login has to vouch for them.

        Raises SettingsError for a name that is taken or cannot be used, and a password that is too short.
        """
        self._store.refuse(USERS)
        return self._noted(self.people.add(name, role, password), "add")

    def set_user(self, name: str, role: str | None = None, password: str | None = None) -> User:
        """Change somebody's role, or their password, which ends their logins."""
        self._store.refuse(USERS)
        return self._noted(self.people.set(name, role, password), "set")

    def remove_user(self, name: str) -> User:
        """Remove somebody, whose logins end; raises SettingsError where there is nobody of that name."""
        self._store.refuse(USERS)
        return self._noted(self.people.remove(name), "remove")

    def audit(self, most: int = 1000) -> tuple[Entry, ...]:
        """Who did what to this home, the latest first; raises NotAllowed for others than an admin."""
        return self._store.audit(most)

    def _noted(self, user: User, how: str) -> User:
        self._store.note(USERS, f"{how} {user.name}, {user.role}")
        return user
