"""Optimizers outside the graph: they evaluate the loss and its gradient in a session, and assign the result.

Reference: `tf.contrib.opt` of TensorFlow 1.15.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.variables.variable_functions import trainable_variables
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.platform import logging_v1
from graphgrad.system.late_imports import load


class ExternalOptimizerInterface:
    """Base of optimizers outside the graph; a subclass has `_minimize`.

    Args:
      loss: a scalar tensor to minimize.
      var_list: the variables to change; all trainable ones by default.
      equalities: tensors that are to be zero.
      inequalities: tensors that are not to be negative.
      var_to_bounds: variable -> (lower, upper), arrays that broadcast to its shape.
      **optimizer_kwargs: kept in `optimizer_kwargs` for the subclass.
    """

    def __init__(self, loss: Any, var_list: Any = None, equalities: Any = None, inequalities: Any = None,
                 var_to_bounds: Any = None, **optimizer_kwargs: Any):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        unknown = [v.name for v in self._vars if not is_fully_defined(v.shape._dims)]
        if unknown:
            raise ValueError(f"the shape of every variable must be known. Fix: give var_list without {unknown}")
        shapes = [v.shape.as_list() for v in self._vars]
        ends = np.cumsum([0] + [int(np.prod(s, dtype=int)) for s in shapes]).tolist()
        self._slices = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self._shapes = shapes
        self._packed_bounds = self._bounds(var_to_bounds)
        self._updates = []
        self._update_feeds = []
        for v, shape in zip(self._vars, shapes):
            placeholder = raw.Placeholder(dtype=v.dtype, shape=tuple(shape))
            self._update_feeds.append(placeholder)
            self._updates.append(v.assign(placeholder).op)
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._gradient(loss)
        self._packed_equality_grads = [self._gradient(e) for e in self._equalities]
        self._packed_inequality_grads = [self._gradient(i) for i in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs

    def _bounds(self, var_to_bounds: Any) -> list[tuple[float, float]] | None:
        if var_to_bounds is None:
            return None
        given = {id(v): b for v, b in var_to_bounds.items()}
        packed: list[tuple[float, float]] = []
        for v, shape in zip(self._vars, self._shapes):
            lower, upper = given.get(id(v), (-np.inf, np.inf))
            ends = [np.broadcast_to(end, shape).ravel().tolist() for end in (lower, upper)]
            packed += zip(*ends)
        return packed

    def _gradient(self, y: Any) -> Any:
        grads = []
        for g, v in zip(gradients(y, self._vars), self._vars):
            if g is None:
                g = raw.ZerosLike(convert_to_tensor(v))
            grads.append(dense(g))
        return self._pack(grads)

    @staticmethod
    def _pack(tensors: Sequence[Any]) -> Any:
        """Concatenates all tensors' elements to one float64 vector."""
        flat = [raw.Reshape(convert_to_tensor(t), np.array([-1], np.int32)) for t in tensors]
        wide = max((t.dtype for t in flat), key=lambda d: d.size) if flat else None
        flat = [t if t.dtype is wide else raw.Cast(t, DstT=as_dtype(wide)) for t in flat]
        return flat[0] if len(flat) == 1 else raw.ConcatV2(flat, np.int32(0))

    def minimize(self, session: Any = None, feed_dict: Any = None, fetches: Any = None, step_callback: Any = None,
                 loss_callback: Any = None, **run_kwargs: Any) -> None:
        """Minimizes the loss, then assigns the variables. It runs at once: it is not an operation of a graph.

        Args:
          session: the session; the default one if not given.
          feed_dict: what to feed in every run.
          fetches: tensors whose values `loss_callback` gets.
          step_callback: called with the vector of all variables after each of the optimizer's steps.
          loss_callback: called with the values of `fetches` each time the loss is evaluated.
          **run_kwargs: options for `session.run`.
        Raises: ValueError if there is no session.
        """
        from graphgrad.executor.runtime.session import get_default_session

        session = session or get_default_session()
        if session is None:
            raise ValueError("minimize needs a session. Fix: minimize(session), or a `with tf.Session():` block")
        feed_dict = feed_dict or {}
        fetches = fetches or []
        loss_callback = loss_callback or (lambda *values: None)
        step_callback = step_callback or (lambda vector: None)
        start = session.run(self._packed_var, **run_kwargs)

        def assign(x: Any) -> None:
            session.run(self._updates, dict(zip(self._update_feeds, self._unpack(x))), **run_kwargs)

        def evaluator(tensors: Any, extra: Any = (), callback: Any = None) -> Callable[[Any], list[Any]]:
            def evaluate(x: Any) -> list[Any]:
                assign(x)
                values = session.run([*tensors, *extra], feed_dict, **run_kwargs)
                if callback is not None:
                    callback(*values[len(tensors) :])
                return [np.asarray(v, np.float64) for v in values[: len(tensors)]]

            return evaluate

        loss_func = evaluator([self._loss, self._packed_loss_grad], list(fetches), loss_callback)
        equality = [evaluator([e]) for e in self._equalities]
        equality_grads = [evaluator([g]) for g in self._packed_equality_grads]
        inequality = [evaluator([i]) for i in self._inequalities]
        inequality_grads = [evaluator([g]) for g in self._packed_inequality_grads]
        found = None
        try:
            found = self._minimize(
                initial_val=np.asarray(start, np.float64), loss_grad_func=_loss_and_gradient(loss_func),
                equality_funcs=[_only(f) for f in equality], equality_grad_funcs=[_only(f) for f in equality_grads],
                inequality_funcs=[_only(f) for f in inequality],
                inequality_grad_funcs=[_only(f) for f in inequality_grads], packed_bounds=self._packed_bounds,
                step_callback=step_callback, optimizer_kwargs=self.optimizer_kwargs)
        finally:
            assign(start if found is None else found)

    def _unpack(self, x: Any) -> list[Any]:
        return [np.reshape(x[s], shape).astype(v.dtype.as_numpy_dtype)
                for v, s, shape in zip(self._vars, self._slices, self._shapes)]

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        """Minimizes; subclasses implement their algorithm here.

        Args:
          initial_val: the vector to start from.
          loss_grad_func: x -> (loss, gradient).
          equality_funcs, inequality_funcs: functions x -> value.
          equality_grad_funcs, inequality_grad_funcs: functions x -> gradient.
          packed_bounds: a (lower, upper) for each element of x, or None.
          step_callback: to be called with x after each step.
          optimizer_kwargs: the arguments of the constructor.
        Returns: the vector that was found.
        """
        # Subclasses have the method; the class and the text are TensorFlow's.
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
                                  "method.")


