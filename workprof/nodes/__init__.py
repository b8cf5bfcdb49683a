"""Nodes: which machine for which work, and which one has gone bad."""
