"""`TensorArray` and the list operations beneath it: on XLA, in NumPy, in eager mode; their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.executor.program.plan_types import HostStep
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.opdef import raw

_X = np.random.default_rng(0).normal(size=(4, 3))


def _ta(size: Any, **options: Any) -> Any:
    return tf.TensorArray(tf.float64, size, **options)


def _loop(n: Any, ta: Any, element: Any) -> Any:
    return tf.while_loop(lambda i, _: i < n, lambda i, ta: (i + 1, ta.write(i, element(i))), (0, ta))[1]


def _rows(x: Any) -> Any:
    return _ta(4, clear_after_read=False).unstack(x)


# name -> f(x) -> tensor, and what NumPy says; x is (4, 3).
_CASES: dict[str, tuple[Any, Any]] = {
    "write and stack": (lambda x: _ta(3).write(0, x[0]).write(2, x[1] * x[2]).stack(),
                        lambda x: np.stack([x[0], 0 * x[0], x[1] * x[2]])),
    "overwrite": (lambda x: _ta(2).write(0, x[0]).write(0, x[1]).stack(), lambda x: np.stack([x[1], 0 * x[0]])),
    "write beyond the end": (lambda x: _ta(0, dynamic_size=True).write(1, x[0]).stack(),
                             lambda x: np.stack([0 * x[0], x[0]])),
    "read": (lambda x: _rows(x).read(2) * _rows(x).read(1), lambda x: x[2] * x[1]),
    "read what is not written": (lambda x: _ta(3, element_shape=[3]).read(1) + x[0], lambda x: x[0]),
    "stack what is not written": (lambda x: _ta(2, element_shape=[3]).stack() + x[:2], lambda x: x[:2]),
    "gather": (lambda x: _rows(x).gather([3, 0]), lambda x: x[[3, 0]]),
    "scatter": (lambda x: _ta(4, clear_after_read=False).scatter([3, 1], x[:2]).stack(),
                lambda x: np.stack([0 * x[0], x[1], 0 * x[0], x[0]])),
    "scatter onto": (lambda x: _rows(x).scatter([1], x[:1] ** 2).stack(),
                     lambda x: np.stack([x[0], x[0] ** 2, x[2], x[3]])),
    "split and concat": (lambda x: _ta(3, infer_shape=False).split(x, [1, 3, 0]).concat(), lambda x: x),
    "split and read": (lambda x: _ta(2, infer_shape=False).split(x, [1, 3]).read(1), lambda x: x[1:]),
    "ragged": (lambda x: _ta(2, infer_shape=False).write(0, x[:1]).write(1, x[1:] ** 2).concat(),
               lambda x: np.concatenate([x[:1], x[1:] ** 2])),
    "concat of rows": (lambda x: _rows(x).concat(), lambda x: x.ravel()),
    "identity": (lambda x: _rows(x).identity().stack(), lambda x: x),
    "cond": (lambda x: tf.cond(tf.reduce_sum(x) < 100, lambda: _rows(x).write(0, x[1]), lambda: _rows(x)).stack(),
             lambda x: np.stack([x[1], x[1], x[2], x[3]])),
    "twice": (lambda x: _rows(_rows(x).stack() ** 2).stack(), lambda x: x**2),
}


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def _difference(f: Any, x: Any) -> Any:
    """The derivative of a function from (4, 3) to a scalar."""
    d = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        e = np.zeros_like(x)
        e[i] = 1e-6
        d[i] = (f(x + e) - f(x - e)) / 2e-6
    return d


def _weighted(y: Any) -> Any:
    """A scalar that tells all elements of y apart."""
    return sum(((k % 7) + 1.0) * np.sin(v) for k, v in enumerate(np.ravel(y)))


@pytest.mark.usefixtures("graph")
def test_in_graphs() -> None:
    """Values and derivatives are NumPy's and differences', compiled and interpreted."""
    x = tf.placeholder(tf.float64, [4, 3])
    fetches: list[list[Any]] = []
    direction = np.cos(np.arange(12.0)).reshape(4, 3)
    for f, _ in _CASES.values():
        y = f(x)
        k = tf.reshape(tf.cast(tf.range(tf.size(y)) % 7, tf.float64) + 1.0, tf.shape(y))
        (g,) = tf.gradients(tf.reduce_sum(k * tf.sin(y)), x)
        g = tf.convert_to_tensor(g)
        fetches.append([y, g, tf.convert_to_tensor(tf.gradients(tf.reduce_sum(g * direction), x)[0])])
    for make in (tf.Session, HostSession):
        with make() as sess:
            values = sess.run(fetches, {x: _X})
            ahead = sess.run([f[1] for f in fetches], {x: _X + 1e-6 * direction})
            behind = sess.run([f[1] for f in fetches], {x: _X - 1e-6 * direction})
        for (name, (_, want)), (y, g, h), a, b in zip(_CASES.items(), values, ahead, behind, strict=True):
            np.testing.assert_allclose(y, want(_X), rtol=1e-12, err_msg=name)
            expected = _difference(lambda v, want=want: _weighted(want(v)), _X)
            np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-6, err_msg=name)
            np.testing.assert_allclose(h, (a - b) / 2e-6, rtol=1e-6, atol=1e-6, err_msg=name)


def test_in_eager_mode() -> None:
    """The same calls at once, and the tape."""
    for name, (f, want) in _CASES.items():
        x = tf2.constant(_X)
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            k = np.arange(np.size(y.numpy())).reshape(y.shape.as_list()) % 7 + 1.0
            loss = tf2.reduce_sum(k * tf2.sin(y))
        g = tape.gradient(loss, x)
        np.testing.assert_allclose(y.numpy(), want(_X), rtol=1e-12, err_msg=name)
        expected = _difference(lambda v, want=want: _weighted(want(v)), _X)
        np.testing.assert_allclose(tf2.convert_to_tensor(g).numpy(), expected, rtol=1e-6, atol=1e-6, err_msg=name)


def test_in_a_function() -> None:
    """A function uses an array inside."""
    @tf2.function
    def squares(x: Any) -> Any:
        ta = tf2.TensorArray(tf2.float64, 3)
        return tf2.while_loop(lambda i, _: i < 3, lambda i, ta: (i + 1, ta.write(i, x * x)), (0, ta))[1].stack()

    np.testing.assert_array_equal(squares(tf2.constant(3.0, tf2.float64)), [9, 9, 9])


def _on_host(fetches: Any) -> list[str]:
    """The loops that a run of `fetches` leaves to NumPy, once it has settled."""
    def resolve(_: Any) -> Any:
        raise AssertionError("there are no variables")

    executable = Executable(fetches, [], [], resolve, {})
    executable([])
    return [i.op.type for s in executable.plan.steps if isinstance(s, HostStep) for i in s.program
            if i.op.type == "While"]


@pytest.mark.usefixtures("graph")
def test_loops_are_compiled() -> None:
    """A loop over an array of known size is one XLA loop, also where only its body knows the shape of elements."""
    read = _rows(tf.constant(_X))
    written = _loop(4, _ta(4), lambda i: read.read(i) * 2.0).stack()
    assert written.shape.as_list() == [4, 3]
    two = tf.while_loop(lambda i, *_: i < 2, lambda i, a, b: (i + 1, a.write(i, [1.0]), b.write(1 - i, b.size())),
                        (0, _ta(2), tf.TensorArray(tf.int32, 2)))
    gathered = _loop(2, _ta(2), lambda i: tf.reduce_sum(read.gather([i, i + 1]), 0)).stack()
    fetches = [written, two[1].stack(), two[2].stack(), gathered]
    assert not _on_host(fetches)
    with tf.Session() as sess:
        values = sess.run(fetches)
    for got, want in zip(values, [_X * 2, [[1], [1]], [2, 2], _X[:2] + _X[1:3]], strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.usefixtures("graph", "first_in_xla")
def test_loops_on_the_host() -> None:
    """Loops whose arrays grow, or hold elements of several sizes, run in NumPy."""
    grown = _loop(3, _ta(0, dynamic_size=True), lambda i: tf.fill([2], tf.cast(i, tf.float64))).stack()
    ragged = _loop(3, _ta(3, infer_shape=False), lambda i: tf.fill([i], tf.cast(i, tf.float64))).concat()
    assert grown.shape.as_list() == [None, 2]
    assert _on_host([grown, ragged]) == ["While", "While"]
    with tf.Session() as sess:
        values = sess.run([grown, ragged])
    np.testing.assert_array_equal(values[0], [[0, 0], [1, 1], [2, 2]])
    np.testing.assert_array_equal(values[1], [1, 2, 2])


@pytest.mark.usefixtures("graph")
def test_size_known_by_the_run() -> None:
    """The size may be fed; it decides a shape, so it is compiled in."""
    n = tf.placeholder(tf.int32, [])
    ta = _loop(n, _ta(n), lambda i: tf.cast(i, tf.float64))
    fetches = [ta.stack(), ta.size(), _ta(n).write(0, 1.0).stack()]
    with tf.Session() as sess:
        for size in (3, 1):
            values = sess.run(fetches, {n: size})
            np.testing.assert_array_equal(values[0], np.arange(size))
            assert values[1] == size and values[2].tolist() == [1.0] + [0.0] * (size - 1)


@pytest.mark.usefixtures("graph")
def test_names() -> None:
    """Operations have TensorFlow's types and names."""
    ta = _ta(2)
    assert ta.flow.op.name == "TensorArrayV2" and ta.flow.op.type == "TensorListReserve"
    ta = ta.write(0, 1.0)
    assert ta.flow.op.name == "TensorArrayV2Write/TensorListSetItem"
    assert ta.read(0).op.name == "TensorArrayV2Read/TensorListGetItem"
    assert ta.stack().op.name == "TensorArrayV2Stack/TensorListStack"
    assert ta.unstack([1.0]).flow.op.name == "TensorArrayUnstack/TensorListFromTensor"
    assert ta.handle is None and ta.dtype == tf.float64 and ta.element_shape == [] and ta.dynamic_size is None


