"""Memory and cores of many runs together, now and under a plan."""
