"""Less used parts of the API: loaded on first use, never imported by the core or the `tf` surface."""
