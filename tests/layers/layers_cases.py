"""Layers, losses and metrics that are built beside TensorFlow and here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.table import generator

# A case: f(tf, x) -> output or outputs, where x is (4, 6, 6, 3), float32.
Case = Callable[[Any, Any], Any]


def inputs() -> np.ndarray:
    """The images that every layer gets."""
    return generator("layers inputs").normal(size=(4, 6, 6, 3)).astype(np.float32)


def _rows(x: Any) -> Any:
    return x[:, 0, 0, :]


def _lines(x: Any) -> Any:
    return x[:, 0]


def _volumes(tf: Any, x: Any) -> Any:
    return tf.reshape(x, [4, 3, 3, 4, 3])


def _layer(layer: str, view: Any = None, **options: Any) -> Case:
    def build(tf: Any, x: Any) -> Any:
        values = {k: v(tf) if callable(v) else v for k, v in options.items()}
        return getattr(tf.layers, layer)(view(x) if view else x, **values)

    return build


def _on_volumes(layer: str, **options: Any) -> Case:
    def build(tf: Any, x: Any) -> Any:
        return getattr(tf.layers, layer)(_volumes(tf, x), **options)

    return build


def _relu(tf: Any) -> Any:
    return tf.nn.relu


def _half(tf: Any) -> Any:
    return lambda v: 0.5 * tf.reduce_sum(v * v)


def _regularized(tf: Any, x: Any) -> Any:
    y = tf.layers.dense(_rows(x), 4, kernel_regularizer=_half(tf), activity_regularizer=_half(tf), name="a")
    z = tf.layers.dense(_rows(x), 4, kernel_regularizer=_half(tf), name="a", reuse=True)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return [y, z, tf.stack(losses), tf.losses.get_regularization_loss()]


def _scopes(tf: Any, x: Any) -> Any:
    r = _rows(x)
    with tf.variable_scope("net", initializer=tf.ones_initializer(), regularizer=_half(tf)):
        a = tf.layers.dense(r, 3)
        b = tf.layers.dense(a, 3)
        c = tf.layers.dense(b, 3, name="own")
    with tf.variable_scope("net", reuse=True):
        d = tf.layers.dense(r, 3)
        e = tf.layers.dense(d, 3, name="own")
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        f = tf.layers.dense(e, 2, name="x") + tf.layers.dense(e, 2, name="x")
    return [c, e, f, tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))]


def _objects(tf: Any, x: Any) -> Any:
    layer = tf.layers.Dense(3, activation=tf.tanh)
    y = layer(_rows(x))
    z = layer(y)
    conv = tf.layers.Conv2D(2, 3, name="c")
    images = [conv(x), conv.apply(x * 2.0)]
    norm = tf.layers.BatchNormalization()
    return [y, z, *images, norm(y, training=True), norm(z, training=False)]


def _normalized(view: Any = None, training: Any = True, **options: Any) -> Case:
    def build(tf: Any, x: Any) -> Any:
        when = training if isinstance(training, bool) else tf.placeholder_with_default(training == "yes", [])
        return tf.layers.batch_normalization(view(x) if view else x, training=when, **options)

    return build


def _getters(tf: Any, x: Any) -> Any:
    def doubled(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return 2.0 * getter(name, *args, **kwargs)

    with tf.variable_scope("twice", custom_getter=doubled):
        y = tf.layers.dense(_rows(x), 4)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        z = tf.layers.conv2d(x, 4, 3, name="c")
    return [y, z]


def _deep(tf: Any, x: Any) -> Any:
    y = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    y = tf.layers.batch_normalization(y, training=True)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.conv2d(y, 4, 2)
    y = tf.layers.batch_normalization(y, training=True)
    y = tf.layers.dropout(tf.layers.flatten(y), 0.4, training=False)
    return tf.layers.dense(y, 2)


CASES: dict[str, Case] = {
    "dense": _layer("dense", _rows, units=4),
    "dense_relu": _layer("dense", _rows, units=4, activation=_relu, use_bias=False, name="my"),
    "dense_string": _layer("dense", _rows, units=4, activation="tanh", bias_initializer="ones"),
    "dense_images": _layer("dense", units=4, activation=_relu),
    "dense_untrained": _layer("dense", _rows, units=4, trainable=False),
    "regularized": _regularized,
    "scopes": _scopes,
    "objects": _objects,
    "deep": _deep,
    "getters": _getters,
    "conv1d": _layer("conv1d", _lines, filters=4, kernel_size=3),
    "conv1d_same": _layer("conv1d", _lines, filters=4, kernel_size=[2], strides=2, padding="SAME", activation=_relu),
    "conv2d": _layer("conv2d", filters=4, kernel_size=3, activation=_relu),
    "conv2d_strides": _layer("conv2d", filters=2, kernel_size=(3, 2), strides=(2, 1), padding="same", use_bias=False),
    "conv2d_dilated": _layer("conv2d", filters=2, kernel_size=2, dilation_rate=(2, 3)),
    "conv3d": _on_volumes("conv3d", filters=2, kernel_size=2, padding="same"),
    "conv2d_transpose": _layer("conv2d_transpose", filters=4, kernel_size=3, strides=2, padding="same"),
    "conv2d_transpose_valid": _layer("conv2d_transpose", filters=2, kernel_size=(3, 2), strides=(2, 3)),
    "conv3d_transpose": _on_volumes("conv3d_transpose", filters=2, kernel_size=2, strides=2, padding="same"),
    "separable_conv1d": _layer("separable_conv1d", _lines, filters=4, kernel_size=3, depth_multiplier=2),
    "separable_conv2d": _layer("separable_conv2d", filters=4, kernel_size=3, padding="same", activation=_relu),
    "max_pooling1d": _layer("max_pooling1d", _lines, pool_size=2, strides=2),
    "max_pooling2d": _layer("max_pooling2d", pool_size=3, strides=2, padding="same"),
    "max_pooling3d": _on_volumes("max_pooling3d", pool_size=2, strides=1),
    "average_pooling1d": _layer("average_pooling1d", _lines, pool_size=3, strides=1, padding="same"),
    "average_pooling2d": _layer("average_pooling2d", pool_size=(2, 3), strides=(1, 2)),
    "average_pooling3d": _on_volumes("average_pooling3d", pool_size=2, strides=2),
    "flatten": _layer("flatten"),
    "flatten_first": _layer("flatten", data_format="channels_first"),
    "dropout": _layer("dropout", rate=0.5),
    "normalized_rows": _normalized(_rows),
    "normalized_rows_later": _normalized(_rows, False, scale=False, center=False),
    "normalized_rows_yes": _normalized(_rows, "yes", momentum=0.9),
    "normalized_rows_no": _normalized(_rows, "no"),
    "normalized_images": _normalized(momentum=0.8, epsilon=1e-2),
    "normalized_images_later": _normalized(training=False, scale=False),
    "normalized_images_yes": _normalized(training="yes"),
    "normalized_images_no": _normalized(training="no"),
    "normalized_plain": _normalized(fused=False),
    "normalized_axis": _normalized(axis=2),
    "normalized_axes": _normalized(axis=[1, 3]),
}


def _loss(loss: str, labels: Any = None, **options: Any) -> Case:
    def build(tf: Any, x: Any) -> Any:
        given = np.abs(inputs()[::-1, 0, 0, :]) if labels is None else labels
        return getattr(tf.losses, loss)(given, tf.sigmoid(_rows(x)), **options)

    return build


def _collected(tf: Any, x: Any) -> Any:
    r = _rows(x)
    with tf.name_scope("part"):
        tf.losses.absolute_difference(np.zeros((4, 3), np.float32), r, scope="here")
    tf.losses.add_loss(tf.reduce_sum(r * r))
    tf.losses.mean_squared_error(np.ones((4, 3), np.float32), r, loss_collection="mine")
    tf.layers.dense(r, 2, use_bias=False, kernel_regularizer=_half(tf))
    return [tf.losses.get_total_loss(), tf.losses.get_total_loss(False), tf.add_n(tf.losses.get_losses("part")),
            tf.add_n(tf.get_collection("mine"))]


_ONE_OF_3 = np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]
_SOME = np.array([[0.5], [0.0], [2.0], [1.0]], np.float32)
_R = "none weighted_sum weighted_mean weighted_sum_over_batch_size weighted_sum_by_nonzero_weights".split()
CASES |= {
    "collected": _collected,
    "absolute_difference": _loss("absolute_difference"),
    "cosine_distance": _loss("cosine_distance", axis=1),
    "cosine_distance_weighted": _loss("cosine_distance", dim=1, weights=_SOME, reduction=_R[3]),
    "hinge_loss": _loss("hinge_loss", _ONE_OF_3),
    "huber_loss": _loss("huber_loss", delta=0.4, weights=_SOME),
    "log_loss": _loss("log_loss", _ONE_OF_3, epsilon=1e-3),
    "mean_pairwise_squared_error": _loss("mean_pairwise_squared_error"),
    "mean_pairwise_weighted": _loss("mean_pairwise_squared_error", weights=_SOME),
    "sigmoid_cross_entropy": _loss("sigmoid_cross_entropy", _ONE_OF_3.astype(np.int64), label_smoothing=0.2),
    "softmax_cross_entropy": _loss("softmax_cross_entropy", _ONE_OF_3, label_smoothing=0.1),
    "softmax_cross_entropy_weighted": _loss("softmax_cross_entropy", _ONE_OF_3, weights=_SOME[:, 0]),
    "sparse_softmax_cross_entropy": _loss("sparse_softmax_cross_entropy", np.array([0, 2, 1, 1])),
    "sparse_softmax_column": _loss("sparse_softmax_cross_entropy", np.array([[0], [2], [1], [1]]), weights=_SOME),
    "zero_weight": _loss("mean_squared_error", weights=0.0),
    "matrix_weights": _loss("mean_squared_error", weights=_ONE_OF_3, scope="mine"),
    **{f"mean_squared_error_{r}": _loss("mean_squared_error", weights=_SOME, reduction=r) for r in _R},
}


def built(tf: Any, name: str, x: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Outputs, variables, what gives these values, updates, and gradients with respect to x and the variables."""
    outputs = CASES[name](tf, x)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    variables = tf.global_variables()
    draw = generator("layers variables")
    assign = [v.assign((draw.uniform(0.5, 1.5, v.shape.as_list())
                        if "variance" in v.name else draw.normal(size=v.shape.as_list())).astype(np.float32))
              for v in variables]
    weights = generator("layers weights")
    loss = tf.add_n([tf.reduce_sum(o * weights.normal(size=o.shape.as_list()).astype(np.float32)) for o in outputs])
    grads = tf.gradients(loss, [x, *tf.trainable_variables()])
    return outputs, variables, assign, tf.get_collection(tf.GraphKeys.UPDATE_OPS), grads


