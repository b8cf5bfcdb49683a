"""What every command prints on the bundled samples, kept in `kept/`; `python -m tests.golden` writes it anew."""
