"""How long jobs took: ECDFs with bands."""
