"""Derivatives of Python functions: what `tf.jacobian(f)` and its relatives do with a function in the place of y.

The function is traced anew at each call, as a graph, so that what it closes over may change between calls, and what
would lose the derivative, such as a call of NumPy, is an error. In eager mode the graph is run at once; in a graph it
becomes part of it, so that derivatives compose, and `tf.function(tf.jacobian(f))` is traced once and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.structure import nest
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.gradients.core.unconnected import UnconnectedGradients
from graphgrad.gradients.derived.batched import batch_hessian, batch_jacobian
from graphgrad.gradients.derived.higher import hessian, jacobian
from graphgrad.gradients.derived.vector_products import hessian_vector_product, jvp, vjp
from graphgrad.gradients.taylor.functions import laplacian
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source

_ZERO = UnconnectedGradients.ZERO
_Argnums = int | Sequence[int] | None


def derivative(what: str, f: Callable[..., Any], *given: Any, argnums: _Argnums = None, **options: Any) -> Any:
    """Differentiates a function; see `ir.values.function_hooks.derivative_of`."""
    if what in _PRODUCTS:
        def multiplied(xs: Any, vectors: Any) -> Any:
            return _product(what, f, xs, vectors)

        return multiplied(*given) if given else _named(multiplied, what, f)
    if given:
        (xs,) = given
        several = isinstance(xs, (list, tuple))
        args = tuple(xs) if several else (xs,)
        if argnums is None and several:
            argnums = range(len(args))
        found = _at(what, f, args, {}, argnums, options)
        return found

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        return _at(what, f, args, kwargs, argnums, options)

    return _named(differentiated, what, f)


def _named(g: Callable[..., Any], what: str, f: Callable[..., Any]) -> Callable[..., Any]:
    g.__name__ = g.__qualname__ = f"{what}_of_{getattr(f, '__name__', 'function').strip('<>')}"
    g.__doc__ = f"Computes tf.{what} of a function."
    g.differentiated = f  # type: ignore[attr-defined]  # for the names of its arguments
    return g


def _at(what: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: _Argnums,
        options: dict[str, Any]) -> Any:
    """Computes what is built from a function's value and some of its arguments."""
    chosen = _positions(what, args, 0 if argnums is None else argnums)
    dtype = _common_dtype(args)
    xs = [_floats(what, args[i], f"argument {i}", dtype) for i in chosen]
    constants = {str(i): _input(a) for i, a in enumerate(args) if i not in chosen and _is_floating(a)}
    single = argnums is None or isinstance(argnums, (int, np.integer))

    def build(xs: list[Any], constants: dict[str, Any]) -> Any:
        inner = list(args)
        for i, value in constants.items():
            inner[int(i)] = value

        def call(*values: Any) -> Any:
            for i, value in zip(chosen, values, strict=True):
                inner[i] = value
            return _checked(what, f, convert(f)(*inner, **kwargs))

        return _BUILDERS[what](call, xs, single, **options)

    return _staged(what, build, xs, constants)


def _product(what: str, f: Callable[..., Any], xs: Any, vectors: Any) -> Any:
    """Computes a product of a function's Jacobian or Hessian with vectors."""
    several, is_tuple = isinstance(xs, (list, tuple)), isinstance(xs, tuple)
    values = list(xs) if several else [xs]
    dtype = _common_dtype(values)
    args = [_floats(what, x, f"xs[{i}]", dtype) for i, x in enumerate(values)]
    given = _leaves(vectors) if several or not _is_array(vectors) else [vectors]
    wanted = len(nest.flatten(args))
    if what != "vjp" and len(given) != wanted:
        raise ValueError(f"tf.{what}: {len(given)} tangents for {wanted} xs.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give for each x a tensor of its shape and dtype")

    def build(args: list[Any], given: list[Any]) -> Any:
        y = _checked(what, f, convert(f)(*args))
        xs, ys = nest.flatten(args), nest.flatten(y)
        if what == "vjp":
            if len(given) != len(ys):
                raise ValueError(f"tf.vjp: {len(given)} cotangents for {len(ys)} ys.\n  Asked for at {user_source(2)}\n"
                                 "  Fix: give for each y a tensor of its shape and dtype")
            products = vjp(ys, xs, [_of_dtype(u, t) for u, t in zip(given, ys, strict=True)], _ZERO)
        else:
            tangents = [_of_dtype(v, x) for v, x in zip(given, xs, strict=True)]
            if what == "jvp":
                return y, nest.pack_sequence_as(y, jvp(ys, xs, tangents, _ZERO))
            with none_allowed():
                products = hessian_vector_product(ys, xs, tangents)
            products = [raw.ZerosLike(x) if g is None else g for g, x in zip(products, xs, strict=True)]
        found = nest.pack_sequence_as(args, products)
        found = found[0] if not several else tuple(found) if is_tuple else found
        return (y, found) if what == "vjp" else found

    return _staged(what, build, args, [_input(v) for v in given])


