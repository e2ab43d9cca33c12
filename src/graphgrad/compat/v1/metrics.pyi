"""`tf.metrics` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.metrics.confusion_counts import false_negatives as false_negatives
from graphgrad.extras.metrics.confusion_counts import false_positives as false_positives
from graphgrad.extras.metrics.confusion_counts import mean_iou as mean_iou
from graphgrad.extras.metrics.confusion_counts import mean_per_class_accuracy as mean_per_class_accuracy
from graphgrad.extras.metrics.confusion_counts import precision as precision
from graphgrad.extras.metrics.confusion_counts import recall as recall
from graphgrad.extras.metrics.confusion_counts import true_negatives as true_negatives
from graphgrad.extras.metrics.confusion_counts import true_positives as true_positives
from graphgrad.extras.metrics.ranking_metrics import average_precision_at_k as average_precision_at_k
from graphgrad.extras.metrics.ranking_metrics import average_precision_at_k as sparse_average_precision_at_k
from graphgrad.extras.metrics.ranking_metrics import precision_at_k as precision_at_k
from graphgrad.extras.metrics.ranking_metrics import precision_at_k as sparse_precision_at_k
from graphgrad.extras.metrics.ranking_metrics import precision_at_top_k as precision_at_top_k
from graphgrad.extras.metrics.ranking_metrics import recall_at_k as recall_at_k
from graphgrad.extras.metrics.ranking_metrics import recall_at_top_k as recall_at_top_k
from graphgrad.extras.metrics.streaming_metrics import accuracy as accuracy
from graphgrad.extras.metrics.streaming_metrics import mean as mean
from graphgrad.extras.metrics.streaming_metrics import mean_absolute_error as mean_absolute_error
from graphgrad.extras.metrics.streaming_metrics import mean_cosine_distance as mean_cosine_distance
from graphgrad.extras.metrics.streaming_metrics import mean_relative_error as mean_relative_error
from graphgrad.extras.metrics.streaming_metrics import mean_squared_error as mean_squared_error
from graphgrad.extras.metrics.streaming_metrics import mean_tensor as mean_tensor
from graphgrad.extras.metrics.streaming_metrics import percentage_below as percentage_below
from graphgrad.extras.metrics.streaming_metrics import root_mean_squared_error as root_mean_squared_error
from graphgrad.extras.metrics.threshold_metrics import auc as auc
from graphgrad.extras.metrics.threshold_metrics import false_negatives_at_thresholds as false_negatives_at_thresholds
from graphgrad.extras.metrics.threshold_metrics import false_positives_at_thresholds as false_positives_at_thresholds
from graphgrad.extras.metrics.threshold_metrics import precision_at_thresholds as precision_at_thresholds
from graphgrad.extras.metrics.threshold_metrics import recall_at_thresholds as recall_at_thresholds
from graphgrad.extras.metrics.threshold_metrics import sensitivity_at_specificity as sensitivity_at_specificity
from graphgrad.extras.metrics.threshold_metrics import specificity_at_sensitivity as specificity_at_sensitivity
from graphgrad.extras.metrics.threshold_metrics import true_negatives_at_thresholds as true_negatives_at_thresholds
from graphgrad.extras.metrics.threshold_metrics import true_positives_at_thresholds as true_positives_at_thresholds

__all__ = [
    "accuracy", "auc", "average_precision_at_k", "false_negatives", "false_negatives_at_thresholds", "false_positives",
    "false_positives_at_thresholds", "mean", "mean_absolute_error", "mean_cosine_distance", "mean_iou",
    "mean_per_class_accuracy", "mean_relative_error", "mean_squared_error", "mean_tensor", "percentage_below",
    "precision", "precision_at_k", "precision_at_thresholds", "precision_at_top_k", "recall", "recall_at_k",
    "recall_at_thresholds", "recall_at_top_k", "root_mean_squared_error", "sensitivity_at_specificity",
    "sparse_average_precision_at_k", "sparse_precision_at_k", "specificity_at_sensitivity", "true_negatives",
    "true_negatives_at_thresholds", "true_positives", "true_positives_at_thresholds"
]
