"""Programs on tf_slim: layers under `arg_scope`, nets, training and evaluation, metrics."""

from __future__ import annotations

import importlib
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {}  # of the module of 1.x and the library

# tf_slim 1.1.0 calls functions by places that they have left since; to record in TensorFlow 2.21, they are put back.
_MOVED = {
    "framework.ops": "Tensor IndexedSlices", "ops.array_ops": "stack unstack", "ops.variables": "VariableV1",
    "ops.control_flow_ops": "cond case while_loop Assert",
}


def prepare(tf: Any) -> None:
    """Starts a graph of 1.x, with seeds."""
    v1 = tf.compat.v1
    v1.disable_v2_behavior()
    if hasattr(tf, "lite"):  # TensorFlow itself
        _put_back(v1)
    v1.reset_default_graph()
    v1.set_random_seed(5)


def _put_back(v1: Any) -> None:
    for module, names in _MOVED.items():
        place = importlib.import_module(f"tensorflow.python.{module}")
        for name in names.split():
            if not hasattr(place, name):
                setattr(place, name, v1.Variable if name == "VariableV1" else getattr(v1, name))
    sys.modules["tf_keras.legacy_tf_layers"] = importlib.import_module("tf_keras.src.legacy_tf_layers")
    for name in ("base", "core", "convolutional", "normalization", "pooling"):
        layers = importlib.import_module(f"tf_keras.src.legacy_tf_layers.{name}")
        sys.modules[f"tf_keras.legacy_tf_layers.{name}"] = layers


