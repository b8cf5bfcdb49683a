"""How well known workloads are recognised and unknown ones rejected."""
