"""`Defun`: TensorFlow 1's functions, with optional gradient functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from graphgrad.gradients.core.custom import custom_gradient
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source


class _CallOp:
    """The operation of a call as a `python_grad_func` sees it: `inputs`, `outputs`, `name`, `type`, `graph`."""

    def __init__(self, function: _DefinedFunction, inputs: tuple[Any, ...], outputs: tuple[Any, ...], name: str):
        self.inputs = inputs
        self.outputs = outputs
        self.name = name
        self.type = function.name
        self.graph = current_graph()

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class _DefinedFunction:
    """A function decorated by `Defun`; a call adds its operations to the graph."""

    def __init__(self, function: Callable[..., Any], argnames: list[str], input_types: tuple[Any, ...] | None,
                 name: str, grad_func: Any, python_grad_func: Any, source: Any):
        self._function = function
        self._argnames = argnames
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._source = source
        self.name = name
        self.declared_input_types = input_types

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that computes the gradient, or None."""
        return None if self._grad_func is None else self._grad_func.name

    @property
    def python_grad_func(self) -> Any:
        """The Python function that computes the gradient, or None."""
        return self._python_grad_func

    def add_to_graph(self, g: Any) -> None:
        """Does nothing: calls add their operations themselves."""

    def __call__(self, *args: Any, name: str | None = None) -> Any:
        """Adds a call.

        Args:
          args: one tensor for each argument, of the declared dtype.
          name: the name scope of the call; the function's name by default.
        Returns: what the function returns.
        Raises: ValueError for another number of arguments; TypeError for other dtypes.
        """
        types = self.declared_input_types
        count = len(self._argnames) if types is None else len(types)
        if len(args) != count:
            raise ValueError(f"Expected number of arguments: {count}, received: {len(args)}; function {self.name} was "
                             f"defined at {self._source}\n  Called at {user_source(2)}")
        with name_scope(name, self.name) as scope:
            tensors = [convert_to_tensor(a, None if types is None else types[i]) for i, a in enumerate(args)]
            if self._grad_func is None and self._python_grad_func is None:
                return self._function(*tensors)
            return self._with_gradient((scope or "").rstrip("/"))(*tensors)

    def _with_gradient(self, name: str) -> Callable[..., Any]:
        @custom_gradient
        def call(*inputs: Any) -> Any:
            result = self._function(*inputs)
            outputs = tuple(result) if isinstance(result, (list, tuple)) else (result,)

            def grad(*dys: Any, variables: Any = None) -> Any:
                if self._python_grad_func is not None:
                    found = self._python_grad_func(_CallOp(self, inputs, outputs, name), *dys)
                else:
                    found = self._grad_func(*inputs, *dys)
                return found if variables is None else (found, [None] * len(variables))

            return result, grad

        decorated: Callable[..., Any] = call
        return decorated


class Defun:
    """Decorator that makes a function of TensorFlow 1, optionally with its own gradient function.

    Args:
      input_types: the dtypes of the arguments; none to take whatever a call gives.
      func_name: its name; that of the Python function by default.
      grad_func: a `Defun` function from arguments and output gradients to the gradients of the arguments.
      python_grad_func: instead a Python function `f(op, *dys)` that returns the gradients of the arguments; `op` has
        `inputs` and `outputs`.
      out_names, shape_func, noinline and other keywords: accepted as TensorFlow 1 does; without effect.
    Returns: the function. A call adds its operations to the graph.
    Raises: ValueError if both kinds of gradient function are given, or types and arguments differ in number.
    Gradient: that of the gradient function; otherwise that of the operations inside, also with respect to tensors
      of the surroundings.
    Reference: TensorFlow 1.15 `tensorflow.python.framework.function.Defun`.

    >>> @tf.Defun(tf.float32, python_grad_func=lambda op, dy: dy * 10.0)
    ... def square(x):
    ...     return x * x
    >>> x = tf.constant(3.0)
    >>> sess.run([square(x), tf.gradients(square(x), x)[0]])
    [np.float32(9.0), np.float32(10.0)]
    """

    def __init__(self, *input_types: Any, func_name: str | None = None, grad_func: Any = None,
                 python_grad_func: Any = None, out_names: Any = None, **kwargs: Any):
        self._input_types = tuple(as_dtype(t) for t in input_types)
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        if grad_func is not None and python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {func_name or ''}: both grad_func and "
                             f"python_grad_func.\n  Asked for at {user_source(2)}\n  Fix: give one of them")

    def __call__(self, func: Callable[..., Any]) -> _DefinedFunction:
        """Defines `func`."""
        if not callable(func):
            raise ValueError(f"Function {func} must be callable")
        parameters = inspect.signature(func).parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if any(p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
            raise ValueError(f"Functions with keyword arguments cannot be defined by Defun: {func.__name__}. "
                             "Fix: bind them with functools.partial")
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        types = self._input_types
        least = sum(p.default is p.empty for p in parameters if p.name in names)
        if types and not variadic and not least <= len(types) <= len(names):
            raise ValueError(f"The function has fewer or more arguments than the number of specified input types: "
                             f"{func.__name__} takes {len(names)}, {len(types)} types are given.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give one dtype for each argument")
        name = self._func_name or func.__name__
        return _DefinedFunction(func, names, types or None, name, self._grad_func, self._python_grad_func,
                                user_source(2))
