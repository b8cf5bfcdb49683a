"""Alerts: rules over numbers that answers declare, such as 'kills_per_day > 5', and what a look at them found."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workprof.core.errors import SettingsError
from workprof.core.hosts import read_toml, table_of

SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_WHEN = re.compile(
    r"\s*([A-Za-z][\w.]*(?::[\w.]+)?)\s*(>=|<=|==|!=|>|<)\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%?)\s*",
    re.ASCII,
)
_NAME = re.compile(r"[\w .-]{1,80}")
EXAMPLES = "'kills_per_day > 5', 'unused_share > 60 %' or 'memory.verdict:today.kills >= 1'"


@dataclass(frozen=True)
class Alert:
    """A rule: it fires while a number of a dataset is on the wrong side of a limit."""

    name: str
    dataset: str  # name, with its scope
    number: str  # a short name, or QUESTION:PATH of a document
    sign: str  # of SIGNS
    limit: float

    def fires(self, value: float) -> bool:
        """Whether a value is on the wrong side."""
        return SIGNS[self.sign](value, self.limit)

    @property
    def when(self) -> str:
        """The rule as it can be given again."""
        return f"{self.number} {self.sign} {self.limit:.12g}"


@dataclass(frozen=True)
class Checked:
    """What a look at one alert found."""

    alert: Alert
    value: float  # NaN where it could not be computed
    problem: str = ""  # why not; '' = it was computed

    @property
    def fired(self) -> bool:
        """Whether the number is on the wrong side."""
        return not self.problem and self.alert.fires(self.value)

    @property
    def state(self) -> str:
        """'fired', 'fine' or 'not computed'."""
        return "not computed" if self.problem else "fired" if self.fired else "fine"


@dataclass(frozen=True)
class Told:
    """That somebody was told of something, and when."""

    who: str
    what: str  # the row, as a decision has it
    at_s: float  # since 1970


def alert_of(name: str, dataset: str, when: str) -> Alert:
    """The alert that a name and a text such as 'kills_per_day > 5' mean; % is a hundredth.

    Raises SettingsError for a name that cannot be used, and a text that is no such rule.
    """
    if not _NAME.fullmatch(name) or not name.strip():
        raise SettingsError(f"the alert is called {name[:20]!r}; give up to 80 letters, digits, spaces, - and .")
    match = _WHEN.fullmatch(when)
    if match is None:
        raise SettingsError(
            f"--when is {when[:80]!r}; give NUMBER, a sign ({', '.join(SIGNS)}) and a limit: {EXAMPLES}"
        )
    limit = float(match[3]) / (100 if match[4] else 1)
    if not math.isfinite(limit):
        raise SettingsError(f"--when {when[:80]!r} has a limit that is no number")
    return Alert(name.strip(), dataset, match[1], match[2], limit)


RULE = ("dataset", "when")


def rules_of(path: Path) -> tuple[Alert, ...]:
    """The alerts of a TOML file, a table [NAME] with `dataset` and `when` each, in its order.

    Raises SettingsError for a file that cannot be read, has no rule, or one that is none.
    """
    tables = read_toml(path, "rules")
    if not tables:
        raise SettingsError(f"{path} has no rule; write [NAME], and below it dataset and when, such as {EXAMPLES}")
    rules = []
    for name, table in tables.items():
        rule = table_of(table, name, path, RULE)
        for key in RULE:
            if not isinstance(rule.get(key), str):
                raise SettingsError(f"{path}: {name}: {key} is {rule.get(key)!r}; give a text")
        try:
            rules.append(alert_of(name, rule["dataset"], rule["when"]))
        except SettingsError as error:
            raise SettingsError(f"{path}: {name}: {error}") from None
    return tuple(rules)
