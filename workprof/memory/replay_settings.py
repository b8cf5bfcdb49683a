"""What a replay can be asked."""

from dataclasses import field
from typing import Annotated

from workprof.core.arrays import MOST_USED, LatestRuns
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.memory.orders import FINISHED, SIZEY, SUBMIT_TIME, SUBMITTED
from workprof.memory.policies import FURTHER, OURS, PEERS, POLICIES, POLICY_WORDS, SizingSettings
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import NO_INPUT, Target

SIZEY_TARGET, SIZEY_INPUT = "rss", "rchar"


PRICES = (0.0, 0.05, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Prices of a failure, in mean runs, that make the frontier."""


@settings
class ReplaySettings:
    """Which policies are replayed over which runs, in which order."""

    policies: Annotated[
        tuple[str, ...],
        Setting(
            "Policies A,B,...; all of them, or by default ours and the published ones. oracle_...: looks at the true "
            "use, so it is a bound and no policy.",
            choices=POLICIES,
            named={"all": OURS + PEERS + FURTHER},
            shown=POLICY_WORDS,
            key="memory_policies",
            some=True,
        ),
    ] = OURS + PEERS
    protocol: Annotated[
        str,
        Setting(
            "Order of the runs.",
            choices={
                SUBMIT_TIME: "as submitted, each task from its first run on",
                SIZEY: "the published harness: 30 % of the runs at random are known, the others come in random "
                "order, sized for rss from rchar",
            },
            shown={SUBMIT_TIME: "As submitted", SIZEY: "As published (random)"},
            key="memory_protocol",
            label="Order",
        ),
    ] = SUBMIT_TIME
    known: Annotated[
        str,
        Setting(
            "From when on a run is known to others of its task, in the order of submission.",
            choices={
                FINISHED: "from its end on",
                SUBMITTED: "from its submission on, finished or not: as published, which overstates savings",
            },
            shown={FINISHED: "Once it has ended", SUBMITTED: "Once it is submitted"},
            key="memory_known",
            label="A run is known",
        ),
    ] = FINISHED
    train: Annotated[
        tuple[str, ...],
        Setting(
            "Earlier datasets, NAME,...: their runs of the same tasks are known from the start, also by the last part "
            "of a task's name where that is the only such task.",
            key="memory_train",
            label="History from",
            empty="none",
        ),
    ] = ()
    seeds: Annotated[
        tuple[int, ...],
        Setting(
            "Of the shuffles, A,B,...; figures are means over them. The order of submission has none.",
            least=0,
            most=2**32 - 1,
            also=("--seed",),
            named={"1996 and 1 to 4": (1996, 1, 2, 3, 4)},
            key="memory_seeds",
            some=True,
        ),
    ] = (1996,)
    target: Target = "peak_rss"
    input_column: Annotated[
        str,
        Setting(
            "Column that sizes may go by, known before the run; the result says where it is known only after.",
            columns="numeric",
            flag="--input",
            key="memory_input",
            label="Input",
        ),
    ] = NO_INPUT
    cold_runs: Annotated[
        int,
        Setting(
            "Known runs of its task that a run needs to be sized from them; with fewer it starts at its request.",
            least=2,
            most=10_000,
            key="memory_cold",
        ),
    ] = 10
    latest_runs: LatestRuns = MOST_USED
    retry: RetrySettings = field(default_factory=RetrySettings)
    sizing: SizingSettings = field(default_factory=SizingSettings)
    prices_runs: Annotated[
        tuple[float, ...],
        Setting(
            "Costs of a failure that make the frontier, A,B,...",
            unit="mean runs",
            least=0,
            most=1e6,
            flag="--failure-costs",
            also=("--prices",),
            key="memory_prices_runs",
            label="Costs of the frontier",
            empty="no frontier",
        ),
    ] = PRICES

    def __post_init__(self) -> None:
        if self.train and self.protocol == SIZEY:
            raise SettingsError(
                f"train is {', '.join(self.train)}, and the published harness draws its own history; choose the "
                f"protocol {SUBMIT_TIME}"
            )

    @property
    def used_target(self) -> str:
        """The target that counts."""
        return SIZEY_TARGET if self.protocol == SIZEY else self.target

    @property
    def used_input(self) -> str:
        """The input that counts."""
        return SIZEY_INPUT if self.protocol == SIZEY else self.input_column

    @property
    def used_seeds(self) -> tuple[int, ...]:
        """The seeds that count."""
        return tuple(dict.fromkeys(self.seeds)) if self.protocol == SIZEY else self.seeds[:1]
