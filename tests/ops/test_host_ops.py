"""Order, assertions, Python functions, printing; strings and sparse tensors in sessions."""

import sys

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as s:
        yield s


# -- order ----------------------------------------------------------------------------------


def test_group(sess):
    v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=[1.0, 2.0])
    sess.run(tf.global_variables_initializer())
    both = tf.group(v.assign(5.0), [w.assign_add([1.0, 1.0]), {"x": tf.constant(1)}], name="both")
    assert both.type == "NoOp" and both.name == "both"
    assert sess.run(both) is None
    assert sess.run(v) == 5 and sess.run(w).tolist() == [2, 3]
    assert sess.run(tf.group()) is None
    with pytest.raises(TypeError, match="should be zero or more"):
        tf.group(3)
    with pytest.raises(ValueError, match="Unknown keyword arguments: nam"):
        tf.group(v, nam="x")
    assert tf.group(v, name="g").name == "g"


def test_group_of_several_devices_has_a_signal_each(sess):
    with tf.device("/cpu:0"):
        a = tf.constant(1.0)
    with tf.device("/cpu:1"):
        b = tf.constant(2.0)
    g = tf.group(a, b)
    assert [c.type for c in g.control_inputs] == ["NoOp", "NoOp"]
    assert [c.control_inputs for c in g.control_inputs] == [(a.op,), (b.op,)]


def test_tuple(sess):
    v = tf.get_variable("v", initializer=1.0)
    sess.run(tf.global_variables_initializer())
    x, none, y = tf.tuple([tf.constant(1.0), None, tf.constant(2.0)], control_inputs=[v.assign(3.0).op])
    assert none is None
    assert sess.run(x) == 1 and sess.run(v) == 3 and sess.run(y) == 2
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    out = tf.tuple([slices, x])
    assert isinstance(out[0], tf.IndexedSlices)
    with pytest.raises(ValueError, match="must have at least one Tensor"):
        tf.tuple([None])
    with pytest.raises(TypeError, match="'control_inputs' must only contain"):
        tf.tuple([x], control_inputs=[3])


def test_no_op_waits(sess):
    v = tf.get_variable("v", initializer=1.0)
    sess.run(tf.global_variables_initializer())
    with tf.control_dependencies([v.assign(7.0)]):
        done = tf.no_op()
    sess.run(done)
    assert sess.run(v) == 7


def test_control_trigger_waits(sess):
    v = tf.get_variable("v", initializer=1.0)
    sess.run(tf.global_variables_initializer())
    with tf.control_dependencies([v.assign(7.0)]):
        done = tf.raw_ops.ControlTrigger()
    sess.run(done)
    assert sess.run(v) == 7


def test_order_in_eager_mode():
    assert tf2.group(tf2.constant(1)) is None
    assert tf2.no_op() is None
    assert [int(t) for t in tf2.tuple([tf2.constant(1), tf2.constant(2)])] == [1, 2]


# -- assertions -----------------------------------------------------------------------------

FAILS = tf.errors.InvalidArgumentError
CHECKS = [
    (lambda x, y: tf.assert_equal(x, y), [1, 2], [1, 3], "x == y"),
    (lambda x, y: tf.assert_none_equal(x, y), [1, 2], [3, 2], "x != y"),
    (lambda x, y: tf.assert_less(x, y), [1, 2], [2, 2], "x < y"),
    (lambda x, y: tf.assert_less_equal(x, y), [1, 2], [2, 1], "x <= y"),
    (lambda x, y: tf.assert_greater(x, y), [1, 2], [0, 2], "x > y"),
    (lambda x, y: tf.assert_greater_equal(x, y), [1, 2], [1, 3], "x >= y"),
    (lambda x, y: tf.assert_positive(x), [1, 0], [0], "x > 0"),
    (lambda x, y: tf.assert_negative(x), [-1, 0], [0], "x < 0"),
    (lambda x, y: tf.assert_non_negative(x), [1, -1], [0], "x >= 0"),
    (lambda x, y: tf.assert_non_positive(x), [1, -1], [0], "x <= 0"),
]


