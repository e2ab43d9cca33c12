"""`py_function`: Python functions of eager tensors as operations that can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir import context, eager
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import DType
from ..ops.host import build_py_func
from .tape import GradientTape


class _Differentiable:
    """A function for EagerPyFunc, with the tape of its last call.

    Args:
      func: the function, of eager tensors.
      types: the dtypes of its results.
      taped: whether to record every call; else what is to be differentiated is called again.
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
        """A function from the gradients of some outputs and all inputs to the gradients of some inputs.

        Args:
          outputs: which outputs, by number.
          sources: which inputs, by number.
          types: the dtypes of these inputs.
        """

        def differentiate(*args: Any) -> list[Any]:
            d_outputs, inputs = args[: len(outputs)], args[len(outputs) :]
            # While somebody records, it has to see how the results follow from these very inputs.
            if self._last is None or eager.recorders or not all(map(_same, self._last[0], inputs)):
                self._record(inputs)
            assert self._last is not None
            inputs, results, tape = self._last
            return list(tape.gradient([results[i] for i in outputs], [inputs[i] for i in sources], list(d_outputs),
                                      unconnected_gradients="zero"))  # fmt: skip

        return _Differentiable(differentiate, types, taped=False)


def _same(a: Any, b: Any) -> bool:
    return a._value is b._value or np.array_equal(a._value, b._value)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Calls a Python function of eager tensors when the graph runs.

    Args:
      func: takes one eager tensor for each of `inp`, returns what converts to tensors.
      inp: a list of tensors.
      Tout: the dtype of the result, or a list of dtypes (or of `TensorSpec`s).
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
    if context.current_graph() is None and callable(func):
        # Every tape that is recording sees what the function does.
        result = func(*[convert_to_tensor(x) for x in inp or ()])
        if not isinstance(Tout, (list, tuple)):
            return None if Tout is None else convert_to_tensor(result, getattr(Tout, "dtype", Tout))
        results = result if isinstance(result, (list, tuple)) else [result]
        return [convert_to_tensor(r, getattr(t, "dtype", t)) for r, t in zip(results, Tout, strict=True)]
    return build_py_func("EagerPyFunc", func, inp, Tout, name, _Differentiable)


__all__ = ["py_function"]
