"""A run as counters x phases x statistics."""
