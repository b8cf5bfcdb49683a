"""Sources that refresh: small servers of our own here; the real ones stand in the soak."""
