"""The compiled loops: one file each for what numba runs, and how it is compiled and split over threads."""
