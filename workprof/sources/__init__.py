"""Traces that grow: where rows come from again and again, and what a refresh brings."""
