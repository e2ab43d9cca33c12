"""Versions, small dtypes, settings, device strings in parts, specs of arguments, what tests use."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context
from graphgrad.ir.opdef import raw

pytestmark = pytest.mark.usefixtures("graph")


def run(fetches: Any) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        return sess.run(fetches)


def test_versions() -> None:
    """The version is the one whose behaviour is offered, everywhere the same."""
    assert tf.VERSION == tf.version.VERSION == tf2.version.VERSION == tf.__version__ == "2.21.0"
    assert tf.GIT_VERSION == tf2.version.GIT_VERSION and tf.GIT_VERSION.startswith("v2.21.0")
    assert (tf.GRAPH_DEF_VERSION, tf2.version.GRAPH_DEF_VERSION_MIN_CONSUMER) == (2474, 0)


# TensorFlow 2.21's: enum, whether floating, (min, max), and what 1.3, -2, 300, 0.2, -3 become where it casts on CPUs.
_SMALL = {
    "float4_e2m1fn": (33, True, (-6, 6), None), "float8_e4m3b11fnuz": (27, True, (-30, 30), None),
    "float8_e4m3fn": (25, True, (-448, 448), [1.25, -2, 288, 0.203125, -3]),
    "float8_e4m3fnuz": (26, True, (-240, 240), None),
    "float8_e5m2": (24, True, (-57344, 57344), [1.25, -2, 320, 0.1875, -3]),
    "float8_e5m2fnuz": (28, True, (-57344, 57344), None), "int2": (31, False, (-2, 1), None),
    "int4": (29, False, (-8, 7), None), "uint2": (32, False, (0, 3), None), "uint4": (30, False, (0, 15), None),
}


@pytest.mark.parametrize("name", _SMALL)
def test_small_dtypes(name: str) -> None:
    """Numbers of 2 to 8 bits have TensorFlow's names and limits, and are cast to and from."""
    enum, floating, limits, cast = _SMALL[name]
    dtype = getattr(tf.dtypes.experimental, name)
    assert dtype is getattr(tf2.experimental, name) is tf.as_dtype(name) and int(dtype) == enum and dtype.size == 1
    assert dtype.is_floating is floating and dtype.is_integer is not floating and not dtype.is_differentiable
    assert (float(dtype.min), float(dtype.max)) == limits
    there = tf.cast(tf.constant([1.0, 0.0]), dtype)
    back = run(tf.cast(tf.reshape(there, [2, 1])[::-1], tf.float32))
    assert there.dtype is dtype and back.tolist() == [[0.0], [1.0]]
    if cast:
        assert run(tf.cast(tf.cast(tf.constant([1.3, -2, 300, 0.2, -3]), dtype), tf.float32)).tolist() == cast