def _staged(what: str, build: Callable[..., Any], xs: Any, others: Any) -> Any:
    """Builds a derivative in the current graph; in eager mode in one of its own, which is run at once."""
    def scoped(xs: Any, others: Any) -> Any:
        # Identities: the derivative is that by the argument, even where f uses the same tensor by itself.
        return build(nest.map_structure(raw.Identity, xs), others)

    if current_graph() is not None:
        return scoped(xs, others)
    found = Function(scoped, name=what, autograph=False)(xs, others)
    return found


# -- what is built of a function and its arguments -----------------------------------------


def _jacobian(call: Callable[..., Any], xs: list[Any], single: bool, **options: Any) -> Any:
    by = xs[0] if single else tuple(xs)
    return nest.map_structure(lambda y: jacobian(y, by, unconnected_gradients=_ZERO, **options), call(*xs))


def _hessian(call: Callable[..., Any], xs: list[Any], single: bool, sparse: Any) -> Any:
    by = xs[0] if single else tuple(xs)
    return nest.map_structure(lambda y: hessian(y, by, _ZERO, sparse=sparse), call(*xs))


def _hessians(call: Callable[..., Any], xs: list[Any], single: bool, sparse: Any) -> list[Any]:
    ys = [raw.Sum(y, np.arange(y.shape.rank, dtype=np.int32)) for y in nest.flatten(call(*xs))]
    total = ys[0] if len(ys) == 1 else raw.AddN(ys)
    return [hessian(total, x, _ZERO, sparse=sparse) for x in nest.flatten(xs)]


def _batch_jacobian(call: Callable[..., Any], xs: list[Any], single: bool, **options: Any) -> Any:
    return batch_jacobian(call(*xs), xs[0], unconnected_gradients=_ZERO, **options)


def _batch_hessian(call: Callable[..., Any], xs: list[Any], single: bool, sparse: Any) -> Any:
    return batch_hessian(call(*xs), xs[0], _ZERO, sparse=sparse)


def _laplacian(call: Callable[..., Any], xs: list[Any], single: bool, **options: Any) -> Any:
    (x,) = xs
    if x.shape.rank != 1:
        return nest.map_structure(lambda y: laplacian(y, x, _ZERO, **options), call(x))
    batch = raw.ExpandDims(x, np.int32(0))  # one point
    ys = call(raw.Squeeze(batch, squeeze_dims=(0,)))

    def found(y: Tensor) -> Any:
        return raw.Squeeze(laplacian(raw.ExpandDims(y, np.int32(0)), batch, _ZERO, **options), squeeze_dims=(0,))

    return nest.map_structure(found, ys)


_BUILDERS: dict[str, Callable[..., Any]] = {
    "jacobian": _jacobian, "hessian": _hessian, "hessians": _hessians, "batch_jacobian": _batch_jacobian,
    "batch_hessian": _batch_hessian, "laplacian": _laplacian,
}
_PRODUCTS = ("jvp", "vjp", "hessian_vector_product")


# -- arguments and results -----------------------------------------------------------------


