"""The Runs page: all that was computed, one run, two compared, and the address of a run's page."""
