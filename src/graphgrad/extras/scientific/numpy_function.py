"""`as_function`: tensors and functions as functions of NumPy arrays, such as SciPy's solvers take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.executor.runtime.session import Session
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.structure import nest
from graphgrad.gradients.core.arguments import flatten
from graphgrad.gradients.core.unconnected import UnconnectedGradients
from graphgrad.gradients.derived.higher import hessian, jacobian
from graphgrad.ir.context import sessions
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.function_hooks import is_function

_ZERO = UnconnectedGradients.ZERO


def as_function(fetches: Any, feeds: Any, *, flat: bool = False, by: int = 0, session: Any = None,
                sparse: Any = False) -> NumpyFunction:
    """Makes a function of NumPy arrays that computes tensors, for `scipy.optimize`, `solve_ivp` and the like.

    Args:
      fetches: the tensor to compute, or a structure of tensors. Or a Python function that returns it, in eager mode;
        it is traced once.
      feeds: the tensors that the arguments are fed to, a list or tuple, or a single one. For a Python function,
        arguments as examples, whose shapes and dtypes count.
      flat: whether all arguments are packed into one vector, one after the other, and the result is a vector, too.
      by: the number of the argument that `jac` and `hess` differentiate by, counted from 0.
      sparse: whether `jac` and `hess` give SciPy's sparse matrices, of one result by one argument, vectors as a rule;
        or the pattern, as `tf.jacobian(sparse=...)` takes it. Elements that are known to be zero are not computed.
      session: the session that has the variables' values; the default session, or a new one, if there is none.
    Returns: a `NumpyFunction`. Floating results are float64, those without dimensions are Python's floats. Its `jac`
      and `hess` are functions of the same arguments; `pack` and `unpack` convert between a vector and the arguments.
    Raises: ValueError for a shape that is not known, where it must be, for `by` beyond the arguments, and for
      `sparse` with `flat`; TypeError for `sparse` and several results.
    Reference: sympy.lambdify; scipy.optimize.minimize.

    >>> x = tf.placeholder(tf.float64, [2])
    >>> f = tf.as_function(tf.reduce_sum((x - [1.0, 2.0]) ** 2), x)
    >>> f(np.zeros(2)), f.jac(np.zeros(2)).tolist(), f.hess(np.zeros(2)).tolist()
    (5.0, [-2.0, -4.0], [[2.0, 0.0], [0.0, 2.0]])
    >>> tf.as_function(x[1:] * x[:-1], x, sparse=True).jac(np.ones(2)).toarray().tolist()
    [[1.0, 1.0]]
    """
    places = list(feeds) if isinstance(feeds, (list, tuple)) else [feeds]
    if not 0 <= by < len(places):
        raise ValueError(f"tf.as_function: by={by}, but there are {len(places)} arguments.\n"
                         f"  Called at {user_source()}\n  Fix: count them from 0")
    if flat and sparse is not False:
        raise ValueError("tf.as_function: sparse matrices are for one argument, but flat=True packs all into one.\n"
                         f"  Called at {user_source()}\n  Fix: build the vector in the graph, and feed that")
    if is_function(fetches):
        places = [convert_to_tensor(np.asarray(p) if isinstance(p, (list, float)) else p) for p in places]
        return _OfFunction(fetches, places, flat, by, sparse)
    return _OfTensors(fetches, places, flat, by, sparse, session)


class NumpyFunction:
    """A function of NumPy arrays; what `as_function` returns."""

    def __init__(self, places: Sequence[Any], flat: bool, by: int, sparse: Any):
        self._places, self._flat, self._by, self._sparse = places, flat, by, sparse
        self._dtypes = [p.dtype.np_dtype for p in places]
        self._shapes: list[Any] = [p._spec.shape if isinstance(p, Tensor) else p.shape for p in places]
        self._derived: dict[str, Callable[..., Any]] = {}
        if flat:
            for p, shape in zip(places, self._shapes, strict=True):
                if not is_fully_defined(shape):
                    raise ValueError(f"tf.as_function: {p!r} has shape {shape_str(shape)}, but flat=True needs known "
                                     f"shapes.\n  Called at {user_source()}\n  Fix: set_shape, or flat=False")
            ends = np.cumsum([math.prod(shape) for shape in self._shapes])
            self._slices = [slice(int(end) - math.prod(shape), int(end))
                            for end, shape in zip(ends, self._shapes, strict=True)]
        self._run = self._compiled("value")

    def __call__(self, *args: Any) -> Any:
        """Computes the value at the arguments, or at a vector if all are packed into one."""
        return self._called(self._run, args)

    @property
    def jac(self) -> Callable[..., Any]:
        """The first derivatives, (*Y, *X), or (m, n) of vectors; a function of the same arguments."""
        return self._derivative("jac")

    @property
    def hess(self) -> Callable[..., Any]:
        """The second derivatives of one number, (*X, *X), or (n, n) of vectors; a function of the same arguments."""
        return self._derivative("hess")

    def pack(self, *args: Any) -> Any:
        """Returns the arguments as one vector of float64."""
        return np.concatenate([np.ravel(np.asarray(a, np.float64)) for a in args])

    def unpack(self, vector: Any) -> list[Any]:
        """Returns the arguments that a vector holds, with `flat=True`."""
        vector = np.asarray(vector)
        return [vector[part].reshape(shape) for part, shape in zip(self._slices, self._shapes, strict=True)]

    def _derivative(self, what: str) -> Callable[..., Any]:
        if what not in self._derived:
            run = self._compiled(what)
            self._derived[what] = lambda *args: self._called(run, args)
        return self._derived[what]

    def _called(self, run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if self._flat and len(args) == 1:
            args = tuple(self.unpack(args[0]))
        if len(args) != len(self._places):
            raise TypeError(f"a function of {len(self._places)} arguments was given {len(args)}.\n"
                            f"  Called at {user_source()}\n  Fix: give one for each feed, or tf.as_function(flat=True)")
        found = run(*[np.asarray(a, d) for a, d in zip(args, self._dtypes, strict=True)])
        if hasattr(found, "to_scipy"):
            return found.to_scipy()
        return _out(found) if isinstance(found, (np.ndarray, np.generic)) else nest.map_structure(_out, found)

    def _compiled(self, what: str) -> Callable[..., Any]:
        raise NotImplementedError  # each subclass has its own

    def _built(self, what: str, y: Any, xs: list[Any]) -> Any:
        """Builds the value or a derivative of y by the xs in the current graph."""
        if what == "value":
            return _vector([y]) if self._flat and (isinstance(y, (list, tuple, dict)) or y.shape.rank != 0) else y
        by = xs if self._flat else xs[self._by]
        if self._sparse is not False:
            if isinstance(y, (list, tuple, dict)):
                raise TypeError(f"tf.as_function: sparse matrices are for one result, not {y!r}.\n"
                                f"  Called at {user_source()}\n  Fix: tf.concat the results")
            if what == "hess":
                return hessian(_number(y), by, _ZERO, sparse=self._sparse)
            return jacobian(y, by, unconnected_gradients=_ZERO, sparse=self._sparse)
        if what == "hess":
            found = hessian(_number(y), by, _ZERO)
            if self._flat:
                return raw.ConcatV2([_matrix(row, x, xs) for row, x in zip(found, xs, strict=True)], np.int32(0))
            return found
        if not self._flat:
            return nest.map_structure(lambda t: jacobian(t, by, unconnected_gradients=_ZERO), y)
        rows = [jacobian(t, xs, unconnected_gradients=_ZERO) for t in flatten(y)]
        if len(rows) == 1 and flatten(y)[0].shape.rank == 0:
            return _vector(rows[0])
        return raw.ConcatV2([_matrix(row, t, xs) for row, t in zip(rows, flatten(y), strict=True)], np.int32(0))


class _OfTensors(NumpyFunction):
    """A function that runs a part of a graph."""

    def __init__(self, fetches: Any, places: list[Any], flat: bool, by: int, sparse: Any, session: Any):
        self._fetches, self._graph = fetches, places[0].graph
        default = sessions.entries[-1] if sessions.entries else None
        usable = default is not None and default.graph is self._graph
        self._session: Any = session or (default if usable else Session(graph=self._graph))
        super().__init__(places, flat, by, sparse)

    def _compiled(self, what: str) -> Callable[..., Any]:
        with self._graph.as_default():
            found = self._built(what, self._fetches, list(self._places))
        run: Callable[..., Any] = self._session.make_callable(found, list(self._places))
        return run


class _OfFunction(NumpyFunction):
    """A function that calls a traced one."""

    def __init__(self, f: Callable[..., Any], places: list[Any], flat: bool, by: int, sparse: Any):
        self._f = f
        super().__init__(places, flat, by, sparse)

    def _compiled(self, what: str) -> Callable[..., Any]:
        def build(*xs: Any) -> Any:
            return self._built(what, nest.map_structure(convert_to_tensor, inner(*xs)), list(xs))

        inner = Function(self._f)
        traced = Function(build, name=what, autograph=False)

        def run(*arrays: Any) -> Any:
            found = traced(*[convert_to_tensor(a) for a in arrays])
            return found if hasattr(found, "to_scipy") else nest.map_structure(np.asarray, found)

        return run


def _out(value: Any) -> Any:
    """Returns an array as SciPy wants it."""
    if value.dtype.kind == "f":
        return float(value) if value.ndim == 0 else np.asarray(value, np.float64)
    return value


def _vector(values: Any) -> Any:
    parts = [raw.Reshape(t, np.array([-1], np.int32)) for t in flatten(values)]
    return parts[0] if len(parts) == 1 else raw.ConcatV2(parts, np.int32(0))


def _matrix(row: Any, y: Any, xs: list[Any]) -> Any:
    """Joins the Jacobians of y by the xs as a matrix (m, n)."""
    m = math.prod(y._spec.shape)
    parts = [raw.Reshape(j, np.array([m, math.prod(x._spec.shape)], np.int32))
             for j, x in zip(row, xs, strict=True)]
    return parts[0] if len(parts) == 1 else raw.ConcatV2(parts, np.int32(1))


def _number(y: Any) -> Any:
    if isinstance(y, (list, tuple, dict)) or y.shape.num_elements() != 1:
        raise ValueError(f"tf.as_function: hess is for a function of one number, not {y!r}.\n"
                         f"  Called at {user_source()}\n  Fix: tf.reduce_sum, or tf.hessian")
    return raw.Reshape(y, np.zeros(0, np.int32))
