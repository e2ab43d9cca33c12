"""`tf.contrib.tensorboard.plugins.projector` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.projector import EmbeddingInfo as EmbeddingInfo
from graphgrad.extras.contrib.projector import ProjectorConfig as ProjectorConfig
from graphgrad.extras.contrib.projector import SpriteMetadata as SpriteMetadata
from graphgrad.extras.contrib.projector import visualize_embeddings as visualize_embeddings

__all__ = [
    "EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"
]
