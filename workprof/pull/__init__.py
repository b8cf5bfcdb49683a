"""Traces in other engines: joined, folded into runs, checked and sampled there; runs, counts and samples come here."""