def _positions(what: str, args: tuple[Any, ...], argnums: Any) -> list[int]:
    found = []
    for n in [argnums] if isinstance(argnums, (int, np.integer)) else list(argnums):
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not -len(args) <= n < len(args):
            raise ValueError(f"tf.{what}: argnums={argnums!r}, but the function was given {len(args)} arguments by "
                             f"position.\n  Asked for at {user_source(2)}\n"
                             "  Fix: count them from 0, and give what is differentiated by position")
        found.append(int(n) % len(args))
    return found


def _is_array(value: Any) -> bool:
    """Returns whether a list holds numbers alone: then it stands for an array, not for several arguments."""
    return isinstance(value, list) and bool(value) and all(
        _is_array(v) or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool)) for v in value)


def _leaves(value: Any) -> list[Any]:
    """Returns the leaves of a structure."""
    if isinstance(value, dict):
        return [t for k in sorted(value) for t in _leaves(value[k])]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in _leaves(v)]
    return [value]


def _common_dtype(args: Sequence[Any]) -> Any:
    """Returns the dtype of Python's numbers beside these arguments: that of the first floating array, or float32."""
    for value in _leaves(args):
        dtype = getattr(value, "dtype", None)
        kind = getattr(dtype, "kind", "")
        if kind == "f":
            return np.dtype(getattr(dtype, "np_dtype", dtype))
    return np.dtype(np.float32)


def _floats(what: str, value: Any, which: str, dtype: Any) -> Any:
    """Returns the tensors of an argument; a TypeError if there are no derivatives by it.

    Args:
      what: the public function.
      value: a tensor, an array, a number, a list of numbers, or a structure of them.
      which: the argument, in words.
      dtype: that of Python's numbers.
    """
    if nest.is_nested(value) and not _is_array(value):
        return nest.sequence_like(value, [_floats(what, v, which, dtype) for v in _children(value)])
    plain = _is_array(value) or (isinstance(value, (int, float)) and not isinstance(value, (bool, np.generic)))
    t = convert_to_tensor(np.asarray(value, dtype) if plain else value)
    if t.dtype.kind not in "fc":
        raise TypeError(f"tf.{what}: {which} is {t.dtype.name}, and there are no derivatives by such numbers.\n"
                        f"  Asked for at {user_source(2)}\n  Fix: give floats, e.g. x.astype(float)")
    return t


def _children(structure: Any) -> list[Any]:
    return [structure[k] for k in sorted(structure)] if isinstance(structure, dict) else list(structure)


def _is_floating(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def _input(value: Any) -> Any:
    """Returns arrays as tensors, so that what is built does not depend on their values; all else as it is."""
    return convert_to_tensor(value) if _is_floating(value) else value


def _of_dtype(value: Any, like: Tensor) -> Any:
    """Returns a vector of a tensor's dtype."""
    if isinstance(value, Tensor) and value.dtype.kind == "f" == like.dtype.kind:
        return value if value.dtype == like.dtype else raw.Cast(value, DstT=like.dtype)
    return convert_to_tensor(value, like.dtype)


def _checked(what: str, f: Callable[..., Any], y: Any) -> Any:
    """Returns the tensors that a function has returned; raises where they cannot have a derivative."""
    leaves = nest.flatten(y)
    name = getattr(f, "__name__", repr(f))
    if y is None or any(t is None for t in leaves):
        raise ValueError(f"tf.{what}: {name} returns None.\n  Asked for at {user_source(2)}\n"
                         "  Fix: return the tensor to differentiate")
    for t in leaves:
        if isinstance(t, (np.ndarray, np.generic)):
            raise TypeError(f"tf.{what}: {name} returns a NumPy array, which does not know how it was computed.\n"
                            f"  Asked for at {user_source(2)}\n  Fix: use functions of tf, e.g. tf.sin for np.sin")
    found = [convert_to_tensor(t) for t in leaves]
    for t in found:
        if t.dtype.kind not in "fc":
            raise TypeError(f"tf.{what}: {name} returns {t.dtype.name}, which has no derivatives.\n"
                            f"  Asked for at {user_source(2)}\n  Fix: tf.cast what it is computed from")
    return nest.pack_sequence_as(y, found)
