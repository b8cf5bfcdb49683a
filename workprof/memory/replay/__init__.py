"""Every policy run by run: waste, failures, and how sure they are."""
