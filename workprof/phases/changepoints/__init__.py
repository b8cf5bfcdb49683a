"""Where the phases of a run begin."""
