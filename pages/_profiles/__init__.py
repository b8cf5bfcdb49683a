"""The Profiles page: the form, cards and charts of profiles, a selection and its jobs, re-cut and clusterability."""
