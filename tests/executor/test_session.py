"""`Session`: fetches, feeds, state, and what it says when something does not fit."""

import collections
import threading

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.frontend.config.config_proto import CallableOptions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def sess(graph):
    with tf.Session(graph=graph) as s:
        yield s


# -- fetches -----------------------------------------------------------------------------


def test_fetches_of_any_nesting(sess):
    Pair = collections.namedtuple("Pair", ["a", "b"])
    x = tf.constant(1.0, name="x")
    y = tf.constant([1, 2], name="y")
    out = sess.run({"k": [x, (y,)], "op": x.op, "pair": Pair(x, "y:0")})
    assert out["k"][0] == 1.0 and isinstance(out["k"], list) and isinstance(out["k"][1], tuple)
    assert out["op"] is None
    assert isinstance(out["pair"], Pair)
    np.testing.assert_array_equal(out["pair"].b, [1, 2])
    assert sess.run([]) == [] and sess.run(()) == ()


def test_the_same_fetch_twice(sess):
    x = tf.constant(2.0)
    assert sess.run([x, x, [x]]) == [2.0, 2.0, [2.0]]


def test_results_are_numpys_and_can_be_written_to(sess):
    x = tf.constant([1.0, 2.0])
    value = sess.run(x * 2.0)
    assert type(value) is np.ndarray and value.dtype == np.float32
    value[0] = 7
    np.testing.assert_array_equal(sess.run(x * 2.0), [2, 4])
    constant = sess.run(x)
    constant[0] = 7
    np.testing.assert_array_equal(sess.run(x), [1, 2])
    assert isinstance(sess.run(tf.constant(1.0)), np.float32)


@pytest.mark.parametrize(
    ("fetch", "error", "text"),
    [
        (None, TypeError, "Cannot be None"),
        (3.0, TypeError, "must be a string or Tensor"),
        ("nowhere:0", ValueError, "does not exist"),
        ("x", None, None),
    ],
)
def test_fetches_that_are_none(sess, fetch, error, text):
    tf.constant(1.0, name="x")
    if error is None:
        assert sess.run(fetch) is None
    else:
        with pytest.raises(error, match=text):
            sess.run([fetch])


def test_fetching_from_another_graph(sess):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    tf.constant(1.0)
    with pytest.raises(ValueError, match=r"(?s)is not an element of this graph.*test_session.py"):
        sess.run(foreign)


# -- feeds -------------------------------------------------------------------------------


def test_any_tensor_can_be_fed(sess):
    x = tf.constant(2.0)
    y = x * 3.0
    z = y + 1.0
    assert sess.run(z) == 7.0
    assert sess.run(z, {y: 10.0}) == 11.0
    assert sess.run([y, z], {y: 10.0}) == [10.0, 11.0]
    assert sess.run(z, {"mul:0": 20.0}) == 21.0


def test_only_what_is_needed_runs(sess):
    ran = []
    x = tf.placeholder(tf.float32, [])
    tf.py_func(lambda v: ran.append(1) or v, [x], tf.float32)
    assert sess.run(tf.constant(1.0) * 2.0) == 2.0
    assert not ran


def test_unknown_dimensions_take_any_size(sess):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.reduce_sum(x, axis=1)
    for n in (0, 1, 5):
        np.testing.assert_array_equal(sess.run(y, {x: np.ones((n, 2))}), np.full(n, 2))


