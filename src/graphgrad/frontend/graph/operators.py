"""Operators on tensors and variables, from one table: `x + y`, `x[i]`, `x == y`.

The names given to the operations are TensorFlow's: `x * y` is "mul", `-x` is "Neg".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir import dtypes, tensor
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert, is_tensor_like, make_array
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw, registry
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values import dispatch
from graphgrad.ops.linalg.matmul import matmul

_tensor_equality = True  # as in 2.x; importing the 1.x face turns it off


def enable_tensor_equality() -> None:
    """Makes `==` compare elementwise (as in 2.x), for eager tensors and inside functions."""
    global _tensor_equality
    _tensor_equality = True


def disable_tensor_equality() -> None:
    """Makes `==` compare identity (as in 1.x), so that every tensor can be a dictionary key."""
    global _tensor_equality
    _tensor_equality = False


def compares_elementwise(x: Any) -> bool:
    """Returns whether `x == y` compares values: tensor equality is on and `x` belongs to no 1.x graph."""
    if not _tensor_equality:
        return False
    graph = getattr(x, "graph", None)
    if graph is None:
        return True
    if not graph.building_function:
        return False
    while graph is not None and graph.building_function:
        graph = graph._outer_graph
    return graph is None


# -- the operators whose op type depends on their operands -------------------------

# The dtype of integers in a true division.
_DIVIDED_AS = {
    dtypes.int8: dtypes.float32, dtypes.uint8: dtypes.float32, dtypes.int16: dtypes.float32,
    dtypes.uint16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.uint32: dtypes.float64,
    dtypes.int64: dtypes.float64, dtypes.uint64: dtypes.float64, dtypes.bool_: None,
}


def _dtype_of(x: Any, y: Any) -> Any:
    """Returns the dtype of an operation on `x` and `y`, one of which is a tensor."""
    return x.dtype if is_tensor_like(x) else y.dtype


def add(x: Any, y: Any, name: str = "add") -> AnyTensor:
    """Computes `x + y`; strings are concatenated."""
    if _dtype_of(x, y) is dtypes.string:
        return raw.StringJoin([x, y], name=name)
    return registry["AddV2"](x, y, name=name)


def truediv(x: Any, y: Any, name: str = "truediv") -> Any:
    """Computes `x / y`; 32-bit and 64-bit integers are divided as float64, shorter ones as float32."""
    dtype = _dtype_of(x, y)
    if dtype not in _DIVIDED_AS:
        return registry["RealDiv"](x, y, name=name)
    wanted = _DIVIDED_AS[dtype]
    if wanted is None:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__. Expected one of float, int and complex types.\n"
                        f"  Asked for at {user_source(2)}\n  Fix: tf.cast(x, tf.float32)")
    graph = current_graph()
    with name_scope(name) as scope:
        x, y = _operand(x, dtype, graph, "x"), _operand(y, dtype, graph, "y")
        for t in (x, y):
            if t.dtype is not dtype:
                raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.\n"
                                f"  Asked for at {user_source(2)}\n  Fix: tf.cast one of them")
        return raw.RealDiv(raw.Cast(x, DstT=wanted), raw.Cast(y, DstT=wanted), name=scope)


def _operand(value: Any, dtype: Any, graph: Any, name: str) -> Any:
    return convert(value, None if is_tensor_like(value) else dtype, graph, name)


def div(x: Any, y: Any, name: str = "div") -> Any:
    """Computes Python 2's `x / y`: integer quotients are rounded down."""
    return registry["FloorDiv" if _dtype_of(x, y).is_integer else "RealDiv"](x, y, name=name)


def _matmul(x: Any, y: Any) -> Any:
    """Computes `x @ y`: a matrix product, or a batch of them."""
    return matmul(x, y, name="matmul")


def absolute(x: Any) -> Any:
    """Computes `abs(x)`; real for complex input."""
    if x.dtype.is_complex:
        return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name="Abs")
    return raw.Abs(x, name="Abs")


