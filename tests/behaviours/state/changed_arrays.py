"""Arrays that users change after a program has got them, or got them from it: tensors keep their values.

The arrays begin where TensorFlow does not use their memory as that of tensors, which it does with some others: then its
tensors change with them, here never.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case

_SIZES = (6, 1000, 40000)


def _ones(size: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    room = np.zeros(8 * size + 128, np.uint8)
    start = -room.ctypes.data % 64 + 4 * (1 if dtype == np.float32 else 2)
    array = room[start : start + np.dtype(dtype).itemsize * size].view(dtype)
    array[:] = 1
    return array


def _first(value: Any) -> float:
    return float(np.asarray(value).ravel()[0])


def _firsts(values: Any) -> list[float]:
    return [_first(v) for v in values]


def _change(array: Any) -> str:
    """Changes an array that a program gave, if that is allowed."""
    try:
        array[0] = 9
    except ValueError:
        return "read-only"
    return "changed"


@case("eager")
def given_as_tensors(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        x, y = _ones(n), _ones(n, np.int64)
        made = [tf.constant(x), tf.convert_to_tensor(x), tf.identity(x), tf.reshape(x, [2, -1]), tf.expand_dims(x, 0),
                tf.stop_gradient(x), tf.stack([x]), tf.constant([x]), tf.constant(np.broadcast_to(x, (2, n))),
                tf.constant(x[::-1]), tf.constant(memoryview(x)), tf.constant(y), tf.cast(x, tf.float32),
                tf.transpose(np.reshape(x, [2, -1])), tf.split(x, 2)[0], tf.Variable(x), tf.nest.map_structure(
                    tf.convert_to_tensor, {"a": x})["a"]]
        x[:] = 7
        y[:] = 7
        found.append(_firsts(made))
    return found


@case("eager")
def recorded_by_tapes(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        x = _ones(n)
        c, v, w = tf.constant(x), tf.Variable(tf.ones([n])), tf.Variable(tf.ones([n, 1]))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(c)
            y, z, u = c * c, v * x, tf.matmul(np.reshape(x, [1, n]), w)
        x[:] = 7
        found.append(_firsts([tape.gradient(y, c), tape.gradient(z, v), tape.gradient(u, w)]))
    return found


@case("eager")
def a_training_with_one_buffer(tf: Any) -> Any:
    """Every batch is written into the same array, as environments of reinforcement learning do."""
    found, batch, w, seen = [], _ones(1000).reshape(10, 100), tf.Variable(tf.ones([100, 1])), []
    for k in range(4):
        batch[:] = k
        seen.append(tf.convert_to_tensor(batch))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(batch, w) ** 2)
        batch[:] = 100
        w.assign_sub(0.001 * tape.gradient(loss, w))
        found.append(_first(w))
    return [found, _firsts(seen)]


@case("eager")
def data_sets(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        x, y = _ones(n), _ones(n)
        sets = [tf.data.Dataset.from_tensor_slices(x), tf.data.Dataset.from_tensors(x),
                tf.data.Dataset.from_tensor_slices({"a": x, "b": (y, y)}).batch(n).map(lambda e: e["b"][1]),
                tf.data.Dataset.range(1).map(lambda i, x=x: tf.convert_to_tensor(x)),
                tf.data.Dataset.from_tensor_slices(x).batch(2).cache()]
        going = iter(sets[0].batch(2))
        parts = [_first(next(going))]
        x[:], y[:] = 7, 8
        parts.append(_first(next(going)))
        found.append([parts, [_first(next(iter(d))) for d in sets]])
    return found


@case("eager")
def elements_given_to_users(tf: Any) -> Any:
    data = tf.data.Dataset.from_tensor_slices(_ones(8).reshape(2, 4))
    return [[_change(e) for e in data.as_numpy_iterator()], _firsts(data)]


@case("eager")
def generators_with_one_buffer(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        buffer = _ones(n)

        def numbers(buffer: Any = buffer) -> Any:
            for k in range(4):
                buffer[0] = k
                yield buffer

        data = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([None], tf.float32))
        found.append([_firsts(list(data)), _firsts(next(iter(data.batch(4)))), sorted(_firsts(data.shuffle(4, 1)))])
    return found


@case("eager")
def functions_that_keep_their_result(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        buffer = _ones(n)

        def step(k: Any, buffer: Any = buffer) -> Any:
            buffer[0] = k
            return buffer

        numbers = [np.float32(k) for k in range(3)]
        eager = [[tf.numpy_function(step, [k], tf.float32) for k in numbers],
                 [tf.py_function(step, [k], tf.float32) for k in numbers]]
        mapped = [tf.data.Dataset.range(3).map(lambda k, call=call, step=step: call(step, [k], tf.float32))
                  for call in (tf.numpy_function, tf.py_function)]
        found.append([*map(_firsts, eager), *[_firsts(list(d)) for d in mapped]])
    return found


@case("eager", differs="TensorFlow's functions of arrays get the memory of some tensors; here a copy",
      expected=[[1.0, 2.0], [2.0, 2.0], [2.0, 2.0]])
def functions_that_change_their_argument(tf: Any) -> Any:
    def step(a: Any) -> Any:
        a += 1
        return a

    c = tf.constant(_ones(1000))
    data = tf.data.Dataset.from_tensor_slices(_ones(8).reshape(2, 4)).map(
        lambda a: tf.numpy_function(step, [a], tf.float32))
    y = tf.numpy_function(step, [c], tf.float32)
    return [_firsts([c, y]), _firsts(data), _firsts(data)]


@case("graph", differs="TensorFlow's functions of arrays get the memory of some tensors; here a copy",
      expected=[[[2.0, 1.0], [2.0, 1.0], [2.0, 1.0]]] * 2)
def functions_in_graphs_that_change_their_argument(tf: Any) -> Any:
    def step(a: Any) -> Any:
        a += 1
        return a * 1

    v = tf.get_variable("v", initializer=_ones(1000), use_resource=True)
    c = tf.constant(_ones(1000))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        calls = [(tf.py_func(step, [given], tf.float32), given) for given in (c, v.read_value())]
        return [[[_first(sess.run(y)), _first(sess.run(given))] for _ in range(3)] for y, given in calls]


@case("graph")
def fed_and_kept(tf: Any) -> Any:
    """One array is fed again and again: to variables, to queues, and to handles."""
    found = []
    for n in _SIZES:
        x, p = _ones(n), tf.placeholder(tf.float32, [n])
        v = tf.get_variable(f"v{n}", initializer=tf.zeros([n]))
        queue = tf.FIFOQueue(4, [tf.float32], [[n]])
        assign, enqueue, dequeue, keep = tf.assign(v, p), queue.enqueue(p), queue.dequeue(), tf.get_session_handle(p)
        with tf.Session() as sess:
            values, kept = [], []
            for k in range(3):
                x[0] = k
                sess.run([assign, enqueue], {p: x})
                kept.append(sess.run(keep, {p: x}))
                x[0] = 7
                values.append(_first(sess.run(v)))
            found.append([values, [_first(sess.run(dequeue)) for _ in range(3)], [_first(k.eval()) for k in kept]])
    return found


@case("graph")
def what_runs_return(tf: Any) -> Any:
    """What a run returned may be changed, if it is writeable, and nothing else changes."""
    found = []
    for n in _SIZES:
        c, p = tf.constant(_ones(n)), tf.placeholder(tf.float32, [n])
        v = tf.get_variable(f"v{n}", initializer=tf.ones([n]))
        x, fetched = _ones(n), [c, v, tf.identity(c), tf.reshape(c, [-1]), p * 1.0]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                for array in sess.run(fetched, {p: x}):
                    _change(array)
            found.append([_firsts(sess.run(fetched, {p: x})), _first(x)])
    return found


@case("eager")
def containers(tf: Any) -> Any:
    found = []
    for n in _SIZES:
        x, i, rows = _ones(n), np.arange(n)[:, None].astype(np.int64), _ones(n)
        ragged = tf.RaggedTensor.from_row_lengths(x, [n // 2, n - n // 2])
        sparse = tf.SparseTensor(i, x, [n])
        array = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x)
        queue = tf.queue.FIFOQueue(3, [tf.float32], [[n]])
        queue.enqueue(x)
        v, w = tf.Variable(tf.zeros([n])), tf.Variable(tf.zeros([n]))
        v.assign(x)
        w.scatter_nd_update(i, rows)
        x[:], i[:], rows[:] = 7, 3, 7
        parts = [ragged.flat_values, sparse.values, sparse.indices, array.stack(), queue.dequeue(), v, w]
        found.append([*_firsts(parts), v.numpy().sum() / n])
    return found


@case("eager")
def what_tensors_give(tf: Any) -> Any:
    c, v = tf.constant(_ones(1000)), tf.Variable(_ones(1000))
    for _ in range(3):
        _change(v.numpy())
        v.assign_add(tf.ones([1000]))
    return [_change(np.asarray(c)), _change(np.array(c)), _first(c), _first(v), _change(np.asarray(c, np.float64)),
            bool(np.asarray(c).flags.writeable)]


@case("graph")
def lists_that_change_after_a_call(tf: Any) -> Any:
    """Programs keep what they were given: axes, sizes, fetches, gradients, variables."""
    x, v = tf.reshape(tf.range(6.0), [2, 3]), tf.get_variable("v", initializer=1.0)
    axes, order, sizes, fetches, strides = [0, 1], np.array([1, 0]), [1, 2], [x], [1, 1, 1, 1]
    stops = [x]
    total, turned, parts = tf.reduce_sum(x, axes), tf.transpose(x, order), tf.split(x, sizes, 1)
    image = tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([1, 1, 1, 1]), strides, "SAME")
    slope = tf.gradients(total * v, [x], stop_gradients=stops)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(v * 3.0)
    step = optimizer.apply_gradients(pairs)
    with tf.Session() as sess:
        call = sess.make_callable(fetches)
        for kept in (axes, sizes, stops, pairs):
            del kept[:]
        fetches.append(total)
        order[:], strides[1:3] = [0, 1], [2, 2]
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        return [sess.run(total), sess.run(turned).shape, [sess.run(p).shape for p in parts], len(call()),
                sess.run(image).shape, sess.run(v), sess.run(tf.shape(slope[0]))]


@case("eager")
def variables_as_they_were(tf: Any) -> Any:
    """Values that were read before an update stay; large tables are updated in place where nobody holds them."""
    found = []
    for rows in (3, 40000):
        v, held = tf.Variable(tf.zeros([rows, 2])), []
        for k in range(4):
            held += [tf.identity(v), v.value(), v.read_value(), tf.convert_to_tensor(v), v + 0.0, v.numpy()]
            v.scatter_nd_add([[0]], [[1.0, float(k)]])
            v[1].assign([float(k), 0.0])
        found.append([np.asarray(h)[:2].ravel().tolist() for h in held])
    return found