def test_small_dtypes_compiled() -> None:
    """XLA casts as NumPy does."""
    x = tf.placeholder(tf.float32, [5])
    casts = [tf.cast(tf.cast(x, getattr(tf.dtypes.experimental, n)), tf.float32)
             for n in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz")]
    feed = {x: np.float32([1.3, -2, 200, 0.2, -3])}
    with tf.Session() as sess, HostSession() as host:
        sess.run(casts, feed)
        for compiled, known in zip(sess.run(casts, feed), host.run(casts, feed), strict=True):
            assert compiled.tolist() == known.tolist()


def test_codes_of_errors() -> None:
    """From codes to classes and back."""
    errors = tf.errors
    assert tf.OpError is errors.OpError and errors.exception_type_from_error_code(5) is errors.NotFoundError
    assert errors.error_code_from_exception_type(errors.DataLossError) == 15
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert isinstance(errors.error_code_from_exception_type(ValueError), errors.UnknownError)
    assert "Unknown class" in str(caught[0].message)
    with pytest.raises(errors.AbortedError, match="stop"), errors.raise_exception_on_not_ok_status() as status:
        status.code, status.message = errors.ABORTED, "stop"


def test_settings() -> None:
    """What programs set can be read back; what cannot be known is refused."""
    optimizer, threading = tf.config.optimizer, tf.config.threading
    for given, found in ((True, "autoclustering"), ("autoclustering", "autoclustering"), ("x", ""), (False, "")):
        optimizer.set_jit(given)
        assert optimizer.get_jit() == found
    optimizer.set_experimental_options({"constant_folding": False, "nothing": 1})
    assert optimizer.get_experimental_options() == {"disable_model_pruning": False, "disable_meta_optimizer": False,
                                                    "constant_folding": False}
    threading.set_inter_op_parallelism_threads(3)
    assert (threading.get_inter_op_parallelism_threads(), threading.get_intra_op_parallelism_threads()) == (3, 0)
    threading.set_inter_op_parallelism_threads(0)
    experimental = tf.config.experimental
    experimental.set_synchronous_execution(None)
    assert experimental.get_synchronous_execution() is True
    tf.debugging.set_log_device_placement(False)
    assert tf.debugging.get_log_device_placement() is False
    for call, text in ((lambda: experimental.get_memory_info("CPU:0"), "Allocator stats not available"),
                       (lambda: experimental.get_memory_usage("GPU:77"), "No matching devices found"),
                       (lambda: experimental.get_memory_info("x"), "Failed parsing device name"),
                       (lambda: experimental.reset_memory_stats("CPU:0"), "Cannot reset memory stats"),
                       (lambda: experimental.get_device_details("x"), "must be a tf.config.PhysicalDevice")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            call()


def test_device_specs() -> None:
    """Parts of device strings, as TensorFlow reads, writes and merges them."""
    spec = tf2.DeviceSpec(job="ps", device_type="cpu", device_index=0)
    assert spec.to_string() == "/job:ps/device:CPU:0" and spec.task is None and spec.device_type == "CPU"
    for text, whole in (("/job:worker/replica:1/task:2/device:GPU:3", "/job:worker/replica:1/task:2/device:GPU:3"),
                        ("/gpu:*", "/device:GPU:*"), ("", ""), ("/cpu:0", "/device:CPU:0")):
        assert tf2.DeviceSpec.from_string(text).to_string() == whole
    assert spec.make_merged_spec(tf2.DeviceSpec(job="w", task=3)).to_string() == "/job:w/task:3/device:CPU:0"
    assert spec.replace(task=7).to_string() == "/job:ps/task:7/device:CPU:0"
    assert spec == tf2.DeviceSpec.from_string("/job:ps/cpu:0") and len({spec, spec.replace()}) == 1
    assert repr(spec) == "<DeviceSpec(job=ps, replica=None, task=None, device_type=CPU, device_index=0)>"
    for text, problem in (("junk", "Unknown attribute 'junk'"), ("/cpu:0/gpu:1", "Multiple device types")):
        with pytest.raises(ValueError, match=f"(?s){problem}.*Fix:"):
            tf2.DeviceSpec.from_string(text)
    with pytest.raises(AttributeError):
        spec.job = "x"
    old = tf.DeviceSpec(job="a")
    old.job = "x"
    old.merge_from(tf.DeviceSpec(task=1))
    assert old.to_string() == "/job:x/task:1" and old.parse_from_string("/gpu:1").to_string() == "/device:GPU:1"
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        assert tf.constant(1).device == "/device:CPU:0"


def test_specs() -> None:
    """Specs of values: made of them, compared, written."""
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
    ragged = tf.ragged.constant([[1, 2], [3]])
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([5, 3]))
    of = tf.type_spec_from_value
    assert of(sparse) == tf.SparseTensorSpec([2, 3], tf.float32) and of(sparse).value_type is tf.SparseTensor
    assert of(ragged) == tf.RaggedTensorSpec([2, None], tf.int32) and of(ragged).row_splits_dtype is tf.int64
    assert of(slices) == tf.IndexedSlicesSpec([5, 3], tf.float32, tf.int32, tf.int32, [2])
    assert of(np.zeros([2, 3])) == tf.TensorSpec([2, 3], tf.float64) and isinstance(of(1), tf.TypeSpec)
    there = tf2.experimental.Optional.from_value(tf.constant([1]))
    assert of(there).element_spec == tf.TensorSpec([1], tf.int32) and isinstance(of(there), tf.OptionalSpec)
    assert tf.SparseTensorSpec([None, 3]).is_compatible_with(sparse)
    assert not tf.SparseTensorSpec([None, 4]).is_compatible_with(sparse)
    assert not tf.SparseTensorSpec().is_compatible_with(ragged) and tf.RaggedTensorSpec([4, None]) != of(ragged)
    value = tf.ragged.constant_value([[1.0], []], np.float32)
    assert tf.RaggedTensorSpec([None, None], tf.float32).is_compatible_with(value)
    wide = tf.SparseTensorSpec([None, 3])
    assert tf.SparseTensorSpec([4, 3]).most_specific_compatible_type(tf.SparseTensorSpec([2, 3])) == wide
    for make, error, text in (
        (lambda: tf.type_spec_from_value(object()), TypeError, "Could not build a TypeSpec"),
        (lambda: tf.RaggedTensorSpec(None), ValueError, "Must specify ragged_rank"),
        (lambda: tf.RaggedTensorSpec([None], ragged_rank=1), ValueError, "must be less than rank"),
        (lambda: tf.SparseTensorSpec.from_value(ragged), TypeError, "Expected SparseTensor, got RaggedTensor"),
        (lambda: wide.most_specific_compatible_type(of(ragged)), ValueError, "No TypeSpec is compatible"),
    ):
        with pytest.raises(error, match=f"(?s){text}.*Fix:"):
            make()


def test_functions_of_ragged_and_sparse_tensors() -> None:
    """Ragged and sparse arguments and results of functions, with and without an input signature."""
    with context.use(context.EAGER):
        traces = []

        @tf2.function
        def double(x: Any) -> Any:
            traces.append(1)
            return x * 2.0

        for rows in ([[1.0, 2.0], [], [3.0]], [[4.0]]):
            assert double(tf2.ragged.constant(rows)).to_list() == [[2 * v for v in row] for row in rows]
        assert len(traces) == 1
        f = tf2.function(lambda x, y: (x.row_lengths(), tf2.sparse.to_dense(y)),
                         input_signature=[tf2.RaggedTensorSpec([None, None], tf2.int32), tf2.SparseTensorSpec([2, 2])])
        sparse = tf2.SparseTensor([[0, 1]], [5.0], [2, 2])
        lengths, dense = f(tf2.ragged.constant([[1], [2, 3]]), sparse)
        assert lengths.numpy().tolist() == [1, 2] and dense.numpy().tolist() == [[0, 5], [0, 0]]
        with pytest.raises(TypeError, match="(?s)Binding inputs.*not compatible with RaggedTensorSpec.*Fix:"):
            f(tf2.constant([1]), sparse)
        x = tf2.constant([1.0, 2.0, 3.0])
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.reduce_sum(double(tf2.RaggedTensor.from_row_lengths(x, [2, 1])).flat_values ** 2)
        assert tape.gradient(y, x).numpy().tolist() == [8, 16, 24]


def test_scopes_and_graphs() -> None:
    """Where operations are made; what a graph knows of op types."""
    graph = tf.get_default_graph()
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf2.get_current_name_scope() == "a/b"
    assert not tf2.inside_function() and not tf.executing_eagerly_outside_functions() and graph.get() is graph
    assert graph.op_def_for_type("MatMul").name == "MatMul"
    with pytest.raises(RuntimeError, match="(?s)Op type not registered 'Nix'.*Fix:"):
        graph.op_def_for_type("Nix")
    with graph.container("c") as name:
        assert name == "c"
    seen = []
    with context.use(context.EAGER):
        assert tf2.get_current_name_scope() == "" and tf.executing_eagerly_outside_functions()
        tf2.function(lambda: seen.append((tf2.inside_function(), tf.executing_eagerly_outside_functions())))()
    assert seen == [(True, True)]
    assert tf.dimension_at_index(tf.TensorShape([1, None]), 0) == 1
    assert tf.dimension_at_index(tf.TensorShape(None), 3).value is None
    with pytest.raises(IndexError):
        tf.dimension_at_index(tf.TensorShape([1]), 3)
    slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]))
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    with pytest.raises(ValueError, match="(?s)requested dtype int32.*Fix:"):
        tf.convert_to_tensor_or_indexed_slices(slices, tf.int32)
    assert run(tf.string_strip([" a "])).tolist() == [b"a"]
    assert run(tf.sparse_matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True)).tolist() == [[11.0]]


