"""Figures and tables of memory: what is asked for and used, bins, models, policies, roll-ups, scenarios."""
