"""Computed results as runs of MLflow, in the layout of its file store, written without MLflow.

MLflow 2 and 3 read it, of late with MLFLOW_ALLOW_FILE_STORE=true; `mlflow migrate-filestore` makes it a database.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from workprof.answers.models import every_model
from workprof.answers.told import TOLD, document_of
from workprof.core.errors import SettingsError
from workprof.core.records import digest
from workprof.core.runs import MlflowExport, StoredRun
from workprof.memory.models import PredictorResult
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED
from workprof.workbench.runs import flat_settings, numbers_of

FINISHED, LOCAL = 3, 4
"""MLflow's RunStatus and SourceType."""
MOST_NAME, MOST_PARAM = 250, 6000
"""Its limits, in characters."""
NOT_ALLOWED = re.compile(r"[^\w\-. :]|^[. ]+", re.ASCII)
"""In a name of a parameter or metric, which is a file's: a slash would make a folder."""
FOLDERS = ("artifacts", "metrics", "params", "tags")
"""Of every run; MLflow finds no run that lacks one."""
TUNED = "parameters."


def export_mlflow(bench: Workbench, folder: Path, runs: Sequence[str] = ()) -> MlflowExport:
    """Write computed results, `runs` = names or their beginnings, none = all, as MLflow runs into a folder.

    An experiment per kind of result; settings are parameters, every single number and figure a metric, the document
    that the command gives an artifact. Each model of a training is a run within its run. Nothing there is changed.

    Raises SettingsError when a run is not known, or the folder is a file or cannot be written.
    """
    if "artifacts" in folder.absolute().parts:
        raise SettingsError(f"{folder}: MLflow reads no run below a folder named artifacts; name another")
    asked = {one.key: one for one in map(bench.stored_run, runs)}.values() if runs else bench.stored_runs()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = [_exported(bench, one, folder.resolve()) for one in asked]
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be written: {error.strerror}; name a folder for MLflow") from error
    new = [one for one in made if one is not None]
    n_models, n_bare = sum(n for n, _ in new), sum(not numbers for _, numbers in new)
    return MlflowExport(str(folder), len(new), n_models, len(made) - len(new), n_bare)


def _exported(bench: Workbench, stored: StoredRun, folder: Path) -> tuple[int, bool] | None:
    """How many models were written with a result, and whether it has numbers; None where it is there already."""
    kind, run_id = f"workprof {stored.step}", digest(stored.key)
    number = str(int(digest(kind)[:15], 16))
    experiment = folder / number
    if (experiment / run_id).exists():
        return None
    ended = round(datetime.fromisoformat(stored.created).timestamp() * 1000)
    if not (experiment / "meta.yaml").exists():
        about = {"artifact_location": experiment.as_uri(), "creation_time": ended, "experiment_id": number}
        _write(experiment, {"meta.yaml": _yaml(about | {"lifecycle_stage": "active", "name": kind})}, ())
    result, again = bench.stored_result(stored.run), bench.run_again(stored.run)
    shared = {f"workprof.{one}": getattr(stored, one) for one in ("run", "step", "dataset", "dataset_hash")}
    shared |= {f"workprof.version.{name}": version for name, version in stored.versions.items()}
    shared |= {"mlflow.source.name": again.shell or "workprof", "mlflow.source.type": "LOCAL"}
    models = every_model(result) if isinstance(result, PredictorResult) else ()
    for model in models:
        numbers = numbers_of(model)
        params = {name: str(value) for name, value in vars(model).items() if isinstance(value, str)}
        params |= {name: str(value) for name, value in numbers.items() if name.startswith(TUNED)}
        metrics = {name: value for name, value in numbers.items() if not name.startswith(TUNED)}
        tags = shared | {"mlflow.parentRunId": run_id, "mlflow.runName": model.name}
        within, began = digest(f"{stored.key} {model.name}"), ended - round(model.seconds * 1000)
        _write(experiment / within, _files(experiment, within, (began, ended), (params, metrics, tags)))
    began = ended - round(stored.seconds * 1000)
    tags = shared | {"mlflow.runName": f"{stored.finds} of {stored.dataset}"}
    params = {"dataset": stored.dataset} | flat_settings(stored.settings)
    told = document_of(STORED[stored.step], result) if result is not None and stored.step in TOLD else None
    figures = told.items() if isinstance(told, dict) else ()
    numbers = numbers_of(result) | {name: float(one) for name, one in figures if isinstance(one, (int, float))}
    files = _files(experiment, run_id, (began, ended), (params, numbers, tags))
    if told is not None:
        files["artifacts/answer.json"] = json.dumps(told, indent=1)
    files |= {f"artifacts/again.{kind}": text for kind, text in (("py", again.python), ("sh", again.shell)) if text}
    _write(experiment / run_id, files)
    return len(models), result is not None


Said = tuple[Mapping[str, str], Mapping[str, float], Mapping[str, str]]


def _files(experiment: Path, run_id: str, moments: tuple[int, int], said: Said) -> dict[str, str]:
    """Path within the run's folder -> content; `said` is its parameters, metrics and tags, moments are ms."""
    params, metrics, tags = said
    about = {
        "artifact_uri": (experiment / run_id / "artifacts").as_uri(),
        **{"start_time": moments[0], "end_time": moments[1], "status": FINISHED, "lifecycle_stage": "active"},
        **{"experiment_id": experiment.name, "run_id": run_id, "run_uuid": run_id, "run_name": tags["mlflow.runName"]},
        **{"entry_point_name": "", "source_name": "", "source_type": LOCAL, "source_version": "", "user_id": ""},
    }
    return {
        "meta.yaml": _yaml(about) + "tags: []\n",
        **{f"params/{_name(name)}": value[:MOST_PARAM] for name, value in params.items()},
        **{f"metrics/{_name(name)}": f"{moments[1]} {value!r} 0\n" for name, value in metrics.items()},
        **{f"tags/{name}": value for name, value in tags.items()},
    }


def _name(name: str) -> str:
    return NOT_ALLOWED.sub("_", name)[:MOST_NAME]


def _yaml(values: Mapping[str, object]) -> str:
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items())


def _write(target: Path, files: Mapping[str, str], folders: Sequence[str] = FOLDERS) -> None:
    """Make a folder of files that is there as a whole, or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as part:
        place = Path(part) / target.name
        for name in ("", *folders):
            (place / name).mkdir(parents=True)
        for path, text in files.items():
            (place / path).write_text(text, encoding="utf-8")
        place.rename(target)
