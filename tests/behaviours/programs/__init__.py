"""What a user writes in the first hours, and programs of values that consist of tensors."""
