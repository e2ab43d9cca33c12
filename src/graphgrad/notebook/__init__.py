"""Notebooks: what they show of graphs, tensors and reports, and the extension for IPython."""
