"""Graphs, operations, tensors, dtypes, shapes and conversion."""

import threading

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


# -- names and scopes --------------------------------------------------------------------


def test_unique_names():
    names = [tf.constant(0, name=n).op.name for n in ("c", "c", "C", "c_1", "c")]
    assert names == ["c", "c_1", "C_2", "c_1_1", "c_3"]


def test_name_scopes():
    with tf.name_scope("a") as a:
        assert a == "a/"
        x = tf.constant(1, name="x")
        with tf.name_scope("b"):
            y = tf.constant(1, name="x")
    with tf.name_scope("a"):
        z = tf.constant(1, name="x")
    with tf.name_scope(a):
        w = tf.constant(1, name="x")
    with tf.name_scope("a"), tf.name_scope(None):
        top = tf.constant(1, name="x")
    assert [t.name for t in (x, y, z, w, top)] == ["a/x:0", "a/b/x:0", "a_1/x:0", "a/x_1:0", "x:0"]


@pytest.mark.parametrize("bad", ["a b", "_x", "?"])
def test_invalid_names(bad):
    with pytest.raises(ValueError, match="not a valid"):
        tf.constant(1.0, name=bad) if bad != "a b" else tf.name_scope(bad).__enter__()


def test_what_waits_and_what_is_noted(graph):
    """Operations know those that wait for them, and hold attributes of a program's."""
    a = tf.constant(1.0)
    with tf.control_dependencies([a]):
        b, c = tf.constant(2.0), tf.constant(3.0)
    assert a.op._control_outputs == (b.op, c.op) and b.op._control_outputs == ()
    a.op.note = "seen"
    assert a.op.note == "seen"


def test_control_dependencies(graph):
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.control_dependencies([a]):
        c = tf.identity(b)
        with tf.control_dependencies([b.op]):
            d = tf.constant(3.0)
        e = tf.identity(c)  # c waits for a already
        with tf.control_dependencies(None):
            f = tf.constant(4.0)
    assert c.op.control_inputs == (a.op,)
    assert set(d.op.control_inputs) == {a.op, b.op}
    assert e.op.control_inputs == () and f.op.control_inputs == ()


def test_devices():
    with tf.device("/gpu:0"):
        a = tf.constant(1.0)
        with tf.device("/job:worker/task:1"):
            b = tf.constant(1.0)
        with tf.device(None):
            c = tf.constant(1.0)
        with tf.device(lambda op: "/cpu:0" if op.type == "Const" else ""):
            d = tf.constant(1.0)
    assert a.device == "/device:GPU:0"
    assert b.device == "/job:worker/task:1/device:GPU:0"
    assert c.device == ""
    assert d.device == "/device:CPU:0"
    with pytest.raises(ValueError, match="Could not parse device specification '/nonsense'"), tf.device("/nonsense"):
        pass


def test_colocation(graph):
    with tf.device("/gpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(1.0)
    assert b.op.colocation_groups() == [b"loc:@a"] and b.device == a.device


def test_collections(graph):
    tf.add_to_collection("k", 1)
    tf.get_collection("k").append(2)
    assert tf.get_collection("k") == [1]
    tf.get_collection_ref("k").append(3)
    assert graph.get_collection("k") == [1, 3]
    assert graph.get_collection("none") == [] and tf.get_collection_ref("new") == []
    assert graph.get_all_collection_keys() == ["k", "new"]
    graph.clear_collection("new")
    assert graph.get_all_collection_keys() == ["k"]
    x = tf.constant(1, name="scope/x")
    tf.add_to_collection("named", x)
    assert tf.get_collection("named", scope="scope") == [x]
    assert tf.get_collection("named", scope="other") == []


# -- looking up --------------------------------------------------------------------------


def test_lookups(graph):
    x = tf.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x") is x.op
    y = tf.identity(x)
    z = tf.add(x, y)
    assert x.consumers() == [y.op, z.op]
    assert z.op.inputs[1] is y


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("foo:0", KeyError, "'foo', does not exist in the graph"),
        ("known:3", KeyError, "exists but only has 1 outputs"),
        ("known", ValueError, "must be of the form"),
        ("knonw:0", KeyError, "Did you mean 'known'"),
        (7, TypeError, "Tensor names are strings"),
    ],
)
def test_failed_lookups(graph, name, error, text):
    tf.constant(1.0, name="known")
    with pytest.raises(error, match=text):
        graph.get_tensor_by_name(name)


