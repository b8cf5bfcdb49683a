"""Figures and tables of memory: what is requested and used, bins, models, policies, roll-ups, scenarios."""
