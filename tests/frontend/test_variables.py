"""Variables, their scopes and initializers, in graphs, sessions, functions and eager mode."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad import errors


@pytest.fixture
def sess() -> Iterator[Any]:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _start(sess: Any) -> None:
    sess.run(tf.global_variables_initializer())


def _names(graph: Any = None) -> list[str]:
    return [op.name for op in (graph or tf.get_default_graph()).get_operations()]


# -- creation ----------------------------------------------------------------------


def test_operations_of_a_variable(sess: Any) -> None:
    """A variable is a handle, an assignment and a read, named as TensorFlow names them."""
    w = tf.Variable([1.0, 2.0], name="w")
    assert _names() == ["w/Initializer/initial_value", "w", "w/Assign", "w/Read/ReadVariableOp"]
    assert [op.type for op in tf.get_default_graph().get_operations()] == [
        "Const", "VarHandleOp", "AssignVariableOp", "ReadVariableOp"]
    assert (w.name, w.op.name, w.op.type, w.initializer.name) == ("w:0", "w", "VarHandleOp", "w/Assign")
    assert w.handle.dtype is tf.resource and w.dtype is tf.float32
    assert w.shape == [2] and w.get_shape().as_list() == [2]
    assert w.initial_value.name == "w/Initializer/initial_value:0"
    assert tf.get_default_graph().as_graph_element(w).name == "w/Read/ReadVariableOp:0"
    assert repr(w) == "<tf.Variable 'w:0' shape=(2,) dtype=float32>"
    assert w.graph is tf.get_default_graph() and w.device == ""
    assert isinstance(w, tf.Variable) and isinstance(w, tf2.Variable)


@pytest.mark.parametrize("value, dtype, expected", [
    (1, None, "int32"), (1.0, None, "float32"), (np.zeros(2), None, "float64"), (np.arange(2), None, "int64"),
    (True, None, "bool"), ("a", None, "string"), (1, "float64", "float64"), ([1, 2], tf.float16, "float16"),
])
def test_dtypes(sess: Any, value: Any, dtype: Any, expected: str) -> None:
    """The dtype is the value's by TensorFlow's rules, or the one asked for."""
    v = tf.Variable(value, dtype=dtype)
    assert v.dtype == expected
    _start(sess)
    np.testing.assert_array_equal(sess.run(v), np.asarray(value.encode() if isinstance(value, str) else value, object))


def test_collections(sess: Any) -> None:
    """Variables join the collections they are meant for."""
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", trainable=False)
    c = tf.Variable(1.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    d = tf.Variable(1.0, name="d", collections=["own"])
    assert tf.global_variables() == tf.all_variables() == [a, b]
    assert tf.trainable_variables() == [a, d]
    assert tf.local_variables() == [c]
    assert tf.get_collection("own") == [d]
    assert tf.global_variables(scope="b") == [b]
    assert not b.trainable and a.trainable


def test_initial_value_as_function_and_tensor(sess: Any) -> None:
    """A function is called in the variable's scope; a tensor is taken as it is."""
    a = tf.Variable(lambda: tf.ones([2]), name="a")
    b = tf.Variable(a.initialized_value() * 3.0, name="b")
    c = tf.Variable(b * 2.0, name="c")
    assert a.initial_value.op.name.startswith("a/Initializer/")
    _start(sess)
    for variable, expected in ((a, 1.0), (b, 3.0), (c, 6.0)):
        np.testing.assert_array_equal(sess.run(variable), [expected, expected])


def test_initialized_value(sess: Any) -> None:
    """It is the value where there is one, and the initial value elsewhere."""
    a = tf.Variable(1.0)
    b = tf.Variable(a.initialized_value() + 1.0)
    sess.run(b.initializer)
    assert sess.run(b) == 2.0
    sess.run(a.assign(5.0))
    sess.run(b.initializer)
    assert sess.run(b) == 6.0


def test_control_dependencies_do_not_reach_initialization(sess: Any) -> None:
    """A variable made inside of `control_dependencies` can be initialized by itself."""
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.identity(x)]):
        v = tf.Variable(1.0)
    sess.run(v.initializer)
    assert sess.run(v) == 1.0


