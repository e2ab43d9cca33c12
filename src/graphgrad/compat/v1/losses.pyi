"""`tf.losses` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.layers.loss_weights import Reduction as Reduction
from graphgrad.layers.loss_weights import add_loss as add_loss
from graphgrad.layers.loss_weights import compute_weighted_loss as compute_weighted_loss
from graphgrad.layers.loss_weights import get_losses as get_losses
from graphgrad.layers.loss_weights import get_regularization_loss as get_regularization_loss
from graphgrad.layers.loss_weights import get_regularization_losses as get_regularization_losses
from graphgrad.layers.loss_weights import get_total_loss as get_total_loss
from graphgrad.layers.weighted_losses import absolute_difference as absolute_difference
from graphgrad.layers.weighted_losses import cosine_distance as cosine_distance
from graphgrad.layers.weighted_losses import hinge_loss as hinge_loss
from graphgrad.layers.weighted_losses import huber_loss as huber_loss
from graphgrad.layers.weighted_losses import log_loss as log_loss
from graphgrad.layers.weighted_losses import mean_pairwise_squared_error as mean_pairwise_squared_error
from graphgrad.layers.weighted_losses import mean_squared_error as mean_squared_error
from graphgrad.layers.weighted_losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from graphgrad.layers.weighted_losses import softmax_cross_entropy as softmax_cross_entropy
from graphgrad.layers.weighted_losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy

__all__ = [
    "Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_loss", "get_regularization_losses", "get_total_loss", "hinge_loss", "huber_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy",
    "sparse_softmax_cross_entropy"
]
