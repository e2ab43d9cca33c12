"""`tf.__internal__.feature_column`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import deserialize_feature_column as deserialize_feature_column
from graphgrad.compat.internal.absent import serialize_feature_column as serialize_feature_column
from graphgrad.extras.feature_column.column import DenseColumn as DenseColumn
from graphgrad.extras.feature_column.column import FeatureColumn as FeatureColumn
from graphgrad.extras.feature_column.column import FeatureTransformationCache as FeatureTransformationCache
from graphgrad.extras.feature_column.column import SequenceDenseColumn as SequenceDenseColumn
from graphgrad.extras.feature_column.column import StateManager as StateManager

__all__ = [
    "DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn", "StateManager",
    "deserialize_feature_column", "serialize_feature_column"
]
