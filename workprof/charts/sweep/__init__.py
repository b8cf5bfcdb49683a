"""Figures and tables of a sweep: its runs, their scores, the winner per target, and two runs side by side."""
