"""Sparse, ragged and sliced tensors in branches, loops, functions, custom gradients and host functions."""

from __future__ import annotations

from typing import Any

from ..harness import case, raised

_SPARSE_SOURCES = "TensorFlow has custom gradients for ragged and sliced tensors, not for sparse ones"


def _sparse(tf: Any, values: Any) -> Any:
    return tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2])


def _ragged(tf: Any, values: Any) -> Any:
    return tf.RaggedTensor.from_row_splits(values, [0, 2, 3])


def _slices(tf: Any, values: Any) -> Any:
    return tf.IndexedSlices(values, tf.constant([0, 2]), tf.constant([3]))


def _thrice(tf: Any, fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        return [sess.run(fetches, feeds) for _ in range(3)]


def _orders(tf: Any, y: Any, x: Any) -> list[Any]:
    """y, and its gradients of first and second order."""
    y = tf.reduce_sum(y)
    g = tf.convert_to_tensor(tf.gradients(y, x)[0])
    return [y, g, tf.convert_to_tensor(tf.gradients(tf.reduce_sum(g * g), x)[0])]


# -- branches --------------------------------------------------------------------------------


@case("graph")
def branches_give_sparse_tensors(tf: Any) -> Any:
    x, v = tf.constant(2.0), tf.constant([1.0, 2.0])
    same = tf.cond(x > 0.0, lambda: _sparse(tf, v * x), lambda: _sparse(tf, v))
    other = tf.cond(x > 0.0, lambda: _sparse(tf, v * x), lambda: tf.SparseTensor([[1, 1]], v[:1], [2, 3]))
    dense = [tf.sparse.to_dense(same), tf.sparse.to_dense(other)]
    return _thrice(tf, [*_orders(tf, same.values**2, v), *dense]), same.shape.as_list(), other.shape.as_list()


@case("graph")
def branches_give_ragged_tensors(tf: Any) -> Any:
    x, v, w = tf.constant(2.0), tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    same = tf.cond(x > 0.0, lambda: _ragged(tf, w * x), lambda: _ragged(tf, w))
    other = tf.cond(x < 0.0, lambda: _ragged(tf, w), lambda: tf.RaggedTensor.from_row_splits(v, [0, 0, 1, 2]))
    fetches = [*_orders(tf, same.to_tensor() ** 3, w), other.to_tensor()]
    return _thrice(tf, fetches), same.shape.as_list(), other.shape.as_list()


@case("graph")
def branches_give_slices(tf: Any) -> Any:
    x, v = tf.constant(2.0), tf.constant([1.0, 2.0])
    same = tf.cond(x > 0.0, lambda: _slices(tf, v * x), lambda: _slices(tf, v))
    wide = tf.cond(x > 0.0, lambda: _slices(tf, v * x),
                   lambda: tf.IndexedSlices(v, tf.constant([0, 2], tf.int64), tf.constant([3])))
    return _thrice(tf, [*_orders(tf, tf.convert_to_tensor(same) ** 2, v), same, wide]), wide.indices.dtype.name


@case("graph")
def branches_that_differ_in_kind(tf: Any) -> Any:
    p, v, w = tf.constant(1.0) > 0.0, tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    makers = [lambda: _sparse(tf, v), lambda: _ragged(tf, w), lambda: _slices(tf, v)]
    found = [raised(lambda m=m: tf.cond(p, m, lambda: tf.ones([2, 2]))) for m in makers]
    return found, raised(lambda: tf.cond(p, makers[0], makers[1]))


@case("graph")
def branches_nest_composites(tf: Any) -> Any:
    x, v, w = tf.constant(2.0), tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])

    def branch(factor: float) -> Any:
        return {"a": _sparse(tf, v * factor), "b": [x + factor, _ragged(tf, w)]}

    r = tf.cond(x > 0.0, lambda: branch(1.0), lambda: branch(2.0))
    chosen = tf.case([(x > 0.0, lambda: _sparse(tf, v * x))], default=lambda: _sparse(tf, v))
    switched = tf.switch_case(tf.constant(1), [lambda: _ragged(tf, w), lambda: _ragged(tf, w * x)])
    fetches = [r["a"].values, r["b"][0], r["b"][1].flat_values, chosen.values, switched.flat_values]
    return _thrice(tf, fetches), sorted(r)


