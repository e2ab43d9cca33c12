"""The live picture: one HTML file in which scopes, repeated layers, loops, branches and functions open and close."""
