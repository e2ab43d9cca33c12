"""What the command line consists of, besides its options (`graphgrad.cli`)."""
