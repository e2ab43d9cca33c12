"""Operations that users define: they work as any other, and mistakes are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context
from graphgrad.ir.opdef import raw, registry

FLOATS = [tf.float32, tf.float64]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    before = set(registry)
    with tf.Graph().as_default():
        yield
    for name in set(registry) - before:
        del registry[name]
        vars(raw).pop(name, None)


def _scaled_square() -> Any:
    @tf.define_op("ScaledSquare", "x: T -> y: T", T=FLOATS)
    def scaled_square(xp: Any, x: Any, *, scale: float = 1.0) -> Any:
        return x * x * xp.asarray(scale, x.dtype)

    @scaled_square.shape
    def _shape(x: Any) -> Any:
        return x

    @scaled_square.grad
    def _grad(op: Any, dy: Any) -> Any:
        return 2.0 * op.get_attr("scale") * op.inputs[0] * dy

    return scaled_square


@pytest.mark.parametrize("session", [tf.Session, HostSession])
def test_it_runs_and_differentiates(session: Any) -> None:
    """In a compiled graph and in NumPy: values, shapes, first and second derivatives, in the middle of other ops."""
    square = _scaled_square()
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.sin(square(tf.exp(x), scale=0.5, name="mine")))
    (g,) = tf.gradients(y, x)
    (h,) = tf.gradients(g, x)
    op = tf.get_default_graph().get_operation_by_name("mine")
    assert op.type == "ScaledSquare" and op.outputs[0].shape.as_list() == [None] and op.get_attr("scale") == 0.5
    v = np.array([0.1, -0.5, 0.3], np.float32)
    e2 = np.exp(2 * v)
    with session() as sess:
        got = sess.run([y, g, h], {x: v})
    want = [np.sum(np.sin(e2 / 2)), np.cos(e2 / 2) * e2, -np.sin(e2 / 2) * e2**2 + 2 * np.cos(e2 / 2) * e2]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_eagerly_and_in_functions() -> None:
    """The same op under a tape, in a function, and through `raw_ops`."""
    square = _scaled_square()
    with context.use(context.EAGER):
        x = tf2.constant([1.0, 3.0])
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = square(x, scale=2.0)
        assert y.numpy().tolist() == [2.0, 18.0]
        assert tape.gradient(y, x).numpy().tolist() == [4.0, 12.0]
        assert tf2.function(lambda t: tf2.raw_ops.ScaledSquare(x=t))(x).numpy().tolist() == [1.0, 9.0]


def test_lists_several_outputs_and_static_inputs() -> None:
    """List inputs, two outputs, and an input that decides the shape."""

    @tf.define_op("SumAndFirst", "xs: N*T, size: int32 -> total: T, head: T", T=FLOATS, static=["size"])
    def sum_and_first(xp: Any, xs: Any, size: Any) -> Any:
        total = sum(xs[1:], xs[0])
        return total, total[: int(size)]

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.Session() as sess:
        total, head = sess.run(sum_and_first([x, x, 2.0 * x], tf.constant(2)))
    assert total.tolist() == [4.0, 8.0, 12.0] and head.tolist() == [4.0, 8.0]


def test_a_missing_gradient_is_filled_from_outside() -> None:
    """Without a gradient there is a LookupError that says how to give one."""
    op = tf.define_op("Plus", "x: T -> y: T", T=FLOATS)(lambda xp, x: x + xp.ones_like(x))
    x = tf.constant(2.0)
    with pytest.raises(LookupError, match=r"(?s)'Plus'.*RegisterGradient\('Plus'\)"):
        tf.gradients(op(x), x)
    tf.RegisterGradient("Plus")(lambda op, dy: dy)
    with tf.Session() as sess:
        assert sess.run(tf.gradients(op(x), x)) == [1.0]


def test_the_name_is_taken() -> None:
    """A taken name is a KeyError with the place; a program's own op may be replaced, the package's may not."""
    _scaled_square()
    with pytest.raises(KeyError, match=r"ScaledSquare.* is registered already, at test_user_ops.py:\d+.*replace=True"):
        _scaled_square()
    old = registry["ScaledSquare"]
    new = tf.define_op("ScaledSquare", "x: T -> y: T", replace=True)(lambda xp, x: -x)
    with tf.Session() as sess:
        assert sess.run([raw.ScaledSquare(tf.constant(3.0)), old(tf.constant(3.0))]) == [-3.0, 9.0]
    assert raw.ScaledSquare is new
    with pytest.raises(KeyError, match=r"MatMul.* is registered already, at matmul.py:\d+.* Fix: choose another name"):
        tf.define_op("MatMul", "x: T -> y: T", replace=True)(lambda xp, x: x)


@pytest.mark.parametrize(("signature", "types", "text"), [
    ("x: T", {}, "has no '->'"),
    ("x: flaot32 -> y: float32", {}, r"(?s)no dtype 'flaot32'.*Fix: write 'float32'"),
    ("x -> y: T", {}, "'x' in the signature is no input or output"),
    ("x: T, x: T -> y: T", {}, "the name 'x' is twice"),
    ("x: T -> y: T", {"U": tf.float32}, "'U', which is not in the signature"),
])
def test_a_signature_that_cannot_be_read(signature: str, types: dict[str, Any], text: str) -> None:
    """What is wrong with a signature is said when the op is defined."""
    with pytest.raises(ValueError, match=text) as caught:
        tf.define_op("Wrong", signature, **types)(lambda xp, x: x)
    assert str(caught.value).startswith("Wrong: ") and "Fix:" in str(caught.value)
    assert "Wrong" not in registry


def test_a_name_that_is_none() -> None:
    """Names of op types follow TensorFlow's rules."""
    for name in ("1st", "two words", "", 3):
        with pytest.raises(ValueError, match="cannot be the name of an op type.*\n.*Fix:"):
            tf.define_op(name, "x: T -> y: T")