def test_variables_made_by_others() -> None:
    """Creators change what variables are made with, the innermost first; messages name variables."""
    order = []

    def outer(next_creator: Any, **kwargs: Any) -> Any:
        order.append("outer")
        return next_creator(**{**kwargs, "trainable": False})

    def inner(next_creator: Any, **kwargs: Any) -> Any:
        order.append("inner")
        return next_creator(**{**kwargs, "name": f"{kwargs['name']}_own"})

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable([1.0], name="v")
        w = tf.get_variable("w", [2])
    u = tf2.Variable(2.0)
    assert order == ["inner", "outer"] * 2 and not v.trainable and v.name == "v_own:0" and not w.trainable
    assert u.trainable
    message = v.to_proto()
    assert message.variable_name == "v_own:0" and message.is_resource and v.to_proto("elsewhere") is None
    same = tf.Variable.from_proto(message)
    with HostSession() as sess:
        sess.run(same.initializer)
        assert sess.run([same, v])[1].tolist() == [1.0] and same.name == v.name


def test_critical_sections() -> None:
    """Functions run one after the other; a section within itself is refused."""
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    section = tf.CriticalSection()
    first, second = section.execute(lambda: v.assign_add(1.0)), section.execute(lambda: v * 10.0)
    with HostSession() as sess:
        sess.run(v.initializer)
        assert sess.run([first, second]) == [1.0, 10.0]
    with pytest.raises(ValueError, match="(?s)Attempting to lock.*Fix:"):
        section.execute(lambda: section.execute(lambda: 1))
    with pytest.raises(ValueError, match="(?s)mutually exclusive.*Fix:"):
        tf.CriticalSection(shared_name="a", critical_section_def=1)
    with tf.xla.experimental.jit_scope():
        (y,) = tf.xla.experimental.compile(lambda x: x * 2.0, [3.0])
    assert run(y) == 6.0