@pytest.mark.parametrize("check, x, y, text", CHECKS, ids=[c[3] for c in CHECKS])
def test_comparisons(sess, check, x, y, text):
    """What is known fails while building, the rest when it runs; eager mode at once."""
    with pytest.raises(FAILS, match=f"Condition {text} did not hold"):
        check(tf.constant(x), tf.constant(y))
    a, b = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32)
    op = check(a, b)
    with tf.control_dependencies([op]):
        out = tf.identity(a)
    with pytest.raises(FAILS, match=rf"assertion failed: .*Condition {text} did not hold element-wise"):
        sess.run(out, {a: x, b: y})
    good = {"x == y": (x, x), "x > 0": ([1], [0]), "x < 0": ([-1], [0]), "x >= 0": ([0], [0]), "x <= 0": ([0], [0]),
            "x != y": ([1], [2]), "x < y": ([1], [2]), "x <= y": ([1], [1]), "x > y": ([2], [1]),
            "x >= y": ([1], [1])}[text]
    assert sess.run(out, {a: good[0], b: good[1]}).tolist() == good[0]


@pytest.mark.parametrize("check, x, y, text", CHECKS, ids=[c[3] for c in CHECKS])
def test_comparisons_in_eager_mode(check, x, y, text):
    with pytest.raises(FAILS, match=f"Condition {text} did not hold"):
        check(tf2.constant(x), tf2.constant(y))
    assert tf2.debugging.assert_equal([1], [1]) is None


def test_texts_of_assertions(sess):
    x = tf.placeholder(tf.int32, name="x")
    checks = [
        (tf.assert_equal(x, 1, message="why", summarize=2),
         r"\[why\] \[Condition x == y.*\] \[x \(x:0\) = \] \[1 2\.\.\.\]"),
        (tf.assert_equal(x, 1, data=["mine", x]), r"assertion failed: \[mine\] \[1 2 3\]"),
        (tf.Assert(tf.equal(tf.size(x), 1), ["size of", x], summarize=1), r"\[size of\] \[1\.\.\.\]"),
        (tf.assert_rank(x, 2, message="mm"),
         r"\[mm\.  \] \[Tensor x:0 must have rank\] \[2\] \[Received shape: \] \[3\]"),
        (tf.assert_rank_at_least(x, 2), r"must have rank at least\] \[2\]"),
        (tf.assert_rank_in(x, [2, 3]), r"must have rank in\] \[2\] \[3\]"),
        (tf.assert_near(tf.cast(x, tf.float32), [1.0, 2.0, 4.0]), "not equal to tolerance"),
    ]
    for op, text in checks:
        with pytest.raises(FAILS, match=text):
            sess.run(op, {x: [1, 2, 3]})
    sess.run(tf.assert_near(tf.cast(x, tf.float32), [1.0, 2.0, 3.0 + 1e-6]), {x: [1, 2, 3]})


