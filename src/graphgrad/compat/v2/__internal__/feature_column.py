"""`tf.__internal__.feature_column`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn StateManager
    deserialize_feature_column serialize_feature_column
""")