class _Owner:
    value = 1

    @staticmethod
    def call() -> int:
        return 2


def test_what_tests_use(capfd: Any) -> None:
    """Stand-ins, benchmarks, graphs compared, streams kept."""
    stubs = tf.test.StubOutForTesting()
    stubs.SmartSet(_Owner(), "value", 5)
    stubs.Set(_Owner, "call", lambda: 7)
    assert (_Owner.value, _Owner.call(), _Owner().call()) == (5, 7, 7)
    stubs.CleanUp()
    assert (_Owner.value, _Owner.call()) == (1, 2)
    with pytest.raises(AttributeError, match="nothing not found"):
        stubs.SmartSet(_Owner, "nothing", 1)

    class Case(tf.test.TestCase):
        @tf.test.disable_with_predicate(lambda self: True, "not today")
        def testNothing(self) -> None:
            raise AssertionError

        def testStream(self) -> None:
            with self.captureWritesToStream(sys.__stderr__) as kept:
                os.write(2, b"hello")
                self.assertEqual(kept.contents(), "hello")
            self.assertEqual(self.evaluate_if_both_tensors(tf.constant(1), 2)[1], 2)
            self.assertEqual(self.evaluate_if_both_tensors(tf.constant(1), tf.constant(2)), (1, 2))
            self.assertIs(tf.test.with_eager_op_as_function(Case), Case)

    result = Case("testNothing").run()
    assert [reason for _, reason in result.skipped] == ["not today"]
    assert Case("testStream").run().wasSuccessful()
    graph = tf.get_default_graph().as_graph_def()
    tf.constant(1, name="more")
    more = tf.get_default_graph().as_graph_def()
    tf.test.assert_equal_graph_def(graph, graph)
    with pytest.raises(AssertionError, match="missing node 'more'"):
        tf.test.assert_equal_graph_def(graph, more)
    with pytest.raises(AssertionError, match="unexpected node 'more'"):
        tf2.test.assert_equal_graph_def(graph, more)
    with pytest.raises(TypeError, match="(?s)GraphDef is expected.*Fix:"):
        tf2.test.assert_equal_graph_def(graph, 1)

    class Bench(tf.test.Benchmark):
        def benchmark_add(self) -> Any:
            with HostSession() as sess:
                return self.run_op_benchmark(sess, tf.constant(1) + 1, min_iters=3, mbs=1.0)

    found = Bench().benchmark_add()
    assert found["iters"] == 3 and found["wall_time"] > 0 and found["throughput"] > 0
    assert not Bench.is_abstract() and tf.test.Benchmark.is_abstract()
    with pytest.raises(RuntimeError, match="(?s)only be called in Eager mode.*Fix:"):
        tf.test.experimental.sync_devices()


