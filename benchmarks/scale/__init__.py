"""What a step moves between many devices: the transformer, partitioned for more devices than there are, not run."""