def test_ranks_and_types_known_while_building(sess):
    x = tf.constant([1, 2])
    for good in (tf.assert_rank(x, 1), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [0, 1]),
                 tf.assert_type(x, tf.int32), tf.assert_integer(x), tf.assert_equal(x, [1, 2])):
        assert good.type == "NoOp"
    for wrong, cls, text in [
        (lambda: tf.assert_rank(x, 2), ValueError, r"must have rank 2\.  Received rank 1, shape \(2,\)"),
        (lambda: tf.assert_rank_at_least(x, 2), ValueError, "must have rank at least 2"),
        (lambda: tf.assert_rank_in(x, [2, 3]), ValueError, r"must have rank in \(2, 3\)"),
        (lambda: tf.assert_rank(x, 1.5), TypeError, "must be of type tf.int32"),
        (lambda: tf.assert_type(x, tf.float32, message="q"), TypeError, r"q\.  Const:0 must be of type tf.float32"),
        (lambda: tf.assert_integer(tf.constant(1.0)), TypeError, 'Expected "x" to be integer type'),
        (lambda: tf.assert_scalar(x), ValueError, "Expected scalar shape"),
        (lambda: tf.assert_same_float_dtype([x]), ValueError, "Expected floating point type"),
        (lambda: tf.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)]), ValueError, "same type"),
        (lambda: tf.assert_proper_iterable("x"), TypeError, '"proper" iterable'),
        (lambda: tf.assert_proper_iterable(3), TypeError, "to be iterable"),
    ]:
        with pytest.raises(cls, match=text):
            wrong()
    assert tf.assert_same_float_dtype([tf.constant(1.0)]) is tf.float32
    assert tf.debugging.is_numeric_tensor(x) and not tf.debugging.is_numeric_tensor(3)


def test_shapes_by_symbols(sess):
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, [None], name="y")
    done = tf.debugging.assert_shapes([(x, ("N", 2)), (y, ("N",))])
    sess.run(done, {x: np.ones((3, 2)), y: np.ones(3)})
    with pytest.raises(FAILS, match="dimension"):
        sess.run(done, {x: np.ones((3, 2)), y: np.ones(4)})
    with pytest.raises(ValueError, match="must have size 2"):
        tf.debugging.assert_shapes([(tf.ones([1, 2]), ("N", "M")), (tf.ones([3]), ("M",))])


def test_finite(sess):
    x = tf.placeholder(tf.float32)
    y = tf.verify_tensor_all_finite(x, "bad")
    assert sess.run(y, {x: 1.0}) == 1
    with pytest.raises(FAILS, match="bad : Tensor had NaN"):
        sess.run(y, {x: np.nan})
    assert sess.run(tf.gradients(y, x)[0], {x: 2.0}) == 1


def test_assert_in_eager_mode():
    with pytest.raises(FAILS, match="Expected 'False' to be true. Summarized data: b'x'\n1, 2, 3, ..."):
        tf2.debugging.Assert(False, ["x", [1, 2, 3, 4]])
    with pytest.raises(FAILS, match="First 2 elements of y:"):
        tf2.debugging.assert_less([1, 2], [1, 3])
    with pytest.raises(ValueError, match="must have rank 2"):
        tf2.debugging.assert_rank(tf2.constant([1]), 2)


def test_a_failed_assertion_leaves_variables_alone(sess):
    v = tf.get_variable("v", initializer=1.0)
    sess.run(tf.global_variables_initializer())
    x = tf.placeholder(tf.float32)
    assign = v.assign(9.0)
    with pytest.raises(FAILS):
        sess.run([assign, tf.assert_positive(x)], {x: -1.0})
    assert sess.run(v) == 1


# -- Python functions -------------------------------------------------------------------------


def test_py_func(sess):
    x = tf.placeholder(tf.float32, [None])
    y = tf.py_func(lambda a: a[a > 0], [x * 2.0], tf.float32)
    assert y.shape.rank is None and y.op.type == "PyFunc"
    y.set_shape([None])
    assert sess.run(y + 1.0, {x: [-1, 2, 3]}).tolist() == [5, 7]
    a, b = tf.py_func(lambda s: (s.upper(), np.int64(len(s))), [tf.constant("ab")], [tf.string, tf.int64])
    assert sess.run([a, b]) == [b"AB", 2]
    assert tf.py_func(np.sin, [1.0], tf.float32, stateful=False).op.type == "PyFuncStateless"
    assert tf.gradients(y, x) == [None]


