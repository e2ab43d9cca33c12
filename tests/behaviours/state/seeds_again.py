"""Eager mode's seed, set once more: functions that are traced already begin their random numbers anew."""

from __future__ import annotations

from typing import Any

from ..harness import case


@case("eager")
def seeds_of_operations(tf: Any) -> Any:
    @tf.function
    def first():
        return tf.random.uniform([], seed=5)

    @tf.function
    def second():
        return tf.random.uniform([], seed=5), tf.random.normal([2], seed=6), tf.random.shuffle([1, 2, 3, 4], seed=7)

    found = []
    for seed in (1, 1, 2):  # what is traced keeps its seeds
        tf.random.set_seed(seed)
        found.append([first(), second(), first(), second(), tf.random.uniform([], seed=5), first()])
    return found


@case("eager")
def seeds_of_eager_mode(tf: Any) -> Any:
    @tf.function
    def early():
        return tf.random.uniform([])

    @tf.function
    def late():
        return tf.random.uniform([])

    tf.random.set_seed(3)
    found = [early(), early()]
    tf.random.set_seed(3)
    found += [early(), early(), late()]
    tf.random.set_seed(4)
    return [*found, early(), late(), early(), late()]


@case("eager")
def every_trace(tf: Any) -> Any:
    @tf.function
    def drawn(x):
        return tf.random.uniform([], seed=5) + 0.0 * tf.reduce_sum(x)

    inner = tf.function(lambda: tf.random.uniform([], seed=8))

    @tf.function
    def outer():
        return inner(), inner() * 2.0

    found = []
    for _ in range(2):
        tf.random.set_seed(1)
        found.append([drawn(tf.ones([n])) for n in (1, 1, 2, 1, 2)])
        found.append([outer(), inner(), outer()])
    return found


@case("eager")
def between_the_passes(tf: Any) -> Any:
    @tf.function
    def drawn(x):
        return tf.cond(x > 0.0, lambda: x * tf.random.uniform([], seed=5), lambda: x) * tf.random.uniform([], seed=6)

    x, found = tf.constant(2.0), []
    for _ in range(2):
        tf.random.set_seed(1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = drawn(x) + drawn(x)
        tf.random.set_seed(2)  # the gradient is that of what was drawn
        found.append([y, tape.gradient(y, x)])
    return found


@case("eager")
def generators_and_graphs_go_on(tf: Any) -> Any:
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def drawn():
        return generator.uniform([])

    found = [drawn()]
    tf.random.set_seed(1)
    found.append(drawn())
    with tf.Graph().as_default():
        value = tf.random.uniform([], seed=5)
        with tf.compat.v1.Session() as sess:
            found.append(sess.run(value))
            tf.random.set_seed(1)
            found.append(sess.run(value))
    return found
