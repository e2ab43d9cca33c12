"""Files that belong to a saved model."""

from __future__ import annotations

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
