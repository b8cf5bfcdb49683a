"""Which runs are degraded: detectors side by side, probabilities, reasons."""
