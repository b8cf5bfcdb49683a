"""Nodes: which machine for which work, and which one has gone bad.

Throughout, `rows` are positions of runs in the table, and masks of runs, such as `normal` and `train`, are (n_runs,).
"""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:
    from workprof.nodes.advice import AdviceSettings
    from workprof.nodes.allocation import AllocationSettings
    from workprof.nodes.detection import DegradationSettings
    from workprof.nodes.detection_data import DetectSettings
    from workprof.nodes.groups import GroupSettings
    from workprof.nodes.search import SearchSettings
    from workprof.nodes.selection import RankSettings
    from workprof.nodes.suite import SuiteSettings
    from workprof.nodes.transfer import TransferSettings

__all__ = [
    "AdviceSettings",
    "AllocationSettings",
    "DegradationSettings",
    "DetectSettings",
    "GroupSettings",
    "RankSettings",
    "SearchSettings",
    "SuiteSettings",
    "TransferSettings",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "AdviceSettings": "workprof.nodes.advice",
        "AllocationSettings": "workprof.nodes.allocation",
        "DegradationSettings": "workprof.nodes.detection",
        "DetectSettings": "workprof.nodes.detection_data",
        "GroupSettings": "workprof.nodes.groups",
        "RankSettings": "workprof.nodes.selection",
        "SearchSettings": "workprof.nodes.search",
        "SuiteSettings": "workprof.nodes.suite",
        "TransferSettings": "workprof.nodes.transfer",
    },
)
