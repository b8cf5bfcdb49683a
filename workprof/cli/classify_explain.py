"""The command that tells what the classifier looks at over all jobs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from workprof.cli.classify import Dataset, Fields, Mode, classifier_settings
from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.forecasts.explain import SAMPLE_ROWS, GlobalExplanation
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.workbench.explanations import ExplanationSettings

SHOWN_PROFILES = 3


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(explain)


def explain(
    dataset: Dataset,
    rows: Annotated[int, typer.Option("--rows", help="Jobs that are drawn.")] = SAMPLE_ROWS,
    mode: Mode = "corrected",
    fields: Fields = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell what the classifier looks at over all jobs: mean |SHAP| per field and value, in log-odds."""
    forecaster = ForecasterSettings(classifier_settings(mode, fields))
    settings = further(ExplanationSettings(forecaster, rows), given)
    with opened(home) as workbench:
        workbench.forecaster(dataset, settings.forecaster, progress_line())
        found = workbench.global_explanation(dataset, settings, progress_line())
    if not found.additive:
        warn(f"note: SHAP values miss the output by up to {found.additivity_error:.2g}")
    emit(explanation_answer(found), as_json, lambda: _as_text(found))


def explanation_answer(found: GlobalExplanation) -> dict[str, Any]:
    """Return the JSON document of a global explanation."""
    classes = [int(one) for one in found.classes]
    return {
        "n_sampled": found.n_sampled,
        "n_rows": found.n_rows,
        "seed": found.seed,
        "fields": [
            {"field": name, "mean_abs_shap": float(row.sum()), "by_profile": _by_profile(classes, row)}
            for name, row in zip(found.fields, found.by_field, strict=True)
        ],
        "values": [
            {"value": name, "mean_abs_shap": float(row.sum()), "by_profile": _by_profile(classes, row)}
            for name, row in zip(found.values, found.by_value, strict=True)
        ],
        "additivity_error": found.additivity_error,
        "seconds": found.seconds,
    }


def _by_profile(classes: list[int], row: Any) -> dict[str, float]:
    return {str(profile): float(value) for profile, value in zip(classes, row, strict=True)}


def _as_text(found: GlobalExplanation) -> str:
    answer = explanation_answer(found)
    lines = {name: [_line(one) for one in answer[name]] for name in ("fields", "values")}
    head = f"mean |SHAP| in log-odds over {found.n_sampled:,} of {found.n_rows:,} jobs, summed over the profiles"
    return f"{head}\n\n{table(lines['fields'])}\n\n{table(lines['values'])}"


def _line(one: dict[str, Any]) -> dict[str, object]:
    most = sorted(one["by_profile"].items(), key=lambda item: -item[1])[:SHOWN_PROFILES]
    return {
        "what": one.get("field", one.get("value")),
        "mean |SHAP|": f"{one['mean_abs_shap']:.4f}",
        "most for": ", ".join(f"{profile} ({value:.3f})" for profile, value in most),
    }
