"""What a reader takes away: tables as CSV or Parquet, a clustering's labels, summary and model card."""

import io
import json
from collections.abc import Mapping

import pandas as pd

import workprof
from workprof.answers.profiles import PUBLISHED, definitions
from workprof.charts.profiles.membership import runs_frame
from workprof.core.records import to_json
from workprof.profiles.fit import ProfileFit
from workprof.profiles.membership import Membership
from workprof.store.reports import Dataset


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Return a table as Parquet."""
    target = io.BytesIO()
    frame.to_parquet(target, index=False)
    return target.getvalue()


def labels_table(fit: ProfileFit, names: Mapping[int, str], weighed: Membership | None = None) -> pd.DataFrame:
    """Return one line per run: its id, profile, the profile's name, membership strength and silhouette.

    `weighed` adds what hdbscan says of the clustered runs: outlier score and membership in each profile.
    """
    table = pd.DataFrame(
        {
            "row_id": fit.row_ids,
            "profile": fit.labels,
            "name": [names.get(int(profile), "") for profile in fit.labels],
            "probability": fit.probabilities,
            "silhouette": fit.silhouettes,
            "definitions": definitions(fit),
        }
    )
    if weighed is None:
        return table
    return table.merge(runs_frame(weighed).drop(columns="profile"), on="row_id", how="left", validate="1:1")


def model_card(fit: ProfileFit, dataset: Dataset, names: Mapping[int, str]) -> bytes:
    """Return a clustering's settings, scores and profiles as JSON: enough to make it again."""
    card = {
        "dataset": {"name": dataset.name, "hash": dataset.hash, "rows": dataset.rows, "join": dataset.mode},
        "workprof": workprof.__version__,
        "definitions": definitions(fit),
        "definitions_note": PUBLISHED if fit.settings.mode == "faithful" else "",
        "settings": to_json(fit.settings),
        "features": list(fit.features),
        "left_out": fit.left_out,
        "imputed": fit.imputed,
        "notes": list(fit.notes),
        "scores": to_json(fit.scores),
        "profiles": [{"name": names.get(profile.profile, ""), **to_json(profile)} for profile in fit.cards],
        "seconds": fit.seconds,
        "step_seconds": fit.step_seconds,
    }
    return json.dumps(card, indent=2, allow_nan=False).encode()
