"""`py_function`: differentiable calls of Python functions on eager tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import all_tensors, converted, put_together
from graphgrad.ir import context, eager
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, dtype_of
from graphgrad.ir.tensor import Tensor
from graphgrad.ir.values.composite import Composite
from graphgrad.ops.control.py_func import build_py_func

from .tape import GradientTape


class _Differentiable:
    """A function for EagerPyFunc, with the tape of its last call.

    Args:
      func: the function, of eager tensors.
      types: the dtypes of its results.
      taped: whether to record every call; else functions are called again to be differentiated.
    """

    def __init__(self, func: Callable[..., Any], types: Sequence[DType], taped: bool = True):
        self._func = func
        self._types = types
        self._taped = taped
        self._last: tuple[Any, Any, GradientTape] | None = None

    def __call__(self, *inputs: Any) -> Any:
        return self._record(inputs) if self._taped else self._func(*inputs)

    def _record(self, inputs: Sequence[Any]) -> Any:
        with GradientTape(persistent=True) as tape:
            tape.watch([x for x in inputs if x.dtype.is_differentiable])
            result = self._func(*inputs)
            results = result if isinstance(result, (list, tuple)) else [result]
            if len(results) != len(self._types):
                return result  # the kernel complains
            outputs = [convert_to_tensor(r, t) for r, t in zip(results, self._types, strict=True)]
        self._last = inputs, outputs, tape
        return outputs

    def gradient(self, outputs: Sequence[int], sources: Sequence[int], types: Sequence[DType]) -> _Differentiable:
        """Makes a function from the gradients of some outputs and all inputs to the gradients of some inputs.

        Args:
          outputs: which outputs, by number.
          sources: which inputs, by number.
          types: the dtypes of these inputs.
        """

        def differentiate(*args: Any) -> list[Any]:
            d_outputs, inputs = args[: len(outputs)], args[len(outputs) :]
            # An outer tape has to record how the results depend on these very inputs.
            if self._last is None or eager.listening.recorders or not all(map(_same, self._last[0], inputs)):
                self._record(inputs)
            assert self._last is not None
            inputs, results, tape = self._last
            return list(tape.gradient([results[i] for i in outputs], [inputs[i] for i in sources], list(d_outputs),
                                      unconnected_gradients="zero"))

        return _Differentiable(differentiate, types, taped=False)


def _same(a: Any, b: Any) -> bool:
    return a._value is b._value or np.array_equal(a._value, b._value)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Tensor | Any:
    """Calls a Python function of eager tensors when the graph runs.

    Args:
      func: takes one eager tensor (or composite) for each of `inp`, returns values of the dtypes `Tout`.
      inp: a list of tensors; sparse, ragged and sliced ones reach the function as such.
      Tout: the dtype of the result, or a list of dtypes (or of specs, also of composites).
      name: a name for the operation.
    Returns: a tensor of unknown shape, or a list of them; the operation if Tout is empty.
    Raises: as `tf.numpy_function`.
    Gradient: by a tape that records what the function does with its inputs.
    Reference: TensorFlow 2.21 EagerPyFunc.

    >>> x = tf.constant(3.0)
    >>> y = tf.py_function(lambda x: x * x, [x], tf.float32)
    >>> sess.run([y, tf.gradients(y, x)[0]])
    [np.float32(9.0), np.float32(6.0)]
    """
    leaves = list(map(converted, inp or ()))
    several = isinstance(Tout, (list, tuple))
    specs = list(Tout) if several else [] if Tout is None else [Tout]
    if context.current_graph() is None and callable(func):
        # Every recording tape records the operations of the function.
        results = _results(func(*leaves), specs)
        return results if several else results[0] if specs else None
    flat = [c for s in specs for c in _components(s)]
    likes = [leaf._whole_spec if isinstance(leaf, Composite) else None for leaf in leaves]
    if all(like is None for like in likes) and len(flat) == len(specs):
        return build_py_func("EagerPyFunc", func, inp, Tout, name, _Differentiable)

    def of_components(*tensors: Any) -> list[Any]:
        return all_tensors(_results(func(*put_together(likes, tensors)), specs))

    made = build_py_func("EagerPyFunc", of_components if callable(func) else func, all_tensors(leaves), flat, name,
                         _Differentiable)
    results = put_together([s if nest.is_composite_spec(s) else None for s in specs], made) if specs else [made]
    return results if several else results[0]


def _components(spec: Any) -> list[Any]:
    return nest.flatten(spec, expand_composites=True) if nest.is_composite_spec(spec) else [spec]


def _results(result: Any, specs: Sequence[Any]) -> list[Any]:
    """Converts a function's results to the dtypes of `Tout`."""
    values = result if isinstance(result, (list, tuple)) else [result]
    if not specs:
        return []
    if len(values) != len(specs):
        raise ValueError(f"func returns {len(values)} values, but Tout names {len(specs)}. Fix: return as many")
    return [_result(v, s) for v, s in zip(values, specs, strict=True)]


def _result(value: Any, spec: Any) -> Any:
    if not nest.is_composite_spec(spec):
        return convert_to_tensor(value, dtype_of(spec))
    if not spec.is_compatible_with(value):
        raise ValueError(f"Expected value to be compatible with {spec}, but got {value}. Fix: return such a value, or "
                         "change Tout")
    return value


__all__ = ["py_function"]
