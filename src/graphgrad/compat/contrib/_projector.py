"""`tf.contrib.tensorboard.plugins.projector`."""

from graphgrad.extras.contrib.projector import EmbeddingInfo as EmbeddingInfo
from graphgrad.extras.contrib.projector import ProjectorConfig as ProjectorConfig
from graphgrad.extras.contrib.projector import SpriteMetadata as SpriteMetadata
from graphgrad.extras.contrib.projector import visualize_embeddings as visualize_embeddings

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
