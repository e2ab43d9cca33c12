"""What holds of the package as a whole."""