@pytest.mark.usefixtures("graph")
def test_stack_operations() -> None:
    """Lists used as stacks: what is pushed last comes back first."""
    x = tf.constant([1.0, 2.0])
    empty = raw.EmptyTensorList([2], -1, element_dtype=tf.float32)
    pushed = raw.TensorListPushBack(raw.TensorListPushBack(empty, x), x * x)
    rest, last = raw.TensorListPopBack(pushed, [2], element_dtype=tf.float32)
    _, first = raw.TensorListPopBack(rest, [2], element_dtype=tf.float32)
    y = last * first
    (dx,) = tf.gradients(y, x)
    (ddx,) = tf.gradients(dx, x)
    longer = raw.TensorListStack(raw.TensorListResize(pushed, 3), [2], element_dtype=tf.float32)
    (resized,) = tf.gradients(longer[1], x)
    shape = raw.TensorListElementShape(pushed, shape_type=tf.int32)
    scattered = raw.TensorListScatterV2(tf.stack([x, x]), [2, 0], [2], -1)
    (ds,) = tf.gradients(raw.TensorListStack(scattered, [2], element_dtype=tf.float32)[2] * x, x)
    fetches = [y, dx, ddx, longer, resized, shape, raw.TensorListLength(pushed), ds]
    for make in (tf.Session, HostSession):
        with make() as sess:
            values = sess.run(fetches)
        wanted = [[1, 8], [3, 12], [6, 12], [[1, 2], [1, 4], [0, 0]], [2, 4], [2], 2, [2, 4]]
        for got, want in zip(values, wanted, strict=True):
            np.testing.assert_array_equal(got, want)


