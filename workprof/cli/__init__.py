"""The same questions from a shell: `workprof COMMAND --json` prints one JSON document and nothing else on stdout."""

from workprof.cli.main import main

__all__ = ["main"]
