"""Memory sizing after a load-aware scheduler: what tasks ask for and use, bins, policies, and what they would break."""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:
    from workprof.memory.assessment import AssessmentSettings, ClassSettings
    from workprof.memory.bin_models import PredictorSettings
    from workprof.memory.bin_search import BinSettings
    from workprof.memory.bins import ProfileBinSettings
    from workprof.memory.facts import FactPointsSettings
    from workprof.memory.ledger_settings import LedgerRunsSettings, LedgerSettings
    from workprof.memory.model_tables import TableSettings
    from workprof.memory.over_time import OverTimeRunsSettings, OverTimeSettings
    from workprof.memory.policies import SizingSettings
    from workprof.memory.replay_settings import ReplaySettings
    from workprof.memory.retry import RetrySettings
    from workprof.memory.rollup import RollupSettings
    from workprof.memory.verdict import VerdictSettings
    from workprof.memory.what_if import WhatIfSettings
    from workprof.memory.why import WhySettings

__all__ = [
    "AssessmentSettings",
    "BinSettings",
    "ClassSettings",
    "FactPointsSettings",
    "LedgerRunsSettings",
    "LedgerSettings",
    "OverTimeRunsSettings",
    "OverTimeSettings",
    "PredictorSettings",
    "ProfileBinSettings",
    "ReplaySettings",
    "RetrySettings",
    "RollupSettings",
    "SizingSettings",
    "TableSettings",
    "VerdictSettings",
    "WhatIfSettings",
    "WhySettings",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "AssessmentSettings": "workprof.memory.assessment",
        "BinSettings": "workprof.memory.bin_search",
        "ClassSettings": "workprof.memory.assessment",
        "FactPointsSettings": "workprof.memory.facts",
        "LedgerRunsSettings": "workprof.memory.ledger_settings",
        "LedgerSettings": "workprof.memory.ledger_settings",
        "OverTimeRunsSettings": "workprof.memory.over_time",
        "OverTimeSettings": "workprof.memory.over_time",
        "PredictorSettings": "workprof.memory.bin_models",
        "ProfileBinSettings": "workprof.memory.bins",
        "ReplaySettings": "workprof.memory.replay_settings",
        "RetrySettings": "workprof.memory.retry",
        "RollupSettings": "workprof.memory.rollup",
        "SizingSettings": "workprof.memory.policies",
        "TableSettings": "workprof.memory.model_tables",
        "VerdictSettings": "workprof.memory.verdict",
        "WhatIfSettings": "workprof.memory.what_if",
        "WhySettings": "workprof.memory.why",
    },
)
