"""Resources, what the rows of the ledger may be, and its settings: rules with their thresholds, prices."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated

from workprof.core.causes import CAUSES, KILLS, LOWER_BOUND
from workprof.core.fields import Setting, settings
from workprof.core.units import GB, HOUR_S
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.usage import Target


@dataclass(frozen=True)
class Resource:
    """What can be requested."""

    name: str  # of the resource
    request: str  # and `use`: columns of a job table; the use of memory is what counts as its use
    use: str
    scale: float  # what one unit is in the columns' own
    unit: str  # of an amount; `hours` of an amount over time; `key` how that ends in a JSON document
    hours: str
    key: str
    # a use below it is no measurement: every process holds some memory, while a core or GPU may idle
    least_use: float = 0.0


MEMORY, CORES, GPUS, LIMIT = "memory", "cores", "gpus", "time_limit"
RESOURCES = (
    Resource(MEMORY, "requested_memory_bytes", "peak_memory_bytes", GB, "GB", "GB·h", "gb_h", least_use=1.0),
    Resource(CORES, "requested_cpu_percent", "cpu_usage_percent", 100.0, "cores", "core·h", "core_h"),
    Resource(GPUS, "requested_gpu_percent", "gpu_usage_percent", 100.0, "GPUs", "GPU·h", "gpu_h"),
    Resource(LIMIT, "time_limit_s", "duration_s", HOUR_S, "h", "limit·h", "limit_h"),
)
NAMES = tuple(one.name for one in RESOURCES)


def judged_besides_memory(columns: Collection[str]) -> tuple[str, ...]:
    """What the ledger can judge of a table without memory: cores and GPUs whose request and use it has."""
    judged = {one.name: {one.request, one.use, "duration_s"} <= {*columns} for one in RESOURCES}
    return tuple(name for name in (CORES, GPUS) if judged[name])


USER, TASK, PROFILE, WEEK = "user", "task", "profile", "week"
GROUPINGS: dict[str, tuple[str, ...]] = {
    USER: ("user",),
    "group": ("group",),
    TASK: ("task_name",),
    "partition": ("partition", "Partition", "queue"),
    PROFILE: (PROFILE_COLUMN,),
    WEEK: ("start_time_s", "submit_time_s", "end_time_s"),
}
"""What rows may be, and the columns that say so, the first that is there."""


def usual_rows(columns: Collection[str]) -> str:
    """What rows are where nothing else is chosen, given the columns that hold something."""
    return next((by for by in (USER, "group") if {*GROUPINGS[by]} & {*columns}), TASK)


NODE_COLUMNS = ("NNodes", "nnodes", "n_nodes", "AllocNodes", "alloc_nodes")
CAPACITIES = (
    ("cap_mem_machine_spec", "cap_cpu_machine_spec", "cap_gpu_machine_spec"),
    ("cap_mem", "cap_cpu", "cap_gpu"),
)
"""Memory (GiB), cores and GPUs of the node that a run was on."""

READS = (
    *("task_name", "user", "group", "partition", "Partition", "queue", "status", "windows"),
    *("submit_time_s", "start_time_s", "end_time_s", "rss"),
    *(name for one in RESOURCES for name in (one.request, one.use)),
    *(name for names in CAPACITIES for name in names),
    *NODE_COLUMNS,
    *(LOWER_BOUND, KILLS),
)
"""Columns that the ledger reads where they are there."""


@settings
class Thresholds:
    """From where on a rule finds something."""

    memory_share: Annotated[
        float,
        Setting(
            "A run that uses less than this share of its memory requests too much.",
            unit="share",
            above=0,
            most=1,
            key="memory_ledger_memory",
            label="Too much memory below",
        ),
    ] = 0.5
    cores_share: Annotated[
        float,
        Setting(
            "A run that uses less than this share of its cores requests too many.",
            unit="share",
            above=0,
            most=1,
            key="memory_ledger_cores",
            label="Too many cores below",
        ),
    ] = 0.5
    serial_cores: Annotated[
        float,
        Setting(
            "Serial code uses at most so many cores; it is one on a request of two cores or more.",
            unit="cores",
            least=0,
            most=2,
            key="memory_ledger_serial",
            label="Serial code up to",
        ),
    ] = 1.1
    gpu_zero: Annotated[
        float,
        Setting(
            "A run that uses at most this share of its GPUs does not use them.",
            unit="share",
            least=0,
            most=1,
            key="memory_ledger_gpu_zero",
            label="GPU unused up to",
        ),
    ] = 0.0
    gpu_share: Annotated[
        float,
        Setting(
            "A run that uses less than this share of its GPUs, but more than none, uses them little.",
            unit="share",
            above=0,
            most=1,
            key="memory_ledger_gpu",
            label="Low GPU use below",
        ),
    ] = 0.15
    limit_share: Annotated[
        float,
        Setting(
            "A run that takes less than this share of its time limit has a limit that is far too long.",
            unit="share",
            above=0,
            most=1,
            key="memory_ledger_limit",
            label="Too long a limit below",
        ),
    ] = 0.2
    gpu_memory_bytes: Annotated[
        float,
        Setting(
            "Memory that goes with one GPU; a run that requests more for each keeps further GPUs from others.",
            unit="bytes",
            least=0,
            empty="the node's own",
            flag="--memory-per-gpu",
            key="memory_ledger_gpu_memory",
            label="Memory per GPU",
        ),
    ] = 0.0
    gpu_cores: Annotated[
        float,
        Setting(
            "Cores that go with one GPU; a run that requests more for each keeps further GPUs from others.",
            unit="cores",
            least=0,
            empty="the node's own",
            flag="--cores-per-gpu",
            key="memory_ledger_gpu_cores",
            label="Cores per GPU",
        ),
    ] = 0.0
    node_cores: Annotated[
        float,
        Setting(
            "Cores of one node; a run on more nodes than its cores need is spread too thin.",
            unit="cores",
            least=0,
            empty="the node's own",
            flag="--cores-per-node",
            key="memory_ledger_node_cores",
            label="Cores per node",
        ),
    ] = 0.0
    least_share: Annotated[
        float,
        Setting(
            "A finding wastes at least this share of all that is requested of its resource.",
            unit="share",
            above=0,
            most=1,
            key="memory_ledger_least_share",
            label="Smallest finding",
        ),
    ] = 0.001


@settings
class LedgerPrices:
    """Prices of an hour of each resource; findings are ranked by money as soon as one is given."""

    per_gb_h: Annotated[
        float,
        Setting(
            "Per GB·h of memory.",
            least=0,
            empty="no price",
            flag="--price-gb-h",
            key="memory_ledger_price_gb",
            label="Price per GB·h",
        ),
    ] = 0.0
    per_core_h: Annotated[
        float,
        Setting(
            "Per core·h.",
            least=0,
            empty="no price",
            flag="--price-core-h",
            key="memory_ledger_price_core",
            label="Price per core·h",
        ),
    ] = 0.0
    per_gpu_h: Annotated[
        float,
        Setting(
            "Per GPU·h.",
            least=0,
            empty="no price",
            flag="--price-gpu-h",
            key="memory_ledger_price_gpu",
            label="Price per GPU·h",
        ),
    ] = 0.0
    currency: Annotated[
        str, Setting("Of the prices, shown as it is.", most=8, some=True, key="memory_ledger_currency")
    ] = "USD"

    def of(self, resource: str) -> float:
        """The price of an hour of a resource, NaN where there is none."""
        price = {MEMORY: self.per_gb_h, CORES: self.per_core_h, GPUS: self.per_gpu_h}.get(resource, 0.0)
        return price if price > 0 else float("nan")

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return max(self.per_gb_h, self.per_core_h, self.per_gpu_h) > 0


@settings
class LedgerSettings:
    """By what the ledger adds up, its rules and its prices."""

    by: Annotated[
        str,
        Setting(
            "What a row is.",
            choices={
                USER: "who submitted the runs",
                "group": "their group",
                TASK: "tasks of the same name",
                "partition": "the partition or queue of a scheduler",
                PROFILE: "runs that behave alike",
                WEEK: "the week in which they started",
            },
            empty="users where the trace names them, else groups or tasks",
            key="memory_ledger_by",
            label="Rows",
        ),
    ] = ""
    target: Target = "peak_rss"
    rules: Thresholds = field(default_factory=Thresholds)
    prices: LedgerPrices = field(default_factory=LedgerPrices)


MOST_LISTED = 50


@settings
class LedgerRunsSettings:
    """Which runs behind a number of the ledger are listed."""

    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    row: Annotated[str, Setting("Name of a row of the ledger.", empty="all rows", key="memory_ledger_row")] = ""
    task: Annotated[str, Setting("Name of the task.", empty="all tasks", key="memory_ledger_task")] = ""
    key: Annotated[
        str, Setting("Key of a finding, which names its row of the plan.", empty="all keys", key="memory_ledger_key")
    ] = ""
    resource: Annotated[
        str,
        Setting(
            "What the runs waste.",
            choices={
                MEMORY: "GB·h",
                CORES: "core·h",
                GPUS: "GPU·h",
                LIMIT: "hours of the time limit",
            },
            key="memory_ledger_resource",
        ),
    ] = MEMORY
    cause: Annotated[
        str,
        Setting(
            "Runs that ended so, in place of the finished ones.",
            choices=CAUSES,
            empty="finished runs",
            key="memory_ledger_cause",
        ),
    ] = ""
    rule: Annotated[
        str,
        Setting("Only runs that break this rule, or one of several: A,B.", empty="every run", key="memory_ledger_rule"),
    ] = ""
    most: Annotated[
        int, Setting("Runs that are listed.", least=1, most=100_000, key="memory_ledger_most", label="Runs listed")
    ] = MOST_LISTED
