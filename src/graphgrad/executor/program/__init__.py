"""What is executed: instructions, their interpreter and fingerprints, the steps of a plan."""