def _ragged(a: Any, b: Any) -> Any:
    return _ta(2, infer_shape=False).write(0, a).write(1, b)


@pytest.mark.parametrize("make, text", [
    (lambda: _ta(3).read(0), "(?s)uninitialized element.*Fix:"),
    (lambda: _ta(3).write(0, 1.0).read(5), "(?s)access element 5 in a list with 3 elements.*Fix:"),
    (lambda: _ta(3).write(-1, 1.0).stack(), "(?s)modify element -1 in a list with 3 elements.*Fix:"),
    (lambda: _ta(3).stack(), "(?s)non-fully-defined element_shape.*Fix:"),
    (lambda: _ragged([1.0], [1.0, 2.0]).stack(), "(?s)differ in shape.*Fix:"),
    (lambda: _ragged([1.0], [1.0, 2.0]).gather([0, 1]), "(?s)differ in shape.*Fix:"),
    (lambda: _ta(2, infer_shape=False).split([1.0, 2.0], [1, 2]).concat(), "(?s)sum of lengths is 3.*Fix:"),
    (lambda: _ta(-1).write(0, 1.0).stack(), "(?s)non negative.*Fix:"),
    (lambda: _ragged([[1.0]], [[1.0, 2.0]]).concat(), "(?s)other than the first.*Fix:"),
    (lambda: raw.TensorListPopBack(raw.EmptyTensorList([2], -1, element_dtype=tf.float32), [2],
                                   element_dtype=tf.float32)[1], "(?s)pop from an empty list.*Fix:"),
])
@pytest.mark.usefixtures("graph")
def test_errors_of_runs(make: Any, text: str) -> None:
    """What goes wrong in a run is an InvalidArgumentError, as in TensorFlow."""
    y = make()
    with tf.Session() as sess, pytest.raises(errors.InvalidArgumentError, match=text):
        sess.run(y)