def invert(x: Any) -> Any:
    """Computes `~x`: logical for bool, bitwise for integers."""
    return raw.LogicalNot(x, name="LogicalNot") if x.dtype.is_bool else raw.Invert(x, name="Invert")


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Any:
    """Returns whether exactly one of two booleans is true."""
    graph = current_graph()
    with name_scope(name) as scope:
        x, y = _operand(x, dtypes.bool_, graph, "x"), _operand(y, dtypes.bool_, graph, "y")
        return raw.LogicalAnd(raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)), name=scope)


def _bits(logical: Callable[..., Any], bitwise: str, name: str) -> Callable[..., Any]:
    def operate(x: Any, y: Any) -> Any:
        if _dtype_of(x, y).is_bool:
            return logical(x, y, name=name)
        with name_scope(name):
            return registry[bitwise](x, y, name=bitwise)

    return operate


def _logical_and(x: Any, y: Any, name: str) -> Any:
    return raw.LogicalAnd(x, y, name=name)


def _logical_or(x: Any, y: Any, name: str) -> Any:
    return raw.LogicalOr(x, y, name=name)


def _plain(op_type: str, name: str) -> Callable[..., Any]:
    def operate(x: Any, y: Any) -> Any:
        return registry[op_type](x, y, name=name)

    return operate


def negative(x: Any) -> Any:
    """Computes `-x`."""
    return raw.Neg(x, name="Neg")


def getitem(x: Any, key: Any) -> AnyTensor:
    """Evaluates `x[key]`: NumPy's basic slicing, and a boolean mask."""
    from graphgrad.ops.array.slice import slice_helper

    return slice_helper(x, key)


def equal(x: Any, y: Any) -> AnyTensor | Any:
    """Evaluates `x == y`: identity in 1.x, elementwise in 2.x; False for None."""
    if y is None or not compares_elementwise(x):
        return x is y
    return raw.Equal(x, y, incompatible_shape_error=False)


def not_equal(x: Any, y: Any) -> AnyTensor | Any:
    """Evaluates `x != y`: identity in 1.x, elementwise in 2.x; True for None."""
    if y is None or not compares_elementwise(x):
        return x is not y
    return raw.NotEqual(x, y, incompatible_shape_error=False)


def hash_of(x: Any) -> int:
    """Returns the hash of a tensor or variable; raises TypeError where `==` compares elementwise."""
    if compares_elementwise(x):
        raise TypeError(f"{'Variable' if hasattr(type(x), 'handle') else 'Tensor'} is unhashable. "
                        "Instead, use tensor.ref() as the key.")
    return id(x)


# -- the table ---------------------------------------------------------------------

_BINARY: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": _plain("Sub", "sub"),
    "mul": _plain("Mul", "mul"),
    "div": div,
    "truediv": truediv,
    "floordiv": _plain("FloorDiv", "floordiv"),
    "mod": _plain("FloorMod", "mod"),
    "pow": _plain("Pow", "pow"),
    "matmul": _matmul,
    "and": _bits(_logical_and, "BitwiseAnd", "and"),
    "or": _bits(_logical_or, "BitwiseOr", "or"),
    "xor": _bits(logical_xor, "BitwiseXor", "xor"),
}
_COMPARISON = {"lt": ("Less", "gt"), "le": ("LessEqual", "ge"), "gt": ("Greater", "lt"), "ge": ("GreaterEqual", "le")}
_UNARY: dict[str, Callable[..., Any]] = {"neg": negative, "abs": absolute, "invert": invert}
# What libraries call operators whose methods they give to classes of their own.
_FUNCTIONS = {
    **dict.fromkeys(["add", "eq", "ne", "getitem"], "graphgrad.frontend.graph.operators:"),
    **dict.fromkeys(["sub", "mul"], "graphgrad.ops.math.arithmetic:"),
    **dict.fromkeys(["truediv", "div", "floordiv", "mod"], "graphgrad.ops.math.division:"),
    **dict.fromkeys(["lt", "le", "gt", "ge", "and", "or", "xor", "invert"], "graphgrad.ops.math.comparison:"),
    **dict.fromkeys(["neg", "abs"], "graphgrad.ops.math.unary:"),
    "pow": "graphgrad.ops.math.exponential:",
    "matmul": "graphgrad.ops.linalg.matmul:",
}
_CALLED = {
    "sub": "subtract", "mul": "multiply", "div": "truediv", "mod": "floormod", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal", "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
    "invert": "logical_not", "neg": "negative", "eq": "equal", "ne": "not_equal",
}


