"""Taylor mode: coefficients of power series, carried forward through a graph."""
