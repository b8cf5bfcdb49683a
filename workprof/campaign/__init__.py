"""Campaigns: commands run over inputs, nodes and repeats, each recorded, with benchmarks of the nodes in between."""