def computed(tf: Any, session: Any, name: str) -> dict[str, Any]:
    """The entry of a case: names of outputs and variables; outputs, then what variables are after the updates."""
    x = tf.constant(inputs())
    outputs, variables, assign, updates, grads = built(tf, name, x)
    names = [o.name for o in outputs] + [f"{v.name} {v.trainable}" for v in variables]
    session.run(assign)
    values, grads = session.run([outputs, [tf.convert_to_tensor(g) for g in grads]])
    session.run(updates)
    after = session.run([v.value() for v in variables])
    return {"inputs": 0, "outputs": [_texts(names), *map(np.asarray, values + after)],
            "gradients": list(map(np.asarray, grads))}


def _texts(texts: list[str]) -> np.ndarray:
    return np.array([t.encode() for t in texts] + [None], object)[:-1]


# -- metrics -----------------------------------------------------------------------------

_DRAW = generator("metrics")
BATCHES = [(_DRAW.integers(0, 2, 7), (_DRAW.integers(0, 11, 7) / 10).astype(np.float32),
            _DRAW.uniform(0, 2, 7).astype(np.float32)) for _ in range(3)]

# A metric: f(tf.metrics, labels, predictions, weights) with int64 labels, float32 predictions -> value, update.
Metric = Callable[..., Any]