def _case(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        import tf_slim

        return function(tf.compat.v1, tf_slim)

    PROGRAMS[function.__name__] = function
    CASES[function.__name__] = run
    return function


def _images() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.randn(12, 16, 16, 3).astype(np.float32), rng.randint(0, 4, 12)


def _run(tf: Any, *fetches: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [_short(v) for v in session.run(list(fetches))]


def _short(value: Any) -> Any:
    """Returns a value, of a large one sums and a part."""
    flat = np.ravel(value).astype(np.float64)
    return value if flat.size <= 40 else [np.mean(flat), np.mean(np.abs(flat)), *flat[:: flat.size // 20]]


@_case
def first_program(tf: Any, slim: Any) -> Any:
    """A net as in the first pages: `repeat`, `stack`, `arg_scope`, a loss with regularization, gradients."""
    images, labels = _images()
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.relu,
                        weights_initializer=tf.truncated_normal_initializer(0.0, 0.1),
                        weights_regularizer=slim.l2_regularizer(0.0005)):
        net = slim.repeat(tf.constant(images), 2, slim.conv2d, 4, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.flatten(net)
        net = slim.stack(net, slim.fully_connected, [8, 6], scope="fc")
        logits = slim.fully_connected(net, 4, activation_fn=None, scope="logits")
    tf.losses.softmax_cross_entropy(slim.one_hot_encoding(labels, 4), logits)
    loss = tf.losses.get_total_loss()
    assert len(slim.get_model_variables()) == 10
    return _run(tf, loss, *tf.gradients(loss, slim.get_trainable_variables()))


@_case
def layers(tf: Any, slim: Any) -> Any:
    """Layers of all kinds in training mode, and what their moving averages become."""
    images, _ = _images()
    x = tf.constant(images)
    with slim.arg_scope([slim.batch_norm], is_training=True, decay=0.5, updates_collections=None):
        a = slim.conv2d(x, 4, 3, normalizer_fn=slim.batch_norm, stride=2, scope="a")
        b = slim.separable_conv2d(a, 6, 3, 1, normalizer_fn=slim.batch_norm, scope="b")
        c = slim.conv2d_transpose(b, 3, 3, stride=2, scope="c")
        d = slim.layer_norm(slim.avg_pool2d(c, 2), scope="d")
        e = slim.instance_norm(d, scope="e")
        f = slim.group_norm(a, groups=2, scope="f")
        g = slim.bias_add(slim.conv2d_in_plane(x, 3, 2, scope="g"), scope="h")
    outputs = [tf.reduce_mean(v**2, [1, 2]) for v in (a, b, c, d, e, f, g, slim.unit_norm(x, 3), slim.softmax(x))]
    with tf.control_dependencies(outputs):
        moving = [v + 0.0 for v in slim.get_variables_by_suffix("moving_mean")]
    loss = tf.add_n([tf.reduce_sum(o) for o in outputs])
    return _run(tf, *outputs, *moving, *tf.gradients(loss, slim.get_trainable_variables()))


@_case
def residual_net(tf: Any, slim: Any) -> Any:
    from tf_slim.nets import resnet_utils, resnet_v2

    images, _ = _images()
    with slim.arg_scope(resnet_utils.resnet_arg_scope(batch_norm_decay=0.9)):
        blocks = [resnet_v2.resnet_v2_block("one", 2, 2, 2), resnet_v2.resnet_v2_block("two", 3, 1, 1)]
        logits, points = resnet_v2.resnet_v2(tf.constant(images), blocks, 4, is_training=True, scope="net")
    loss = tf.reduce_sum(tf.nn.softmax(logits)[..., 1])
    variables = slim.get_trainable_variables()
    return _run(tf, logits, points["net/one"][0], *tf.gradients(loss, [variables[0], variables[-1]]))


@_case
def vgg(tf: Any, slim: Any) -> Any:
    from tf_slim.nets import vgg as nets

    with slim.arg_scope(nets.vgg_arg_scope()):
        logits, points = nets.vgg_a(tf.constant(np.ones((1, 224, 224, 3), np.float32)), 3, is_training=False,
                                    spatial_squeeze=False)
    return [logits.shape.as_list(), len(points), len(slim.get_variables()),
            sum(int(np.prod(v.shape.as_list())) for v in slim.get_model_variables())]


@_case
def training_and_evaluation(tf: Any, slim: Any) -> Any:
    """`learning.train` with checkpoints, then `evaluate_once` of the last one with streaming metrics."""
    folder = str(pathlib.Path(tempfile.mkdtemp()) / "log")
    images, labels = _images()
    x, y = images.reshape(12, -1)[:, :20], labels % 2

    def model(training: bool) -> Any:
        net = slim.fully_connected(tf.constant(x), 8, activation_fn=tf.tanh, scope="one",
                                   normalizer_fn=slim.batch_norm, normalizer_params={"is_training": training})
        return slim.fully_connected(net, 1, activation_fn=tf.sigmoid, scope="two")

    tf.losses.log_loss(y[:, None], model(True))
    loss = tf.losses.get_total_loss()
    train_op = slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9), clip_gradient_norm=4.0,
                                             summarize_gradients=True)
    found = [slim.learning.train(train_op, folder, number_of_steps=8, log_every_n_steps=10, save_summaries_secs=None)]
    with tf.Graph().as_default():
        predictions = model(False)
        slim.get_or_create_global_step()
        values, updates = slim.metrics.aggregate_metric_map({
            "accuracy": slim.metrics.streaming_accuracy(tf.round(predictions), y[:, None]),
            "mse": slim.metrics.streaming_mean_squared_error(predictions, y[:, None].astype(np.float32))})
        results = slim.evaluation.evaluate_once("", tf.train.latest_checkpoint(folder), folder, num_evals=2,
                                                eval_op=list(updates.values()), final_op=list(values.values()))
    return [*found, *results]


@_case
def metrics(tf: Any, slim: Any) -> Any:
    """Streaming metrics over three batches."""
    rng = np.random.RandomState(1)
    labels, scores = tf.placeholder(tf.int64, [6]), tf.placeholder(tf.float32, [6])
    classes = tf.stack([scores, 1.0 - scores, scores**2 + 0.05], 1)
    m = slim.metrics
    found = [m.f1_score(labels, scores), m.streaming_auc(scores, labels), m.streaming_covariance(scores, scores**2),
             m.streaming_pearson_correlation(scores, scores**2 + tf.cast(labels, tf.float32)),
             m.streaming_sparse_recall_at_k(classes, labels, 2), m.streaming_sparse_precision_at_k(classes, labels, 2),
             m.streaming_sparse_average_precision_at_k(classes, labels, 3), m.count(scores),
             m.cohen_kappa(labels, tf.argmax(classes, 1), 3), m.streaming_concat(scores),
             m.recall_at_precision(labels, scores, 0.5), m.streaming_mean_iou(labels, labels, 2)]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for _ in range(3):
            feeds = {labels: rng.randint(0, 2, 6), scores: rng.randint(0, 11, 6) / 10}
            session.run([update for _, update in found], feeds)
        return session.run([value for value, _ in found])


@_case
def model_losses(tf: Any, slim: Any) -> Any:
    """`slim.losses`, with weights, and metric learning."""
    x = tf.constant(_images()[0].reshape(12, -1)[:, :6])
    y = tf.constant(_images()[1])
    pairs = [slim.losses.mean_squared_error(x, tf.zeros_like(x)),
             slim.losses.log_loss(tf.sigmoid(x), tf.cast(x > 0, tf.float32)),
             slim.losses.absolute_difference(x, x * 2.0, weights=tf.range(12.0)[:, None]),
             slim.losses.metric_learning.triplet_semihard_loss(y, x),
             slim.losses.metric_learning.lifted_struct_loss(y, x)]
    return _run(tf, *pairs, *tf.gradients(tf.add_n(pairs), x))
