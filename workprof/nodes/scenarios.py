"""Scenarios of a ranking: how nodes were compared, kept under a name; the scores follow from it at any time."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.nodes.ranking.settings import RankSettings

MOST_NAME = 80
MOST_COMPARED = 4


@dataclass(frozen=True)
class NodeScenario:
    """One scenario, as it is kept and compared.

    Attributes:
        name: given by the user, not empty.
        dataset_hash: of the benchmark runs.
        settings: of the ranking: weights, prices, window, what is left out.
        created: time in ISO form, '' = not kept.

    Raises:
        SettingsError: for a name that is empty or too long.
    """

    name: str
    dataset_hash: str
    settings: RankSettings
    created: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MOST_NAME:
            raise SettingsError(
                f"the scenario is called {self.name[:20]!r}; give a name of 1 to {MOST_NAME} characters"
            )