def _on(metric: str, how: str = "float", weighted: bool = True, **options: Any) -> Metric:
    def build(tf: Any, labels: Any, predictions: Any, weights: Any) -> Any:
        if how == "float":
            labels = tf.cast(labels, tf.float32)
        elif how == "class":
            predictions = tf.cast(tf.round(predictions), tf.int64)
        if weighted:
            options["weights"] = weights
        return getattr(tf.metrics, metric)(labels, predictions, **options)

    return build


def _of_the_best(metric: str, sparse: bool = False, weighted: bool = True, **options: Any) -> Metric:
    """A metric of the best two of four classes, with two labels a row, some of them none."""
    def build(tf: Any, labels: Any, predictions: Any, weights: Any) -> Any:
        scores = tf.stack([predictions, 1.0 - predictions, predictions**2 + 0.01, 0.33 + 0.0 * weights], 1)
        labels = tf.stack([labels, 3 * labels - 1 if not sparse else labels + 2], 1)
        labels = tf.sparse.from_dense(labels) if sparse else labels
        options["weights"] = weights if weighted else None
        if metric.endswith("top_k"):
            scores = tf.nn.top_k(scores, options.get("k", 2)).indices
        return getattr(tf.metrics, metric)(labels, scores, **options)

    return build


METRICS: dict[str, Metric] = {
    **{m: _of_the_best(m, k=2) for m in "recall_at_k precision_at_k average_precision_at_k".split()},
    **{f"{m}_of_sparse": _of_the_best(m, True, False, k=3) for m in
       "recall_at_k precision_at_k average_precision_at_k recall_at_top_k precision_at_top_k".split()},
    **{f"{m}_of_class_{c}": _of_the_best(m, c == 2, k=2, class_id=c) for m in
       "recall_at_k precision_at_k precision_at_top_k".split() for c in (1, 2)},
    **{m: _on(m) for m in "mean_absolute_error mean_squared_error root_mean_squared_error".split()},
    **{f"{m}_plain": _on(m, "class", False) for m in
       "accuracy precision recall true_positives false_positives true_negatives false_negatives".split()},
    **{m: _on(m, "class") for m in
       "accuracy precision recall true_positives false_positives true_negatives false_negatives".split()},
    "mean": lambda tf, k, p, w: tf.metrics.mean(p, w, name="mine"),
    "mean_tensor": lambda tf, k, p, w: tf.metrics.mean_tensor(p, w),
    "percentage_below": lambda tf, k, p, w: tf.metrics.percentage_below(p, 0.35, w),
    "mean_relative_error": lambda tf, k, p, w: tf.metrics.mean_relative_error(w, p, p),
    "mean_cosine_distance": lambda tf, k, p, w: tf.metrics.mean_cosine_distance(p[None], w[None], 1),
    "mean_iou": _on("mean_iou", "class", num_classes=3),
    "mean_per_class_accuracy": _on("mean_per_class_accuracy", "class", num_classes=3),
    "auc": _on("auc", num_thresholds=20),
    **{f"auc_{c}_{m}": _on("auc", "as it is", curve=c, summation_method=m, thresholds=[0.25, 0.5, 0.75]) for c in
       ("ROC", "PR") for m in ("trapezoidal", "careful_interpolation", "minoring", "majoring")},
    **{f"{m}_at_thresholds": _on(f"{m}_at_thresholds", "as it is", thresholds=[0.15, 0.55]) for m in
       "precision recall true_positives false_positives true_negatives false_negatives".split()},
    "sensitivity_at_specificity": _on("sensitivity_at_specificity", "as it is", False, specificity=0.6),
    "specificity_at_sensitivity": _on("specificity_at_sensitivity", "as it is", False, sensitivity=0.6),
}


