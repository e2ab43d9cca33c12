"""What is written about the package is true: documentation, lists, advice."""
