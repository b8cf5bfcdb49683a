"""Many clusterings side by side."""
