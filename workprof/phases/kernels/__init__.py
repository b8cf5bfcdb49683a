"""The compiled loops of the phase methods."""
