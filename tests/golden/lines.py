"""What every command takes, for its help and errors of usage: the text of `workprof/cli/commands.json`."""

import json
from itertools import zip_longest
from pathlib import Path

import typer

from workprof.cli import kept
from workprof.cli.main import app

FILE = Path(kept.__file__).parent / "commands.json"


def tree():
    """Return every command by its path, with its context."""
    root = typer.main.get_command(app)
    found = {}
    todo = [("", root, root.make_context("workprof", [], resilient_parsing=True))]
    while todo:
        above, group, context = todo.pop()
        for name in group.commands:
            command = group.commands[name]
            own = command.context_class(command, info_name=name, parent=context, **command.context_settings)
            found[f"{above}{name}"] = command, own
            if hasattr(command, "commands"):
                todo.append((f"{above}{name} ", command, own))
    return found


def told(command, context):
    also = ("help", "short_help", "epilog", "hidden", "no_args_is_help", "invoke_without_command", "context_settings")
    about = {name: value for name in also if (value := getattr(command, name, None))}
    if hasattr(command, "commands"):
        about["commands"] = list(command.commands)
    return about, [_parameter(one, context) for one in command.params]


def _parameter(one, context):
    decls = [one.name]
    if one.param_type_name == "option":
        decls += ["/".join(filter(None, pair)) for pair in zip_longest(one.opts, one.secondary_opts)]
    about = {"param_decls": decls, "record": one.get_help_record(context)}
    also = ("metavar", "required", "multiple", "is_flag", "hidden")
    about |= {name: value for name in also if (value := getattr(one, name, None))}
    about |= {"nargs": one.nargs} if one.nargs != 1 else {}
    return about | ({"type": one.type.name} if one.type.name in kept.KINDS else {})


def made():
    """Return the text of the file: a line for each command, and for each of its options."""
    lines = []
    for path, one in sorted(tree().items()):
        about, parameters = told(*one)
        texts = ",".join(f"\n  {json.dumps(parameter, ensure_ascii=False)}" for parameter in parameters)
        head = json.dumps(about, ensure_ascii=False)[:-1]
        lines.append(f'{json.dumps(path)}: {head}, "params": [{texts}]}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(made(), encoding="utf-8")
