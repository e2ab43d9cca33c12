"""Programs with variables, scopes, functions and effects."""
