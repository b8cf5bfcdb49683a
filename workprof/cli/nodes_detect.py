"""The command that looks for degraded benchmark runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.nodes.detection import DegradationSettings, Detection, ScoredRuns
from workprof.nodes.detection_data import CHOSEN, CORRECTED, DETECTORS, MODES, DetectSettings
from workprof.units import format_share

SHOWN_RUNS = 40


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(detect)


def detect(
    dataset: Annotated[str, typer.Argument(help="Name or hash of a dataset of benchmark runs.")],
    train: Annotated[
        str | None,
        typer.Option("--train", help="Dataset to learn from; default: the first runs of this one.", show_default=False),
    ] = None,
    detector: Annotated[
        str, typer.Option("--detector", help=f"One of {', '.join(DETECTORS)}; default: by validation.")
    ] = CHOSEN,
    false_alarms: Annotated[
        float, typer.Option("--false-alarms", help="Share of normal runs that may be flagged.")
    ] = 0.05,
    trials: Annotated[int, typer.Option("--trials", help="Of a search over the network's published space.")] = 0,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes of the training; 0 = the recipe's.")] = 0,
    mode: Annotated[str, typer.Option("--mode", help=f"One of {', '.join(MODES)}.")] = CORRECTED,
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell which runs of benchmarks are degraded, with a probability where runs are labelled."""
    settings = DetectSettings(
        mode=mode, detector=detector, false_alarm_share=false_alarms, trials=trials, epochs=epochs, seed=seed
    )
    with opened(home) as workbench:
        asked = further(DegradationSettings(settings, train or ""), given)
        found: Detection = workbench.degradation(dataset, asked.detect, asked.train or None, progress=progress_line())
    for message in found.messages:
        warn(f"note: {message}")
    emit(detection_answer(found), as_json, lambda: _text(found))


def detection_answer(found: Detection) -> dict[str, Any]:
    """Return the JSON document of a detection; its runs are those outside the training part."""
    return {
        "mode": found.settings.mode,
        "published_definitions": found.published,
        "supervised": found.supervised,
        "detector": found.detector,
        "threshold": found.threshold,
        "model": asdict(found.model),
        "detectors": {name: asdict(one) for name, one in found.detectors.items()},
        "runs": _runs(found.runs),
        "not_scored": len(found.not_scored),
        "not_scored_runs": [asdict(one) for one in found.not_scored],
        "parts": asdict(found.parts),
        "calibration": asdict(found.calibration) if found.calibration else None,
        "recipe": asdict(found.network.recipe),
        "dropped_metrics": [asdict(one) for one in found.dropped],
        "orientations": [asdict(one) | {"disagree": one.disagree} for one in found.orientations],
        "messages": list(found.messages),
        "seconds": found.seconds,
    }


def _runs(runs: ScoredRuns) -> list[dict[str, Any]]:
    return [
        {
            "row_id": runs.row_id[place],
            "node": str(runs.node[place]),
            "benchmark": str(runs.benchmark[place]),
            "started": float(runs.started_s[place]),
            "stressed": None if runs.label[place] < 0 else bool(runs.label[place]),
            "p_anomalous": float(runs.p_anomalous[place]),
            "p_value": float(runs.p_value[place]),
            "flag": bool(runs.flag[place]),
            "drivers": [asdict(one) for one in runs.drivers[place]],
            "reconstruction_error": float(runs.reconstruction_error[place]),
        }
        for place in range(len(runs.tested))
        if runs.tested[place]
    ]


def _text(found: Detection) -> str:
    head = (
        f"{found.parts.n_scored} of {found.parts.n_test} runs judged by {found.detector}, "
        f"trained on {found.parts.by} ({found.parts.n_train_scored} with a label, "
        f"{found.parts.n_train_anomalous} of them stressed)"
    )
    if found.published:
        head = f"published definitions\n{head}"
    model = (
        f"network: restores inputs with a mean squared error of {found.model.mse:.4f}, "
        f"tells the benchmark of {format_share(found.model.type_accuracy)}"
    )
    parts = [head, model, table(_detector_rows(found)), table(_flagged(found))]
    n_flagged = int((found.runs.flag & found.runs.tested).sum())
    more = [f"... and {n_flagged - SHOWN_RUNS} more runs: --json has all"] if n_flagged > SHOWN_RUNS else []
    return "\n\n".join([*parts, *more])


def _detector_rows(found: Detection) -> list[dict[str, object]]:
    return [
        {
            "detector": name + (" (used)" if name == found.detector else ""),
            "F1 normal": f"{one.f1_normal:.3f}",
            "F1 anomalous": f"{one.f1_anomalous:.3f}",
            "weighted accuracy": f"{one.weighted_accuracy:.3f}",
            "PR-AUC": f"{one.pr_auc:.3f}",
            "Brier": f"{one.brier:.3f}",
        }
        for name, one in found.detectors.items()
    ]


def _flagged(found: Detection) -> list[dict[str, object]]:
    runs = found.runs
    told = runs.p_anomalous if found.supervised else runs.p_value
    places = [place for place in range(len(runs.tested)) if runs.tested[place] and runs.flag[place]]
    return [
        {
            "node": runs.node[place],
            "benchmark": runs.benchmark[place],
            "started": f"{runs.started_s[place]:.0f}",
            "p" if found.supervised else "p-value": f"{told[place]:.3f}",
            "farthest from its history": ", ".join(f"{one.metric} {one.size:+.1f}" for one in runs.drivers[place][:2]),
        }
        for place in places[:SHOWN_RUNS]
    ]