def test_bad_creation(sess: Any) -> None:
    """Classes and texts are TensorFlow's."""
    with pytest.raises(ValueError, match=r"The `initial_value` arg to `tf\.Variable` must be specified"):
        tf.Variable()
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32))
    with pytest.raises(TypeError, match=r"Expected int32, but got 1\.5"):
        tf.Variable(1.5, dtype=tf.int32)
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float64"):
        tf.Variable(tf.constant(1.5), dtype=tf.float64)
    with pytest.raises(ValueError, match="must be a list, tuple, or set"):
        tf.Variable(1, collections="a")
    with pytest.raises(ValueError, match="must be None or a callable"):
        tf.Variable(1, constraint=3)
    with pytest.raises(ValueError, match="is not compatible with the explicitly supplied `shape`"):
        tf.Variable([1.0, 2.0], shape=[3])


def test_shape_that_is_not_fixed(sess: Any) -> None:
    """Without shape validation the shape may change."""
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    assert v.shape.rank is None
    _start(sess)
    sess.run(tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False))
    np.testing.assert_array_equal(sess.run(v + 1.0), [2.0, 3.0, 4.0])


# -- reading and assigning ---------------------------------------------------------


def test_reads_share_one_operation_until_the_variable_can_change(sess: Any) -> None:
    """As in TensorFlow 1: uses add no reads, so graphs and random seeds are as there."""
    w = tf.Variable(1.0, name="w")
    before = len(_names())
    total = (w + 1.0) * w
    assert _names()[before:] == ["add/y", "add", "mul"]
    update = w.assign(10.0)
    fresh = w * 1.0
    assert fresh.op.inputs[0] is not total.op.inputs[1]
    _start(sess)
    sess.run(update)
    assert sess.run([total, fresh]) == [110.0, 10.0]


def test_feeding_a_variable(sess: Any) -> None:
    """What is fed for a variable reaches its uses."""
    w = tf.Variable(1.0)
    y = w * 2.0
    _start(sess)
    assert sess.run([w, y], {w: 5.0}) == [5.0, 10.0]
    assert sess.run(y) == 2.0


def test_read_after_assignment(sess: Any) -> None:
    """A read under control dependencies sees the assignment; one made before does not."""
    v = tf.Variable(1.0)
    before = v + 0.0
    update = v.assign_add(2.0)
    with tf.control_dependencies([update]):
        after = v + 0.0
        again = v.read_value()
    _start(sess)
    assert sess.run([before, after, again]) == [1.0, 3.0, 3.0]


def test_results_of_assignments(sess: Any) -> None:
    """What an assignment returns stands for the variable after it; `.op` is the assignment."""
    v = tf.Variable([1.0, 2.0], name="v")
    result = v.assign([3.0, 4.0])
    assert (result.op.type, result.op.name, result.name) == ("AssignVariableOp",) * 2 + ("AssignVariableOp",)
    assert repr(result) == "<tf.Variable 'AssignVariableOp' shape=(2,) dtype=float32>"
    assert isinstance(result, tf.Variable) and result.shape == [2]
    _start(sess)
    assert sess.run(result.op) is None
    np.testing.assert_array_equal(sess.run(result + 1.0), [4.0, 5.0])
    np.testing.assert_array_equal(sess.run(result.assign_add([1.0, 1.0])), [4.0, 5.0])
    assert v.assign([0.0, 0.0], read_value=False).type == "AssignVariableOp"


