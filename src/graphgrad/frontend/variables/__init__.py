"""Variables, their scopes, initializers and creators."""