@case("graph")
def a_branch_uses_a_sparse_tensor_of_outside(tf: Any) -> Any:
    x, v = tf.constant(2.0), tf.constant([1.0, 2.0])
    s = _sparse(tf, v * x)
    r = tf.cond(x > 0.0, lambda: s, lambda: tf.SparseTensor(s.indices, v, s.dense_shape))
    return _thrice(tf, _orders(tf, tf.sparse.reduce_sum(r, 1) ** 2, v))


# -- loops -----------------------------------------------------------------------------------


def _loop(tf: Any, body: Any, start: Any, **options: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 2, lambda i, s: (i + 1, body(s)), [tf.constant(0), start], **options)[1]


@case("graph")
def loops_over_sparse_tensors(tf: Any) -> Any:
    x, v = tf.constant(2.0), tf.constant([1.0, 2.0])
    r = _loop(tf, lambda s: tf.SparseTensor(s.indices, s.values**2 * x, s.dense_shape), _sparse(tf, v))
    grows = _loop(tf, lambda s: tf.SparseTensor(tf.concat([s.indices, s.indices + 1], 0),
                                                tf.concat([s.values, s.values * x], 0), s.dense_shape * 2),
                  _sparse(tf, v))
    return _thrice(tf, [*_orders(tf, r.values, v), *_orders(tf, r.values, x), grows.values, grows.dense_shape])


@case("graph")
def loops_over_ragged_tensors(tf: Any) -> Any:
    x, w = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0])
    r = _loop(tf, lambda s: s.with_flat_values(s.flat_values**2 * x), _ragged(tf, w))
    longer = _loop(tf, lambda s: tf.concat([s, s], 1), _ragged(tf, w))
    spec = [tf.TensorShape([]), tf.RaggedTensorSpec([None, None], tf.float32)]
    more = _loop(tf, lambda s: tf.concat([s, s], 0), _ragged(tf, w), shape_invariants=spec)
    fetches = [*_orders(tf, r.to_tensor(), w), longer.to_tensor(), more.to_tensor()]
    return _thrice(tf, fetches), r.shape.as_list(), more.shape.as_list()


@case("graph")
def loops_over_slices(tf: Any) -> Any:
    x, v = tf.constant(2.0), tf.constant([1.0, 2.0])
    r = _loop(tf, lambda s: tf.IndexedSlices(s.values**2 * x, s.indices, s.dense_shape), _slices(tf, v))
    short = _loop(tf, lambda s: tf.IndexedSlices(s.values * x, s.indices), tf.IndexedSlices(v, tf.constant([0, 1])))
    spec = [tf.TensorShape([]), tf.TensorShape([None])]
    grows = _loop(tf, lambda s: tf.IndexedSlices(tf.concat([s.values, s.values], 0), tf.concat([s.indices] * 2, 0),
                                                 s.dense_shape), _slices(tf, v), shape_invariants=spec)
    return _thrice(tf, [*_orders(tf, r.values, v), short, tf.convert_to_tensor(grows)])


@case("graph")
def loops_that_change_the_kind(tf: Any) -> Any:
    v, w = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    changes = [raised(lambda: _loop(tf, lambda s: tf.ones([2, 2]), _sparse(tf, v))),
               raised(lambda: _loop(tf, lambda s: _sparse(tf, v), tf.ones([2, 2]))),
               raised(lambda: _loop(tf, lambda s: tf.concat([s, s], 0), _ragged(tf, w)))]
    shape = [tf.TensorShape([]), tf.TensorShape([2, 2])]
    return changes, [raised(lambda: _loop(tf, lambda s: s, _sparse(tf, v), shape_invariants=shape)),
                     raised(lambda: _loop(tf, lambda s: s, _ragged(tf, w), shape_invariants=shape))]


