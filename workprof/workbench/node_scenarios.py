"""Questions about the kept scenarios of the Nodes page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from workprof.errors import SettingsError
from workprof.formats.measured import BENCHMARKS
from workprof.nodes.ranking import NodeScenario
from workprof.workbench.asking import refuse_other_kind
from workprof.workbench.nodes import NodeQuestions


class NodeScenarioQuestions(NodeQuestions):
    """The questions of the Nodes page, and its scenarios."""

    def save_node_scenario(self, dataset: str, scenario: NodeScenario) -> NodeScenario:
        """Keep a scenario under its name and return it with its time.

        Raises:
            SettingsError: when it is of another dataset.
            WrongKind: when the dataset holds no benchmark runs.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        if scenario.dataset_hash != entry.hash:
            raise SettingsError(f"scenario {scenario.name!r} is of another dataset than {entry.name}; make it again")
        kept = replace(scenario, created=datetime.now(UTC).isoformat(timespec="seconds"))
        self._store.save_scenario(entry.hash, kept.name, kept.created, kept)
        return kept

    def node_scenarios(self, dataset: str) -> tuple[NodeScenario, ...]:
        """Return the kept scenarios of a dataset of benchmark runs, the newest first.

        Raises:
            WrongKind: when the dataset holds no benchmark runs.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        return self._store.scenarios(entry.hash, NodeScenario)

    def remove_node_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        self._store.remove_scenario(self.dataset(dataset).hash, name)
