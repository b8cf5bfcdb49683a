"""Which bin a run will need, before it runs."""
