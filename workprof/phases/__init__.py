"""Phases and fingerprints of workloads: counters, change points, similarity, known and unknown (CWD)."""
