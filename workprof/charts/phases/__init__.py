"""Figures and tables of phases: timelines, fingerprints, matches, libraries, evaluations, recordings in progress."""
