"""`tf.metrics` of TensorFlow 1."""

from graphgrad.layers.metrics import accuracy as accuracy
from graphgrad.layers.metrics_counts import false_negatives as false_negatives
from graphgrad.layers.metrics_counts import false_positives as false_positives
from graphgrad.layers.metrics import mean as mean
from graphgrad.layers.metrics import mean_absolute_error as mean_absolute_error
from graphgrad.layers.metrics import mean_cosine_distance as mean_cosine_distance
from graphgrad.layers.metrics_counts import mean_iou as mean_iou
from graphgrad.layers.metrics_counts import mean_per_class_accuracy as mean_per_class_accuracy
from graphgrad.layers.metrics import mean_relative_error as mean_relative_error
from graphgrad.layers.metrics import mean_squared_error as mean_squared_error
from graphgrad.layers.metrics import mean_tensor as mean_tensor
from graphgrad.layers.metrics import percentage_below as percentage_below
from graphgrad.layers.metrics_counts import precision as precision
from graphgrad.layers.metrics_counts import recall as recall
from graphgrad.layers.metrics import root_mean_squared_error as root_mean_squared_error
from graphgrad.layers.metrics_counts import true_negatives as true_negatives
from graphgrad.layers.metrics_counts import true_positives as true_positives
from graphgrad.layers.metrics_thresholds import auc as auc
from graphgrad.layers.metrics_thresholds import false_negatives_at_thresholds as false_negatives_at_thresholds
from graphgrad.layers.metrics_thresholds import false_positives_at_thresholds as false_positives_at_thresholds
from graphgrad.layers.metrics_thresholds import precision_at_thresholds as precision_at_thresholds
from graphgrad.layers.metrics_thresholds import recall_at_thresholds as recall_at_thresholds
from graphgrad.layers.metrics_thresholds import sensitivity_at_specificity as sensitivity_at_specificity
from graphgrad.layers.metrics_thresholds import specificity_at_sensitivity as specificity_at_sensitivity
from graphgrad.layers.metrics_thresholds import true_negatives_at_thresholds as true_negatives_at_thresholds
from graphgrad.layers.metrics_thresholds import true_positives_at_thresholds as true_positives_at_thresholds

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
