"""Nodes: which machine for which work, and which one has gone bad.

Throughout, `rows` are positions of runs in the table, and masks of runs, such as `normal` and `train`, are (n_runs,).
"""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.nodes.advice import AdviceSettings as AdviceSettings
    from workprof.nodes.allocation import AllocationSettings as AllocationSettings
    from workprof.nodes.detection import DegradationSettings as DegradationSettings
    from workprof.nodes.detection_data import DetectSettings as DetectSettings
    from workprof.nodes.groups import GroupSettings as GroupSettings
    from workprof.nodes.history import HistorySettings as HistorySettings
    from workprof.nodes.search import SearchSettings as SearchSettings
    from workprof.nodes.selection import RankSettings as RankSettings
    from workprof.nodes.suite import SuiteSettings as SuiteSettings
    from workprof.nodes.transfer import TransferSettings as TransferSettings

__getattr__, __dir__, __all__ = lazily(__name__)
