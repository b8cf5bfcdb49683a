"""The commands on phases: what their results are as JSON and as text; their options are the declared settings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.phases import fingerprints_answer
from workprof.cli.console import OUT, Dataset, emit_answer, opened, parameter, progress_line, register
from workprof.cli.questions import add, add_others, answered, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.records import to_json
from workprof.phases import questions

HELP = "Phases of a run, fingerprints, and which known workload a run is like."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

EDITED = parameter(
    "edited",
    Annotated[bool, typer.Option("--edited", help="With the labels given by hand on the Phases page.")],
    False,
)


@app.callback()
def phases() -> None:
    """Phases of a run, fingerprints, and which known workload a run is like."""


def _completed(workbench: Any, dataset: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with the counters by their names, and with the labels given by hand where they are wanted."""
    known = given.get("train") or dataset
    completed = dict(given, counters=_counters(workbench, known, given["counters"]))
    if given.get("edited") and given["labels"] is None:
        completed["labels"] = json.dumps(to_json(workbench.library_edits(known).labels))
    return completed


def _counters(workbench: Any, dataset: str, text: str | None) -> str | None:
    """Return the names that `--counters` stands for: those of a file, all but those of the own processes, or its own.

    Raises SettingsError when it is no file, and no counter of the dataset either.
    """
    if text == "all":
        return json.dumps(workbench.system_counters(dataset))
    if text in (None, "", "system72") or "," in text or text.startswith("["):
        return text
    path = Path(text)
    if not path.is_file():
        if text in {one.name for one in workbench.columns(dataset)}:
            return text
        raise SettingsError(
            f"counters is {text!r}; give system72, all, names A,B,... that there are, or a file with one name per line"
        )
    try:
        names = tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise SettingsError(f"{text} is no text in UTF-8; give one counter per line") from error
    if not names:
        raise SettingsError(f"{text} names no counter; give one per line")
    return json.dumps(list(dict.fromkeys(names)))


add(app, answered(questions.RUNS))
for _question in (questions.DETECT, questions.TIMELINE, questions.ALIGN, questions.EVALUATE, questions.EARLY):
    add(app, answered(_question, complete=_completed))
add(app, answered(questions.COURSE, more=(EDITED,), complete=_completed))
add(app, answered(questions.LIBRARY, more=(EDITED,), complete=_completed))
add(
    app,
    answered(questions.MATCH, complete=_completed),
    answered(questions.KNOWN_MATCH, when="--train --edited --labels", more=(EDITED,), complete=_completed),
)


def _fingerprints(dataset: str, run: str, home: Path | None, as_json: bool, **given: Any) -> None:
    with opened(home) as workbench:
        settings = settings_of(questions.LEARN, _completed(workbench, dataset, given))
        result = workbench.workload_library(dataset, settings, progress_line())
    prints = tuple(one for one in result.prints if run in ("", one.name, one.run))
    if not prints:
        names = ", ".join(one.name for one in result.prints[:12])
        raise SettingsError(f"there is no labelled run {run!r}; choose from {names}")
    emit_answer(fingerprints_answer(result, prints), as_json)


register(
    app,
    "fingerprints",
    questions.LEARN.title,
    _fingerprints,
    [
        parameter("dataset", Dataset),
        parameter("run", Annotated[str, typer.Option("--run", help="This one only; default: all labelled runs.")], ""),
        *options(questions.LEARN),
        *OUT,
    ],
)
add_others(app, questions.QUESTIONS)