def _taken_over(short: str, *operands: Any) -> Any:
    """Returns what a library makes of an operator on its own symbols; NotImplemented if there is none."""
    return dispatch.ask(_FUNCTIONS[short] + _CALLED.get(short, short), operands)


def _lent(short: str, operate: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a method that works in a library's class, too."""

    @functools.wraps(operate)
    def method(self: Any, *others: Any) -> Any:
        try:
            return operate(self, *others)
        except (AttributeError, TypeError, ValueError):
            found = NotImplemented if is_tensor_like(self) else _taken_over(short, self, *others)
            if found is NotImplemented:
                raise
            return found

    return method


_PLAIN_OPERANDS = (int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic, Tensor, EagerTensor)


def _method(name: str, operate: Callable[..., Any], mirror: str, swap: bool) -> Callable[..., Any]:
    """Makes a binary dunder method; it defers to an operand whose class has the reflected method."""
    short = name.strip("_").removeprefix("r") if swap else name.strip("_")

    def forward(self: Any, other: Any) -> Any:
        try:
            return operate(self, other)
        except (AttributeError, TypeError, ValueError):
            if not is_tensor_like(self) and (found := _taken_over(short, self, other)) is not NotImplemented:
                return found
            if not isinstance(other, _PLAIN_OPERANDS) and hasattr(type(other), mirror) and not is_tensor_like(other):
                return NotImplemented
            raise

    def reflected(self: Any, other: Any) -> Any:
        if isinstance(other, (np.ndarray, np.generic)):  # the tensor's operator is used, as on the left
            other = make_array(other, self.dtype)
        try:
            return operate(other, self)
        except (AttributeError, TypeError, ValueError):
            found = NotImplemented if is_tensor_like(self) else _taken_over(short, other, self)
            if found is NotImplemented:
                raise
            return found

    method = reflected if swap else forward
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The operator `{name}`."
    return method


def _methods() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {}
    for short, operate in _BINARY.items():
        forward, reflected = f"__{short}__", f"__r{short}__"
        table[forward] = _method(forward, operate, reflected, swap=False)
        table[reflected] = _method(reflected, operate, forward, swap=True)
    for short, (op_type, mirror) in _COMPARISON.items():
        table[f"__{short}__"] = _method(f"__{short}__", _plain(op_type, op_type), f"__{mirror}__", swap=False)
    for short, function in _UNARY.items():
        table[f"__{short}__"] = _lent(short, function)
    table.update(__eq__=_lent("eq", equal), __ne__=_lent("ne", not_equal), __getitem__=_lent("getitem", getitem))
    table["__hash__"] = hash_of
    return table


METHODS = _methods()


def install(cls: type) -> None:
    """Installs the operators in a class of tensors or variables."""
    for name, method in METHODS.items():
        setattr(cls, name, method)


# -- NumPy's names ------------------------------------------------------------------

_NUMPY_NAMES = {"astype": "tf.cast(t, dtype)", "ravel": "tf.reshape(t, [-1])", "transpose": "tf.transpose(t)",
                "reshape": "tf.reshape(t, shape)", "clip": "tf.clip_by_value(t, low, high)", "size": "tf.size(t)",
                "tolist": "t.numpy().tolist(), or session.run(t).tolist() in a graph",
                "T": "tf.transpose(t)"}


def _no_such_attribute(name: str, remedy: str) -> property:
    def explain(self: Any) -> Any:
        raise AttributeError(f"{type(self).__name__} object has no attribute '{name}'. Fix: {remedy}")

    return property(explain)


install(tensor.Tensor)
for _name, _remedy in _NUMPY_NAMES.items():
    setattr(tensor.Tensor, _name, _no_such_attribute(_name, _remedy))