def test_default_graphs_belong_to_threads():
    seen = []

    def work():
        seen.append(tf.get_default_graph())

    t = threading.Thread(target=work)
    t.start()
    t.join()
    assert seen[0] is not tf.get_default_graph()


def test_finalized_graph(graph):
    x = tf.constant(1.0)
    graph.finalize()
    with pytest.raises(RuntimeError, match=r"(?s)Graph is finalized and cannot be modified.*AddV2.*test_graph.py.*Fix"):
        x + x
    assert len(graph.get_operations()) == 1


# -- shapes ------------------------------------------------------------------------------


def test_static_shapes():
    x = tf.placeholder(tf.float32, [None, 4])
    assert x.shape.as_list() == [None, 4] and x.get_shape().ndims == 2
    assert str(x.shape) == "(None, 4)"
    x.set_shape([3, None])
    assert x.shape.as_list() == [3, 4]
    with pytest.raises(ValueError, match=r"(?s)not compatible with \(5, 4\).*test_graph.py"):
        x.set_shape([5, 4])
    u = tf.placeholder(tf.float32)
    assert u.shape.rank is None and str(u.shape) == "<unknown>"
    with pytest.raises(ValueError, match="unknown"):
        u.shape.as_list()


def test_shape_arithmetic_is_known_while_building():
    x = tf.placeholder(tf.float32, [None, 4, 6])
    s = tf.shape(x)
    assert tf.reshape(x, [s[0], s[1] * s[2]]).shape.as_list() == [None, 24]
    assert tf.reshape(x, tf.stack([-1, s[2] // 2])).shape.as_list() == [None, 3]
    assert tf.zeros(tf.concat([s[1:], [2]], 0)).shape.as_list() == [4, 6, 2]


def test_dimension_objects_of_tensorflow_1():
    tf.disable_v2_tensorshape()
    x = tf.placeholder(tf.float32, [None, 4])
    assert x.get_shape()[1].value == 4 and x.shape[0].value is None
    assert int(x.shape[1]) == 4 and x.shape[1] * 2 == 8
    assert tf.zeros([x.shape[1], 2]).shape.as_list() == [4, 2]
    assert [d.value for d in x.shape] == [None, 4]


# -- dtypes and conversion ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32), (2**40, tf.int64), (1.0, tf.float32), (True, tf.bool), ("a", tf.string), (1j, tf.complex128),
        (np.arange(3), tf.int64), (np.float64(2), tf.float64), ([1.0, 2], tf.float32), (np.float16(1), tf.float16),
        ([np.float64(1.0)], tf.float32), ([], tf.float32),
    ],
)
def test_dtypes_of_values(value, dtype):
    assert tf.constant(value).dtype is dtype
    assert tf.convert_to_tensor(value).dtype is dtype


@pytest.mark.parametrize("name", ["float", "float32", np.float32, float, 1])
def test_names_of_float32(name):
    assert tf.as_dtype(name) is tf.float32
    assert tf.placeholder(name, []).dtype is tf.float32


def test_dtype_properties():
    assert tf.float32 == np.float32 and tf.float32 == "float32" and tf.float32 != tf.float64
    assert tf.bfloat16.size == 2 and tf.bfloat16.is_floating
    assert tf.complex64.real_dtype is tf.float32
    assert tf.int8.min == -128 and tf.uint8.max == 255
    assert repr(tf.int32) == "tf.int32" and str(tf.int32) == "<dtype: 'int32'>"
    assert {tf.float32: 1}[tf.as_dtype("float")] == 1
    with pytest.raises(TypeError, match="(?s)Cannot convert the argument `type_value`: 'nonsense'.*Fix"):
        tf.as_dtype("nonsense")


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: tf.constant(1.0) + tf.constant(1), r"Input 'y' of 'AddV2' Op has type int32 that does not match type "
         r"float32 of argument 'x'.*tf\.cast"),
        (lambda: tf.constant(1) + 1.5, "Expected int32, but got 1.5 of type 'float'"),
        (lambda: tf.constant(1.5, dtype=tf.int32), "Expected int32, but got 1.5 of type 'float'"),
        (lambda: tf.constant(1.0) * "a", "Expected float32, but got 'a' of type 'str'"),
        (lambda: tf.exp(tf.constant([1])), "int32 not in list of allowed values"),
    ],
)
def test_nothing_is_promoted_silently(build, text):
    with pytest.raises(TypeError, match=f"(?s){text}"):
        build()


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0]), ValueError,
         r"AddV2 'add': dimension -1 differs \(2 vs 3\); x=float32 \(2,\), y=float32 \(3,\).*test_graph.py.*Fix"),
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([4, 5])), ValueError, r"MatMul.*3.*4.*test_graph.py.*Fix"),
        (lambda: tf.reshape(tf.ones([3]), [2, 2]), ValueError, r"Reshape.*test_graph.py"),
        (lambda: tf.convert_to_tensor(None), ValueError, "None values not supported"),
        (lambda: tf.convert_to_tensor([[1], [2, 3]]), ValueError, "non-rectangular"),
        (lambda: bool(tf.constant(True)), TypeError, "as a Python `bool` is not allowed"),
        (lambda: list(tf.placeholder(tf.float32, [None])), TypeError, "Cannot iterate"),
        (lambda: len(tf.constant([1])), TypeError, "len is not well defined"),
        (lambda: np.asarray(tf.constant([1])), NotImplementedError, "Cannot convert a symbolic"),
    ],
)
def test_errors_while_building(build, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        build()


def test_tensors_of_two_graphs():
    x = tf.constant(1.0, name="here")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="(?s)must be from the same graph.*test_graph.py"):
        x + tf.constant(2.0)


