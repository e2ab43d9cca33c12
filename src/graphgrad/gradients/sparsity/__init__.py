"""Sparse derivatives: which elements depend on which, and Jacobians and Hessians in few products."""
