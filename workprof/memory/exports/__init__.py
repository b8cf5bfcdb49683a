"""A plan as a text for other programs: a table, JSON, a Nextflow configuration, Kubernetes patches.

Every text names the dataset, the settings and the risk, and no name from a trace can leave its quotes.
"""
