"""Which machine for which profile."""
