"""Assertions about ranks and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import shape_str
from graphgrad.ir.tensor import Tensor, TensorLike

from .assertions import Assert, _check_type, _name_of, _nothing


def _known_rank(x: Any) -> int | None:
    shape = x._spec.shape
    return None if shape is None else len(shape)


def _rank_check(x: Any, ranks: Any, words: str, fits: Any, op_type: str, data: Any, summarize: Any, message: Any,
                name: str | None, default: str) -> Any:
    with name_scope(name, default):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(r, name="rank") for r in ranks]
        for r in ranks:
            _check_type(r, int32, None)
            if _known_rank(r) not in (0, None):
                raise ValueError(f"Rank must be a scalar, got shape {shape_str(r._spec.shape)}")
        known = [constant_value(r) for r in ranks]
        rank = _known_rank(x)
        prefix = f"{message}.  " if message else ""
        label = x.name if hasattr(x, "op") else ""
        if rank is not None and all(k is not None for k in known):
            values = tuple(int(k) for k in known)  # type: ignore[arg-type]  # all are known
            if not fits(rank, values):
                wanted = values if len(values) > 1 or default == "assert_rank_in" else values[0]
                raise ValueError(f"{prefix}Tensor {label} must have {words} {wanted}.  Received rank {rank}, "
                                 f"shape {shape_str(x._spec.shape)}")
            return _nothing("static_checks_determined_all_ok")
        shape = raw.Shape(x)
        if data is None:
            data = [prefix, f"Tensor {label} must have {words}", *ranks, "Received shape: ", shape]
        actual = raw.Rank(x)
        conditions = [getattr(raw, op_type)(actual, r) for r in ranks]
        condition = conditions[0]
        for c in conditions[1:]:
            condition = raw.LogicalOr(condition, c)
        return Assert(condition, data, summarize)


def _is_in(rank: int, ranks: tuple[int, ...]) -> bool:
    return rank in ranks


def _is_at_least(rank: int, ranks: tuple[int, ...]) -> bool:
    return rank >= ranks[0]


def assert_rank(x: TensorLike, rank: Any, message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that `x` has `rank` dimensions.

    Args:
      x: a tensor.
      rank: an int32 scalar.
      message: the beginning of the error message.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: ValueError if the rank is known while building, else InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_rank`.

    >>> tf.debugging.assert_rank(tf.constant([1]), 1).type
    'NoOp'
    """
    return assert_rank_v1(x, rank, None, None, message, name)


def assert_rank_v1(x: TensorLike, rank: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                   name: str | None = None) -> Operation | Any:
    """Checks that `x` has `rank` dimensions; see `debugging.assert_rank`.

    >>> tf.assert_rank(tf.constant([1]), 1).type
    'NoOp'
    """
    return _rank_check(x, [rank], "rank", _is_in, "Equal", data, summarize, message, name, "assert_rank")


