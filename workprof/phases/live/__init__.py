"""A run while it is being recorded."""
