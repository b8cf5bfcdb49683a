"""Memory sizing after a load-aware scheduler: what tasks ask for and use, bins, policies, and what they would break."""
