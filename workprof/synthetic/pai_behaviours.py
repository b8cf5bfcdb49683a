"""The 26 planted behaviours: what an instance of each uses, and how long its task runs.

Levels are medians. Their scale per workload and task follows the 999-row file (usage quantiles, memory
ratios, bytes per operation), their duration the profile means that the published errors reveal; where neither
says anything, the level is our choice, made so that the behaviours differ in several sensors at once, as
clusters do. Parameter-server rows carry a little GPU use, as they do in the published sample; in the raw tables
they have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Behaviour:
    """Medians of one behaviour.

    Attributes:
        profile: its number, as in the published list of profiles.
        cpu: percent of one core.
        gpu: percent of one GPU.
        memory: peak main memory, GiB.
        memory_ratio: mean over peak main memory.
        gpu_memory: peak GPU memory, GiB.
        gpu_memory_ratio: mean over peak GPU memory.
        read: bytes read from the network over the lifetime.
        write: bytes written.
        read_count: read operations.
        write_count: write operations.
        duration_s: task duration outside the spike, seconds.
        spike_share: share of templates whose tasks mostly end in the 13-second spike.
    """

    profile: int
    cpu: float
    gpu: float
    memory: float
    memory_ratio: float
    gpu_memory: float
    gpu_memory_ratio: float
    read: float
    write: float
    read_count: float
    write_count: float
    duration_s: float
    spike_share: float = 0.0

    def coordinates(self) -> NDArray[np.float64]:
        """Return the ten coordinates in which spread is drawn: logarithms, and logits of the two ratios."""
        ratios = np.array([self.memory_ratio, self.gpu_memory_ratio])
        logits = np.log(ratios / (1 - ratios))
        logs = np.log([self.cpu, self.gpu, self.memory, self.gpu_memory])
        traffic = np.log([self.read, self.write, self.read_count, self.write_count])
        return np.concatenate([logs[:3], logits[:1], logs[3:], logits[1:], traffic])


BEHAVIOURS = (
    # bert alone (0); its large jobs are 8 (worker) and 9 (server)
    Behaviour(0, 75, 62, 2.9, 0.86, 5.0, 0.97, 2.2e6, 4.5e5, 600, 220, 1_700),
    # ctr servers 1, 2, 3: most of the 13-second tasks
    Behaviour(1, 150, 1.8, 2.7, 0.70, 0.30, 0.90, 2.4e8, 9.0e6, 8_500, 7_500, 16, 0.92),
    Behaviour(2, 420, 24, 8.0, 0.80, 0.80, 0.95, 1.1e9, 2.4e6, 26_000, 9_000, 900, 0.40),
    Behaviour(3, 240, 1.3, 1.6, 0.62, 0.90, 0.90, 8.0e8, 1.6e7, 21_000, 15_000, 300, 0.60),
    # rl: one group (4); one job of two behaviours (5, 6)
    Behaviour(4, 50, 3.5, 1.0, 0.90, 2.5, 0.90, 4.0e5, 2.0e5, 150, 120, 1_500),
    Behaviour(5, 620, 35, 16, 0.85, 6.0, 0.95, 3.0e7, 5.0e6, 5_000, 3_000, 8_000),
    Behaviour(6, 330, 70, 40, 0.40, 26, 0.70, 4.0e8, 1.5e7, 12_000, 8_000, 8_000),
    Behaviour(7, 222, 12, 19, 0.85, 12, 0.97, 2.5e8, 4.0e5, 9_000, 1_800, 330),
    Behaviour(8, 95, 30, 1.9, 0.80, 1.25, 0.95, 6.6e6, 1.6e6, 1_900, 480, 550),
    Behaviour(9, 60, 6.0, 3.2, 0.72, 0.45, 0.92, 1.5e7, 5.0e6, 3_500, 2_000, 2_200),
    # graphlearn servers 10, 11, 20, 21 and workers 14, 17, 18, 19
    Behaviour(10, 75, 1.0, 3.6, 0.35, 0.35, 0.85, 1.2e6, 8.0e5, 450, 350, 2_200),
    Behaviour(11, 130, 0.3, 24, 0.80, 0.22, 0.92, 2.0e8, 3.5e7, 7_000, 12_000, 2_800),
    Behaviour(12, 580, 7.5, 3.3, 0.76, 0.27, 0.96, 6.0e8, 3.6e6, 14_000, 6_000, 5_500),
    Behaviour(13, 214, 8.0, 7.0, 0.50, 0.75, 0.94, 1.1e8, 6.5e5, 3_000, 1_100, 45),
    Behaviour(14, 90, 24, 2.0, 0.50, 0.7, 0.90, 3.0e6, 1.2e5, 350, 120, 2_200),
    Behaviour(15, 660, 2.2, 6.0, 0.85, 1.8, 0.97, 2.2e8, 1.3e6, 5_000, 2_200, 2_500),
    Behaviour(16, 300, 9.0, 5.0, 0.55, 1.2, 0.90, 1.4e9, 8.5e6, 30_000, 16_000, 3_300),
    Behaviour(17, 85, 55, 21, 0.90, 7.7, 0.98, 1.2e7, 3.0e5, 900, 230, 3_000),
    Behaviour(18, 500, 17, 9.0, 0.92, 0.80, 0.95, 1.0e8, 2.0e7, 11_000, 9_000, 3_200),
    Behaviour(19, 144, 1.4, 5.7, 0.85, 2.2, 0.82, 2.8e7, 6.0e5, 1_500, 500, 3_300),
    Behaviour(20, 80, 0.5, 11, 0.88, 0.25, 0.95, 6.0e7, 2.6e6, 6_500, 2_600, 3_300),
    Behaviour(21, 36, 2.2, 1.1, 0.75, 0.27, 0.90, 5.0e5, 6.0e4, 180, 100, 8_000),
    # inception: two behaviours in one metadata cell, twice
    Behaviour(22, 130, 26, 8.0, 0.60, 5.5, 0.97, 9.0e7, 9.0e5, 7_500, 2_400, 400),
    Behaviour(23, 76, 7.0, 14, 0.82, 3.7, 0.96, 3.6e7, 2.6e6, 4_200, 1_500, 400),
    Behaviour(24, 40, 0.8, 4.6, 0.45, 0.50, 0.80, 6.0e6, 1.2e7, 1_000, 1_300, 530),
    Behaviour(25, 58, 2.5, 8.5, 0.76, 1.2, 0.94, 2.0e7, 7.0e6, 2_500, 2_200, 530),
)
"""Behaviour k stands at position k."""

COORDINATES = np.stack([behaviour.coordinates() for behaviour in BEHAVIOURS])  # (26, 10)
"""Coordinates of every behaviour."""

SPREAD = np.array([0.17, 0.28, 0.11, 0.30, 0.16, 0.42, 0.37, 0.22, 0.22, 0.24])  # (10,)
"""Within-behaviour standard deviation of each coordinate: about a sixth of its spread over all rows (tail)."""
