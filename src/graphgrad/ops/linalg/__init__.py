"""Matrix products, decompositions, solvers."""
