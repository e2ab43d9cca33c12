"""Pictures of graphs: `draw` writes a graph, or what some tensors need, as an SVG file."""

from .draw import draw as draw
