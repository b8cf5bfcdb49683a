"""Alerts of the home, who wants no digest, and who was told of what."""

from collections.abc import Iterable

from workprof.core.alerts import Alert, Told, alert_of
from workprof.core.errors import SettingsError
from workprof.core.roles import NOTICE
from workprof.core.scope import narrowed, parsed, split
from workprof.core.text import near
from workprof.workbench.memory import MemoryQuestions

ALERT, TOLD, OPTED_OUT = "alert", "sent", "opted out"
"""Kinds of records in the home."""


class NoticeQuestions(MemoryQuestions):
    """What is watched and who is told."""

    def alerts(self) -> tuple[Alert, ...]:
        """Every alert, by name."""
        return tuple(self._store.notices(ALERT, Alert).values())

    def add_alert(self, name: str, dataset: str, when: str) -> Alert:
        """Keep an alert in place of one of that name; whether its number can be computed is told by a check.

        Args:
            name: of the alert.
            dataset: name or hash; it follows the dataset of that name when it is refreshed.
            when: such as 'kills_per_day > 5'.

        Raises:
            SettingsError: when the rule cannot be read.
            DatasetUnknown: when there is no such dataset.
        """
        entry, text = self.dataset(dataset), split(dataset)[1]
        whole = split(entry.name)[0]
        result = alert_of(name, narrowed(whole, parsed(text)) if text else whole, when)
        self._store.save_notices(ALERT, {result.name: result})
        return result

    def remove_alert(self, name: str) -> Alert:
        """Forget an alert and return what it was; raises SettingsError, which names what there is."""
        self._store.refuse(NOTICE)
        known = self._store.notices(ALERT, Alert)
        if name not in known:
            raise SettingsError(f"no alert is called {name!r}{near(name, known)}; `workprof alert list` shows all")
        self._store.save_notices(ALERT, {name: None})
        return known[name]

    def opted_out(self) -> tuple[str, ...]:
        """Users who get no digest."""
        return tuple(one.who for one in self._store.notices(OPTED_OUT, Told).values())

    def opt_out(self, user: str, *, again: bool = False) -> None:
        """Send a user no digest any more; `again`: send it again."""
        self._store.save_notices(OPTED_OUT, {user: None if again else Told(user, "", 0.0)})

    def told_before(self) -> dict[tuple[str, str], float]:
        """(who, what) -> when somebody was told last, in seconds since 1970."""
        return {(one.who, one.what): one.at_s for one in self._store.notices(TOLD, Told).values()}

    def told(self, told: Iterable[Told]) -> None:
        """Keep that somebody was told of something."""
        self._store.save_notices(TOLD, {f"{one.who}\n{one.what}": one for one in told})
