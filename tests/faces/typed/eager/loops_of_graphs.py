"""Branches and loops in functions, arrays, random numbers."""

from typing import NamedTuple

import graphgrad as tf


class State(NamedTuple):
    i: tf.Tensor
    total: tf.Tensor


x = tf.constant([1.0, 2.0, 3.0])
final = tf.while_loop(lambda s: s.i < 3, lambda s: (State(s.i + 1, s.total + 1.5),),
                      (State(tf.constant(0), tf.constant(0.0)),))[0]
count, values = tf.while_loop(lambda i, v: i < 3, lambda i, v: [i + 1, v * 2.0], [0, x])
(only,) = tf.while_loop(lambda i: i < 10, lambda i: (i + 3,), (tf.constant(0),))
array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
for i in range(3):
    array = array.write(i, tf.square(x[i]))
stacked = array.stack()
branch = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2.0])
chosen = tf.cond(tf.reduce_sum(x) > 1.0, lambda: {"a": x, "b": x * 2.0}, lambda: {"a": -x, "b": x})
mapped = tf.vectorized_map(lambda row: row * row, x)
pair = tf.map_fn(lambda row: (row, row > 1.0), x, fn_output_signature=(tf.float32, tf.bool))
ragged = tf.map_fn(lambda n: tf.range(n), tf.constant([1, 2]),
                   fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
rng = tf.random.Generator.from_seed(1)
noise = rng.normal([2]) + tf.random.uniform([2], seed=5)
structure = tf.nest.map_structure(lambda t: t + 1.0, {"x": x, "y": [x, x]})
assert final.total.numpy() == 4.5 and count.numpy() == 3 and only.numpy() == 12
print(values[0] + 1.0, stacked.shape, branch[0], chosen["b"][0] + 1.0, mapped.numpy(), pair[1], noise.shape)
print(structure["y"][0] + x, tf.nest.flatten(structure)[0].shape, ragged.to_list(), final.i + 1)