def test_a_failed_build_adds_nothing(graph):
    x = tf.constant([1.0, 2.0])
    y = tf.constant([1.0, 2.0, 3.0])
    count = len(graph.get_operations())
    with pytest.raises(ValueError):
        x + y
    assert len(graph.get_operations()) == count
    assert (x + x).op.name == "add"


def test_constants_do_not_change_with_the_callers_array():
    a = np.ones(3, np.float32)
    t = tf.constant(a)
    a[:] = 7
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(t), [1, 1, 1])


def test_lists_of_tensors_are_packed():
    x = tf.constant(2.0)
    t = tf.convert_to_tensor([[x, 1.0], [3.0, x]])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(t), [[2, 1], [3, 2]])


def test_conversion_functions():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    tf.register_tensor_conversion_function(
        Celsius, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.degrees, dtype, name=name)
    )
    with tf.Session() as sess:
        assert sess.run(tf.constant(1.0) + Celsius(2.0)) == 3.0


def test_numpy_on_the_left():
    x = tf.constant([1.0, 2.0])
    y = np.float32([10.0, 20.0]) * x
    assert isinstance(y, tf.Tensor)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(y), [10, 40])


def test_names_of_tensorflow_0():
    import subprocess
    import sys

    program = (
        "import graphgrad.v1 as tf\n"
        "x = tf.mul(tf.pack([1.0, 2.0]), tf.neg(tf.sub(3.0, 1.0)))\n"
        "print(tf.Session().run(tf.unpack(tf.concat(0, [x, x]))))\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[np.float32(-2.0), np.float32(-4.0), np.float32(-2.0), np.float32(-4.0)]"


def test_sizes_that_were_flattened_are_known():
    """Reshaping to one dimension orders all elements in a row."""
    sizes = tf.constant([[2, 3], [4, 5]])
    assert tf.zeros(tf.reshape(sizes, [-1])).shape == [2, 3, 4, 5]
    assert tf.zeros(tf.reshape(sizes, [4])[1:]).shape == [3, 4, 5]
    half_known = tf.stack([[2], [tf.placeholder(tf.int32, [])]])
    assert tf.zeros(tf.reshape(half_known, [-1])).shape.as_list() == [2, None]
