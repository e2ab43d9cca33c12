"""Sonnet 2.0.2: modules, recurrent cores and optimizers on `GradientTape`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def _fixed(module: Any) -> Any:
    rng = np.random.RandomState(2)
    for v in module.trainable_variables:
        v.assign(0.3 * rng.randn(*v.shape))
    return module


def _images(tf: Any) -> Any:
    return tf.constant(np.random.RandomState(0).randn(12, 8, 8, 3).astype("float32"))


def _trained(tf: Any, module: Any, optimizer: Any, x: Any) -> list[float]:
    labels = np.arange(12) % 4

    def step() -> Any:
        with tf.GradientTape() as tape:
            logits = module(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        optimizer.apply(tape.gradient(loss, module.trainable_variables), module.trainable_variables)
        return loss

    return [float(step()), float(step()), float(tf.function(step)())]


@_case
def first_program(tf: Any) -> Any:
    """A perceptron as in the README, trained with four optimizers."""
    import sonnet as snt

    x = _images(tf)[:, 0, :, 0]
    found = []
    for optimizer in (snt.optimizers.SGD(0.1), snt.optimizers.Momentum(0.1, 0.9, use_nesterov=True),
                      snt.optimizers.RMSProp(0.01, centered=True), snt.optimizers.Adam(0.01)):
        mlp = snt.Sequential([snt.Linear(16), tf.nn.relu, snt.Linear(4)])
        mlp(x)
        found.append(_trained(tf, _fixed(mlp), optimizer, x))
    return found


@_case
def layers(tf: Any) -> Any:
    """Convolutions of all kinds, normalizations, and what they keep; a checkpoint."""
    import sonnet as snt

    class Net(snt.Module):
        def __init__(self) -> None:
            super().__init__(name="net")
            self.parts = [snt.Conv2D(4, 3, stride=2), snt.BatchNorm(True, True, decay_rate=0.9),
                          snt.DepthwiseConv2D(3), snt.GroupNorm(2), snt.Conv2DTranspose(2, 3, stride=2),
                          snt.LayerNorm(-1, True, True), snt.InstanceNorm(True, True), snt.Flatten(), snt.Linear(4)]

        def __call__(self, x: Any) -> Any:
            for part in self.parts:
                x = part(x, is_training=True) if isinstance(part, snt.BatchNorm) else part(x)
            return x

    x, net = _images(tf), Net()
    net(x)
    losses = _trained(tf, _fixed(net), snt.optimizers.SGD(0.05), x)
    kept = [np.ravel(v)[:3] for v in net.variables if not v.trainable]
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(net=net).save(f"{folder}/net")
        other = Net()
        other(x)
        tf.train.Checkpoint(net=other).restore(path).assert_consumed()
        assert [v.name for v in other.variables] == [v.name for v in net.variables]
        np.testing.assert_array_equal(other.parts[-1].w, net.parts[-1].w)
    return [losses, *kept]


@_case
def recurrent_cores(tf: Any) -> Any:
    """LSTM, GRU, plain and deep cores and one with convolutions, unrolled; gradients by weights and inputs."""
    import sonnet as snt

    sequence = tf.constant(np.random.RandomState(1).randn(5, 3, 4).astype("float32"))
    found = []
    for core in (snt.LSTM(5), snt.GRU(5), snt.VanillaRNN(5), snt.DeepRNN([snt.LSTM(4), tf.nn.relu, snt.GRU(3)])):
        core(sequence[0], core.initial_state(3))
        _fixed(core)
        with tf.GradientTape() as tape:
            tape.watch(sequence)
            outputs, _ = snt.dynamic_unroll(core, sequence, core.initial_state(3))
            loss = tf.reduce_sum(outputs**2)
        grads = tape.gradient(loss, [sequence, *core.trainable_variables])
        found.append([loss, *[tf.reduce_sum(g) for g in grads]])
    images = _images(tf)
    core = snt.Conv2DLSTM((8, 8, 3), 2, 3)
    core(images, core.initial_state(12))
    outputs, _ = _fixed(core)(images, core.initial_state(12))
    return [*found, tf.reduce_sum(outputs**2)]


@_case
def larger_parts(tf: Any) -> Any:
    """A vector quantizer with moving averages, a moving average, embeddings, and a residual net's shapes."""
    import sonnet as snt

    x = tf.constant(np.random.RandomState(0).randn(10, 4).astype("float32"))
    quantizer = snt.nets.VectorQuantizer(4, 6, 0.25)
    quantizer.embeddings.assign(np.random.RandomState(1).randn(4, 6))
    quantized = quantizer(x, is_training=True)
    average = snt.ExponentialMovingAverage(0.9)
    averages = [average(tf.constant(v)) for v in (2.0, 4.0)]
    net = snt.nets.ResNet([1, 1, 1, 1], 10)
    logits = net(tf.zeros([1, 32, 32, 3]), is_training=True)
    embedded = _fixed(snt.Embed(10, 4))(tf.constant([1, 2]))
    return [quantized["quantize"], quantized["loss"], quantized["perplexity"], averages, logits.shape, embedded,
            len(net.trainable_variables), sum(np.prod(v.shape) for v in net.trainable_variables)]
