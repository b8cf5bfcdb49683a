"""Figures and tables of durations: what was observed, and how far every predictor is off."""
