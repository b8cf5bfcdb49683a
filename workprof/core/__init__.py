"""What every room stands on and what knows nothing of workloads: settings that describe themselves, questions."""
