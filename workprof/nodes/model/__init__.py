"""The small graph network that codes benchmark runs (perona.md 3), in JAX on the processor with 64-bit numbers."""
