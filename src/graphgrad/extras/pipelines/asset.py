"""Files that belong to a saved model."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Mapping
from typing import Any

from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import string


class Asset(Trackable):
    """A file that is saved with a model: an attribute of an object that `tf.saved_model.save` saves.

    Args:
      path: the file.
    Reference: TensorFlow 2.21 `tf.saved_model.Asset`.

    >>> asset = tf.saved_model.Asset("words.txt")
    >>> asset.asset_path.dtype
    tf.string
    """

    def __init__(self, path: Any):
        with init_scope():
            self._path = convert_to_tensor(path, string, name="asset_path")
        vars(self._path)["_asset"] = self  # for functions that capture the path

    @property
    def asset_path(self) -> Any:
        """The path, a string tensor; in a loaded model, that of the file in its folder."""
        return self._path


def name_in_model(path: str, taken: Mapping[str, str]) -> str:
    """Returns the name that a file gets in the folder of a model: its own one, with a number if another file has it.

    Args:
      path: the file.
      taken: names and paths of the files that are there.
    """
    name = base = os.path.basename(path)
    if name not in taken or taken[name] == path or _are_equal(path, taken[name]):
        return name
    n = 0
    while name in taken:
        n += 1
        name = f"{base}_{n}"
    return name


def _are_equal(path: str, other: str) -> bool:
    try:
        return filecmp.cmp(path, other, shallow=False)
    except OSError:
        return False
