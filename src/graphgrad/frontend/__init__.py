"""The user's objects: tensors with operators, variables, scopes, functions, tapes."""
