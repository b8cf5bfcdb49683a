"""The compiled loops: what numba runs, and how it is split over threads. Imported where they are used."""
