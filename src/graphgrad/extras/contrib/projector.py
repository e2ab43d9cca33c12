"""`tf.contrib.tensorboard.plugins.projector`: the embeddings that TensorBoard shows.

Reference: TensorFlow 1.15 projector_config.proto.
"""

from __future__ import annotations

import os
from typing import Any

from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.proto.messages import Message
from graphgrad.ir.source import user_source


class SpriteMetadata(Message):
    """An image of many small ones, one for each point."""

    FIELDS = {"image_path": (1, "string"), "single_image_dim": (2, ["int"])}


class EmbeddingInfo(Message):
    """A variable, and the files that describe its rows."""

    FIELDS = {"tensor_name": (1, "string"), "metadata_path": (2, "string"), "bookmarks_path": (3, "string"),
              "tensor_shape": (4, ["int"]), "sprite": (5, SpriteMetadata), "tensor_path": (6, "string")}


class ProjectorConfig(Message):
    """The embeddings to show.

    >>> config = ProjectorConfig()
    >>> shown = config.embeddings.add()
    >>> shown.tensor_name = "embedding"
    >>> print(str(config).strip())
    embeddings {
      tensor_name: "embedding"
    }
    """

    FIELDS = {"model_checkpoint_path": (1, "string"), "embeddings": (2, [EmbeddingInfo]),
              "model_checkpoint_dir": (3, "string")}


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the file that TensorBoard's projector reads, next to a writer's events.

    Args:
      summary_writer: a `tf.summary.FileWriter`, or a folder.
      config: a `ProjectorConfig`.
    Raises: ValueError if the writer has no folder.
    Reference: TensorFlow 1.15 `tf.contrib.tensorboard.plugins.projector.visualize_embeddings`.
    """
    folder = summary_writer
    if not isinstance(summary_writer, (str, os.PathLike)):
        folder = summary_writer.get_logdir() if hasattr(summary_writer, "get_logdir") else None
    if not folder:
        raise ValueError("Summary writer must have a logdir\n"
                         f"  Asked for at {user_source(2)}\n  Fix: tf.summary.FileWriter(folder)")
    make_folders(folder)
    write_whole(os.path.join(folder, "projector_config.pbtxt"), str(config).encode())
