"""What is kept of the commands for help and for errors of usage is what the commands themselves say."""

import pytest
import typer

from tests.command_line import run_here
from tests.golden import lines
from workprof.cli import kept
from workprof.cli.main import MODULES, app

REAL = lines.tree()


def test_the_file_is_what_the_commands_take():
    assert lines.FILE.read_text(encoding="utf-8") == lines.made(), "run python -m tests.golden.lines"


def light(path):
    """Return a kept command, and its context."""
    root = typer.main.get_command(app)
    context = root.make_context("workprof", [], resilient_parsing=True)
    commands = kept.Kept(MODULES)
    for name in path.split():
        command = commands[name]
        context = command.context_class(command, info_name=name, parent=context, **command.context_settings)
        commands = getattr(command, "commands", {})
    return command, context


@pytest.mark.parametrize("path", REAL)
def test_the_help_of_each_command_is_the_same(path):
    command, context = light(path)
    real, real_context = REAL[path]
    assert command.get_help(context) == real.get_help(real_context)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "memory plan",
        "memory plan x --nonsense",
        "memory plan x y",
        "memory plam",
        "memory",
        "memory plan x --home",
        "memory export x",
        "nodes suite --json=1",
        "record --seconds",
        "campaign run",
    ],
)
def test_a_mistake_is_told_as_the_command_itself_tells_it(line, tmp_path, capsys):
    root = typer.main.get_command(app)
    with pytest.raises(SystemExit) as end:
        root.main(line.split(), prog_name="workprof")
    said = capsys.readouterr()
    done = run_here(*line.split(), home=tmp_path)
    assert (done.status, done.out, done.err) == (end.value.code, said.out, said.err)


@pytest.mark.parametrize("line", ["memory violations x --any 1", "record --json -- true --help", "datasets"])
def test_a_sound_line_goes_to_its_command(line):
    root = typer.main.get_command(app)
    root.commands = kept.Kept(MODULES)
    with pytest.raises(kept.Sound):
        root.main(line.split(), prog_name="workprof")
