"""How runs are normalised, summarised by phase, compared and recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.phases.library import LibrarySettings


@dataclass(frozen=True)
class DetectSettings:
    """Settings of the phases of one run.

    Attributes:
        run: 'run', or 'workload/run' where several workloads have one of that name; '' = the first run.
        library: counters and fingerprints; normalised over all runs of the dataset.
    """

    run: str = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of an evaluation.

    Attributes:
        library: of each training part.
        splits: repeated splits of known workloads.
        test_share: of the runs of each workload, at least one.
        open_splits: splits in which each workload is left out in turn; these are long.
        left_out: workloads that are left out together instead, as in the paper's Table III; () = each in turn.
        trained_elsewhere: `train` holds the runs to learn from, and nothing is split.
        train_hash: of that dataset, so that results are kept apart.
    """

    library: LibrarySettings = field(default_factory=LibrarySettings)
    splits: int = 20
    test_share: float = 0.3
    open_splits: int = 2
    left_out: tuple[str, ...] = ()
    trained_elsewhere: bool = False
    train_hash: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.splits <= 1000 or not 0 <= self.open_splits <= self.splits:
            raise SettingsError(
                f"splits is {self.splits} and open splits {self.open_splits}; give 1 to 1,000, and no more open ones"
            )
        if not 0 < self.test_share < 1:
            raise SettingsError(f"test share is {self.test_share}; give a share between 0 and 1")
