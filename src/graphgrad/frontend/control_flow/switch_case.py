"""`switch_case`: one function of several, chosen by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from graphgrad.frontend.graph.default_graph import name_scope_v1
from graphgrad.frontend.structure.structure_types import Branches, OneTensor, TensorsT
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.tensor import Tensor as AnyTensor

from .cond_while import cond


@overload
def switch_case(branch_index: Any, branch_fns: Branches[OneTensor], default: Callable[[], object] | None = None,
                name: str = "switch_case") -> AnyTensor: ...
@overload
def switch_case(branch_index: Any, branch_fns: Branches[TensorsT], default: Callable[[], object] | None = None,
                name: str = "switch_case") -> TensorsT: ...
@overload
def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None,
                name: str = "switch_case") -> Any: ...
def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None,
                name: str = "switch_case") -> Any:
    """Returns the result of the function with a given number; only that one runs.

    Args:
      branch_index: an integer scalar.
      branch_fns: a list of functions without arguments, or a dictionary (or pairs) of 0, 1, ... and functions. All
        return the same structure.
      default: the function for other numbers; that with the highest number if it is not given.
      name: a name scope.
    Returns: the structure of tensors that the chosen function gives.
    Raises: TypeError, ValueError for arguments that do not fit; as `tf.cond` for results that differ in structure.
    Gradient: of the function that ran; zeros for what only others use.
    Reference: TensorFlow 2.21 `tf.switch_case`; here the choice is made by halves, in nested `If` operations.

    >>> sess.run(tf.switch_case(tf.constant(1), [lambda: 10.0, lambda: 20.0, lambda: 30.0]))
    np.float32(20.0)
    """
    if not is_tensor_like(branch_index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}. Fix: tf.constant(branch_index)")
    index = convert_to_tensor(branch_index)
    if not index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {index.dtype}. Fix: tf.cast it to tf.int32")
    functions = _numbered(branch_fns)
    if default is not None and not callable(default):
        raise TypeError(f"'default' must be callable, got {type(default)}")
    with name_scope_v1(name, "switch_case"):
        if current_graph() is None:
            number = int(index)
            if 0 <= number < len(functions):
                return functions[number]()
            return (default or functions[-1])()
        chosen = lambda: _among(index, functions, 0)  # noqa: E731  # called by `cond`
        if default is None and len(functions) == 1:
            return functions[0]()
        with index.graph._own_gradients():  # TensorFlow's branches are functions of their own in every mode
            if default is None:
                # Numbers beyond the last select the last one anyway; those below the first are handled here.
                return cond(index < 0, functions[-1], chosen)
            outside = (index < 0) | (index >= len(functions))
            return cond(outside, default, chosen)


def _among(index: Any, functions: Sequence[Callable[[], Any]], first: int) -> Any:
    """Builds the choice among some of the functions, the first of which has the number `first`."""
    if len(functions) == 1:
        return functions[0]()
    half = len(functions) // 2
    return cond(index < first + half, lambda: _among(index, functions[:half], first),
                lambda: _among(index, functions[half:], first + half))


def _numbered(branch_fns: Any) -> list[Callable[[], Any]]:
    """Returns the functions in the order of their numbers."""
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    pairs: list[Any] = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if all(map(callable, pairs)):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    found = sorted(number for number, _ in pairs)
    if found != list(range(len(pairs))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
                         f"{{{','.join(map(str, found))}}}. Fix: number the functions from 0 on")
    by_number = dict(pairs)
    return [by_number[number] for number in found]