@pytest.mark.parametrize("make, error, text", [
    (lambda: tf.TensorArray(tf.float32), ValueError, "Argument `size` must be provided"),
    (lambda: tf.TensorArray(tf.float32, handle=1), ValueError, "Fix: give size="),
    (lambda: _ta(2).write(0, [1.0]).write(1, [1.0, 2.0]), ValueError, "(?s)saw \\(2,\\) but expected \\(1,\\).*Fix:"),
    (lambda: _ta(2).write(0, tf.constant(1)), ValueError, "(?s)dtype is float64, but the value is int32.*Fix: tf.cast"),
    (lambda: _ta(2).unstack(1.0), ValueError, "(?s)Cannot unstack a scalar.*Fix:"),
    (lambda: _ta(2).unstack([1.0]).concat(), ValueError, "(?s)elements are scalars.*Fix:"),
    (lambda: _ta(2).grad("g"), NotImplementedError, "Fix: call tf.gradients"),
])
@pytest.mark.usefixtures("graph")
def test_errors_while_building(make: Any, error: type[Exception], text: str) -> None:
    """What is wrong already while building."""
    with pytest.raises(error, match=text):
        make()


def _eager_read_twice() -> Any:
    ta = _ta(2).write(0, 1.0)
    ta.read(0)
    return ta.read(0)


@pytest.mark.parametrize("make, error, text", [
    (lambda: tf.TensorArray(tf.float32), ValueError, "Size must be declared"),
    (lambda: _ta(3).read(0), ValueError, "never written. Fix:"),
    (lambda: _ta(3).read(3), errors.OutOfRangeError, "read from index 3 but array size is: 3"),
    (lambda: _ta(3).write(3, 1.0), errors.OutOfRangeError, "write to index 3 but array is not resizeable"),
    (_eager_read_twice, errors.InvalidArgumentError, "Could not read index 0 twice"),
    (lambda: _ta(2).write(0, [1.0]).write(1, 1.0), ValueError, "(?s)Incompatible shape for value.*Fix:"),
    (lambda: _ta(2).unstack([1.0, 2.0, 3.0]), ValueError, "Cannot unstack 3 tensors .* size 2. Fix:"),
    (lambda: _ta(2).unstack([1.0, 2.0]).concat(), errors.InvalidArgumentError, "scalar shape at index 0.*Fix:"),
    (lambda: _ta(2).split([1.0, 2.0], [1, 2]), errors.InvalidArgumentError, "sum of lengths is 3.*Fix:"),
    (lambda: _ta(1).split([1.0, 2.0], [1, 1]), errors.InvalidArgumentError, "size of lengths \\(1 vs. 2\\).*Fix:"),
])
def test_errors_in_eager_mode(make: Any, error: type[Exception], text: str) -> None:
    """Eager arrays refuse what TensorFlow's refuse."""
    with pytest.raises(error, match=text):
        make()


def test_eager_array() -> None:
    """An eager array changes in place, is longer if it may be, and forgets when closed."""
    ta = _ta(1, dynamic_size=True)
    assert ta.write(2, 1.0) is ta and int(ta.size()) == 3 and ta.dynamic_size is True
    assert ta.identity() is ta and int(ta.flow) == 0
    assert ta.close() is None and int(ta.size()) == 0


def test_spec() -> None:
    """A spec compares, widens, and is made from an array."""
    spec = tf.TensorArraySpec([2], tf.int32, True, False)
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.int32, True, False)"
    assert spec == tf.TensorArraySpec.from_value(
        tf.TensorArray(tf.int32, 3, dynamic_size=True, element_shape=[2], infer_shape=False))
    wider = spec.most_specific_common_supertype([tf.TensorArraySpec([None], tf.int32, True, False)])
    assert wider == tf.TensorArraySpec([None], tf.int32, True, False) and spec.is_subtype_of(wider)
    assert not wider.is_subtype_of(spec) and spec.is_compatible_with(wider) and len({spec, wider}) == 2
    assert spec.most_specific_common_supertype([tf.TensorArraySpec([2], tf.int64)]) is None
    with pytest.raises(TypeError, match="Expected value to be a TensorArray"):
        tf.TensorArraySpec.from_value(3)
