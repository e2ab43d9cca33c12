"""`tf.contrib.tensorboard.plugins.projector`."""

from graphgrad.contrib.projector import EmbeddingInfo as EmbeddingInfo
from graphgrad.contrib.projector import ProjectorConfig as ProjectorConfig
from graphgrad.contrib.projector import SpriteMetadata as SpriteMetadata
from graphgrad.contrib.projector import visualize_embeddings as visualize_embeddings

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
