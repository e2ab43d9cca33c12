"""Jacobians, Hessians and products with them, built on the sweep."""
