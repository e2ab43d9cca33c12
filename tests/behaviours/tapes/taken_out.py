"""What Python takes out of tensors in eager mode while a tape records: rows, elements, lists of them."""

from __future__ import annotations

from typing import Any

from ..harness import case, raised


def _taped(tf: Any, function: Any, *xs: Any) -> Any:
    """The gradients of a function, twice."""
    found = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            for x in xs:
                tape.watch(x)
            y = function(*xs)
        found.append(tape.gradient(y, list(xs)))
    return found


@case("eager")
def rows_of_tensors(tf: Any) -> Any:
    """Python's own iteration: unpacked, summed, zipped, sorted, in pieces of pieces."""
    x, m = tf.constant([0.7, -1.2]), tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def determinant(m: Any) -> Any:
        (a, b), (c, d) = m
        return a * d - b * c

    def product(x: Any) -> Any:
        a, b = x
        return a * b

    return [
        _taped(tf, product, x), _taped(tf, determinant, m), _taped(tf, lambda x: tf.add(*x), x), _taped(tf, sum, x),
        _taped(tf, lambda x, m: sum(a * tf.reduce_sum(r) for a, r in zip(x, m)), x, m),
        _taped(tf, lambda x: sorted(x)[0] ** 2, x), _taped(tf, lambda x: next(reversed(x)) ** 2, x),
        _taped(tf, lambda x: sum(i * e for i, e in enumerate(x)), x), _taped(tf, lambda x: max(x) ** 2, x),
        _taped(tf, lambda x: tf.reduce_sum(tf.stack(list(x * x))), x),
    ]


@case("eager")
def rows_in_maps(tf: Any) -> Any:
    """Gradients by what maps, scans and folds go over are dense; also those of gradients."""
    x, m = tf.constant([0.7, -1.2]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    functions = [
        lambda x: tf.reduce_sum(tf.map_fn(lambda e: e**3, x)), lambda x: tf.reduce_sum(tf.scan(lambda a, e: a * e, x)),
        lambda x: tf.foldl(lambda a, e: a * e, x), lambda x: tf.foldr(lambda a, e: a * e, x, initializer=2.0),
    ]
    found: list[Any] = [_taped(tf, f, x) for f in functions]
    found.append(_taped(tf, lambda m: tf.reduce_sum(tf.map_fn(lambda r: tf.reduce_sum(r) ** 2, m)), m))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.scan(lambda a, e: a * e, x))
        dx = inner.gradient(y, x)
    return found, [hasattr(g, "indices") for pair in found for (g,) in pair], outer.gradient(dx, x)


@case("eager")
def constants_of_lists_with_tensors(tf: Any) -> Any:
    """They are refused: what they take out of tensors would have no gradient."""
    x = tf.constant([0.7, -1.2])
    lists = [[x[0], x[1]], [x, x], [[x[0]], [x[1]]], [1.0, x[0]]]
    traced = tf.function(lambda x: tf.constant([x[0], 2.0]) * x)
    return [raised(lambda v=v: tf.constant(v)) for v in lists], raised(lambda: traced(x))
