"""A detection as it is asked for: the settings, and the dataset that it is trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workprof.nodes.detection.detection import detect_degradation
from workprof.nodes.detection.records import Detection
from workprof.nodes.detection.settings import DetectSettings
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DetectionAsked:
    """What makes a detection what it is.

    Attributes:
        detect: how runs are judged.
        train: hash of the dataset that is trained on; '' = the earlier runs of the same one.
    """

    detect: DetectSettings = field(default_factory=DetectSettings)
    train: str = ""


def detect(frames: Mapping[str, pd.DataFrame], settings: DetectionAsked, progress: Progress) -> Detection:
    """Return which runs are degraded, see `detect_degradation`; 'train' is among the frames where settings name it."""
    return detect_degradation(frames, settings.detect, progress)