@pytest.mark.parametrize("named", [np.float32, np.dtype("float32"), "float32", tf.TensorSpec([2], tf.float32)])
def test_dtypes_of_results(sess, named):
    """NumPy's types, which have an attribute `dtype` that is none, are names of dtypes like others."""
    x = tf.constant([1.0, 2.0])
    functions = [tf.py_func, tf.py_function, tf.numpy_function]
    for y in [*(f(lambda a: a + 1, [x], named) for f in functions), tf.map_fn(lambda a: a + 1, x, dtype=named)]:
        assert y.dtype is tf.float32
        assert sess.run(y).tolist() == [2.0, 3.0]
    pair = tf.map_fn(lambda a: (a, a), x, fn_output_signature=(named, np.float32))
    assert [t.dtype for t in pair] == [tf.float32, tf.float32]


def test_py_func_gets_scalars_and_runs_once(sess):
    seen = []
    y = tf.py_func(lambda a: (seen.append(type(a)), a)[1], [tf.constant(1.0)], tf.float32)
    assert sess.run([y, y + 1.0]) == [1, 2]
    assert seen == [np.float32]


def test_py_func_for_its_effect(sess):
    seen = []
    op = tf.py_func(lambda a: seen.append(a.tolist()), [tf.constant([1, 2])], [])
    sess.run(op)
    with tf.control_dependencies([op]):
        y = tf.constant(1) + 0
    sess.run(tf.identity(y))
    assert seen[0] == [1, 2]


@pytest.mark.parametrize("func, cls, text", [
    (lambda a: 1 / 0, tf.errors.UnknownError, "ZeroDivisionError: division by zero"),
    (lambda a: int("x"), FAILS, "ValueError: invalid literal"),
    (lambda a: a + None, FAILS, "TypeError"),
    (lambda a: next(iter(())), tf.errors.OutOfRangeError, "StopIteration"),
    (lambda a: (a, a), FAILS, "returns 2 values, but expects to see 1"),
    (lambda a: None, FAILS, "returns 0 values, but expects to see 1"),
    (lambda a: 1.5, FAILS, "0-th value returned by pyfunc_[0-9]+ is double, but expects float"),
])
def test_what_a_python_function_does_wrong(sess, func, cls, text):
    y = tf.py_func(func, [tf.constant(1.0)], tf.float32)
    with pytest.raises(cls, match=text) as caught:
        sess.run(y)
    assert "test_host_ops.py" in str(caught.value)


def test_py_function_is_differentiable(sess):
    calls = []

    def cube(x, y):
        calls.append(1)
        return x * x * x * y, tf2.cast(x, tf2.int32)

    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    z, n = tf.py_function(cube, [x, y], [tf.float32, tf.int32])
    g = tf.gradients(z, [x, y])
    values = sess.run([z, n, *g])
    for got, want in zip(values, ([3, 24], [1, 2], [9, 36], 9), strict=True):
        np.testing.assert_allclose(got, want)
    assert len(calls) == 1
    h = tf.gradients(g[0], x)[0]
    np.testing.assert_allclose(sess.run(h), [18, 36])
    np.testing.assert_allclose(sess.run(tf.gradients(h, [x, y])[0]), [18, 18])


def test_py_function_in_eager_mode():
    x = tf2.constant(2.0)
    with tf2.GradientTape() as tape:
        tape.watch(x)
        y = tf2.py_function(lambda a: a * a, [x], tf2.float32)
    assert float(y) == 4 and float(tape.gradient(y, x)) == 4
    assert float(tf2.numpy_function(lambda a: a * 2.0, [x], tf2.float32)) == 4


# -- printing ---------------------------------------------------------------------------------


def test_print_op(sess, capsys):
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x, [tf.constant([1, 2, 3, 4]), "s"], "msg: ", first_n=2, summarize=2)
    for _ in range(3):
        assert sess.run(y).tolist() == [1, 2]
    assert capsys.readouterr().err == "msg: [1 2...][s]\n" * 2
    assert sess.run(tf.gradients(y, x)[0]).tolist() == [1, 1]


