"""`tf.losses` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.layers.loss_weights: Reduction add_loss compute_weighted_loss get_losses get_regularization_loss
    get_regularization_losses get_total_loss
graphgrad.layers.weighted_losses: absolute_difference cosine_distance hinge_loss huber_loss log_loss
    mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
    sparse_softmax_cross_entropy
""")