def test_the_largest_along_any_axis() -> None:
    """Positions and derivatives as TensorFlow's under XLA."""
    x = tf.constant([[1.0, 5, 3, 2], [4, 0, 9, 7]])
    most, where = tf.math.approx_max_k(x, 2)
    rows = tf.approx_top_k(x, 1, reduction_dimension=0, is_max_k=False)
    values, places, slope, least = run([most, where, tf.gradients(most, x)[0], rows.values])
    assert values.tolist() == [[5, 3], [9, 7]] and places.tolist() == [[1, 2], [2, 3]]
    assert slope.tolist() == [[0, 1, 1, 0], [0, 0, 1, 1]] and least.tolist() == [[1, 0, 3, 2]]


def test_older_summaries_of_sound() -> None:
    """The op whose rate is an attribute gives what the later one gives."""
    sound = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)
    old = raw.AudioSummary("a", sound, sample_rate=8000.0)
    new = raw.AudioSummaryV2("a", sound, np.float32(8000))
    old, new = run([old, new])
    assert old == new and b"RIFF" in old


_IMAGE = np.arange(168, dtype=np.float32).reshape(2, 7, 6, 2)
_FILTER = np.linspace(-1, 1, 36).reshape(3, 2, 2, 3).astype(np.float32)


def _conv(x: Any, n: int, padding: str) -> Any:
    return tf2.nn.conv2d(x, _FILTER, [1, 1, 1, 1], padding)


def _pool(x: Any, n: int, padding: str) -> Any:
    return tf2.nn.max_pool2d(x, [2, 1], [1, 1], padding)


def test_with_space_to_batch() -> None:
    """Shapes and sums that TensorFlow 2.21 gives, and dilated convolutions."""
    f = tf.nn.with_space_to_batch
    found = run([f(_IMAGE, [2, 3], "SAME", _conv, filter_shape=[3, 2]), f(_IMAGE, [2, 1], "VALID", _conv),
                 f(_IMAGE, [1, 1], "SAME", _conv), f(_IMAGE, [2], "VALID", _pool, spatial_dims=[1])])
    known = [((2, 7, 6, 3), 6500.0586, -468372.18), ((2, 3, 5, 3), 12080.571, 541020.86),
             ((2, 7, 6, 3), 3556.2856, -527493.64), ((2, 5, 6, 2), 11460.0, 869060.0)]
    for value, (shape, total, weighted) in zip(found, known, strict=True):
        assert value.shape == shape
        np.testing.assert_allclose([value.sum(), (value * np.arange(value.size).reshape(shape)).sum()],
                                   [total, weighted], rtol=1e-5)
    late = tf.placeholder_with_default(_IMAGE, [None, None, None, 2])
    dilated = tf2.nn.conv2d(_IMAGE, _FILTER, 1, "SAME", dilations=[2, 3])
    whole, again = run([dilated, f(late, [2, 3], "SAME", _conv, filter_shape=[3, 2])])
    np.testing.assert_allclose(again, whole, rtol=1e-4, atol=1e-3)
    for args, text in ((([2, 2], "SAME"), "filter_shape must be specified"), (([2, 0], "VALID"), "positive numbers"),
                       (([2, 2], "X"), "Invalid padding method"), (([2, 2, 2, 2], "VALID"), "rank 5 at least")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            f(_IMAGE, *args, _conv)
    with pytest.raises(ValueError, match="(?s)must be 1 numbers from 1 on.*Fix:"):
        f(_IMAGE, [2], "VALID", _conv, spatial_dims=[0])
