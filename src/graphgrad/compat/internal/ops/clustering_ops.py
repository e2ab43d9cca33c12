"""Names of `tensorflow.python.ops.clustering_ops`, which estimators import; clustering is not here."""

from __future__ import annotations

from graphgrad.compat.internal.absent import stand_in

SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT = "random", "kmeans_plus_plus", "kmc2"
CLUSTERS_VAR_NAME = "clusters"
KMeans = stand_in("KMeans", "clustering", __name__)
