"""Constants, shapes, slices, joins: ops that move elements."""
