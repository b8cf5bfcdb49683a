"""What the Help page says: terms, methods, published and corrected definitions, formats, limits, diagnostics."""