def assert_rank_at_least(x: TensorLike, rank: Any, message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that `x` has `rank` dimensions or more; see `debugging.assert_rank`.

    >>> tf.debugging.assert_rank_at_least(tf.constant([1]), 1).type
    'NoOp'
    """
    return assert_rank_at_least_v1(x, rank, None, None, message, name)


def assert_rank_at_least_v1(x: TensorLike, rank: Any, data: TensorLike = None, summarize: Any = None,
                            message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that `x` has `rank` dimensions or more; see `debugging.assert_rank`.

    >>> tf.assert_rank_at_least(tf.constant([1]), 1).type
    'NoOp'
    """
    return _rank_check(x, [rank], "rank at least", _is_at_least, "GreaterEqual", data, summarize, message, name,
                       "assert_rank_at_least")


def assert_rank_in(x: TensorLike, ranks: Any, message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that the number of dimensions of `x` is one of `ranks`; see `debugging.assert_rank`.

    >>> tf.debugging.assert_rank_in(tf.constant([1]), [1, 2]).type
    'NoOp'
    """
    return assert_rank_in_v1(x, ranks, None, None, message, name)


def assert_rank_in_v1(x: TensorLike, ranks: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                      name: str | None = None) -> Operation | Any:
    """Checks that the number of dimensions of `x` is one of `ranks`; see `debugging.assert_rank`.

    >>> tf.assert_rank_in(tf.constant([1]), [1, 2]).type
    'NoOp'
    """
    return _rank_check(x, list(ranks), "rank in", _is_in, "Equal", data, summarize, message, name, "assert_rank_in")


def assert_scalar(tensor: TensorLike, message: Any = None, name: str | None = None) -> Tensor:
    """Checks that a tensor is a scalar.

    Args:
      tensor: a tensor.
      message: the beginning of the error message.
      name: a name for the scope.
    Returns: the tensor.
    Raises: ValueError if it is known to have dimensions.
    Gradient: the identity's.
    Reference: TensorFlow 2.21 `tf.debugging.assert_scalar`.

    >>> sess.run(tf.debugging.assert_scalar(tf.constant(1)))
    np.int32(1)
    """
    with name_scope(name, "assert_scalar"):
        tensor = convert_to_tensor(tensor)
        if tensor._spec.shape not in ((), None):
            label = tensor.name if hasattr(tensor, "op") else ""
            raise ValueError(f"{message or ''}Expected scalar shape for {label}, "
                             f"saw shape: {shape_str(tensor._spec.shape)}.")
        return tensor


def assert_scalar_v1(tensor: TensorLike, name: str | None = None, message: Any = None) -> Tensor:
    """Checks that a tensor is a scalar; see `debugging.assert_scalar`.

    >>> sess.run(tf.assert_scalar(tf.constant(1)))
    np.int32(1)
    """
    return assert_scalar(tensor, message, name)


def assert_shapes(shapes: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                  name: str | None = None) -> Operation | Any:
    """Checks shapes against sizes and symbols; the same symbol means the same size everywhere.

    Args:
      shapes: a list of pairs (or a dict) of tensor and shape: a tuple of ints, strings, or None
        for any size.
      data, summarize, message: as in `assert_rank`.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: ValueError for static shapes that contradict, else InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_shapes`.

    >>> x = tf.zeros([2, 3])
    >>> tf.debugging.assert_shapes([(x, ("N", 3)), (x[0], (3,))]).type
    'NoOp'
    """
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    prefix = f"{message}.  " if message else ""
    sizes: dict[str, tuple[Any, int, Any]] = {}
    waits: list[Any] = []
    with name_scope(name, "assert_shapes"):
        for x, symbols in pairs:
            x = convert_to_tensor(x.deref() if hasattr(x, "deref") else x)
            symbols = (symbols,) if isinstance(symbols, (str, int)) else tuple(symbols)
            waits.append(assert_rank_v1(x, len(symbols), data, summarize, message))
            for i, symbol in enumerate(symbols):
                size = x._spec.shape[i] if x._spec.shape is not None else None
                if isinstance(symbol, str) and symbol.isdigit():
                    symbol = int(symbol)
                if symbol is None or symbol == ".":
                    continue
                if isinstance(symbol, str):
                    if symbol not in sizes:
                        sizes[symbol] = (x, i, size)
                        continue
                    other, j, wanted = sizes[symbol]
                    given = f"Specified by tensor {_name_of(other)} dimension {j}.  "
                else:
                    other, j, wanted, given = None, 0, symbol, "Specified explicitly.  "
                if size is not None and wanted is not None:
                    if size != wanted:
                        raise ValueError(f"{prefix}{given}Tensor {_name_of(x)} dimension {i} must have size {wanted}.  "
                                         f"Received size {size}, shape {shape_str(x._spec.shape)}")
                    continue
                target = _size(other, j) if wanted is None else np.int32(wanted)
                text = [f"{prefix}{given}Tensor {_name_of(x)} dimension", str(i), "must have size", target,
                        "Received shape: ", raw.Shape(x)]
                waits.append(Assert(raw.Equal(_size(x, i), target), data or text, summarize))
        graph = current_graph()
        if graph is None:
            return None
        with graph.control_dependencies(waits):
            return raw.NoOp()


def _size(x: Any, i: int) -> Any:
    return raw.StridedSlice(raw.Shape(x), [i], [i + 1], [1], shrink_axis_mask=1)
