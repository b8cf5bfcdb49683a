"""How good a clustering is: silhouettes, density, agreement with the truth."""