# -- tapes, functions, folds -----------------------------------------------------------------


def _taped(tf: Any, f: Any, x: Any) -> Any:
    """f(x) and its derivatives of first and second order; f again, through a function."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
        total = tf.reduce_sum(first * first)
    return [y, first, outer.gradient(total, x), tf.function(f)(x)]


@case("eager")
def tapes_see_through_branches_and_loops(tf: Any) -> Any:
    v, w = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])

    def branch(v: Any) -> Any:
        return tf.reduce_sum(tf.cond(v[0] > 0.0, lambda: _sparse(tf, v**3), lambda: _sparse(tf, v)).values)

    def rows(w: Any) -> Any:
        return tf.reduce_sum(tf.cond(w[0] > 0.0, lambda: _ragged(tf, w**3), lambda: _ragged(tf, w)).to_tensor())

    def loop(v: Any) -> Any:
        return tf.reduce_sum(_loop(tf, lambda s: s.with_values(s.values**2), _sparse(tf, v)).values)

    def fold(v: Any) -> Any:
        return tf.reduce_sum(tf.foldl(lambda a, e: a.with_values(a.values * e), v, initializer=_sparse(tf, v)).values)

    return _taped(tf, branch, v), _taped(tf, rows, w), _taped(tf, loop, v), _taped(tf, fold, v)


@case("eager")
def functions_take_and_give_composites(tf: Any) -> Any:
    v, w, traces = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]), []

    @tf.function
    def double(t: Any) -> Any:
        traces.append(type(t).__name__)
        if hasattr(t, "flat_values"):
            return t.with_flat_values(t.flat_values * 2.0)
        if hasattr(t, "with_values"):
            return t.with_values(t.values * 2.0)
        return tf.IndexedSlices(t.values * 2.0, t.indices, t.dense_shape)

    found = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch([v, w])
            s, r, i = double(_sparse(tf, v)), double(_ragged(tf, w)), double(_slices(tf, v))
            y = tf.reduce_sum(s.values**2) + tf.reduce_sum(r.to_tensor() ** 2) + tf.reduce_sum(tf.convert_to_tensor(i))
        found.append([s.values, r.flat_values, i.values, tape.gradient(y, [v, w])])
    return found, traces


@case("eager")
def concrete_functions_take_composites(tf: Any) -> Any:
    v, w = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    sparse = tf.function(lambda s: s.values * 2.0).get_concrete_function(tf.SparseTensorSpec([None, 2], tf.float32))
    ragged = tf.function(lambda s: s * 2.0).get_concrete_function(tf.RaggedTensorSpec([None, None], tf.float32))
    spec = tf.IndexedSlicesSpec([3], tf.float32, tf.int32, tf.int32)
    sliced = tf.function(lambda s: tf.convert_to_tensor(s) * 2.0, input_signature=[spec])
    shapes = [i.shape.as_list() for i in sparse.inputs], ragged.structured_outputs.shape.as_list()
    return sparse(_sparse(tf, v)), ragged(_ragged(tf, w)).to_list(), sliced(_slices(tf, v)), shapes


@case("eager")
def maps_over_ragged_rows(tf: Any) -> Any:
    w, counts = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 2.0, 3.0])
    one, two = tf.RaggedTensorSpec([None], tf.float32), tf.RaggedTensorSpec([None, None], tf.float32)

    def rows(w: Any) -> Any:
        return tf.RaggedTensor.from_row_splits(w, [0, 2, 2, 3])

    maps = [
        lambda w: tf.map_fn(lambda r: tf.reduce_sum(r**3), rows(w), fn_output_signature=tf.float32),
        lambda w: tf.map_fn(lambda r: r**3, rows(w)),
        lambda w: tf.map_fn(lambda n: tf.tile(w[:1], [n]), tf.constant([1, 3, 0]), fn_output_signature=one),
        lambda w: tf.map_fn(lambda n: tf.RaggedTensor.from_row_lengths(w * n, [1, 2]), counts, fn_output_signature=two),
        lambda w: tf.map_fn(lambda ab: tf.reduce_sum(ab[0]) * ab[1], (rows(w), counts), fn_output_signature=tf.float32),
    ]
    found = []
    for f in (*maps, tf.function(maps[1]), tf.function(maps[2])):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = f(w)
            total = tf.reduce_sum((y.flat_values if hasattr(y, "flat_values") else y) ** 2)
        found.append([y.to_list() if hasattr(y, "flat_values") else y, tape.gradient(total, w)])
    empty = tf.RaggedTensor.from_row_splits(tf.zeros([0]), [0])
    found.append([tf.map_fn(lambda r: r * 2.0, empty).to_list()])
    found.append(tf.map_fn(lambda r: tf.reduce_sum(r), empty, fn_output_signature=tf.float32))
    return found, raised(lambda: tf.map_fn(lambda r: tf.reduce_sum(r), rows(w))) != "nothing"


# -- custom gradients, host functions --------------------------------------------------------


@case("eager")
def custom_gradients_of_ragged_tensors(tf: Any) -> Any:
    w, seen = tf.constant([1.0, 2.0, 3.0]), []

    @tf.custom_gradient
    def squared(s: Any) -> Any:
        def grad(dy: Any) -> Any:
            seen.append(type(dy).__name__)
            return dy.with_flat_values(dy.flat_values * 3.0)

        return s.with_flat_values(s.flat_values**2), grad

    with tf.GradientTape() as tape:
        tape.watch(w)
        y = squared(_ragged(tf, w))
        total = tf.reduce_sum(y.flat_values**2)
    return y.to_list(), tape.gradient(total, w), seen


@case("eager")
def custom_gradients_of_slices(tf: Any) -> Any:
    v = tf.constant([1.0, 2.0])

    @tf.custom_gradient
    def squared(s: Any) -> Any:
        return tf.IndexedSlices(s.values**2, s.indices, s.dense_shape), lambda dy: dy * 3.0

    with tf.GradientTape() as tape:
        tape.watch(v)
        y = squared(_slices(tf, v))
        total = tf.reduce_sum(y**2)
    return y, tape.gradient(total, v)


@case("eager", differs=_SPARSE_SOURCES, expected=[1.0, 4.0, 12.0, 48.0])
def custom_gradients_of_sparse_tensors(tf: Any) -> Any:
    v = tf.constant([1.0, 2.0])

    @tf.custom_gradient
    def squared(s: Any) -> Any:
        return s.with_values(s.values**2), lambda dy: dy.with_values(dy.values * 6.0)

    def run() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = squared(_sparse(tf, v))
            total = tf.reduce_sum(y.values**2)
        return [float(t) for t in [*y.values, *tape.gradient(total, v)]]

    return raised(run) if raised(run) != "nothing" else run()


@case("eager")
def host_functions_take_and_give_composites(tf: Any) -> Any:
    v, w = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    cases = [
        (v, lambda v: _sparse(tf, v), lambda s: s.with_values(s.values**3), tf.SparseTensorSpec([2, 2], tf.float32)),
        (w, lambda w: _ragged(tf, w), lambda s: s * s * s, tf.RaggedTensorSpec([2, None], tf.float32)),
        (v, lambda v: _slices(tf, v), lambda s: tf.IndexedSlices(s.values**3, s.indices, s.dense_shape),
         tf.IndexedSlicesSpec([3], tf.float32, tf.int32, tf.int32, [2])),
    ]

    def caller(make: Any, function: Any, spec: Any) -> Any:
        def call(x: Any) -> Any:
            y = tf.py_function(function, [make(x)], spec)
            return y.flat_values if hasattr(y, "flat_values") else y.values

        return call

    found = []
    for x, *how in cases:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = caller(*how)(x)
        found.append([y, tape.gradient(y, x), tf.function(caller(*how))(x)])
    return found


# -- structures ------------------------------------------------------------------------------


@case("eager")
def nests_expand_composites(tf: Any) -> Any:
    s, nest = _sparse(tf, tf.constant([1.0, 2.0])), tf.nest
    r = tf.RaggedTensor.from_nested_row_splits([1.0, 2.0, 3.0, 4.0], [[0, 2, 3], [0, 2, 3, 4]])
    i = _slices(tf, tf.constant([1.0, 2.0]))
    parts = nest.flatten([s, r, i], expand_composites=True)
    again = nest.pack_sequence_as([s, r, i], parts, expand_composites=True)
    twice = nest.map_structure(lambda t: t * 2 if t.dtype == tf.float32 else t, s, expand_composites=True)
    specs = nest.flatten([tf.SparseTensorSpec([2, 2]), tf.RaggedTensorSpec([2, None, 3])], expand_composites=True)
    made = nest.pack_sequence_as(tf.SparseTensorSpec([2, 2]), parts[:3], expand_composites=True)

    def same(a: Any, b: Any) -> str:
        return raised(lambda: nest.assert_same_structure(a, b, expand_composites=True))

    return (len(nest.flatten([s, r, i])), parts, again[1].to_list(), twice.values, [str(c.shape) for c in specs],
            made.shape.as_list(), [same(s, r), same(s, s), same(s, s.values)])


@case("eager")
def composites_are_tensors(tf: Any) -> Any:
    s, r, i = _sparse(tf, [1.0, -2.0]), _ragged(tf, [1.0, 2.0, 3.0]), _slices(tf, tf.constant([1.0, 2.0]))
    asked = [s, r, i, tf.Variable(1.0), 1.0, tf.TensorArray(tf.float32, 1), tf.TensorSpec([])]
    same = [tf.identity(s).values, tf.identity(r).flat_values, tf.identity(i).values, tf.stop_gradient(s).values]
    return [tf.is_tensor(x) for x in asked], same


@case("eager")
def functions_of_sparse_tensors(tf: Any) -> Any:
    v = tf.constant([-0.5, 0.25])
    found = []
    for name in ("abs", "negative", "sign", "square", "sin", "tan", "asin", "atan", "asinh", "atanh", "tanh", "erf"):
        f = getattr(tf.math, name)
        with tf.GradientTape() as tape:
            tape.watch(v)
            s = f(_sparse(tf, v))
            y = tf.sparse.reduce_sum(s)
        found.append([s.values, tape.gradient(y, v)])
    complex_abs = tf.abs(tf.SparseTensor([[0, 1]], [3.0 + 4.0j], [2, 2])).values
    return found, tf.cast(_sparse(tf, v), tf.int32).values, complex_abs


@case("eager")
def embeddings_of_ragged_ids(tf: Any) -> Any:
    table = tf.Variable([[float(10 * i + j) for j in range(2)] for i in range(6)])
    flat, splits = tf.constant([1.0, 2.0, 0.5, 1.0, 1.0, 1.0]), [0, 2, 3, 6]
    ids = tf.RaggedTensor.from_row_splits(tf.constant([0, 1, 2, 4, 5, 3], tf.int64), splits)
    some = tf.RaggedTensor.from_row_splits(tf.constant([0, 1, 4, -1], tf.int64), [0, 2, 2, 4])
    found = []
    for combiner in ("mean", "sum", "sqrtn"):
        with tf.GradientTape() as tape:
            tape.watch(flat)
            weights = tf.RaggedTensor.from_row_splits(flat, splits)
            y = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=combiner)
            total = tf.reduce_sum(y * y)
        dtable, dflat = tape.gradient(total, [table, flat])
        found.append([y, tf.convert_to_tensor(dtable), tf.round(dflat)])
        found.append(tf.nn.embedding_lookup_sparse(table, ids, None, combiner=combiner))
        found.append(tf.nn.safe_embedding_lookup_sparse(table, some, combiner=combiner, default_id=3))
    weights = tf.RaggedTensor.from_row_splits([1.0, 0.0, 4.0, 1.0], [0, 2, 2, 4])
    mixed = raised(lambda: tf.nn.embedding_lookup_sparse(table, ids, weights.to_sparse()))
    return found, tf.nn.safe_embedding_lookup_sparse(table, some, weights), mixed
