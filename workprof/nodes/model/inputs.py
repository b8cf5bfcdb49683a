"""What the network reads: windows as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from workprof.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Inputs:
    """Windows of four runs as arrays; n windows.

    Attributes:
        runs: (n, 4, n_columns) what the encoder reads.
        targets: (n, 4, n_columns) what the decoder is to restore, about 0 to 1.
        counted: (n, 4, n_columns) 1 where reconstruction is judged, else 0.
        edges: (n, 4, 4, n_edge), [window, to, from].
        mask: (n, 4, 4) which edges exist.
        label: (n, 4) 1 = anomalous; only the last run can be.
        kind: (n,) benchmark type.
        size: (n, 4) 10-norm of the run.
        least: (n,) rho of the type, see `losses.rank_anomalous`.
        evidence: (n, n_evidence) of the last run; no columns for the published network.
    """

    runs: Floats
    targets: Floats
    counted: Floats
    edges: Floats
    mask: Bools
    label: Floats
    kind: Ints
    size: Floats
    least: Floats
    evidence: Floats

    def __len__(self) -> int:
        return len(self.kind)

    def at(self, places: Ints) -> Inputs:
        """Return some of the windows."""
        return Inputs(**{name: array[places] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name, for JAX."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def padded(n: int, least: int = 16) -> int:
    """Return the size that n windows are filled up to, so that few sizes are compiled: a power of two."""
    return max(least, 1 << max(n - 1, 0).bit_length())


def filled_up(inputs: Inputs) -> Inputs:
    """Return the windows with copies of the first one behind them, up to `padded` many."""
    places = np.zeros(padded(len(inputs)), dtype=np.int64)
    places[: len(inputs)] = np.arange(len(inputs))
    return inputs.at(places)
