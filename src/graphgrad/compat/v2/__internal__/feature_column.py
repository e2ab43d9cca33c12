"""`tf.__internal__.feature_column`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: deserialize_feature_column serialize_feature_column
graphgrad.extras.feature_column.column: DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn
    StateManager
""")
