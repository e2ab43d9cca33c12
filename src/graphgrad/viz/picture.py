"""An SVG document that shows itself in notebooks."""

from __future__ import annotations


class Picture(str):
    """The text of an SVG document; a notebook shows the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """Returns the document, for notebooks, without the line that only files need."""
        return str(self[self.find("<svg"):])
