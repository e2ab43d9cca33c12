"""Linear operators: matrices given by structure. Base class: `operator`."""
