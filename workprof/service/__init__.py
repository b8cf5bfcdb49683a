"""The HTTP service of `workprof serve --api`: predictions, sizes, finished runs and every declared question as JSON."""
