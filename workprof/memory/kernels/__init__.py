"""The compiled loops of the memory methods."""