def test_tf_print(sess, capsys):
    x = tf.constant([[1, 2], [3, 4]])
    structure = {"k": tf.constant(1.5), "l": [1, "é"]}
    sess.run(tf.print("a", x, structure, None, output_stream=sys.stdout, sep="|", end="!\n"))
    sess.run(tf.print(tf.constant("{} alone")))
    sess.run(tf.print("{}", tf.range(10), summarize=1))
    out = capsys.readouterr()
    assert out.out == "a|[[1 2]\n [3 4]]|{'k': 1.5, 'l': [1, 'é']}|None!\n"
    assert out.err == "{} alone\n{} [0 ... 9]\n"
    tf2.print("eager", tf2.constant(2))
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        tf.print("x", to=3)
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream=3)


def test_print_to_a_file(sess, tmp_path):
    path = tmp_path / "log.txt"
    sess.run(tf.print("x =", tf.constant(1), output_stream=f"file://{path}"))
    assert path.read_text() == "x = 1\n"


def test_timestamp(sess):
    t = tf.timestamp()
    first = sess.run(t)
    assert first > 1.6e9 and sess.run(t) >= first and t.dtype is tf.float64


# -- strings and sparse tensors in sessions ------------------------------------------------------


def test_strings_between_compiled_ops(sess):
    words = tf.placeholder(tf.string, [None])
    n = tf.reduce_sum(tf.strings.length(words)) * 2
    assert sess.run(n, {words: ["ab", "cde"]}) == 10
    assert sess.run(tf.string_join([words, "x"], "-"), {words: ["a"]}).tolist() == [b"a-x"]
    split = sess.run(tf.string_split(words), {words: ["a b", "c"]})
    assert split.values.tolist() == [b"a", b"b", b"c"] and split.dense_shape.tolist() == [2, 2]
    with pytest.raises(FAILS, match="could not correctly convert string: x"):
        sess.run(tf.string_to_number(words), {words: ["x"]})


