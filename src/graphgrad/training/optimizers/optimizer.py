"""The base of the optimizers: from a loss to the operation of one training step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from graphgrad.frontend import modes
from graphgrad.frontend.distribute.contexts import ReduceOp, get_replica_context, get_strategy, has_strategy
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.structure import nest
from graphgrad.frontend.tracking.trackable import RESTORE_LATER, Trackable
from graphgrad.frontend.variables import clusters
from graphgrad.frontend.variables.variable import AssignedVariable, Variable
from graphgrad.frontend.variables.variable_functions import trainable_variables
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph, get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.control.group import group
from graphgrad.ops.control.group import tuple as gated

from .slots import create_slot, create_zeros_slot, op_name

_Pairs = Iterable[tuple[Any, Any]]
_EXPLAIN = "print(tf.explain_gradient(loss, variable)): it says where the path from the loss to the variable ends"


class Optimizer(Trackable):
    """Minimizes a loss by updating variables with its gradient.

    A new optimizer is a subclass with `_apply_dense(grad, var)` and, for gathered variables,
    `_apply_sparse(grad, var)` (with IndexedSlices of distinct indices), and perhaps
    `_create_slots(var_list)`, `_prepare()` and `_finish(update_ops, name_scope)`. The names
    `_resource_apply_dense(grad, var)` and `_resource_apply_sparse(values, var, indices)` serve too.

    Args:
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.

    Reference: TensorFlow 2.21 `tf.compat.v1.train.Optimizer`.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[Any, Any] = {}

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {name: v for (name, _), v in self._non_slot_dict.items()}

    def get_name(self) -> str:
        """Returns the optimizer's name."""
        return self._name

    # -- the two halves of a step --------------------------------------------------

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
                 grad_loss: Any = None) -> Any:
        """Builds the operation of one training step: `compute_gradients`, then `apply_gradients`.

        Args:
          loss: the tensor to minimize (in eager mode, a function that computes it).
          global_step: a variable to raise by one afterwards.
          var_list: the variables to update; all trainable ones by default.
          gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
          aggregation_method, colocate_gradients_with_ops: as in `tf.gradients`.
          name: a name for the operation.
          grad_loss: what the gradient of `loss` is multiplied by.
        Returns: the `Operation`; in eager mode None.
        Raises: ValueError if the loss depends on none of the variables.

        >>> w = tf.Variable(2.0)
        >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(w * w)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(1.0)
        """
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if not any(g is not None for g, _ in grads_and_vars):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in grads_and_vars]} and loss {loss}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: {_EXPLAIN}")
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[tuple[Any, Any]]:
        """Computes the gradient of the loss with respect to each variable.

        Args:
          loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
            grad_loss: as in `minimize`. `var_list` may hold plain tensors here.
        Returns: a list of (gradient, variable); None for variables that the loss does not use.
        Raises: ValueError for unfit arguments, or if there are no variables; RuntimeError for a
          tensor in eager mode.
        """
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        if callable(loss):
            return self._compute_by_tape(loss, var_list, grad_loss)
        if current_graph() is None:
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager "
                               "execution is enabled.")
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            graph = get_default_graph()
            variables = trainable_variables() + graph.get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            variables = nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        for v in variables:
            _check_target(v)
        # GATE_OP needs no gates: in one run, all reads built before an update see the old values.
        grads: Any = gradients(loss, variables, grad_loss, aggregation_method=aggregation_method,
                               colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = gated(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        return pairs

    def _compute_by_tape(self, loss: Callable[[], Any], var_list: Any, grad_loss: Any) -> list[tuple[Any, Any]]:
        from graphgrad.frontend.autodiff.tape import GradientTape

        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(tape.watched_variables()) if var_list is None else nest.flatten(var_list)
        self._assert_valid_dtypes([value])
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(self, grads_and_vars: _Pairs, global_step: Any = None, name: str | None = None,
                        skip_gradients_aggregation: bool = False) -> Any:
        """Builds the operation that updates the variables with their gradients.

        Args:
          grads_and_vars: pairs as `compute_gradients` returns them; those with None are omitted.
          global_step: a variable to raise by one afterwards.
          name: a name for the operation.
          skip_gradients_aggregation: accepted as TensorFlow does.
        Returns: the `Operation`; it joins the collection TRAIN_OP. None in eager mode.
        Raises: ValueError if there are no gradients; TypeError for anything but a gradient;
          NotImplementedError for a tensor in place of a variable.
        """
        pairs = [(_as_gradient(g), v) for g, v in tuple(grads_and_vars)]
        if not pairs:
            raise ValueError("No variables provided.")
        for _, v in pairs:
            _check_target(v)
        variables = [v for g, v in pairs if g is not None]
        if not variables:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: {_EXPLAIN}")
        if has_strategy() and get_strategy().extended._use_merge_call():
            return self._meet(pairs, global_step, name)
        if clusters.current() is not None and any(clusters.is_shared(v) for v in variables):
            from .in_turn import apply

            return apply(self, pairs, global_step, name)
        self._make_slots(variables)
        graph = current_graph()
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(graph, g, v) for g, v in pairs if g is not None]
            updates = [_operation(u) for u in updates]
            if global_step is None:
                applied = self._finish(updates, scope)
            elif graph is None:
                self._finish(updates, "update")
                applied = global_step.assign_add(1, read_value=False)
            else:
                with graph.control_dependencies([self._finish(updates, "update")]):
                    with _beside(graph, global_step):
                        applied = _operation(global_step.assign_add(1, name=scope, read_value=False))
        return applied if graph is None else _as_train_op(graph, applied)

    def _make_slots(self, variables: list[Any]) -> None:
        with init_scope():
            self._create_slots(variables)
            restore = vars(self).get(RESTORE_LATER)  # a checkpoint that was read before the slots were created
            if restore is not None:
                restore(self, None, None)

    # -- replicas ------------------------------------------------------------------

    def _meet(self, pairs: list[tuple[Any, Any]], global_step: Any, name: str | None) -> Any:
        """Waits for the other replicas, and returns the operation that updates all copies with the gradients' sums."""
        replica = get_replica_context()
        if replica is None:
            raise RuntimeError("Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context. "
                               "Fix: call it in the function that strategy.run calls")
        return replica.merge_call(self._distributed_apply, args=(pairs, global_step, name))

    def _distributed_apply(self, distribution: Any, grads_and_vars: _Pairs, global_step: Any = None,
                           name: str | None = None) -> Any:
        """Updates the copies of variables with the sums of the replicas' gradients.

        Args:
          distribution: the strategy.
          grads_and_vars: pairs of gradients, by replica, and variables.
          global_step, name: as in `apply_gradients`.
        """
        there = distribution.extended
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        sums = there.batch_reduce_to(ReduceOp.SUM, pairs)
        self._make_slots([v for _, v in pairs])
        graph = current_graph()
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [there.update(v, lambda var, grad: _operation(self._update(current_graph(), grad, var)),
                                    args=(g,), group=False) for g, (_, v) in zip(sums, pairs, strict=True)]
            last = there.update_non_slot(there.non_slot_devices([v for _, v in pairs]), self._finish,
                                         args=(updates, "update"), group=False)
            if global_step is None:
                applied = distribution.group(last, name=scope)
            else:
                with contextlib.nullcontext() if graph is None else graph.control_dependencies(
                        [v for v in distribution.experimental_local_results(last) if v is not None]):
                    applied = there.update(global_step, lambda v: _operation(v.assign_add(1, read_value=False)))
        return None if graph is None else _as_train_op(graph, applied)

    def _update(self, graph: Graph | None, grad: Any, var: Any) -> Any:
        """Builds one variable's update, with its constraint."""
        if not isinstance(var, Variable):
            raise NotImplementedError("Trying to update a Tensor ", var)
        sparse = isinstance(grad, IndexedSlices)
        if sparse and var.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        if graph is None:
            update = self._apply_sparsely(grad, var) if sparse else self._apply_densely(grad, var)
            if var.constraint is not None:
                var.assign(var.constraint(var))
            return update
        own = op_name(var) if var._graph is not None else ""
        with graph.name_scope("update_" + own), _beside(graph, var):
            if sparse:
                return self._apply_sparsely(grad, var)
            update = self._apply_densely(grad, var)
            if var.constraint is None:
                return update
            with graph.control_dependencies([_operation(update)]):
                return var.assign(var.constraint(var), read_value=False)

    # -- choosing a subclass's method ----------------------------------------------

    def _apply_densely(self, grad: Any, var: Any) -> Any:
        names = ["_apply_dense", "_resource_apply_dense"]
        return getattr(self, self._nearest(names))(grad, var)

    def _apply_sparsely(self, grad: IndexedSlices, var: Any) -> Any:
        names = ["_apply_sparse_duplicate_indices", "_apply_sparse", "_resource_apply_sparse_duplicate_indices",
                 "_resource_apply_sparse"]
        chosen = self._nearest(names)
        if chosen == "_apply_sparse_duplicate_indices":
            return self._apply_sparse_duplicate_indices(grad, var)
        if chosen == "_apply_sparse":
            return Optimizer._apply_sparse_duplicate_indices(self, grad, var)
        if chosen == "_resource_apply_sparse_duplicate_indices":
            return self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)
        return Optimizer._resource_apply_sparse_duplicate_indices(self, grad.values, var, grad.indices)

    def _nearest(self, names: list[str]) -> str:
        """Returns the name that the most derived class defines; of two, the one for the variables' kind."""
        if modes.resource_variables_enabled():
            names = names[len(names) // 2 :] + names[: len(names) // 2]
        for cls in type(self).__mro__:
            found = next((n for n in names if n in cls.__dict__), None)
            if found is not None and cls is not Optimizer:
                return found
        return names[0] if names[0].startswith("_apply") else names[len(names) // 2]

    # -- for subclasses ------------------------------------------------------------

    def _valid_dtypes(self) -> Any:
        """Returns the dtypes of losses and variables that the optimizer supports."""
        return (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype not in valid:
                raise ValueError(f"Invalid type {t.dtype!r} for {getattr(t, 'name', t)}, expected: {list(valid)}.\n"
                                 f"  Asked for at {user_source(3)}\n  Fix: tf.cast it to a floating-point type")

    def _create_slots(self, var_list: Any) -> None:
        """Makes the slots that the variables need."""

    def _prepare(self) -> None:
        """Makes the tensors that all updates use; called before them."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Adds the operations that update `var` with `grad`, a tensor."""
        raise NotImplementedError(f"{type(self).__name__} defines no _apply_dense(grad, var)")

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Adds the operations that update a variable with `grad`, a tensor."""
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """Adds the operations that update `var` with `grad`, whose indices are distinct."""
        raise NotImplementedError(f"{type(self).__name__} defines no _apply_sparse(grad, var)")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """Adds the operations that update `var` with `grad`, whose indices may repeat."""
        values, indices = _deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Adds the operations that update rows of a variable; the indices are distinct."""
        return self._apply_sparse(IndexedSlices(grad, indices), handle)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Adds the operations that update rows of a variable; indices may repeat."""
        values, distinct = _deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, distinct)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """Groups all updates in one operation; subclasses add final updates here."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        """Returns the hyperparameter, or its result if it is a function."""
        return param() if callable(param) else param

    # -- slots ---------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns the slot `name` of a variable, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """Returns the names of the slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Returns the optimizer's own variables in the current graph, sorted by name."""
        graph = current_graph()
        own = [v for (_, g), v in self._non_slot_dict.items() if g is graph]
        own += [v for slots in self._slots.values() for v in slots.values() if _graph_of(v) is graph]
        return sorted(own, key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """Returns the slot of `var`, creating it with the initial value `val` if necessary."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot(var, val, op_name)
        return slots[_key(var)]

    def _get_or_make_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str,
                                           op_name: str) -> Any:
        """Returns the slot of `var`, creating it by the initializer if necessary."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot(var, initializer, op_name, shape, dtype)
        return slots[_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """Returns the slot of `var`, creating it with zeros if necessary."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_zeros_slot(var, op_name)
        return slots[_key(var)]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """Creates a variable of the optimizer itself, one for each graph."""
        key = (name, _graph_of(colocate_with) if colocate_with is not None else current_graph())
        if key not in self._non_slot_dict:
            from graphgrad.frontend.variables.variable import VariableV1

            graph = key[1]
            beside = None if graph is None or colocate_with is None else _beside(graph, colocate_with)
            with beside or contextlib.nullcontext():
                self._non_slot_dict[key] = VariableV1(initial_value, name=name, trainable=False)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        """Returns a variable of the optimizer itself, or None."""
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self) -> Any:
        """Returns all variables of the optimizer itself except slots."""
        return self._non_slot_dict.values()


def _key(var: Any) -> Any:
    return var._identity if isinstance(var, Variable) else var.ref()


def _as_train_op(graph: Graph, applied: Any) -> Any:
    """Returns the operation of a training step, which joins the collection of them."""
    if isinstance(applied, Tensor):
        applied = applied.op
    train_ops = graph.get_collection_ref(GraphKeys.TRAIN_OP)
    if applied not in train_ops:
        train_ops.append(applied)
    return applied


def _graph_of(var: Any) -> Graph | None:
    return var._graph if isinstance(var, Variable) else var.graph


def _check_target(v: Any) -> None:
    if not isinstance(v, (Variable, Tensor, EagerTensor)):
        raise NotImplementedError(f"Trying to optimize unsupported type {v!r} of type '{type(v).__name__}'. "
                                  "Fix: give tf.Variable objects")


def _as_gradient(g: Any) -> Any:
    if g is None or isinstance(g, IndexedSlices):
        return g
    try:
        return convert_to_tensor(g)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {g}") from None


def _operation(update: Any) -> Any:
    """Returns the operation of an update; the result of an assignment is a read after it."""
    return update.op if isinstance(update, AssignedVariable) else update


def _beside(graph: Graph, var: Any) -> Any:
    """Colocates operations in a block with the variable."""
    if not isinstance(var, Variable) or var._graph is not graph:
        return contextlib.nullcontext()
    return graph.colocate_with(var._handle.op)


def _deduplicated(values: Any, indices: Any) -> tuple[Any, Any]:
    """Sums the rows that have the same index."""
    unique, positions = raw.Unique(indices)
    count = raw.StridedSlice(raw.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
    return raw.UnsortedSegmentSum(values, positions, count), unique


def as_dtype_of(value: Any, grad: Any) -> Any:
    """Converts a hyperparameter to a tensor of a gradient's dtype."""
    return value if value.dtype is grad.dtype else raw.Cast(value, DstT=grad.dtype)
