"""How much better one machine is than another, and how sure that is."""