def test_fed_values_that_decide_shapes(sess):
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(x, tf.stack([n, -1])) + tf.zeros(tf.stack([n, 1]))
    for k in (1, 2, 3):
        assert sess.run(y, {x: np.arange(6), n: k}).shape == (k, 6 // k)


def test_computed_values_that_decide_shapes(sess):
    v = tf.Variable([1.0, 2.0, 3.0])
    sess.run(tf.global_variables_initializer())
    n = tf.cast(tf.reduce_max(v), tf.int32)
    assert sess.run(tf.zeros(tf.stack([n]))).shape == (3,)
    assert sess.run(tf.range(n) * 2).tolist() == [0, 2, 4]
    sess.run(v.assign([5.0, 0.0, 0.0]))
    assert sess.run(tf.fill(tf.stack([n]), 1)).shape == (5,)


def test_shapes_that_only_the_run_knows(sess):
    x = tf.placeholder(tf.float32, [None])
    kept = tf.boolean_mask(x, x > 0.0)
    y = tf.reduce_sum(kept * 2.0)
    (g,) = tf.gradients(y, x)
    for value in ([1.0, -1.0, 3.0], [-1.0, -2.0], [5.0]):
        total, grad = sess.run([y, g], {x: value})
        assert total == 2 * sum(v for v in value if v > 0)
        np.testing.assert_array_equal(grad, [2.0 * (v > 0) for v in value])


BAD_FEEDS = [
    ([1.0, 2.0, 3.0], ValueError, r"(?s)Cannot feed value of shape \(3,\) for Tensor x:0, which has shape \(2,\).*Fix"),
    (1.0, ValueError, r"Cannot feed value of shape \(\)"),
    ("ab", ValueError, r"(?s)x:0.*float32"),
    ([[1.0], [2.0, 3.0]], ValueError, r"(?s)Cannot convert the value fed for Tensor x:0.*Fix"),
]


@pytest.mark.parametrize(("value", "error", "text"), BAD_FEEDS)
def test_feeds_that_do_not_fit(sess, value, error, text):
    x = tf.placeholder(tf.float32, [2], name="x")
    with pytest.raises(error, match=text):
        sess.run(x * 2.0, {x: value})
    np.testing.assert_array_equal(sess.run(x * 2.0, {x: [1, 2]}), [2, 4])


def test_feeding_a_tensor_and_feeding_nothing_known(sess):
    x = tf.placeholder(tf.float32, [], name="x")
    with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor"):
        sess.run(x, {x: tf.constant(1.0)})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        sess.run(x, {"y": 1.0})


def test_an_integer_out_of_range(sess):
    n = tf.placeholder(tf.int8, [])
    with pytest.raises(TypeError, match="is not compatible with Tensor type int8"):
        sess.run(n, {n: 1000})


def test_unfed_placeholder(sess):
    x = tf.placeholder(tf.float32, [2], name="x")
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(x * 2.0)
    assert "You must feed a value for placeholder tensor 'x' with dtype float" in str(e.value)
    assert "test_session.py" in str(e.value) and "feed_dict" in str(e.value)
    assert e.value.op is x.op


# -- state -------------------------------------------------------------------------------


def test_uninitialized_variable(sess):
    v = tf.Variable(1.0, name="v")
    y = v * 2.0
    with pytest.raises(tf.errors.FailedPreconditionError) as e:
        sess.run(y)
    assert "uninitialized" in str(e.value) and "'v" not in str(e.value).split("\n")[1]
    assert "test_session.py" in str(e.value) and "global_variables_initializer" in str(e.value)
    sess.run(tf.global_variables_initializer())
    assert sess.run(y) == 2.0


def test_sessions_have_variables_of_their_own(graph):
    v = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    add = v.assign_add(1.0)
    with tf.Session() as a, tf.Session() as b:
        a.run(init)
        b.run(init)
        assert a.run(add) == 2.0 and a.run(add) == 3.0
        assert b.run(v) == 1.0


def test_order_of_reads_and_assignments(sess):
    v = tf.Variable(1.0)
    before = v.read_value()
    assign = tf.assign(v, 5.0)
    with tf.control_dependencies([assign]):
        after = v.read_value()
    sess.run(tf.global_variables_initializer())
    assert sess.run([before, assign, after]) == [1.0, 5.0, 5.0]
    assert sess.run(v) == 5.0


def test_a_failed_run_leaves_variables_as_they_were(sess):
    v = tf.Variable(1.0)

    def fail(x):
        raise ValueError("no")

    add = v.assign_add(1.0)
    with tf.control_dependencies([add]):
        bad = tf.py_func(fail, [v.read_value()], tf.float32)
    sess.run(tf.global_variables_initializer())
    with pytest.raises(tf.errors.OpError, match="(?s)ValueError: no.*test_session.py"):
        sess.run([add, bad])
    assert sess.run(v) == 1.0


def test_a_graph_that_grows(sess):
    x = tf.constant(1.0)
    assert sess.run(x) == 1.0
    y = x + 1.0
    assert sess.run(y) == 2.0


def test_host_functions_between_clusters(sess):
    x = tf.placeholder(tf.float32, [2])
    y = tf.py_func(lambda v: (v * 2).astype(np.float32), [x + 1.0], tf.float32)
    y.set_shape([2])
    z = tf.py_func(lambda v: (v + 100).astype(np.float32), [tf.exp(y) * 0.0 + y], tf.float32)
    np.testing.assert_array_equal(sess.run(z - 1.0, {x: [1.0, 2.0]}), [103, 105])


# -- life --------------------------------------------------------------------------------


def test_closed_session():
    x = tf.constant(1.0)
    s = tf.Session()
    s.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        s.run(x)
    with tf.Session() as s:
        pass
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        s.run(x)


def test_empty_graph(sess):
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        sess.run("x:0")


def test_wrong_arguments():
    with pytest.raises(TypeError, match="must be a tf.Graph"):
        tf.Session(graph="g")
    with pytest.raises(TypeError, match="must be a string"):
        tf.Session(3)


def test_eval_and_run_use_the_default_session(graph):
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval\(\)`: No default session is registered"):
        x.eval()
    with tf.Session() as s:
        assert tf.get_default_session() is s
        assert x.eval() == 2.0
        assert x.op.run() is None
    assert tf.get_default_session() is None
    s = tf.Session()
    assert x.eval(session=s) == 2.0
    with s.as_default():
        assert (x * 2.0).eval({x: 5.0}) == 10.0
    assert s.run(x) == 2.0  # as_default does not close it


def test_interactive_session(graph):
    s = tf.InteractiveSession(graph=graph)
    try:
        assert tf.constant(3.0).eval() == 3.0
    finally:
        s.close()
    assert tf.get_default_session() is None


def test_make_callable(sess):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    f = sess.make_callable(x - y, [x, y])
    assert f(5.0, 3.0) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 2 values"):
        f(1.0)


def test_feed_of_a_variable(sess):
    """A value that is fed for a variable is what all reads see, also those of a variable that is assigned to."""
    v = tf.Variable(2.0)
    before = v * 3.0
    assigned = v.assign_add(1.0)
    after = v * 3.0
    sess.run(v.initializer)
    assert sess.run([v, before, after], {v: 5.0}) == [5.0, 15.0, 15.0]
    assert sess.run([after, v], {v: 7.0}) == [21.0, 7.0]
    assert sess.run(assigned, {v: 5.0}) == 3.0 and sess.run(after) == 9.0


def test_callable_from_options(sess):
    """Fetches and targets of a `CallableOptions`; a connected tensor gets another one's value."""
    x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
    v = tf.Variable(1.0)
    options = CallableOptions(feed=["x:0"], fetch=[(x - y).name], target=[v.assign_add(x).op.name])
    options.tensor_connection.add(from_tensor=(v * 2.0).name, to_tensor="y:0")
    f = sess._make_callable_from_options(options)
    sess.run(v.initializer)
    assert f(5.0) == [3.0] and sess.run(v) == 6.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 1 values"):
        f()


def test_several_threads(sess):
    x = tf.placeholder(tf.float32, [])
    y = x * x
    results: dict[int, float] = {}

    def work(i):
        for _ in range(20):
            results[i] = float(sess.run(y, {x: float(i)}))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == {i: float(i * i) for i in range(8)}


def test_numpy_engine_gives_the_same(graph):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.nn.softmax(tf.matmul(x, tf.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))))
    (g,) = tf.gradients(tf.reduce_sum(y**2), x)
    value = np.linspace(0, 1, 6).reshape(2, 3)
    results = [kind().run([y, g], {x: value}) for kind in (tf.Session, HostSession)]
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_strings_pass_through(sess):
    s = tf.placeholder(tf.string, [None])
    np.testing.assert_array_equal(sess.run(tf.identity(s), {s: ["a", "bc"]}), [b"a", b"bc"])
    assert sess.run(tf.constant("x")) == b"x"


def test_run_time_shape_errors_name_op_and_line(sess):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    z = tf.add(x, y, name="sum_of_both")
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(z, {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})
    text = str(e.value)
    assert "sum_of_both" in text and "(2,)" in text and "(3,)" in text and "test_session.py" in text
    assert e.value.op is z.op


def test_where_nothing_comes_back_there_is_no_nan(sess):
    x = tf.constant([0.0, 4.0])
    ys = [tf.maximum(tf.sqrt(x), 0.1), tf.rsqrt(x) * [0.0, 1.0], tf.reciprocal(x) * [0.0, 1.0]]
    got = sess.run([tf.gradients(y, x)[0] for y in ys])  # TensorFlow's values
    for value, expected in zip(got, ([0, 0.25], [0, -0.0625], [0, -0.0625])):
        np.testing.assert_array_equal(value, expected)


def test_random_numbers_of_two_sessions(graph):
    free, seeded = tf.random_uniform([4]), tf.random_uniform([4], seed=7)
    a, b = (tf.Session().run([free, seeded]) for _ in range(2))
    assert not np.array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])


def test_initialisers_need_no_xla(sess, monkeypatch):
    from graphgrad.executor.runtime import run

    w = tf.Variable(tf.truncated_normal([3, 2]) * 0.1)
    v = tf.Variable(tf.constant(1.0, shape=[2]))
    monkeypatch.setattr(run.Run, "compute", None)
    sess.run(tf.global_variables_initializer())
    monkeypatch.undo()
    np.testing.assert_array_equal(sess.run(v), [1, 1])
    assert np.abs(sess.run(w)).max() <= 0.2


def test_tuples_are_fed(graph):
    """A state that was fetched is fed again as it is."""
    a, b, c = (tf.placeholder_with_default(float(i), []) for i in range(3))
    state = (a, tf.nn.rnn_cell.LSTMStateTuple(b, c))
    with tf.Session() as s:
        fetched = s.run(state, {state: (3.0, (4.0, 5.0))})
        assert fetched == (3.0, (4.0, 5.0))
        assert s.run(a + b * c, {state: fetched}) == 23.0
        with pytest.raises(ValueError, match="Could not flatten dictionary. Key had 2 elements, but value had 3"):
            s.run(a, {state: (1.0, 2.0, 3.0)})
        with pytest.raises(ValueError, match="not unique"):
            s.run(a, {state: fetched, a: 2.0})


@pytest.mark.parametrize("first", ["numpy", "xla"])
def test_a_new_value_for_several_variables(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    """What is added to a variable, and then assigned to another one, is in both."""
    monkeypatch.setenv("GRAPHGRAD_FIRST_RUN", first)
    with tf.Graph().as_default(), tf.Session() as sess:
        v, w = tf.get_variable("v", initializer=[3.0, 4.0]), tf.get_variable("w", initializer=[0.0, 0.0])
        with tf.control_dependencies([v.assign_add([1.0, 1.0], read_value=False)]):
            step = w.assign(v.read_value(), read_value=False)
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            sess.run(step)
            assert [value.tolist() for value in sess.run([v, w])] == [[4.0 + i, 5.0 + i]] * 2
