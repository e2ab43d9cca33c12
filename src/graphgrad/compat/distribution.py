"""The distribution `tensorflow` as `importlib.metadata` shows it to programs for which `tensorflow` is this package."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import metadata
from typing import Any


class AliasDistribution(metadata.Distribution):
    """A distribution that has a name and a version and no files.

    Args:
      version: of the TensorFlow that programs see.
    """

    def __init__(self, version: str):
        self._version = version

    def read_text(self, filename: str) -> str | None:
        """Returns a metadata file; None for all but `METADATA`."""
        if filename != "METADATA":
            return None
        return (f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {self._version}\n"
                "Summary: graphgrad under TensorFlow's name\n")

    def locate_file(self, path: Any) -> Any:
        """Returns a path beside this package."""
        return os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), path)


def found(name: str | None, version: str) -> Iterable[metadata.Distribution]:
    """Returns the distributions of a name: that one for `tensorflow`, none for others and for a list of all."""
    return [AliasDistribution(version)] if name is not None and name.lower() == "tensorflow" else []
