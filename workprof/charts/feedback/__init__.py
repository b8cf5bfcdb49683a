"""Figures and tables of the feedback loop: ACQUIRES over time, drift per profile, estimates now and at the fit."""