def test_sparse_feeds_and_fetches(sess):
    for shape in (None, [3, 4], [None, 4]):
        x = tf.sparse_placeholder(tf.float32, shape)
        value = tf.SparseTensorValue([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
        out = sess.run([x, tf.sparse_reduce_sum(x), tf.sparse_tensor_to_dense(x)], {x: value})
        assert isinstance(out[0], tf.SparseTensorValue) and out[0].values.tolist() == [1, 2]
        assert out[1] == 3 and out[2].shape == (3, 4) and out[2][2, 0] == 2
    assert x.shape.as_list() == [None, 4]


def test_sparse_matrix_products(sess):
    x = tf.sparse_placeholder(tf.float32, [3, 4])
    w = tf.get_variable("w", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
    sess.run(tf.global_variables_initializer())
    y = tf.sparse_tensor_dense_matmul(x, w)
    value = tf.SparseTensorValue([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
    dense = np.zeros((3, 4), np.float32)
    dense[0, 1], dense[2, 0] = 1, 2
    dy, dw, dv = sess.run([y, *tf.gradients(y, [w, x.values])], {x: value})
    np.testing.assert_allclose(dy, dense @ np.arange(8).reshape(4, 2))
    np.testing.assert_allclose(dw, dense.T @ np.ones((3, 2)))
    np.testing.assert_allclose(dv, [5, 1])


def test_sparse_functions(sess):
    x = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
    dense = sess.run(tf.sparse.to_dense(x))

    def check(result, want):
        np.testing.assert_allclose(sess.run(tf.sparse.to_dense(result)), want)

    check(tf.sparse.transpose(x), dense.T)
    check(tf.sparse.reshape(x, [4, -1]), dense.reshape(4, 3))
    assert tf.sparse.reshape(x, [4, -1]).shape.as_list() == [4, 3]
    check(tf.sparse.concat(1, [x, x]), np.concatenate([dense, dense], 1))
    check(tf.sparse.slice(x, [1, 0], [2, 2]), dense[1:3, :2])
    check(tf.sparse.add(x, x), 2 * dense)
    check(tf.sparse.retain(x, [False, True]), np.where(dense == 2, 2, 0))
    check(tf.sparse.expand_dims(x, 1), dense[:, None])
    check(tf.sparse.expand_dims(x), dense[..., None])
    check(x * tf.constant([2.0] * 4), 2 * dense)
    check(x / tf.constant(2.0), dense / 2)
    check(tf.sparse.from_dense(dense), dense)
    filled = dense.copy()
    filled[1, 0] = 9
    check(tf.sparse.fill_empty_rows(x, 9.0)[0], filled)
    check(tf2.sparse.map_values(tf.square, x), dense**2)
    np.testing.assert_allclose(sess.run(tf.sparse.add(x, tf.ones([3, 4]))), dense + 1)
    np.testing.assert_allclose(sess.run(tf.sparse.reduce_max(x, 1)), [1, 0, 2])
    check(tf2.sparse.reduce_sum(x, 1, output_is_sparse=True), dense.sum(1))
    np.testing.assert_allclose(sess.run(tf.sparse.matmul(x, tf.eye(4))), dense)
    np.testing.assert_allclose(sess.run(tf.sparse.matmul(tf.eye(3), x)), dense)
    np.testing.assert_allclose(sess.run(tf.sparse.softmax(x)).values, [1, 1])
    assert repr(x).startswith("SparseTensor(indices=Tensor(")
    with pytest.raises(ValueError, match="Dimensions 1 and 2 are not compatible"):
        tf.SparseTensor([[0, 1]], [1, 2], [3, 4])
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        tf.sparse.to_dense(dense)
    with pytest.raises(TypeError, match="At least one input should be SparseTensor"):
        tf.sparse.add(dense, dense)
    with pytest.raises(FAILS, match="out of order"):
        sess.run(tf.sparse.to_dense(tf.SparseTensor([[2, 0], [0, 1]], [1.0, 2.0], [3, 4])))


def test_sparse_tensors_in_eager_mode():
    x = tf2.sparse.SparseTensor([[0, 1]], [5.0], [2, 2])
    assert np.asarray(tf2.sparse.to_dense(x)).tolist() == [[0, 5], [0, 0]]
    assert np.asarray(tf2.sparse.sparse_dense_matmul(x, [[1.0], [2.0]])).tolist() == [[10], [0]]


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_sparse_embeddings(sess, combiner):
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    w = np.array([1.0, 2.0, 0.5], np.float32)
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 0], tf.int64), [3, 2])
    params, weights = tf.constant(table), tf.constant(w)
    y = tf.nn.embedding_lookup_sparse(params, ids, tf.SparseTensor(ids.indices, weights, [3, 2]), combiner=combiner)
    scale = {"sum": [1, 1], "mean": [3, 0.5], "sqrtn": [5**0.5, 0.5]}[combiner]
    want = np.stack([(table[1] + 2 * table[3]) / scale[0], np.zeros(3), 0.5 * table[0] / scale[1]])
    grads = tf.gradients(y, [params, weights])
    assert isinstance(grads[0], tf.IndexedSlices)
    got, dense, _ = sess.run([y, tf.convert_to_tensor(grads[0]), grads[1]])
    np.testing.assert_allclose(got, want, rtol=1e-6)
    parts = np.array([0.5 / scale[1], 1 / scale[0], 0, 2 / scale[0]])
    np.testing.assert_allclose(dense, np.repeat(parts[:, None], 3, 1), rtol=1e-6)
    ids = tf.SparseTensor([[0, 0], [2, 0]], [1, -1], [4, 2])
    safe = tf.nn.safe_embedding_lookup_sparse(params, ids, None, combiner)
    np.testing.assert_allclose(sess.run(safe), np.stack([table[1], *np.zeros((3, 3))]))
    with pytest.raises(ValueError, match="combiner must be one of"):
        tf.nn.embedding_lookup_sparse(params, ids, None, combiner="max")
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(params, [1], None)
