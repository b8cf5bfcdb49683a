"""Figures of the Classify page: one job's profile, its needs and reasons; how good the classifier is, what it sees."""
