"""Figures of whether there is anything to cluster: Hopkins, the label baseline, the stability of the profiles."""
