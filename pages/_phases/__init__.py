"""The Phases page: timeline, fingerprint, match, library, evaluation, live."""
