"""What users hold: tensors with operators, variables, scopes, functions, the tape."""
