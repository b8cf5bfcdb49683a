"""The same questions from a shell: `workprof COMMAND --json` prints one JSON document and nothing else on stdout."""

from workprof.cli.main import command, main

__all__ = ["command", "main"]
