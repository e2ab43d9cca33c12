"""Feeds of a run: the tensors that they refer to, and their arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.program.interpreter import in_context
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import make_array
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import Composite

from .fetches import conversions
from .tensor_handle import TensorHandle


def converted_feeds(feed_dict: Any) -> Any:
    """Replaces objects of user types in feeds by tensors and values."""
    out: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        found = next((c for c in conversions if isinstance(key, c[0])), None)
        if found is None or found[2] is None:
            out[key] = value
        else:
            out.update(found[2](key, value))
    return out


def flat_feeds(feed_dict: Any) -> Any:
    """Replaces tuples among the keys of a feed dictionary by their elements."""
    if not any(isinstance(k, tuple) for k in feed_dict):
        return feed_dict
    flat: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        _put_flat(flat, key, value)
    return flat


def _put_flat(flat: dict[Any, Any], key: Any, value: Any) -> None:
    if not isinstance(key, (tuple, list)):
        if key in flat:
            raise ValueError(f"Could not flatten dictionary: key {key} is not unique. Fix: feed each tensor once")
        flat[key] = value
        return
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != len(key):
        count = len(value) if isinstance(value, (tuple, list, np.ndarray)) else 1
        raise ValueError(
            f"Could not flatten dictionary. Key had {len(key)} elements, but value had {count} elements. Key: {key}. "
            "Fix: feed a tuple of as many values, nested in the same way"
        )
    for k, v in zip(key, value, strict=True):
        _put_flat(flat, k, v)


def feed_targets(graph: Graph, key: Any) -> list[Tensor]:
    """Returns the tensors that a key of a feed dictionary refers to.

    Args:
      graph: the session's graph.
      key: a tensor, its name, or a composite, whose parts are fed.
    Raises: TypeError for anything but a tensor; ValueError for one that may not be fed.
    """
    if isinstance(key, Composite):
        return [p for p in key._fetched() if p is not None]
    try:
        t: Tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except Exception as e:
        fix = "" if "Fix:" in str(e) else " Fix: feed tensors of the session's graph, or their names"
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e}{fix}") from None
    if not graph.is_feedable(t):
        raise ValueError(f"Tensor {t.name} may not be fed.")
    return [t]


def other_reads(t: Tensor) -> list[Tensor]:
    """Returns the other reads of a variable whose own read is fed, but those that wait for an assignment to it."""
    read = t.op
    handle = read.inputs[0] if read.inputs else None
    if handle is None or getattr(getattr(handle, "_variable", None), "_snapshot", None) is not t:
        return []
    return [r.outputs[0] for r in handle.consumers() if r.opdef is read.opdef and r is not read
            and not any(i is handle for c in r.control_inputs for i in c.inputs)]


def feed_values(feeds: Sequence[Tensor], feed_dict: Any) -> list[Any]:
    """Returns the arrays to feed, one for each of the tensors `feeds` that the keys of `feed_dict` refer to."""
    values = []
    i = 0
    for key, value in feed_dict.items():
        if not isinstance(key, Composite):
            values.append(feed_value(feeds[i], value))
            i += 1
            continue
        for part, v in zip(key._fetched(), key._fed(value), strict=True):
            if part is not None:
                values.append(feed_value(part, v))
                i += 1
    return values


class QuickFeeds:
    """The arrays of runs that are fed the same tensors: what fits is passed on with few questions.

    Args:
      tensors: the tensors.
    """

    def __init__(self, tensors: Sequence[Tensor]):
        self._wanted = [(t, t._spec, t._spec.dtype.np_dtype, t._spec.shape) for t in tensors]

    def arrays(self, given: Iterable[Any]) -> list[Any]:
        """Returns the arrays to feed; raises as `feed_value`.

        Args:
          given: a value for each of the tensors.
        """
        return [value if type(value) is np.ndarray and value.dtype is dtype and value.shape == shape and t._spec is spec
                else np.array(value, dtype) if type(value) is float and shape == () and dtype is _FLOAT
                and -_MOST < value < _MOST and t._spec is spec
                else feed_value(t, value) for value, (t, spec, dtype, shape) in zip(given, self._wanted, strict=True)]


_FLOAT = np.dtype(np.float32)
_MOST = 3e38


def feed_value(t: Tensor, value: Any) -> Any:
    """Returns the array to feed for `t`; ValueError or TypeError if `value` does not fit."""
    spec = t._spec
    dtype = spec.dtype.np_dtype
    if type(value) is np.ndarray and value.dtype == dtype:
        array = value
    else:
        try:
            array = _convert_feed(t, value, dtype)
        except MemoryError as e:
            raise in_context(t.op, e, []) from None
    if array.shape != spec.shape and not compatible(array.shape, spec.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {t.name}, which has shape "
            f"{shape_str(spec.shape)}.\n  Built at {t.op.source}\n  Fed at {user_source(2)}\n"
            "  Fix: reshape the value, or give the placeholder None for sizes that vary"
        )
    return array


def _convert_feed(t: Tensor, value: Any, dtype: Any) -> Any:
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            f"strings, lists, numpy ndarrays. For reference, the tensor object was {value} which was passed "
            f"to the argument `feed_dict` with key {t}. Fix: run the tensor first and feed what comes out"
        )
    if isinstance(value, TensorHandle):
        value = value.fed()
    if t.dtype is dtypes.string:
        return make_array(value, dtypes.string)
    if t.dtype.kind == "o":
        return value
    try:
        array = np.asarray(value)
        if array.dtype == object or array.dtype.kind in "US":
            array = np.asarray(value, dtype)
    except (TypeError, ValueError) as e:
        raise (TypeError if isinstance(e, TypeError) else ValueError)(
            f"Cannot convert the value fed for Tensor {t.name} to {t.dtype.name}: {e}.\n"
            f"  Built at {t.op.source}\n  Fix: feed numbers in a rectangular array"
        ) from None
    if isinstance(value, int) and not isinstance(value, bool):
        if t.dtype.is_integer and not t.dtype.min <= value <= t.dtype.max:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                f"{t.dtype.name}. Try explicitly setting the type of the feed tensor to a larger type "
                "(e.g. int64)."
            )
        if t.dtype.is_bool and value not in (0, 1):
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                            f"bool.\n  Built at {t.op.source}\n  Fix: feed True or False")
    return array.astype(dtype) if array.dtype != dtype else array


def fed_too(t: Tensor) -> list[Tensor]:
    """Returns the tensors that get the value that is fed for `t`, besides itself.

    Raises: InvalidArgumentError for a tensor within a derivative that was replaced: it would have no effect.
    """
    notes = t.graph._notes
    found = notes.replaced.get(id(t))
    if found is not None:
        return [found[1]]
    if any(start <= t.op.index < end for start, end in notes.superseded):
        raise InvalidArgumentError(
            t.op.node_def, t.op,
            f"Tensor '{t.name}' is fed, but the derivative that it is part of was replaced (optimize_derivatives).\n"
            f"  Built at {t.op.source}\n  Fix: build the graph without optimize_derivatives, or feed the derivative")
    return []
