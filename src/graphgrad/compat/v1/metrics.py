"""`tf.metrics` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.metrics.confusion_counts: false_negatives false_positives mean_iou mean_per_class_accuracy precision
    recall true_negatives true_positives
graphgrad.extras.metrics.ranking_metrics: average_precision_at_k precision_at_k precision_at_top_k recall_at_k
    recall_at_top_k sparse_average_precision_at_k=average_precision_at_k sparse_precision_at_k=precision_at_k
graphgrad.extras.metrics.streaming_metrics: accuracy mean mean_absolute_error mean_cosine_distance mean_relative_error
    mean_squared_error mean_tensor percentage_below root_mean_squared_error
graphgrad.extras.metrics.threshold_metrics: auc false_negatives_at_thresholds false_positives_at_thresholds
    precision_at_thresholds recall_at_thresholds sensitivity_at_specificity specificity_at_sensitivity
    true_negatives_at_thresholds true_positives_at_thresholds
""")
