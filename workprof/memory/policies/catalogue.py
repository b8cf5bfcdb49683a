"""Every policy by name."""

from __future__ import annotations

from workprof.errors import SettingsError
from workprof.memory.policies.linear_offset import LinearOffset
from workprof.memory.policies.min_waste import LocalMinWaste, MinWaste
from workprof.memory.policies.oracle import OracleBins, OracleExact
from workprof.memory.policies.percentiles import Krr, Percentile95, Vpa
from workprof.memory.policies.preset import Preset
from workprof.memory.policies.sequence import Policy
from workprof.memory.policies.sizing import Workprof
from workprof.memory.policies.sizing_settings import CAUTIOUS, DEFAULT
from workprof.memory.policies.thesis_bins import ThesisBins
from workprof.memory.policies.tovar import Tovar
from workprof.memory.policies.witt_lr import WittLr

OURS = ("workprof", "workprof_cautious")
PEERS = (
    "preset",
    "p95",
    "krr",
    "vpa",
    "tovar",
    "witt_lr",
    "linear_offset",
    "thesis_bins",
    "min_waste",
    "local_min_waste",
)
ORACLES = ("oracle_bins", "oracle_bins_free", "oracle_exact")
FURTHER = ("thesis_bins_svm",)
POLICIES = OURS + PEERS + FURTHER + ORACLES
"""Names in the order of tables; oracle_ = looks at the true use."""


def policy_named(name: str) -> Policy:
    """Return a policy.

    Raises:
        SettingsError: for an unknown name.
    """
    policies: tuple[Policy, ...] = (
        Workprof(DEFAULT),
        Workprof(CAUTIOUS, "workprof_cautious"),
        Preset(),
        Percentile95(),
        Krr(),
        Vpa(),
        Tovar(),
        WittLr(),
        LinearOffset(),
        ThesisBins(),
        ThesisBins("svm"),
        MinWaste(),
        LocalMinWaste(),
        OracleBins(),
        OracleBins(free_top=True),
        OracleExact(),
    )
    found = {policy.name: policy for policy in policies}
    if name not in found:
        raise SettingsError(f"policy is {name!r}; choose from {', '.join(POLICIES)}")
    return found[name]
