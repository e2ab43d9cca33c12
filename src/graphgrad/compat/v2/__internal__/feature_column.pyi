"""`tf.__internal__.feature_column`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import DenseColumn as DenseColumn
from graphgrad.compat.internal.absent import FeatureColumn as FeatureColumn
from graphgrad.compat.internal.absent import FeatureTransformationCache as FeatureTransformationCache
from graphgrad.compat.internal.absent import SequenceDenseColumn as SequenceDenseColumn
from graphgrad.compat.internal.absent import StateManager as StateManager
from graphgrad.compat.internal.absent import deserialize_feature_column as deserialize_feature_column
from graphgrad.compat.internal.absent import serialize_feature_column as serialize_feature_column

__all__ = [
    "DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn", "StateManager",
    "deserialize_feature_column", "serialize_feature_column"
]
