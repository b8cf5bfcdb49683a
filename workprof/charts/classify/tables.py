"""What a reader takes away: answers for many jobs, past jobs alike, the model's card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

import workprof
from workprof.charts.classify.naming import PUBLISHED, Naming
from workprof.charts.text import formatted
from workprof.forecasts.estimates import TARGETS, Estimates, NearestJobs
from workprof.forecasts.forecaster import Forecaster, Forecasts
from workprof.forecasts.predictions import N_TOP
from workprof.records import to_json
from workprof.store.reports import Dataset

PERCENT = 100


@dataclass(frozen=True)
class Batch:
    """Answers for a file: of which forecaster and upload, the table, the columns that were not used."""

    of: tuple[str, str]
    name: str
    table: pd.DataFrame
    unknown: tuple[str, ...]


def answers_table(jobs: pd.DataFrame, said: Forecasts, naming: Naming, first_row: int = 1) -> pd.DataFrame:
    """Return one line per job: its fields, the answer or the reason why there is none, the top three, the estimates.

    Args:
        jobs: as read, in the order of the answers.
        said: of the forecaster.
        naming: of the profiles.
        first_row: number of the first job in its file, counted from 1.
    """
    profiles = said.profiles
    rows = range(len(profiles))
    columns: dict[str, object] = {
        "row": np.arange(first_row, first_row + len(profiles)),
        "profile": profiles.profile,
        "name": [naming.name(int(profile)) for profile in profiles.profile],
        "probability": profiles.probability,
        "abstained": profiles.abstained,
        "reason": [profiles.reason_text(row) for row in rows],
    }
    for place in range(min(N_TOP, profiles.top.shape[1])):
        columns[f"top{place + 1}"] = profiles.top[:, place]
        columns[f"top{place + 1}_probability"] = profiles.top_probability[:, place]
    for target, found in said.estimates.items():
        columns |= _needs(target, found)
    given = jobs.reset_index(drop=True)
    answers = pd.DataFrame(columns).assign(definitions="published" if naming.mode == "faithful" else "corrected")
    return pd.concat([answers[["row"]], given, answers.drop(columns="row")], axis=1)


def _needs(target: str, found: Estimates) -> dict[str, object]:
    return {target: found.point, f"{target}_low": found.low, f"{target}_high": found.high}


def past_jobs_table(
    past: pd.DataFrame, nearest: NearestJobs, profiles: Mapping[int, int], naming: Naming
) -> pd.DataFrame:
    """Return the past jobs that weigh most, the heaviest first, with their numbers as people read them.

    Args:
        past: their rows, in the order of `nearest`.
        nearest: their weights.
        profiles: row id -> profile, where it has one.
        naming: of the profiles.
    """
    table = past.drop(columns=[name for name in past.columns if name.endswith("time_s")])
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name]) and name != "row_id":
            table[name] = [formatted(name, float(value)) for value in table[name]]
    ids = [int(row_id) for row_id in past["row_id"]]
    found = [naming.name(profiles[row_id]) if row_id in profiles else "" for row_id in ids]
    first = [name for name in ("row_id", *TARGETS) if name in table.columns]
    table = table[[*first, *(name for name in table.columns if name not in first)]]
    table.insert(1, "weight", [f"{share * PERCENT:.1f} %" for share in nearest.shares])
    table.insert(2, "profile", found)
    return table


def forecaster_card(forecaster: Forecaster, dataset: Dataset, naming: Naming) -> bytes:
    """Return what a forecaster is as JSON: settings, inputs, classes with support, choices, notes; no trees."""
    model = forecaster.classifier
    card = {
        "dataset": {"name": dataset.name, "hash": dataset.hash, "rows": dataset.rows, "join": dataset.mode},
        "workprof": workprof.__version__,
        "definitions": "published" if naming.mode == "faithful" else "corrected",
        "definitions_note": PUBLISHED if naming.mode == "faithful" else "",
        "settings": to_json(forecaster.settings),
        "fields": list(model.encoder.fields),
        "classes": [
            {"profile": int(profile), "name": naming.name(int(profile)), "training_rows": int(rows)}
            for profile, rows in zip(model.classes, model.support, strict=True)
        ],
        "tuning": to_json(model.tuning),
        "rows": model.n_rows,
        "left_out_rows": model.n_left_out,
        "notes": list(model.notes),
        "estimates": {
            target: {"jobs": one.n_jobs, "left_out": one.n_left_out, "notes": list(one.notes)}
            for target, one in forecaster.estimators.items()
        },
        "not_estimated": forecaster.left_out,
        "seconds": forecaster.seconds,
    }
    return json.dumps(card, indent=2, allow_nan=False).encode()
