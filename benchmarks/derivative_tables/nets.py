"""The nets that the tables differentiate, as each system has them."""

from __future__ import annotations

import itertools

import numpy as np


def arrays(sizes, count):
    """Weights, biases and points, in float32."""
    rng = np.random.RandomState(0)
    layers = [((rng.randn(n, m) * np.sqrt(2 / (n + m))).astype(np.float32), np.zeros([m], np.float32))
              for n, m in itertools.pairwise(sizes)]
    return layers, rng.rand(count, sizes[0]).astype(np.float32)


def graph(tf, sizes, count):
    """Placeholder, result, weights and points, in the default graph."""
    layers, points = arrays(sizes, count)
    variables = [(tf.Variable(w), tf.Variable(b)) for w, b in layers]
    x = h = tf.placeholder(tf.float32, [None, sizes[0]])
    for w, b in variables[:-1]:
        h = tf.tanh(tf.matmul(h, w) + b)
    w, b = variables[-1]
    return x, tf.matmul(h, w) + b, [v for layer in variables for v in layer], points


def session(tf, fetches, feeds):
    """A function that runs once, and what is known of the run: operations of the graph, temporary memory in bytes."""
    operations = len(tf.get_default_graph().get_operations())
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    run = sess.make_callable(fetches, list(feeds))
    values = list(feeds.values())
    run(*values)
    report = sess.explain(fetches, feeds)
    return (lambda: run(*values)), {"operations": operations, "bytes": report.peak_bytes, "value": _norm(run(*values))}


def net(jnp, layers, x):
    """The net in JAX."""
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def compiled(jax, f, *args):
    """The same as `session`, for a function of JAX."""
    program = jax.jit(f).lower(*args).compile()
    known = {"operations": None, "bytes": program.memory_analysis().temp_size_in_bytes,
             "value": _norm(jax.tree.leaves(program(*args)))}
    return (lambda: jax.block_until_ready(program(*args))), known


def _norm(values):
    return float(np.sqrt(sum(np.sum(np.square(np.asarray(v, np.float64))) for v in values)))
