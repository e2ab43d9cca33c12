"""Tensorpack: models of functions trained in sessions, by its own trainers, data flows and callbacks.

With inference between epochs TensorFlow 2.21 gave other losses in each of two runs, so that is not recorded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import into

FACE = 1
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
_RNG = np.random.RandomState(4)
_X = _RNG.randn(64, 8, 8, 1).astype(np.float32)
_Y = (_X[:, :4].sum((1, 2, 3)) > 0).astype(np.int32)


def prepare(tf: Any) -> None:
    """Starts a graph with a seed, and a folder for its files."""
    tf = getattr(tf.compat, "v1", tf)
    tf.reset_default_graph()
    tf.set_random_seed(5)
    from tensorpack.utils import logger

    logger.set_logger_dir(tempfile.mkdtemp(), action="d")


def _model(tf: Any, regularize: bool) -> Any:
    """The README's kind of model: convolutions, pooling, dense layers under `argscope`, from given weights."""
    import tensorpack as tp

    first = tf.random_normal_initializer(stddev=0.3, seed=7)

    class Model(tp.ModelDesc):
        def inputs(self) -> Any:
            return [tf.TensorSpec([None, 8, 8, 1], tf.float32, "image"), tf.TensorSpec([None], tf.int32, "label")]

        def build_graph(self, image: Any, label: Any) -> Any:
            with tp.argscope(tp.Conv2D, kernel_size=3, activation=tf.nn.relu, filters=4, kernel_initializer=first):
                h = tp.MaxPooling("pool", tp.Conv2D("conv0", image), 2)
                h = tp.BatchNorm("bn", tp.Conv2D("conv1", h))
            logits = tp.FullyConnected("fc", h, 2, kernel_initializer=first)
            wrong = tf.reduce_mean(tf.cast(tf.not_equal(tf.argmax(logits, 1, output_type=tf.int32), label), tf.float32),
                                   name="error")
            cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=label))
            if regularize:
                cost = tf.add_n([cost, tp.regularize_cost("fc/W", tf.nn.l2_loss) * 1e-2])
            tf.identity(cost, name="total")
            tp.summary.add_moving_summary(tf.identity(wrong, "train_error"))
            return cost

        def optimizer(self) -> Any:
            return tf.train.MomentumOptimizer(0.05, 0.9)

    return Model()


def _flow(repeat: bool = True) -> Any:
    import tensorpack as tp

    flow = tp.dataflow.DataFromList([[x, y] for x, y in zip(_X, _Y, strict=True)], shuffle=False)
    return tp.dataflow.BatchData(tp.dataflow.RepeatedData(flow, -1) if repeat else flow, 16)


def _seen(tf: Any) -> tuple[Any, list[Any], list[Any]]:
    """A callback, the values of the cost that it keeps after each step, and the weights in the end."""
    import tensorpack as tp

    found: list[Any] = []
    weights: list[Any] = []

    class Seen(tp.Callback):
        def _before_run(self, _: Any) -> Any:
            return tf.train.SessionRunArgs(fetches=["total:0"])

        def _after_run(self, _: Any, values: Any) -> None:
            found.append(values.results[0])

        def _after_train(self) -> None:  # the session is closed afterwards
            weights.extend(self.trainer.sess.run(tf.trainable_variables()))

    return Seen(), found, weights


@_case
def gradients_that_are_changed(tf: Any) -> Any:
    """Two processors of gradients, and an optimizer that accumulates them."""
    import tensorpack as tp

    tf = getattr(tf.compat, "v1", tf)
    seen, losses, weights = _seen(tf)
    model = _model(tf, False)
    plain = model.optimizer

    def optimizer() -> Any:
        return tp.optimizer.apply_grad_processors(
            tp.optimizer.AccumGradOptimizer(plain(), 2),
            [tp.gradproc.GlobalNormClip(0.5), tp.gradproc.ScaleGradient(("fc.*", 2.0))])

    model.optimizer = optimizer
    trainer = tp.SimpleTrainer()
    tp.launch_train_with_config(tp.TrainConfig(
        model=model, data=tp.QueueInput(_flow()), steps_per_epoch=4, max_epoch=2, callbacks=[seen],
        monitors=[]), trainer)
    return [losses, *weights]
