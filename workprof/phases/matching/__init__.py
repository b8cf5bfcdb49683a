"""Which known workload a run is most like, and whether it is like enough."""
