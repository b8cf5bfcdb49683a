"""The Sweep page: the form, the runs, two runs beside each other."""
