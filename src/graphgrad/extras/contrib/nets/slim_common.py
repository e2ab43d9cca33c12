"""The common parts of the networks."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.contrib.layers.arg_scope import arg_scope
from graphgrad.extras.contrib.layers.contrib_layers import batch_norm, conv2d, dropout, fully_connected
from graphgrad.extras.contrib.layers.contrib_variables import l2_regularizer, variance_scaling_initializer
from graphgrad.extras.contrib.layers.rare_layers import softmax
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.initializers import TruncatedNormal
from graphgrad.ir.opdef import raw
from graphgrad.ops.nn.activations import relu


def truncated(stddev: float) -> Any:
    """Makes an initializer of truncated normal values."""
    return TruncatedNormal(0.0, stddev)


def squeezed(t: Any, name: str) -> Any:
    """Reshapes (batch, 1, 1, n) to (batch, n)."""
    return raw.Squeeze(t, squeeze_dims=(1, 2), name=name)


def batch_norm_arg_scope(weight_decay: Any, use_batch_norm: bool, collection: str, **more: Any) -> Any:
    """Returns the scope of the Inception networks: batch normalization after each convolution."""
    params = {
        "decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS,
        "variables_collections": {"beta": None, "gamma": None, "moving_mean": [collection],
                                  "moving_variance": [collection]},
        **more,
    }
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope([conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu,
                  normalizer_fn=batch_norm if use_batch_norm else None,
                  normalizer_params=params if use_batch_norm else {}) as scope,
    ):
        return scope


def classified(net: Any, num_classes: int, keep_prob: Any, names: tuple[str, str], end_points: dict[str, Any],
               prediction_fn: Any, spatial_squeeze: bool) -> Any:
    """Computes logits and predictions of features (batch, 1, 1, n), after dropout."""
    net = dropout(net, keep_prob, scope=names[0])
    end_points["PreLogits"] = net
    logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=names[1])
    if spatial_squeeze:
        logits = squeezed(logits, "SpatialSqueeze")
    end_points["Logits"] = logits
    end_points["Predictions"] = (prediction_fn or softmax)(logits, scope="Predictions")
    return logits