def _loss_and_gradient(evaluate: Callable[[Any], list[Any]]) -> Callable[[Any], tuple[float, Any]]:
    def both(x: Any) -> tuple[float, Any]:
        loss, gradient = evaluate(x)
        return float(loss), gradient

    return both


def _only(evaluate: Callable[[Any], list[Any]]) -> Callable[[Any], Any]:
    def single(x: Any) -> Any:
        return evaluate(x)[0]

    return single


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """An optimizer that minimizes with `scipy.optimize.minimize`.

    Args:
      loss, var_list, equalities, inequalities, var_to_bounds: as in `ExternalOptimizerInterface`.
      **optimizer_kwargs: SciPy's: `method` ('L-BFGS-B', or 'SLSQP' if there are constraints),
        `options={'maxiter': ...}`, `tol`, ...
    Reference: `tf.contrib.opt.ScipyOptimizerInterface` of TensorFlow 1.15.

    >>> from graphgrad.extras.contrib.external_optimizer import ScipyOptimizerInterface
    >>> w = tf.Variable([7.0, 7.0])
    >>> optimizer = ScipyOptimizerInterface(tf.reduce_sum(tf.square(w - [1.0, 2.0])), options={"maxiter": 100})
    >>> sess.run(tf.global_variables_initializer())
    >>> optimizer.minimize(sess)
    >>> np.round(sess.run(w), 3)
    array([1., 2.], dtype=float32)
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        optimize = load("scipy.optimize")

        kwargs = dict(optimizer_kwargs.items())
        for name, whose in (("fun", "loss"), ("x0", "variables"), ("jac", "gradient"), ("callback", "step_callback")):
            if name in kwargs:
                raise ValueError(f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                                 f"manually. Fix: it is the {whose}; leave it out")
        constraints = []
        for kind, funcs, grads in (("eq", equality_funcs, equality_grad_funcs),
                                   ("ineq", inequality_funcs, inequality_grad_funcs)):
            constraints += [{"type": kind, "fun": f, "jac": g} for f, g in zip(funcs, grads)]
        method = kwargs.pop("method", "SLSQP" if constraints else self._DEFAULT_METHOD)
        if constraints:
            kwargs["constraints"] = constraints
        if packed_bounds is not None:
            kwargs["bounds"] = packed_bounds
        found = optimize.minimize(loss_grad_func, initial_val, jac=True, callback=step_callback, method=method,
                                  **kwargs)
        lines = ["Optimization terminated with:", f"  Message: {found.message}",
                 f"  Objective function value: {found.fun:f}"]
        lines += [f"  Number of {text}: {found[name]}" for text, name in
                  (("iterations", "nit"), ("functions evaluations", "nfev")) if name in found]
        logging_v1.info("\n".join(lines))
        return found.x