@pytest.mark.parametrize("function, expected", [
    (lambda v: tf.assign(v, [5.0, 6.0, 7.0]), [5, 6, 7]),
    (lambda v: tf.assign_add(v, [1.0, 1.0, 1.0]), [2, 3, 4]),
    (lambda v: tf.assign_sub(v, [1.0, 1.0, 1.0]), [0, 1, 2]),
    (lambda v: tf.scatter_update(v, [2, 0], [9.0, 8.0]), [8, 2, 9]),
    (lambda v: tf.scatter_add(v, [2, 2], [1.0, 2.0]), [1, 2, 6]),
    (lambda v: tf.scatter_sub(v, [2, 2], [1.0, 2.0]), [1, 2, 0]),
    (lambda v: tf.scatter_mul(v, [1, 1], [2.0, 3.0]), [1, 12, 3]),
    (lambda v: tf.scatter_div(v, [1], [2.0]), [1, 1, 3]),
    (lambda v: tf.scatter_min(v, [1, 2], [1.0, 4.0]), [1, 1, 3]),
    (lambda v: tf.scatter_max(v, [1, 2], [1.0, 4.0]), [1, 2, 4]),
    (lambda v: tf.scatter_nd_update(v, [[2], [0]], [9.0, 8.0]), [8, 2, 9]),
    (lambda v: tf.scatter_nd_add(v, [[2], [2]], [1.0, 2.0]), [1, 2, 6]),
    (lambda v: tf.scatter_nd_sub(v, [[2]], [1.0]), [1, 2, 2]),
    (lambda v: v.scatter_nd_max([[0]], [7.0]), [7, 2, 3]),
    (lambda v: v.scatter_nd_min([[0]], [-7.0]), [-7, 2, 3]),
    (lambda v: v.scatter_add(tf.IndexedSlices([1.0], [0])), [2, 2, 3]),
    (lambda v: v[1:].assign([7.0, 8.0]), [1, 7, 8]),
    (lambda v: v[0].assign(9.0), [9, 2, 3]),
])
def test_assignments(sess: Any, function: Callable[..., Any], expected: list[float]) -> None:
    """Each kind of assignment, in a session and in eager mode."""
    v = tf.Variable([1.0, 2.0, 3.0])
    update = function(v)
    _start(sess)
    np.testing.assert_array_equal(sess.run(update), expected)
    np.testing.assert_array_equal(sess.run(v), expected)


@pytest.mark.parametrize("function, expected", [
    (lambda v: v.assign([5.0, 6.0, 7.0]), [5, 6, 7]),
    (lambda v: v.assign_add([1.0, 1.0, 1.0]), [2, 3, 4]),
    (lambda v: v.scatter_nd_update([[2], [0]], [9.0, 8.0]), [8, 2, 9]),
    (lambda v: v.scatter_sub(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 0]))), [-1, 2, 3]),
    (lambda v: v[1:].assign([7.0, 8.0]), [1, 7, 8]),
])
def test_eager_assignments(function: Callable[..., Any], expected: list[float]) -> None:
    """In eager mode an assignment happens at once."""
    v = tf2.Variable([1.0, 2.0, 3.0])
    result = function(v)
    np.testing.assert_array_equal(v.numpy(), expected)
    np.testing.assert_array_equal(result.numpy(), expected)


def test_batch_scatter_update(sess: Any) -> None:
    """Rows within each batch."""
    v = tf.Variable(tf.zeros([2, 3]))
    update = tf.batch_scatter_update(v, [[0], [2]], [[1.0], [2.0]])
    _start(sess)
    np.testing.assert_array_equal(sess.run(update), [[1, 0, 0], [0, 0, 2]])


def test_count_up_to(sess: Any) -> None:
    """Counts, then says that the limit is reached."""
    v = tf.Variable(0)
    count = tf.count_up_to(v, 2)
    _start(sess)
    assert [sess.run(count), sess.run(count)] == [0, 1]
    with pytest.raises(errors.OutOfRangeError, match="Reached limit of 2"):
        sess.run(count)


