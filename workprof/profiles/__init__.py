"""PolarisProfiler: kinds of jobs found by clustering what the jobs did, described by what was known at submission.

settings                what is clustered, and how
features, scaling       columns -> a matrix with the missing marked -> comparable units, applied to new rows, too
tree, kernels           HDBSCAN in three steps, each kept and used again; the compiled loops of it
silhouettes, scores     how good a clustering is, as published and properly
metadata, spread, summary       what a page shows of the profiles
fit                     all of it for one clustering, and a new cut of its kept tree
sweep                   many clusterings side by side
hopkins, baseline, stability    is there anything to cluster, and would it come back?
"""
