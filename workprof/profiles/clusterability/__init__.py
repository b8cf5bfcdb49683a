"""Whether there is anything to cluster, and whether it comes back in another sample."""
