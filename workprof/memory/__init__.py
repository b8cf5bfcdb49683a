"""Memory sizing after a load-aware scheduler: what tasks ask for and use, bins, policies, and what they would break."""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.memory.assessment import AssessmentSettings as AssessmentSettings, ClassSettings as ClassSettings
    from workprof.memory.bin_models import PredictorSettings as PredictorSettings
    from workprof.memory.bin_search import BinSettings as BinSettings
    from workprof.memory.bins import ProfileBinSettings as ProfileBinSettings
    from workprof.memory.changes import ChangesSettings as ChangesSettings
    from workprof.memory.chargeback import ChargebackSettings as ChargebackSettings
    from workprof.memory.demand import DemandSettings as DemandSettings
    from workprof.memory.facts import FactPointsSettings as FactPointsSettings
    from workprof.memory.ledger_settings import (
        LedgerRunsSettings as LedgerRunsSettings,
        LedgerSettings as LedgerSettings,
    )
    from workprof.memory.model_tables import TableSettings as TableSettings
    from workprof.memory.over_time import (
        OverTimeRunsSettings as OverTimeRunsSettings,
        OverTimeSettings as OverTimeSettings,
    )
    from workprof.memory.policies import SizingSettings as SizingSettings
    from workprof.memory.replay_settings import ReplaySettings as ReplaySettings
    from workprof.memory.retry import RetrySettings as RetrySettings
    from workprof.memory.rollup import RollupSettings as RollupSettings
    from workprof.memory.schedule import ScheduleSettings as ScheduleSettings
    from workprof.memory.verdict import VerdictSettings as VerdictSettings
    from workprof.memory.what_if import WhatIfSettings as WhatIfSettings
    from workprof.memory.why import WhySettings as WhySettings

__getattr__, __dir__, __all__ = lazily(__name__)
