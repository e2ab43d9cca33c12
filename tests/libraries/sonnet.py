"""Programs on Sonnet 1: modules that are connected several times, their gradients, a few steps of training.

TensorFlow Probability 0.8, which Sonnet asks for when it is imported, compares the arguments of functions with those of
TensorFlow 1.15 and so runs neither on TensorFlow 2.21 nor here; an empty module stands in for it. The two modules of
Sonnet that use it, constraints of optimizations and Bayes by backprop, are not run.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}
FACE = 1


def prepare(tf: Any) -> None:
    """Starts a graph with seeds; puts back what Python has dropped since, and what TensorFlow has."""
    for name in ("Mapping", "Sequence", "Iterable"):
        setattr(collections, name, getattr(collections.abc, name))
    if not hasattr(inspect, "getargspec"):
        inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]  # type: ignore[attr-defined]  # of Python 3.10
    if "sonnet" not in sys.modules:
        _stand_in({"tensorflow_probability": {"__version__": "0.8.0", "bijectors": None, "distributions":
                   types.SimpleNamespace(FULLY_REPARAMETERIZED=None, Distribution=object, Normal=None)}})
        if hasattr(tf, "lite"):  # TensorFlow 2.21, to record
            _put_back(tf)
    tf.compat.v1.reset_default_graph()
    tf.compat.v1.set_random_seed(5)


def _put_back(tf: Any) -> None:
    """Makes the few names of `tf.contrib` that Sonnet uses, and a module of messages, which are not used here."""
    nest = importlib.import_module("tensorflow.python.util.nest")
    nest.is_sequence = nest.is_nested  # type: ignore[attr-defined]  # its name before
    named: dict[str, dict[str, Any]] = {
        "tensorflow.contrib": {}, "tensorflow.contrib.framework": {
            "nest": nest, "smart_cond": importlib.import_module("tensorflow.python.framework.smart_cond").smart_cond},
        "tensorflow.contrib.rnn": {"LSTMBlockCell": object}, "tensorflow.contrib.eager": {},
        "tensorflow.contrib.eager.python": {}, "tensorflow.contrib.eager.python.tfe": {},
        "sonnet.protos.module_pb2": {"SonnetModule": None},
    }
    _stand_in(named)


def _stand_in(named: dict[str, dict[str, Any]]) -> None:
    for name, content in named.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
        parent, _, own = name.rpartition(".")
        if parent in named:
            setattr(sys.modules[parent], own, sys.modules[name])


def _case(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(tf: Any) -> Any:
        import sonnet

        return function(tf.compat.v1, sonnet)

    CASES[function.__name__] = run
    return function


def _rows(*shape: int) -> Any:
    return np.random.RandomState(3).randn(*shape).astype(np.float32)


def _run(tf: Any, *fetches: Any, train: Any = None, steps: int = 0) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        return [_short(v) for v in session.run(list(fetches))]


def _short(value: Any) -> Any:
    """Returns a value, of a large one sums and a part."""
    flat = np.ravel(value).astype(np.float64)
    return value if flat.size <= 40 else [np.mean(flat), np.mean(np.abs(flat)), *flat[:: flat.size // 20]]


@_case
def first_program(tf: Any, snt: Any) -> Any:
    """A linear module on two inputs, trained on one."""
    regression = snt.Linear(output_size=2, initializers={"w": tf.truncated_normal_initializer(stddev=0.1)},
                            regularizers={"w": lambda w: 0.01 * tf.reduce_sum(w**2)})
    train, test = regression(tf.constant(_rows(8, 3))), regression(tf.constant(_rows(4, 3) + 1.0))
    loss = tf.reduce_mean((train - 1.0) ** 2) + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return _run(tf, loss, test, regression.w, regression.b, train=step, steps=10)


@_case
def perceptron(tf: Any, snt: Any) -> Any:
    """As in the example `mnist_mlp`: images are flattened, one module for training and test."""
    mlp = snt.nets.MLP([10, 4])
    images, labels = _rows(30, 5, 5), np.arange(30) % 4
    logits = mlp(snt.BatchFlatten()(tf.constant(images)))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    test = tf.nn.softmax(mlp(snt.BatchFlatten()(tf.constant(images[:3] + 0.1))))
    back = mlp.transpose()(logits)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return _run(tf, loss, test, back, *tf.gradients(loss, mlp.get_variables()), train=step, steps=8)


@_case
def convolutions(tf: Any, snt: Any) -> Any:
    x = tf.constant(_rows(3, 8, 8, 3))
    layer = snt.Conv2D(4, 3, stride=2, padding=snt.SAME)
    y = layer(x)
    outputs = [y, layer.transpose()(y), snt.SeparableConv2D(4, 1, 3)(x), snt.DepthwiseConv2D(1, 3)(x),
               snt.InPlaneConv2D(3)(x), snt.Conv2D(2, 3, rate=2, padding=snt.VALID)(x),
               snt.Conv2DTranspose(2, (16, 16), 3, 2)(x), snt.Conv1D(4, 3, padding=snt.CAUSAL)(x[:, 0]),
               snt.Conv3D(2, 3)(x[..., None]),
               snt.nets.ConvNet2D([4, 5], [3], [2], [snt.SAME], normalization_ctor=snt.BatchNorm,
                                  normalization_kwargs={"scale": True})(x, is_training=True)]
    loss = tf.add_n([tf.reduce_sum(o**2) for o in outputs])
    return _run(tf, *outputs, *tf.gradients(loss, tf.trainable_variables()))


@_case
def recurrent_cores(tf: Any, snt: Any) -> Any:
    """Cores through `dynamic_rnn`, trained; single steps from trainable states."""
    x = tf.constant(_rows(3, 5, 2))
    cores = [snt.LSTM(4), snt.LSTM(3, use_peepholes=True, use_layer_norm=True), snt.GRU(4), snt.VanillaRNN(4),
             snt.DeepRNN([snt.LSTM(3), snt.GRU(2)], skip_connections=True), snt.ResidualCore(snt.LSTM(2))]
    outputs = [tf.nn.dynamic_rnn(core, x, initial_state=core.initial_state(3))[0] for core in cores]
    image = snt.Conv2DLSTM(input_shape=(4, 4, 1), output_channels=2, kernel_shape=3)
    outputs.append(image(tf.constant(_rows(2, 4, 4, 1)), image.initial_state(2))[0])
    outputs.append(cores[0](x[:, 0], cores[0].initial_state(3, trainable=True))[0])
    loss = tf.add_n([tf.reduce_mean(o**2) for o in outputs])
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    return _run(tf, loss, *outputs, *tf.gradients(loss, cores[0].get_variables()), train=step, steps=5)


@_case
def normalizations(tf: Any, snt: Any) -> Any:
    """Batch normalization with its update operations, of both versions; layer normalization."""
    x = tf.constant(_rows(6, 4, 4, 3) * 2.0 + 1.0)
    first, second = snt.BatchNorm(decay_rate=0.5, scale=True), snt.BatchNormV2(decay_rate=0.5)
    trained = [first(x, is_training=True), second(x, is_training=True), snt.LayerNorm()(tf.layers.flatten(x))]
    step = tf.group(*trained, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    tested = [m(x, is_training=False, test_local_stats=False) for m in (first, second)]
    gradients = tf.gradients([tf.reduce_sum(t**3) for t in trained], x)
    return [*_run(tf, *trained, *gradients),  # apart from what reads the averages, since this changes them
            *_run(tf, *tested, first.moving_mean, second.moving_variance, train=step, steps=3)]


@_case
def modules(tf: Any, snt: Any) -> Any:
    """Functions as modules, sharing, getters of variables, gradients that are scaled or clipped."""
    def build(inputs: Any) -> Any:
        return tf.tanh(snt.Linear(3, name="inner")(inputs))

    shared = snt.Module(build, name="mine")
    x = tf.constant(_rows(4, 2))
    outputs = [shared(x), shared(x + 1.0), snt.Sequential([snt.Linear(4), tf.nn.relu, snt.Linear(2)])(x),
               snt.BatchApply(snt.Linear(3))(tf.constant(_rows(2, 3, 4))), snt.Residual(snt.Linear(2))(x)]
    with tf.variable_scope("kept", custom_getter=snt.custom_getters.stop_gradient):
        outputs.append(snt.Linear(2)(x))
    outputs += [snt.scale_gradient(x, 0.5), snt.clip_gradient(x * 3.0, -1.0, 1.0)]
    loss = tf.add_n([tf.reduce_sum(o**2) for o in outputs])
    gradients = [g for g in tf.gradients(loss, [x, *tf.trainable_variables()]) if g is not None]
    assert sorted(v.name for v in shared.get_variables()) == ["mine/inner/b:0", "mine/inner/w:0"]
    return _run(tf, *outputs, *gradients)


@_case
def larger_parts(tf: Any, snt: Any) -> Any:
    """Embeddings, attention, relational memory, vector quantization, a grid of an affine map, moving averages."""
    x = tf.constant(_rows(3, 4))
    read = snt.AttentiveRead(snt.Linear(1))(tf.constant(_rows(3, 2, 4)), x)
    memory = snt.RelationalMemory(2, 4, 2)
    quantized = snt.nets.VectorQuantizer(4, 6, 0.25)(x, is_training=True)
    outputs = [snt.Embed(9, 4)(tf.constant([1, 8, 3])), read.read, memory(x, memory.initial_state(3))[0],
               snt.AffineGridWarper((8, 8), (3, 3))(tf.constant(_rows(2, 6))), quantized["loss"], quantized["quantize"]]
    average = snt.MovingAverage(decay=0.9)(tf.reduce_sum(x))
    loss = tf.add_n([tf.reduce_sum(o**2) for o in outputs])
    gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, tf.trainable_variables())]
    return _run(tf, *outputs, average, *gradients)
