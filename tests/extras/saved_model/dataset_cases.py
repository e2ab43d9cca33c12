"""An object whose functions hold data sets, and what is asked of it once it is saved and loaded, here or in TensorFlow.

The case is a pair as in `saved_model_cases.py`.
"""

from __future__ import annotations

import pathlib
from typing import Any


def build_datasets(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Pipelines of all kinds in functions, read by loops, `reduce`, iterators and as a whole; some made outside."""
    root, data = tf.Module(), tf.data.Dataset
    root.w = tf.Variable([2.0, 3.0, 4.0], name="w")
    keys, values = tf.constant(["a", "b"]), tf.constant([5, 7], tf.int64)
    root.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    root.numbers = data.range(5).map(lambda x: x * 2)
    root.words = data.from_tensor_slices(["a", "b", "cc"]).map(root.table.lookup)
    floats, texts, number = tf.TensorSpec([None]), tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.int64)

    @tf.function(input_signature=[floats])
    def reduced(x: Any) -> Any:
        doubled = data.from_tensor_slices(x).map(lambda v: v * 2.0).filter(lambda v: v > 2.0)
        return doubled.batch(2, drop_remainder=True).reduce(0.0, lambda s, b: s + tf.reduce_sum(b))

    @tf.function(input_signature=[floats])
    def looped(x: Any) -> Any:
        s = tf.constant(0.0)
        pairs = data.zip((data.from_tensor_slices(x), data.range(100)))
        for v, i in pairs.shuffle(10, seed=3).repeat(2).take(5).skip(1).prefetch(1):
            s = s * 0.5 + v * tf.cast(i, tf.float32) * root.w[0]
        return s

    @tf.function(input_signature=[floats])
    def ended(x: Any) -> Any:
        s = tf.constant(0.0)
        for i, v in data.from_tensor_slices(x).enumerate():
            if v < 0.0:
                break
            if i > 5:
                continue
            s += v * root.w[1]
        return s

    @tf.function(input_signature=[floats])
    def taken(x: Any) -> Any:
        both = data.from_tensors(x).cache().concatenate(data.from_tensors(x * 2.0))
        iterator = iter(both.enumerate(3))
        first, second = next(iterator), iterator.get_next_as_optional()
        third = iterator.get_next_as_optional()
        number, row = second.get_value()
        return first[1] + row * tf.cast(number, tf.float32), second.has_value(), third.has_value()

    @tf.function(input_signature=[])
    def outside() -> Any:
        total, text = tf.constant(0, tf.int64), tf.constant(0, tf.int64)
        for v in root.numbers:
            total += v
        for v in root.words:
            text = text * 10 + v
        return total, text, root.numbers.cardinality()

    @tf.function(input_signature=[texts])
    def looked_up(x: Any) -> Any:
        return data.from_tensor_slices(x).map(root.table.lookup).batch(10).get_single_element()

    @tf.function(input_signature=[number])
    def nested(n: Any) -> Any:
        inner = data.range(n).flat_map(lambda i: data.range(i))
        inner = inner.interleave(lambda i: data.from_tensors(i).repeat(2), cycle_length=2)
        rows = inner.map(lambda v: tf.range(v + 1)).padded_batch(2, padding_values=tf.constant(-7, tf.int64))
        sums = rows.unbatch().map(tf.reduce_sum).window(2, shift=1).flat_map(lambda w: w.batch(2)).batch(1)
        named = sums.map(lambda x: {"b": (x + 1, x), "a": x}, num_parallel_calls=tf.data.AUTOTUNE)
        last = named.map(lambda d: d["a"] + d["b"][0])
        return last.shard(3, 1).take(1).get_single_element(), last.reduce(
            tf.constant(0, tf.int64), lambda s, v: s * 3 % 1001 + tf.reduce_sum(v))

    @tf.function(input_signature=[floats])
    def scanned(x: Any) -> Any:
        products = data.from_tensor_slices(x).scan(tf.constant(1.0), lambda s, v: (s * v, s + v))
        if x[0] > 0.0:
            s = tf.constant(0.0)
            for v in products.take_while(lambda v: v < 50.0):
                s = s * 2.0 + v
        else:
            s = -x[0]
        return s

    root.reduced, root.looped, root.ended, root.taken, root.outside = reduced, looped, ended, taken, outside
    root.looked_up, root.nested, root.scanned = looked_up, nested, scanned
    return root, {"signatures": reduced}


def use_datasets(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([1.0, 2.0, 3.0])
    found: dict[str, Any] = {"reduced": [loaded.reduced(x), loaded.reduced(x[:0])], "looped": [loaded.looped(x)] * 2}
    loaded.w.assign(loaded.w * 0.5)
    found["changed"] = loaded.looped(x[::-1])
    found["ended"] = [loaded.ended(tf.constant(v)) for v in (
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, 5.0], [-1.0, 2.0])]
    found["taken"], found["outside"] = [loaded.taken(x), loaded.taken(x[:2])], loaded.outside()
    found["looked up"] = loaded.looked_up(tf.constant(["b", "z", "a"]))
    found["nested"] = [loaded.nested(tf.constant(n, tf.int64)) for n in (5, 4)]
    found["scanned"] = [loaded.scanned(tf.constant(v)) for v in (
        [1.0, 2.0, 3.0, 5.0, 9.0, 100.0], [2.0, 3.0], [-2.0, 3.0])]
    found["signature"] = loaded.signatures["serving_default"](x=x)

    @tf.function
    def inside(x: Any) -> Any:
        return loaded.ended(x) + loaded.scanned(x)

    found["inside"] = [inside(x), inside(2.0 * x)]
    return found


CASES = {"datasets": (build_datasets, use_datasets)}
