"""Figures and tables of nodes: rankings, aspects, groups, advice, degradation, transfer."""
