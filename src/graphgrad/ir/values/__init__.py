"""Values that are more than one array: composites, sliced tensors, lists of tensors, variables."""