def measured(tf: Any, session: Any, name: str) -> dict[str, Any]:
    """The entry of a metric: names of value and variables; value and update before and after each batch."""
    data = [tf.placeholder(tf.as_dtype(a.dtype), a.shape) for a in BATCHES[0]]
    with tf.variable_scope("outer"):
        value, update = METRICS[name](tf, *data)
    names = [value.name, *(v.name for v in tf.local_variables())]
    assert [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)] == names[1:]
    session.run([v.initializer for v in tf.local_variables()])
    results = [session.run(value)]
    for batch in BATCHES:
        results += [session.run(update, dict(zip(data, batch, strict=True))), session.run(value)]
    return {"inputs": 0, "outputs": [_texts(names), *map(np.asarray, results)], "gradients": []}


# -- signatures --------------------------------------------------------------------------

NAMES = """
    Dense Dropout Flatten BatchNormalization Conv1D Conv2D Conv3D Conv2DTranspose Conv3DTranspose SeparableConv1D
    SeparableConv2D MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D dense
    dropout flatten batch_normalization conv1d conv2d conv3d conv2d_transpose conv3d_transpose separable_conv1d
    separable_conv2d max_pooling1d max_pooling2d max_pooling3d average_pooling1d average_pooling2d average_pooling3d
    """.split()


def signatures(layers: Any) -> dict[str, Any]:
    """The entry of the arguments' names, in order."""
    found = [f"{n}({', '.join(inspect.signature(getattr(layers, n)).parameters)})" for n in NAMES]
    return {"inputs": 0, "outputs": [_texts(found)], "gradients": []}