def test_bad_assignments(sess: Any) -> None:
    """Shapes and dtypes have to fit, also where only the run can tell."""
    v = tf.Variable([1.0, 2.0])
    for bad in (v.assign, v.assign_add, v.assign_sub):
        with pytest.raises(ValueError, match=r"Cannot assign value to variable 'Variable:0': Shape mismatch"):
            bad([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32"):
        v.assign(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="needs a variable"):
        tf.assign(tf.constant(1.0), 2.0)
    with pytest.raises(TypeError, match="is not IndexedSlices"):
        v.scatter_add([1.0])
    _start(sess)
    with pytest.raises(errors.InvalidArgumentError):
        sess.run(tf.scatter_nd_update(v, tf.placeholder_with_default([[7]], [1, 1]), [1.0]))


def test_uninitialized(sess: Any) -> None:
    """Reading a variable without a value is an error that names it."""
    v = tf.Variable(1.0, name="v")
    assert not sess.run(tf.is_variable_initialized(v))
    assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"v"]
    with pytest.raises(errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(v)
    check = tf.assert_variables_initialized()
    with pytest.raises(errors.FailedPreconditionError):
        sess.run(check)
    _start(sess)
    assert sess.run(tf.is_variable_initialized(v))
    assert sess.run(tf.report_uninitialized_variables()).tolist() == []
    sess.run(check)


def test_sessions_keep_values_of_their_own() -> None:
    """A value belongs to a session, and stays in it."""
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0)
        init = tf.initialize_all_variables()
    first, second = tf.Session(graph=graph), tf.Session(graph=graph)
    first.run(init)
    second.run(init)
    v.load(5.0, first)
    assert (v.eval(first), v.eval(second)) == (5.0, 1.0)


def test_sparse_read_and_gradients(sess: Any) -> None:
    """Gathering gives IndexedSlices; gradients see a variable through every read."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    rows = v.sparse_read([1, 1])
    [sparse] = tf.gradients(rows, [v])
    assert isinstance(sparse, tf.IndexedSlices)
    update = v.assign_add([[1.0, 1.0], [1.0, 1.0]])
    with tf.control_dependencies([update]):
        later = v * v
    [dense] = tf.gradients([v * 3.0, later, v.read_value()], [v])
    _start(sess)
    np.testing.assert_array_equal(sess.run(rows), [[3, 4], [3, 4]])
    np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(sparse)), [[0, 0], [2, 2]])
    np.testing.assert_array_equal(sess.run(dense), 4.0 + 2 * np.array([[2.0, 3.0], [4.0, 5.0]]))


def test_variable_of_another_graph() -> None:
    """Graphs do not mix."""
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same graph"):
        _ = v + 1.0


# -- eager mode and functions ------------------------------------------------------


def test_eager_variable() -> None:
    """An eager variable has its value; what belongs to graphs says so."""
    v = tf2.Variable([1.0, 2.0], name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert v.assign_add([1.0, 1.0]) is not None and v.initializer is None
    np.testing.assert_array_equal(np.array(v), [2.0, 3.0])
    assert [float(x) for x in v] == [2.0, 3.0]
    assert float(tf2.Variable(2.0)) == 2.0 and int(tf2.Variable(3)) == 3 and not tf2.Variable(0.0)
    assert [10, 20][tf2.Variable(1)] == 20
    for attribute in ("graph", "op"):
        with pytest.raises(AttributeError, match="undefined when eager execution is enabled"):
            getattr(v, attribute)
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        v.eval()
    v.load([7.0, 8.0])
    assert v.sparse_read([1]).numpy() == [8.0]


def test_a_copy_of_an_eager_variable() -> None:
    """A deep copy has a value of its own."""
    v = tf2.Variable([1.0])
    w = copy.deepcopy(v)
    w.assign([2.0])
    assert v.numpy() == [1.0] and w.numpy() == [2.0]


def test_arrays_are_copied() -> None:
    """The caller's array and the variable do not share memory."""
    array = np.ones(3, np.float32)
    v = tf2.Variable(array)
    array[0] = 5.0
    assert v.numpy()[0] == 1.0
    v.assign(array)
    array[0] = 7.0
    assert v.numpy()[0] == 5.0


def test_shape_of_an_eager_variable() -> None:
    """The shape is fixed unless a looser one was asked for."""
    v = tf2.Variable(1.0, shape=tf2.TensorShape(None))
    v.assign([1.0, 2.0])
    assert v.shape.rank is None and v.numpy().shape == (2,)
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf2.Variable([1.0, 2.0]).assign([1.0])


def test_variables_in_functions() -> None:
    """A function reads and assigns the variables around it, and may make one at its first call."""
    outer = tf2.Variable(1.0)
    made: list[Any] = []

    @tf2.function
    def step(x: Any) -> Any:
        if not made:
            made.append(tf2.Variable(10.0))
        outer.assign_add(x)
        made[0].assign_sub(1.0)
        return outer * made[0]

    assert step(tf2.constant(2.0)).numpy() == 27.0
    assert step(tf2.constant(2.0)).numpy() == 40.0
    assert (outer.numpy(), made[0].numpy()) == (5.0, 8.0)


def test_variables_in_branches(sess: Any) -> None:
    """Branches read and assign the variables around them; those they make belong to the graph."""
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(1.0)

    def yes() -> Any:
        return tf.get_variable("w", [], initializer=tf.ones_initializer()) + v.assign(5.0)

    y = tf.cond(p, yes, lambda: v * 2.0)
    assert [u.name for u in tf.global_variables()] == ["Variable:0", "w:0"]
    _start(sess)
    assert sess.run(y, {p: False}) == 2.0
    assert sess.run(y, {p: True}) == 6.0
    assert sess.run(v) == 5.0


# -- scopes ------------------------------------------------------------------------


def test_scope_names(sess: Any) -> None:
    """Variable scopes repeat, name scopes are made unique."""
    with tf.variable_scope("a") as a:
        assert (a.name, a.original_name_scope, tf.Variable(1.0).name) == ("a", "a/", "a/Variable:0")
        with tf.variable_scope("b") as b:
            assert (b.name, tf.get_variable("x", [1]).name) == ("a/b", "a/b/x:0")
    with tf.variable_scope("a") as again:
        assert (again.name, again.original_name_scope, tf.constant(1).name) == ("a", "a_1/", "a_1/Const:0")
        assert tf.get_variable("y", [1]).name == "a/y:0"
    with tf.variable_scope(a) as back:
        assert (back.name, back.original_name_scope, tf.constant(1).name) == ("a", "a/", "a_2/Const:0")
    with tf.variable_scope(a, auxiliary_name_scope=False):
        assert tf.constant(1).name == "Const:0"
    for expected in ("d", "d_1"):
        with tf.variable_scope(None, "d") as d:
            assert d.name == expected
    for _ in range(2):
        with tf.variable_scope("p"), tf.variable_scope(None, "d") as d:
            assert d.name == "p/d"
    with tf.name_scope("ns"):
        assert tf.get_variable("z", [1]).name == "z:0"


def test_reuse(sess: Any) -> None:
    """reuse=True and AUTO_REUSE share variables, also in inner scopes."""
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is w
        with tf.variable_scope("inner") as inner:
            assert inner.reuse
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w") is w
        v = tf.get_variable("v", [2])
        assert tf.get_variable("v", [2]) is v
    with tf.variable_scope("a") as scope:
        scope.reuse_variables()
        assert tf.get_variable("v") is v


def test_defaults_of_a_scope(sess: Any) -> None:
    """Initializer, regularizer, dtype, constraint and getter are inherited."""
    seen: list[str] = []

    def getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        seen.append(name)
        return getter(name, *args, **kwargs)

    def clip(x: Any) -> Any:
        return tf.clip_by_value(x, 0.0, 1.0)

    def half(x: Any) -> Any:
        return tf.reduce_sum(x) * 0.5

    with tf.variable_scope("a", initializer=tf.ones_initializer(), regularizer=half, dtype=tf.float64,
                           constraint=clip, custom_getter=getter):
        with tf.variable_scope("b", custom_getter=getter) as scope:
            w = tf.get_variable("w", [2])
    assert seen == ["a/b/w", "a/b/w"]
    assert w.dtype is tf.float64 and w.constraint is clip
    [loss] = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.op.name.startswith("a/b/w/Regularizer/")
    assert scope.trainable_variables() == [w] and scope.global_variables() == [w]
    _start(sess)
    assert sess.run(loss) == 1.0
    tf.get_variable("unregularized", [2], regularizer={})  # nothing, to TensorFlow
    with tf.variable_scope("a", regularizer=half):
        tf.get_variable("v", [2], regularizer=tf.no_regularizer)
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1


def _plain(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return getter(name, *args, **kwargs)


def test_names_of_what_a_getter_builds() -> None:
    """It is outside of name scopes; those that the getter opens show in the variable's name, as in TensorFlow."""

    def doubled(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(name, *args, **kwargs) * 2.0

    def inner(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        with tf.name_scope("inner"):
            return getter(name, *args, **kwargs) + 1.0

    found = []
    with tf.Graph().as_default() as graph:
        for reuse in (False, True):
            with tf.variable_scope("S", custom_getter=doubled, reuse=reuse), tf.name_scope("n"):
                found.append(tf.get_variable("w", [2]).name)
        with tf.variable_scope("T", custom_getter=inner), tf.variable_scope("U"):
            found.append(tf.get_variable("w", initializer=[1, 2], dtype=tf.int32, custom_getter=_plain).name)
            found.append(tf.get_variable("v", [2]).name)
        found += [v.name for v in tf.global_variables()]
        before = len(graph.get_operations())
        tf.get_variable("x", initializer=np.ones(2), use_resource=True)
        assert all(op.name.startswith("x") for op in graph.get_operations()[before:])
    assert found == ["mul:0", "mul_1:0", "T/U/w:0", "inner/add:0", "S/w:0", "T/U/w:0", "inner/T/U/v:0"]


def _in_reuse(build: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            return build()

    return run


BAD_SCOPES: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("exists", lambda: tf.get_variable("w", [2]), ValueError,
     "Variable w already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"),
    ("missing", _in_reuse(lambda: tf.get_variable("v", [2])), ValueError,
     r"Variable v does not exist, or was not created with tf.get_variable\(\). Did you mean to set "
     "reuse=tf.AUTO_REUSE in VarScope?"),
    ("shape", _in_reuse(lambda: tf.get_variable("w", [3])), ValueError,
     r"Trying to share variable w, but specified shape \(3,\) and found shape \(2,\)"),
    ("dtype", _in_reuse(lambda: tf.get_variable("w", [2], tf.float64)), ValueError,
     "Trying to share variable w, but specified dtype float64 and found dtype float32"),
    ("no shape", lambda: tf.get_variable("v"), ValueError, "did not get an initializer, so its `shape`"),
    ("part of a shape", lambda: tf.get_variable("v", [None, 2]), ValueError, "The initializer passed is not valid"),
    ("shape and value", lambda: tf.get_variable("v", [2], initializer=[1.0, 2.0]), ValueError,
     "If initializer is a constant, do not specify shape"),
    ("dtype and value", lambda: tf.get_variable("v", dtype=tf.int32, initializer=tf.constant(1.0)), ValueError,
     "Initializer type .* and explicit dtype .* don't match"),
    ("no name", lambda: tf.variable_scope(None), TypeError, "If default_name is None then name_or_scope is required"),
    ("name", lambda: tf.variable_scope(3), TypeError, "name_or_scope must be a string or VariableScope"),
    ("reuse", lambda: tf.variable_scope("a", reuse="yes"), ValueError, "must be True or False or None"),
    ("default and reuse", lambda: tf.variable_scope(None, "a", reuse=True).__enter__(), ValueError,
     "reuse=True cannot be used without a name_or_scope"),
]


@pytest.mark.parametrize("_, build, cls, text", BAD_SCOPES, ids=[b[0] for b in BAD_SCOPES])
def test_bad_scopes(sess: Any, _: str, build: Callable[[], Any], cls: type[Exception], text: str) -> None:
    """Classes and texts are TensorFlow's."""
    tf.get_variable("w", [2])
    with pytest.raises(cls, match=text):
        build()


def test_initial_values_of_get_variable(sess: Any) -> None:
    """Values, functions and classes serve as initializers; without one, TensorFlow's defaults."""
    made = [
        (tf.get_variable("value", initializer=np.eye(2)), np.eye(2)),
        (tf.get_variable("tensor", initializer=tf.constant([3, 4])), [3, 4]),
        (tf.get_variable("function", initializer=lambda: tf.fill([2], 5.0)), [5, 5]),
        (tf.get_variable("class", [2], initializer=tf.ones_initializer), [1, 1]),
        (tf.get_variable("int", [2], tf.int32), [0, 0]),
        (tf.get_variable("bool", [2], tf.bool), [False, False]),
    ]
    drawn = tf.get_variable("float", [100, 50])
    assert made[0][0].dtype is tf.float64
    _start(sess)
    for variable, expected in made:
        np.testing.assert_array_equal(sess.run(variable), expected)
    values = sess.run(drawn)
    assert abs(values).max() <= np.sqrt(6 / 150) and values.std() > 0.9 * np.sqrt(2 / 150)


def test_local_variables(sess: Any) -> None:
    """Local variables have a collection of their own."""
    v = tf.get_local_variable("v", [1])
    assert tf.local_variables() == [v] and tf.global_variables() == [] and tf.trainable_variables() == []
    sess.run(tf.local_variables_initializer())
    assert sess.run(v).shape == (1,)


def test_template(sess: Any) -> None:
    """A template makes its variables once."""
    def layer(x: Any, size: int) -> Any:
        return x * tf.get_variable("w", [size], initializer=tf.ones_initializer())

    double = tf.make_template("t", layer, size=2)
    a, b = double([1.0, 2.0]), double([3.0, 4.0])
    assert [v.name for v in tf.global_variables()] == ["t/w:0"]
    assert (a.op.name, b.op.name) == ("t/mul", "t_1/mul")
    assert double.variable_scope_name == "t" and double.trainable_variables == tf.trainable_variables()
    other = tf.make_template("t", layer, size=1)
    other([1.0])
    assert tf.global_variables()[-1].name == "t_1/w:0"


def test_scopes_belong_to_graphs() -> None:
    """Each graph has a table of its own."""
    for _ in range(2):
        with tf.Graph().as_default():
            assert tf.get_variable("w", [2]).name == "w:0"


def test_get_variable_eagerly() -> None:
    """In eager mode each call makes a variable."""
    a, b = tf.get_variable("w", [2]), tf.get_variable("w", [2])
    assert a is not b and a.name == b.name == "w:0"


# -- initializers ------------------------------------------------------------------

DRAWN: list[tuple[Any, float, float | None]] = [
    (tf.random_uniform_initializer(-2.0, 2.0), 4 / np.sqrt(12), 2.0),
    (tf.random_normal_initializer(stddev=0.5), 0.5, None),
    (tf.truncated_normal_initializer(stddev=0.5), 0.5 * 0.8796, 1.0),
    (tf.variance_scaling_initializer(scale=2.0, mode="fan_out"), np.sqrt(2 / 100), None),
    (tf.variance_scaling_initializer(distribution="uniform"), np.sqrt(1 / 200), np.sqrt(3 / 200)),
    (tf.variance_scaling_initializer(mode="fan_avg", distribution="untruncated_normal"), np.sqrt(1 / 150), None),
    (tf.glorot_uniform_initializer(), np.sqrt(2 / 300), np.sqrt(6 / 300)),
    (tf.glorot_normal_initializer(), np.sqrt(2 / 300), None),
    (tf.initializers.he_normal(), np.sqrt(2 / 200), None),
    (tf.initializers.he_uniform(), np.sqrt(2 / 200), np.sqrt(6 / 200)),
    (tf.initializers.lecun_normal(), np.sqrt(1 / 200), None),
    (tf.initializers.lecun_uniform(), np.sqrt(1 / 200), np.sqrt(3 / 200)),
    (tf.uniform_unit_scaling_initializer(1.43), 1.43 * np.sqrt(1 / 200), 1.43 * np.sqrt(3 / 200)),
    (tf2.initializers.HeNormal(), np.sqrt(2 / 200), None),
    (tf2.initializers.GlorotUniform(), np.sqrt(2 / 300), np.sqrt(6 / 300)),
    (tf2.initializers.RandomNormal(), 0.05, None),
    (tf2.initializers.RandomUniform(), 0.1 / np.sqrt(12), 0.05),
]


@pytest.mark.parametrize("initializer, deviation, bound", DRAWN,
                         ids=[f"{i}-{type(d[0]).__name__}" for i, d in enumerate(DRAWN)])
def test_random_initializers(initializer: Any, deviation: float, bound: float | None) -> None:
    """Spread and bounds are those of the distribution; a config makes the same again."""
    values = initializer([200, 100], dtype=tf.float32).numpy()
    assert values.shape == (200, 100) and values.dtype == np.float32
    np.testing.assert_allclose(values.std(), deviation, rtol=0.03)
    np.testing.assert_allclose(values.mean(), 0.0, atol=0.03 * deviation)
    assert bound is None or bound * 0.95 < abs(values).max() <= np.float32(bound)
    assert type(initializer).from_config(initializer.get_config()).get_config() == initializer.get_config()


def test_constant_initializers() -> None:
    """Zeros, ones, constants and identities."""
    cases: list[tuple[Any, Any, Any]] = [
        (tf.zeros_initializer(), [2], [0, 0]), (tf.ones_initializer(tf.int32), [2], [1, 1]),
        (tf.constant_initializer(3), [2], [3, 3]),
        (tf.constant_initializer([[1, 2], [3, 4]]), [2, 2], [[1, 2], [3, 4]]),
        (tf.constant_initializer([1, 2, 3, 4]), [2, 2], [[1, 2], [3, 4]]),
        (tf.initializers.identity(2.0), [2, 3], [[2, 0, 0], [0, 2, 0]]),
        (tf2.initializers.Constant(2.5), [1], [2.5]), (tf2.zeros_initializer(), [1], [0]),
        (tf.zeros_initializer(), [100, 100], np.zeros((100, 100))),
    ]
    for initializer, shape, expected in cases:
        np.testing.assert_array_equal(initializer(shape).numpy(), expected)
    assert tf.ones_initializer()([2], dtype=tf.int64).dtype is tf.int64


def test_orthogonal_initializer() -> None:
    """Columns (or rows) are orthogonal, of length `gain`."""
    for shape in ([6, 4], [4, 6], [2, 3, 4]):
        q = tf.orthogonal_initializer(gain=2.0)(shape).numpy().reshape(-1, shape[-1])
        q = q if q.shape[0] >= q.shape[1] else q.T
        np.testing.assert_allclose(q.T @ q, 4.0 * np.eye(q.shape[1]), atol=1e-5)


BAD_INITIALIZERS: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("mode", lambda: tf.variance_scaling_initializer(mode="fan"), ValueError, "Invalid `mode` argument"),
    ("distribution", lambda: tf.variance_scaling_initializer(distribution="x"), ValueError, "Invalid `distribution`"),
    ("scale", lambda: tf.variance_scaling_initializer(scale=-1.0), ValueError, "`scale` must be a positive float"),
    ("dtype", lambda: tf.random_normal_initializer(dtype=tf.int32), ValueError, "Expected floating point type"),
    ("rank", lambda: tf.orthogonal_initializer()([3]), ValueError, "must be at least two-dimensional"),
    ("identity", lambda: tf.initializers.identity()([3]), ValueError, "can only be used for 2D matrices"),
    ("type", lambda: tf.constant_initializer(object()), TypeError, "Invalid type for initial value"),
    ("verified", lambda: tf.constant_initializer([1, 2], verify_shape=True)([3]), TypeError, "Expected Tensor's shape"),
]


@pytest.mark.parametrize("_, build, cls, text", BAD_INITIALIZERS, ids=[b[0] for b in BAD_INITIALIZERS])
def test_bad_initializers(_: str, build: Callable[[], Any], cls: type[Exception], text: str) -> None:
    """Arguments that make no sense are refused."""
    with pytest.raises(cls, match=text):
        build()
