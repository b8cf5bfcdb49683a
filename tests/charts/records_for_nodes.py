"""A detection made by hand: two nodes, one with a hostile name, two benchmarks, a newest run that is flagged."""

import dataclasses

import numpy as np

from tests.charts.records_for_tests import HOSTILE
from workprof.nodes.calibration import Calibration, DetectorFigures, Reliability
from workprof.nodes.detection import Detection, Driver, ModelFigures, Parts, ScoredRuns, Unscored
from workprof.nodes.detection_data import DetectSettings
from workprof.nodes.network import Recipe, SavedNetwork
from workprof.nodes.preprocess import DroppedMetric, Orientation

NODES = ("calm", HOSTILE)
BENCHMARKS = ("cpu-sysbench", "disk-fio")
N = 40


def runs(nodes=NODES):
    draw = np.random.default_rng(0)
    flag = np.zeros(N, dtype=bool)
    flag[[10, N - 1]] = True
    p = np.where(flag, 0.9, draw.uniform(0, 0.3, N))
    codes = draw.normal(size=(N, 32))
    return ScoredRuns(
        row_id=np.arange(N),
        node=np.array([nodes[i // 2 % 2] for i in range(N)]),
        benchmark=np.array([BENCHMARKS[i % 2] for i in range(N)]),
        started_s=1.7e9 + 60.0 * np.arange(N),
        tested=np.arange(N) >= 24,
        label=np.where(np.arange(N) % 10 == 5, -1, flag.astype(int)),
        p_anomalous=p,
        p_value=np.full(N, np.nan),
        flag=flag,
        drivers=tuple(
            (Driver("cpu-sysbench.events_per_second", -4.2), Driver("host.cpu_busy_pct_mean", 1.5)) for _ in range(N)
        ),
        reconstruction_error=draw.uniform(1e-4, 1e-2, N),
        distance=draw.uniform(0, 1, N),
        codes=codes,
        map_xy=codes[:, :2],
    )


def figures(f1):
    reliability = Reliability(
        np.array([10, 0, 0, 0, 0, 0, 0, 0, 2, 4]),
        np.array([0.05, *([np.nan] * 7), 0.85, 0.95]),
        np.array([0.0, *([np.nan] * 7), 0.5, 1.0]),
        0.04,
    )
    return DetectorFigures(0.98, f1, 0.97, 0.95, 0.03, (f1 - 0.1, min(1.0, f1 + 0.05)), 0.5, 0.2, reliability, 16, 4)


def detection(nodes=NODES):
    return Detection(
        settings=DetectSettings(),
        published=False,
        supervised=True,
        detector="combined",
        threshold=0.5,
        model=ModelFigures(0.0091, 1.0, 16),
        detectors={"perona": figures(0.9), "robust-z": figures(0.7), "combined": figures(0.95)},
        calibration=Calibration("platt", 1.0, 0.0, np.zeros(0), np.zeros(0), 20),
        runs=runs(nodes),
        not_scored=(Unscored(99, nodes[0], "disk-fio", "fewer than 3 normal runs before it", True),),
        parts=Parts(24, 17, 12, 4, 16, "the first 60 % of the runs of each node and benchmark"),
        dropped=(DroppedMetric("cpu-sysbench.total_time", "context only"),),
        orientations=(
            Orientation("cpu-sysbench.events_per_second", "higher", "higher", "higher"),
            Orientation("disk-fio.read_lat_avg", "lower", "higher", "lower"),
        ),
        network=SavedNetwork(Recipe(), {"w": np.zeros((1, 2, 2))}, np.zeros((3, 6))),
        messages=("a message of the detection",),
        seconds=12.0,
    )


def without_labels():
    """Return the same without labels: p-values, no detector figures."""
    whole = detection()
    told = dataclasses.replace(
        whole.runs,
        p_anomalous=np.full(N, np.nan),
        p_value=np.where(whole.runs.flag, 0.0004, 0.5),
        label=np.full(N, -1),
    )
    return dataclasses.replace(
        whole, supervised=False, runs=told, detectors={}, calibration=None, threshold=0.05, detector="mahalanobis"
    )
