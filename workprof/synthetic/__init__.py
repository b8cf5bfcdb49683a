"""Seeded generators that return the data and the truth, for the demo, tests and benchmarks."""
