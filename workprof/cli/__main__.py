"""`python -m workprof.cli`: the same as the `workprof` command."""

from workprof.cli.main import main

if __name__ == "__main__":
    main()
