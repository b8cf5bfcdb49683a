"""`python -m workprof.cli`: the same as the `workprof` command."""

from workprof.cli import command

if __name__ == "__main__":
    command()
