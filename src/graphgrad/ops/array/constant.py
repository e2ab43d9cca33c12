"""Constants, placeholders, identities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import constant_value, static_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant as constant
from graphgrad.ir.conversion import is_tensor_like, make_array
from graphgrad.ir.dtypes import FLOATING, INEXACT, as_dtype
from graphgrad.ir.graph import Operation, SymbolicTensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import as_shape, merged, shape_str
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike, TensorOperators
from graphgrad.ir.values.composite import Composite
from graphgrad.op_traits import Linear
from graphgrad.ops.common.fusion_barrier import not_fused


@op("Const", "-> output: dtype")
def const(xp, *, value, dtype):
    """Returns the value of the attribute."""
    return value


@const.shape
def _const_shape(value):
    return value.shape


const.grad(NOT_DIFFERENTIABLE)


@op("Placeholder", "-> output: dtype", placeholder=True)
def placeholder_op(xp, *, dtype, shape=None):
    """Returns the value fed to the run."""
    raise Complaint(f"You must feed a value for placeholder tensor of dtype {dtype.name}", "give it in feed_dict")


@placeholder_op.shape
def _placeholder_shape(shape):
    return shape


@op("PlaceholderWithDefault", "input: dtype -> output: dtype", placeholder=True,
    dependence="elementwise")
def placeholder_with_default_op(xp, x, *, shape=None):
    """Returns the input, unless a run feeds another value."""
    return x


def _fitting(x, shape):
    """Merges both shapes."""
    try:
        return merged(x, shape)
    except Complaint as complaint:
        raise Complaint(complaint.problem, "give a tensor of the shape that is declared, or declare another") from None


@placeholder_with_default_op.shape
def _placeholder_with_default_shape(x, shape):
    _fitting(x, shape)
    return shape


@placeholder_with_default_op.grad
def _same(op, dy):
    return dy


@op("Identity", "input: T -> output: T", identity=True)
def identity_op(xp, x):
    """Returns the input."""
    return x


@identity_op.shape
def _same_shape(x):
    return x


identity_op.grad(_same)


def _like_identity(name, doc, **traits):
    @op(name, "input: T -> output: T", shape=_same_shape, **traits)
    def kernel(xp, x):
        return x

    kernel.__doc__ = doc
    return kernel


snapshot = _like_identity("Snapshot", "The input.", identity=True)
snapshot.grad(_same)
deep_copy = _like_identity("DeepCopy", "A copy of the input.")
guarantee_const_op = _like_identity("GuaranteeConst", "The input, which the user promises never changes.",
                                    identity=True)
guarantee_const_op.grad(_same)
stop_gradient_op = _like_identity("StopGradient", "The input, through which no gradient flows.", alias=True)
stop_gradient_op.grad(NOT_DIFFERENTIABLE)


@op("IdentityN", "input: list(T) -> output: list(T)", identity=True)
def identity_n_op(xp, xs):
    """Returns the inputs."""
    return xs


@identity_n_op.shape
def _identity_n_shape(xs):
    return list(xs)


@identity_n_op.grad
def _identity_n_grad(op, *dys):
    return dys


@op("PreventGradient", "input: T -> output: T", shape=_same_shape, alias=True)
def prevent_gradient_op(xp, x, *, message=""):
    """Returns the input; asking for a gradient through it is an error."""
    return x


@prevent_gradient_op.grad
def _prevent_gradient_grad(op, dy):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op._attr('message')}")


@op("Materialized", "input: T -> output: T", T=INEXACT, shape=_same_shape, linear=Linear.JOINTLY,
    dependence="elementwise")
def materialized_op(xp, x):
    """Returns the input, written before it is read: XLA computes no element of it anew for each of its readers."""
    return x


@materialized_op.on_device
def _materialized_on_device(xp, x):
    return not_fused(x)


materialized_op.grad(_same)


@op("EnsureShape", "input: T -> output: T", linear=Linear.JOINTLY, dependence="elementwise")
def ensure_shape_op(xp, x, *, shape):
    """Returns the input, or raises an error if its shape does not fit."""
    _fitting(x.shape, shape)
    return x


@ensure_shape_op.shape
def _ensure_shape_shape(x, shape):
    return _fitting(x, shape)


@ensure_shape_op.grad
def _ensure_shape_grad(op, dy):
    return dy


@op("CheckNumerics", "tensor: T -> output: T", T=INEXACT, flags=("host",), shape=_same_shape, checks=True,
    linear=Linear.JOINTLY, dependence="elementwise")
def check_numerics_op(xp, x, *, message=""):
    """Returns the input, or raises an error if an element is infinite or NaN; in NumPy, since XLA cannot raise."""
    found = [word for word, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
    if found:
        raise Complaint(f"{message} : Tensor had {' and '.join(found)} values",
                        "look where they come from: a division, a logarithm, an overflow?")
    return x


@check_numerics_op.grad
def _check_numerics_grad(op, dy):
    message = op._attr("message")
    return raw.CheckNumerics(dy, message=f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message}")


@op("CheckNumericsV2", "tensor: T -> output: T", T=INEXACT, flags=("host",), shape=_same_shape, checks=True,
    linear=Linear.JOINTLY)
def check_numerics_v2_op(xp, x, *, message=""):
    """Does what CheckNumerics does; the message includes the signs of infinities."""
    tests = (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan))
    found = [word for word, test in tests if np.any(test(x))]
    if found:
        listed = " and ".join(found) if len(found) < 3 else "-Inf, +Inf, and NaN"
        raise Complaint(f"{message} : Tensor had {listed} values",
                        "look where they come from: a division, a logarithm, an overflow?")
    return x


@check_numerics_v2_op.grad
def _check_numerics_v2_grad(op, dy):
    message = op._attr("message")
    return raw.CheckNumericsV2(dy, message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
                               f"{message}")


# -- constants ---------------------------------------------------------------------


def constant_v1(value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None,
                name: str | None = "Const", verify_shape: bool = False) -> Tensor:
    """Makes a constant tensor; a value that is too short is continued with its last element.

    Args:
      value: a Python scalar, a (nested) list, or a NumPy array.
      dtype: the dtype; by default float32, int32, bool or string for Python values, the
        array's own for NumPy's.
      shape: the shape; the value's own by default.
      name: a name for the operation.
      verify_shape: whether the value must have exactly that shape.
    Returns: the tensor, of dtype `dtype` and shape `shape`.
    Raises: TypeError if the value does not fit the dtype, has too many elements, or has
      another shape although `verify_shape`.
    Gradient: none; a constant has no inputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.constant`.

    >>> sess.run(tf.constant([1, 2], shape=[4]))
    array([1, 2, 2, 2], dtype=int32)
    """
    if shape is None:
        return constant(value, dtype, shape, name)
    wanted: Any = as_shape(shape)
    if is_tensor_like(value):
        return constant(value, dtype, shape, name)
    array = make_array(value, None if dtype is None else as_dtype(dtype))
    if verify_shape and array.shape != wanted:
        raise TypeError(f"Expected Tensor's shape: {shape_str(wanted)}, but got {shape_str(array.shape)}. "
                        "Fix: leave verify_shape out, or give a value of that shape")
    if wanted is None or any(n is None for n in wanted):
        raise ValueError(f"constant: the shape {shape} has a dimension that is not known or negative. "
                         "Fix: give all sizes")
    missing = math.prod(wanted) - array.size
    if array.size == 1:
        array = array.reshape(())[()]
    elif array.size and missing > 0:
        array = np.concatenate([array.ravel(), np.repeat(array.ravel()[-1:], missing)])
    return constant(array, dtype, wanted, name)


# -- placeholders ------------------------------------------------------------------


def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """Makes a tensor whose value each run is fed.

    Args:
      dtype: its dtype.
      shape: its shape, None for unknown rank; None or -1 for unknown sizes.
      name: a name for the operation.
    Returns: the tensor.
    Raises: RuntimeError in eager mode; InvalidArgumentError at run time if it is not fed.
    Gradient: none; it has no inputs.
    Reference: TensorFlow 2.21 Placeholder.

    >>> x = tf.placeholder(tf.float32, [None])
    >>> sess.run(x + 1, {x: [1, 2]})
    array([2., 3.], dtype=float32)
    """
    if current_graph() is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution. "
                           "Fix: build in `with tf.Graph().as_default():`, or use tf.function")
    return raw.Placeholder(dtype=as_dtype(dtype), shape=as_shape(shape), name=name)


def placeholder_with_default(input: TensorLike, shape: ShapeLike | None, name: str | None = None) -> Tensor:
    """Makes a tensor that equals `input` unless a run feeds another value.

    Args:
      input: the default, any dtype.
      shape: the shape that values may have; None or -1 for unknown sizes.
      name: a name for the operation.
    Returns: a tensor of that shape, dtype of `input`.
    Raises: ValueError if `input` does not fit the shape.
    Gradient: dy.
    Reference: TensorFlow 2.21 PlaceholderWithDefault.

    >>> x = tf.placeholder_with_default([1, 2], [None])
    >>> sess.run(x), sess.run(x, {x: [3]})
    (array([1, 2], dtype=int32), array([3], dtype=int32))
    """
    return raw.PlaceholderWithDefault(input, shape=as_shape(shape), name=name)


# -- ops that return their input ---------------------------------------------------


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the input, as a new tensor.

    Args:
      input: any shape and dtype; sparse, ragged and sliced tensors stay such.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError for None.
    Gradient: dy.
    Reference: TensorFlow 2.21 Identity.

    >>> sess.run(tf.identity([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(input, Composite):
        first, *others = input._parts()
        return input._with_parts([identity(first, name), *map(identity, others)])
    return raw.Identity(input, name=name)


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Returns the inputs, as new tensors of one operation.

    Args:
      input: a list of tensors of any shapes and dtypes.
      name: a name for the operation.
    Returns: a list of tensors of the same shapes and dtypes.
    Raises: TypeError if `input` is not a list.
    Gradient: the dys.
    Reference: TensorFlow 2.21 IdentityN.

    >>> sess.run(tf.identity_n([[1], [2.0]]))
    [array([1], dtype=int32), array([2.], dtype=float32)]
    """
    return raw.IdentityN(list(input), name=name)


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the input; no gradient flows through it.

    Args:
      input: any shape and dtype.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError for None.
    Gradient: None.
    Reference: TensorFlow 2.21 StopGradient.

    >>> x = tf.constant([3.0])
    >>> sess.run(tf.gradients(x * tf.stop_gradient(x), x))
    [array([3.], dtype=float32)]
    """
    return raw.StopGradient(input, name=name)


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the input; the caller promises that it never changes.

    Args:
      input: any shape and dtype.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError for None.
    Gradient: dy.
    Reference: TensorFlow 2.21 GuaranteeConst.

    >>> sess.run(tf.guarantee_const([1]))
    array([1], dtype=int32)
    """
    return raw.GuaranteeConst(input, name=name)


def ensure_shape(x: TensorLike, shape: ShapeLike | None, name: str | None = None) -> Tensor:
    """Checks that a tensor has a shape, and returns it.

    Args:
      x: any shape and dtype.
      shape: the shape, None or -1 for unknown sizes.
      name: a name for the operation.
    Returns: a tensor of the same dtype whose static shape is known to be `shape`.
    Raises: ValueError, or InvalidArgumentError at run time, if the shape differs.
    Gradient: dy.
    Reference: TensorFlow 2.21 EnsureShape.

    >>> tf.ensure_shape(tf.placeholder(tf.float32), [2, None]).shape.as_list()
    [2, None]
    """
    return raw.EnsureShape(x, shape=as_shape(shape), name=name)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor has neither infinities nor NaNs, and returns it.

    Args:
      tensor: any shape, floating or complex.
      message: the text of the error.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: InvalidArgumentError at run time if an element is not finite.
    Gradient: dy, checked in the same way.
    Reference: TensorFlow 2.21 CheckNumerics.

    >>> sess.run(tf.check_numerics([1.0], "x"))
    array([1.], dtype=float32)
    """
    return raw.CheckNumerics(tensor, message=message, name=name)


# -- static values -----------------------------------------------------------------


def is_tensor(x: Any) -> bool:
    """Returns whether `x` is a tensor, a variable or another TensorFlow type, not a Python or NumPy value.

    Args:
      x: any object.
    Returns: a bool.
    Raises: nothing.
    Gradient: none; nothing is built.
    Reference: TensorFlow 2.21 `tf.is_tensor`.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return is_tensor_like(x) or isinstance(x, TensorOperators) or (isinstance(x, Composite) and x._is_tensor)


def get_static_value(tensor: TensorLike, partial: bool = False) -> np.ndarray[Any, Any] | Any:
    """Returns the value of a tensor if it is known while the graph is built.

    Args:
      tensor: a tensor, or a value that is returned as it is.
      partial: whether a vector with unknown elements counts; they are None then.
    Returns: a NumPy array or scalar, or None.
    Raises: nothing.
    Gradient: none; nothing is built.
    Reference: TensorFlow 2.21 `tf.get_static_value`.

    >>> int(tf.get_static_value(tf.constant(2) * 3))
    6
    """
    if not is_tensor_like(tensor) or not hasattr(tensor, "_spec"):
        return tensor
    value = constant_value(tensor)
    if value is not None:
        return value[()] if value.ndim == 0 else value
    known = static_value(tensor) if partial else None
    return None if known is None else np.array(known, object)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Returns whether `tensor` is a tensor of a graph, which has no value yet.

    Args:
      tensor: any object.
    Returns: a bool.
    Raises: nothing.
    Gradient: none; nothing is built.
    Reference: TensorFlow 2.21 `tf.is_symbolic_tensor`.

    >>> tf.is_symbolic_tensor(tf.constant(1))
    True
    """
    return isinstance(tensor, SymbolicTensor)


def add_check_numerics_ops() -> Operation:
    """Checks every floating tensor of the graph for infinities and NaNs, in the order of creation.

    Returns: an operation that runs all the checks.
    Raises: RuntimeError in eager mode; InvalidArgumentError at run time, naming the first
      tensor with an element that is not finite.
    Gradient: none; it is an operation.
    Reference: TensorFlow 2.21 `tf.compat.v1.add_check_numerics_ops`.

    >>> x = tf.constant([1.0]) * 2
    >>> sess.run([x, tf.add_check_numerics_ops()])[0]
    array([2.], dtype=float32)
    """
    graph = current_graph()
    if graph is None:
        raise RuntimeError("add_check_numerics_ops() is not compatible with eager execution. "
                           "Fix: use tf.debugging.check_numerics")
    last: list[Any] = []
    for operation in graph.get_operations():
        for i, tensor in enumerate(operation.outputs):
            if tensor.dtype in FLOATING:
                with graph.control_dependencies(last):
                    last = [raw.CheckNumerics(tensor, message=f"{operation.name}:{i}").op]
    with graph.control_dependencies(last):
        return raw.NoOp(name="group_deps")