def test_a_kernel_with_other_arguments() -> None:
    """The kernel's arguments are compared with the signature; types have to be dtypes."""
    with pytest.raises(TypeError, match=r"(?s)takes 2 positional.*asks for 3.*test_user_ops.py.*Fix: def .*xp, x, y"):
        tf.define_op("Short", "x: T, y: T -> z: T")(lambda xp, x: x)
    assert "Short" not in registry
    with pytest.raises(TypeError, match="T= must be dtypes, not"):
        tf.define_op("Short", "x: T -> z: T", T=["number"])


def _results(**kernels: Any) -> list[Any]:
    return [pytest.param(k, v[0], v[1], id=k) for k, v in kernels.items()]


@pytest.mark.parametrize("session", [tf.Session, HostSession])
@pytest.mark.parametrize(("name", "kernel", "text"), _results(
    OtherDtype=(lambda xp, x: (x, x > 0), "returns bool for output 'z', which the signature declares float32"),
    OtherShape=(lambda xp, x: (x, x[:1]), r"returns shape \(1,\) for output 'z', where the shape rule says \(2,\)"),
    OtherCount=(lambda xp, x: (x, x, x), "returns 3 outputs; its signature has 2"),
    NoTuple=(lambda xp, x: x, "not a tuple of 2 outputs"),
))
def test_results_that_do_not_fit(session: Any, name: str, kernel: Any, text: str) -> None:
    """What a kernel returns is compared with signature and shape rule; the line that built the op is named."""
    op = tf.define_op(name, "x: T -> y: T, z: T", T=FLOATS)(kernel)
    op.shape(lambda x: [x, x])
    y, z = op(tf.placeholder(tf.float32, [2], name="fed"))
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
        sess.run([y, z], {"fed:0": [1.0, 2.0]})
    assert f"{name} '{name}'" in str(caught.value) and "test_user_ops.py:" in str(caught.value)
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize(("gradient", "text"), [
    (lambda op, dz: dz, r"(?s)Num gradients 1 generated for op Two.*num inputs 2.*Built at test_user_ops.py"),
    (lambda op, dz: (dz, tf.reduce_sum(dz)), r"(?s)Incompatible shapes.*Input index: 1.*\(2,\).*\(\).*Fix:"),
])
def test_gradients_that_do_not_fit(gradient: Any, text: str) -> None:
    """A wrong number of gradients, or a wrong shape: ValueError in `gradients`, with the place of the rule."""
    op = tf.define_op("Two", "x: T, y: T -> z: T", T=FLOATS)(lambda xp, x, y: x + y)
    op.shape(lambda x, y: x)
    op.grad(gradient)
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with pytest.raises(ValueError, match=text) as caught:
        tf.gradients(op(x, y), [x, y])
    assert "test_user_ops.py" in str(caught.value)
