"""Types of nested values, for signatures: what functions return that give back the structure they were given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from graphgrad.ir.tensor import DTypeLike, Tensor, TensorOperators
from graphgrad.ir.values.composite import Bundle

# What becomes one tensor, whatever stands around it: a tensor or variable, an array, a number, a text.
OneTensor: TypeAlias = TensorOperators | np.ndarray[Any, Any] | np.generic | complex | str | bytes
# Tensors and composites, nested in any way. A function that keeps the structure returns the type that it was given;
# where there are numbers or arrays among the leaves, it returns tensors in their places, so their types are not kept.
Tensors: TypeAlias = "Tensor | Bundle | Sequence[Tensors] | Mapping[Any, Tensors]"
TensorsT = TypeVar("TensorsT", bound=Tensors)
NestedT = TypeVar("NestedT", bound="Sequence[Tensors] | Mapping[Any, Tensors]")
# The dtypes of a function's results, where none of them is a spec.
DTypes: TypeAlias = DTypeLike | Sequence[DTypeLike] | Mapping[str, DTypeLike]

# What decorators keep: the parameters of a function, those of a method without its object, and the result.
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
_Result = TypeVar("_Result")
# What `tf.case` and `tf.switch_case` choose from.
Pairs: TypeAlias = Sequence[tuple[Any, Callable[[], _Result]]] | Mapping[Any, Callable[[], _Result]]
Branches: TypeAlias = (Sequence[Callable[[], _Result]] | Sequence[tuple[int, Callable[[], _Result]]]
                       | Mapping[int, Callable[[], _Result]])
_P = ParamSpec("_P")
_ResultT = TypeVar("_ResultT", covariant=True)


class Lenient(Protocol[_P, _ResultT]):
    """A function that an editor shows with its own parameters, and that may be called without them, or by others."""

    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _ResultT: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> _ResultT: ...
