"""Programs at the edges: of numbers, of formats, of files that are damaged."""
