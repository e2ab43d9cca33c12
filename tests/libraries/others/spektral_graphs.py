"""Spektral 1.3.1: layers on graphs, sparse and dense, their gradients, and training on batches of graphs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from tests.libraries import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
_NODES = 8


def _graph() -> tuple[Any, Any]:
    """Returns a matrix of neighbours, and features."""
    rng = np.random.RandomState(1)
    a = (rng.rand(_NODES, _NODES) > 0.6).astype("float32")
    a = np.maximum(a, a.T)
    np.fill_diagonal(a, 0)
    return a, rng.rand(_NODES, 5).astype("float32")


def _fill(layer: Any) -> None:
    """Sets a layer's weights."""
    for i, w in enumerate(layer.weights):
        w.assign(np.sin(np.arange(int(np.prod(w.shape))) + i).reshape(w.shape).astype("float32"))


@_case
def convolutions(tf: Any) -> Any:
    """Layers on sparse and dense graphs: results, and gradients by features and weights."""
    from spektral.layers import ARMAConv, ChebConv, GATConv, GCNConv, GINConv
    from spektral.utils import gcn_filter, sp_matrix_to_sp_tensor

    a, x = _graph()
    dense = gcn_filter(a)
    sparse = sp_matrix_to_sp_tensor(scipy.sparse.csr_matrix(dense))
    looped = sp_matrix_to_sp_tensor(scipy.sparse.csr_matrix(a + np.eye(_NODES, dtype="float32")))
    layers = [(GCNConv(3, activation="tanh"), sparse), (GCNConv(3), tf.constant(dense)), (ChebConv(3, K=2), sparse),
              (GATConv(3, attn_heads=2, dropout_rate=0.0), looped), (GINConv(3), sparse),
              (ARMAConv(3, order=2, iterations=2, dropout_rate=0.0), sparse)]
    found = []
    for layer, neighbours in layers:
        features = tf.constant(x)
        layer([features, neighbours])
        _fill(layer)
        with tf.GradientTape() as tape:
            tape.watch(features)
            total = tf.reduce_sum(layer([features, neighbours]) ** 2)
        gradients = tape.gradient(total, [features, *layer.trainable_variables])
        found += [total, *[tf.reduce_sum(tf.abs(g)) for g in gradients]]
    return found


@_case
def products(tf: Any) -> Any:
    """Products of sparse matrices, and of one with a batch."""
    from spektral.layers import ops
    from spektral.utils import gcn_filter, sp_matrix_to_sp_tensor

    a, x = _graph()
    sparse = sp_matrix_to_sp_tensor(scipy.sparse.csr_matrix(gcn_filter(a)))
    return [tf.sparse.to_dense(ops.dot(sparse, sparse)), ops.mixed_mode_dot(sparse, tf.constant(np.stack([x, 2 * x])))]


@_case
def trained(tf: Any) -> Any:
    """A network of two layers, trained by a tape; and one that pools, by `fit` on batches of graphs."""
    from spektral.data import Dataset, Graph
    from spektral.data.loaders import DisjointLoader
    from spektral.layers import GCNConv, GlobalSumPool
    from spektral.utils import gcn_filter, sp_matrix_to_sp_tensor

    keras = tf.keras
    a, x = _graph()
    sparse = sp_matrix_to_sp_tensor(scipy.sparse.csr_matrix(gcn_filter(a)))
    labels = np.eye(2)[np.arange(_NODES) % 2].astype("float32")
    first, second = GCNConv(6, activation="relu"), GCNConv(2, activation="softmax")

    def net() -> Any:
        return second([first([tf.constant(x), sparse]), sparse])

    net()
    _fill(first)
    _fill(second)
    optimizer, losses = keras.optimizers.Adam(0.05), []
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.categorical_crossentropy(labels, net()))
        variables = first.trainable_variables + second.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(loss)

    class Graphs(Dataset):
        def read(self) -> Any:
            rng = np.random.RandomState(0)
            return [Graph(x=rng.rand(k, 4).astype("float32"), y=np.array([float(k % 2)], "float32"),
                          a=scipy.sparse.csr_matrix((rng.rand(k, k) > 0.5).astype("float32"))) for k in (3, 4, 5, 6)]

    class Pooled(keras.Model):  # type: ignore[misc,name-defined]  # of the library
        def __init__(self) -> None:
            super().__init__()
            self.convolution, self.pool = GCNConv(6, activation="relu"), GlobalSumPool()
            self.dense = keras.layers.Dense(1)

        def call(self, given: Any) -> Any:
            features, neighbours, number = given
            return self.dense(self.pool([self.convolution([features, neighbours]), number]))

    graphs, pooled = Graphs(), Pooled()
    pooled(next(iter(DisjointLoader(graphs, batch_size=4, epochs=1, shuffle=False)))[0])
    _fill(pooled.convolution)
    _fill(pooled.dense)
    pooled.compile(keras.optimizers.Adam(0.01), "mse")
    loader = DisjointLoader(graphs, batch_size=2, epochs=3, shuffle=False)
    history = pooled.fit(loader.load(), steps_per_epoch=loader.steps_per_epoch, epochs=3, verbose=0)
    return [*losses, *history.history["loss"]]
