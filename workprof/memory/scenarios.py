"""Scenarios: what was decided, under which settings, with which figures; up to four side by side."""

from dataclasses import dataclass

from workprof.core.errors import SettingsError

MOST_COMPARED = 4
MOST_NAME = 80

Value = str | float | int | bool | None


@dataclass(frozen=True)
class Scenario:
    """One scenario, as it is kept and compared."""

    name: str  # given by the user, not empty
    dataset: str  # name of the dataset
    dataset_hash: str  # of its content: figures of other content do not compare
    task: str  # what it is about, '' = all tasks
    policy: str  # name of the policy or rule
    settings: dict[str, Value]  # name -> value, plain values only
    saved_share: float  # share of the requested GB·h saved, killed attempts charged; NaN = not computed
    optimal_share: float  # if every run came into its right bin; NaN = not computed
    estimated_share: float  # the thesis' estimate; NaN = not computed
    charged_gb_h: float  # and `wasted_gb_h`: by the replay; NaN = not computed
    wasted_gb_h: float
    n_runs: int  # replayed
    n_failures: int  # kills; -1 = not computed
    money_saved: float  # in `currency`; NaN = no price
    currency: str  # of it
    created: str = ""  # time in ISO form, '' = not kept
    peak_gb: float = float("nan")  # must exist at once; NaN = not computed
    n_never: int = -1  # runs that can never run under its cap; -1 = not computed
    # path and query of the page that shows it, every setting that was computed in it; '' = kept before
    address: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MOST_NAME:
            raise SettingsError(
                f"the scenario is called {self.name[:20]!r}; give a name of 1 to {MOST_NAME} characters"
            )
        if self.saved_share > 1:
            raise SettingsError(f"scenario {self.name!r} saves {self.saved_share:.0%}; no more than all can be saved")


@dataclass(frozen=True)
class Difference:
    """A setting on which scenarios differ; a value of None stands where a scenario has no such setting."""

    setting: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Comparison:
    """Scenarios side by side."""

    scenarios: tuple[Scenario, ...]  # in the order given
    differences: tuple[Difference, ...]  # settings that are not the same in all, in alphabetical order
    # and `fewest_failures`: positions of the scenarios; -1 where no scenario has the figure. One in which runs can
    # never run is the best of nothing: it saves and fails by leaving them out.
    best_saving: int
    fewest_failures: int
    warnings: tuple[str, ...]  # what makes the figures hard to compare


def compare(scenarios: tuple[Scenario, ...]) -> Comparison:
    """Up to four scenarios side by side; raises SettingsError for none, or for more than four."""
    if not 1 <= len(scenarios) <= MOST_COMPARED:
        raise SettingsError(f"{len(scenarios)} scenarios were chosen; choose 1 to {MOST_COMPARED}")
    whole = {at: one for at, one in enumerate(scenarios) if one.n_never <= 0}
    saved = {at: one.saved_share for at, one in whole.items() if one.saved_share <= 1}
    failed = {at: one.n_failures for at, one in whole.items() if one.n_failures >= 0}
    return Comparison(
        scenarios=scenarios,
        differences=_differences(scenarios),
        best_saving=max(saved, key=lambda at: saved[at], default=-1),
        fewest_failures=min(failed, key=lambda at: failed[at], default=-1),
        warnings=_warnings(scenarios),
    )


def _differences(scenarios: tuple[Scenario, ...]) -> tuple[Difference, ...]:
    each = [{"policy": one.policy, "task": one.task, **one.settings} for one in scenarios]
    names = sorted({name for settings in each for name in settings})
    rows = (Difference(name, tuple(settings.get(name) for settings in each)) for name in names)
    return tuple(row for row in rows if any(value != row.values[0] for value in row.values))


def _warnings(scenarios: tuple[Scenario, ...]) -> tuple[str, ...]:
    result = []
    if len({one.dataset_hash for one in scenarios}) > 1:
        result.append("the scenarios are of different datasets: their GB·h do not compare")
    if len({one.task for one in scenarios}) > 1:
        result.append("the scenarios are of different tasks")
    if len({one.n_runs for one in scenarios}) > 1:
        result.append("the scenarios replayed different numbers of runs")
    if len({one.currency for one in scenarios if one.money_saved == one.money_saved}) > 1:
        result.append("the scenarios have different currencies")
    return tuple(result)
