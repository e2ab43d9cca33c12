"""Loops of rewritten code: Python's, or a `While` in the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import all_tensors, converted, put_together
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, as_shape, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import Bundle
from graphgrad.ops.array.fill import zeros
from graphgrad.ops.control.assertions import after_check

from .loop_sources import LoopSource
from .staged_operators import NO_VALUE, UNDEFINED, Enumerated, convert_spec, if_, is_symbolic, is_value

_Get = Callable[[], Any]
_Set = Callable[[Any], Any]


def loop_options(parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None,
                 shape_invariants: Any = None) -> dict[str, Any]:
    """Returns the options of `set_loop_options` at the top of a loop's body."""
    return {"maximum_iterations": maximum_iterations, "shape_invariants": shape_invariants or ()}


def while_(test: Callable[[], Any], body: Callable[[], Any], get: _Get, set_: _Set, names: Sequence[str],
           options: Any) -> None:
    """Executes `while test(): body()`.

    Args:
      test, body: functions that work on the names.
      get, set_: access to the values of `names`.
      names: the names that the body changes and that are read in later iterations or after the loop.
      options: of `loop_options`, or None.
    """
    while True:
        graph = current_graph()
        if graph is None:
            goes_on = test()
        else:
            with use(FuncGraph("condition", graph, discarded=True)):  # a tensor condition is computed in the loop
                goes_on = test()
            if is_symbolic(goes_on):
                _Loop(get, set_, names, options).run(test, body)
                return
        if not goes_on:
            return
        body()


def for_(rows: Any, flags: Callable[[], Any] | None, body: Callable[[Any], Any], get: _Get, set_: _Set,
         names: Sequence[str], options: Any) -> None:
    """Executes `for item in rows: body(item)`, as long as `flags()` is true.

    Args:
      rows: a tensor, a data set or an iterator over one, or what Python can iterate over.
      flags: returns whether no `break` or `return` has been reached; None if there are none.
      body: gets an item.
      get, set_, names, options: as in `while_`.
    """
    graph = current_graph()
    if graph is not None and isinstance(rows, (Tensor, EagerTensor, Enumerated, TensorArray, LoopSource)):
        _over_rows(rows, flags, body, get, set_, names, options)
        return
    for item in rows:
        if flags is not None and is_symbolic(going := flags()):
            # Python provides the items, a tensor decides when to stop: each further iteration is a branch.
            if_(going, _bound(body, item), _nothing, get, set_, names, len(names))
            continue
        body(item)
        if flags is not None and not is_symbolic(going := flags()) and not going:
            return


def _bound(body: Callable[[Any], Any], item: Any) -> Callable[[], Any]:
    return lambda: body(item)


def _nothing() -> None:
    return None


def _over_rows(rows: Any, flags: Callable[[], Any] | None, body: Callable[[Any], Any], get: _Get, set_: _Set,
               names: Sequence[str], options: Any) -> None:
    start: Any = None
    if isinstance(rows, Enumerated):
        rows, start = rows.rows, rows.start
    count: Any = None
    elements: Any = None
    if isinstance(rows, LoopSource):
        elements = rows._loop_elements()
        row: Callable[[Any], Any] = elements.item
    elif isinstance(rows, TensorArray):
        count = rows.size()
        row = rows.read
    else:
        rows = convert_to_tensor(rows)
        count, row = _count(rows), _row_of(rows)
    step: list[Any] = [np.int32(0)]

    def goes_on() -> Any:
        more = elements.has(step[0]) if count is None else raw.Less(step[0], count)
        if flags is None:
            return more
        going = flags()
        return raw.LogicalAnd(more, going) if is_symbolic(going) else more if going else going

    def iterate() -> None:
        item = row(step[0])
        body(item if start is None else (raw.AddV2(step[0], start), item))
        step[0] = raw.AddV2(step[0], np.int32(1))

    def get_all() -> Any:
        return (step[0], *get())

    def set_all(values: Any) -> None:
        step[0] = values[0]
        set_(values[1:])

    _Loop(get_all, set_all, ("the number of iterations", *names), options).run(goes_on, iterate)


def _count(rows: Tensor) -> Any:
    shape = rows._spec.shape
    if shape == ():
        raise ValueError(f"Cannot iterate over a scalar tensor ({rows.name}).\n  Built at {user_source(4)}\n"
                         "  Fix: tf.range(tensor), or tf.reshape(tensor, [-1])")
    if shape is not None and shape[0] is not None:
        return np.int32(shape[0])
    if rows.op.type == "Range" and all(constant_value(t) is not None for t in (rows.op.inputs[0], rows.op.inputs[2])):
        first, limit, by = rows.op.inputs
        if constant_value(first) == 0 and constant_value(by) == 1 and limit.dtype.is_integer:
            count = raw.Maximum(limit, limit.dtype.np_dtype.type(0))
            return count if limit.dtype.name == "int32" else raw.Cast(count, DstT=int32)
    return raw.StridedSlice(raw.Shape(rows), [0], [1], [1], shrink_axis_mask=1)


def _row_of(rows: Tensor) -> Callable[[Any], Any]:
    if rows.op.type != "Range":
        return lambda i: raw.GatherV2(rows, i, np.int32(0))
    first, _, by = rows.op.inputs
    known: Any = constant_value(first), constant_value(by)
    if known == (0, 1):  # the item is the number of the iteration
        return lambda i: raw.Identity(i) if rows.dtype.name == "int32" else raw.Cast(i, DstT=rows.dtype)

    def item(i: Any) -> Any:
        return raw.AddV2(first, raw.Mul(by, i if rows.dtype.name == "int32" else raw.Cast(i, DstT=rows.dtype)))

    return item


class _Loop:
    """A loop of the graph over the values of some names.

    A value is nested anyhow; leaves that are not tensors are unchanged. A name without value gets zeros
    of the form that one iteration gives it.
    """

    def __init__(self, get: _Get, set_: _Set, names: Sequence[str], options: Any):
        self.get, self.set = get, set_
        self.names = names
        self.options = options or {"maximum_iterations": None, "shape_invariants": ()}
        self.before = list(get())
        self.start = list(self.before)
        self.shapes: dict[int, Any] = {}  # id of a leaf -> shape invariant
        self.made: list[int] = []  # positions of names that had no value

    def run(self, test: Callable[[], Any], body: Callable[[], Any]) -> None:
        """Adds the loop and gives the names their values after it."""
        try:
            after = self._run(test, body)
        except BaseException:
            self.set(self.before)
            raise
        self.set(after)

    def _run(self, test: Callable[[], Any], body: Callable[[], Any]) -> list[Any]:
        if any(map(_is_missing, self.before)):
            self._initialize(body)
        for value, shape in self.options["shape_invariants"]:
            self._set_invariants(value, shape)
        # Leaves by name: loop variables, and the values of the others.
        self.variable = [[is_value(leaf) for leaf in nest.flatten(v)] for v in self.start]
        start, shapes = [], []
        for value, kinds in zip(self.start, self.variable, strict=True):
            for leaf, varies in zip(nest.flatten(value), kinds, strict=True):
                if varies:
                    start.append(converted(leaf))
                    shapes.append(self._invariant(leaf, start[-1]))
        self.constants = [[leaf for leaf, varies in zip(nest.flatten(v), kinds, strict=True) if not varies]
                          for v, kinds in zip(self.start, self.variable, strict=True)]
        self.likes = start
        self.specs = [(getattr(t, "dtype", None), s) for t, s in zip(start, shapes, strict=True)]
        invariants = [s if isinstance(t, Bundle) else TensorShape(s) for t, s in zip(start, shapes, strict=True)]

        def goes_on(*leaves: Any) -> Any:
            self.set(self._packed(leaves))
            return test()

        def iterate(*leaves: Any) -> Any:
            self.set(self._packed(leaves))
            body()
            return self._leaves_after(self.get())

        if not start:
            raise ValueError(
                f"The loop changes nothing that its condition could depend on.\n  Built at {user_source(2)}\n"
                f"  Fix: assign tensors in it; assigned are {', '.join(self.names) or 'none'}"
            )
        results = while_loop(goes_on, iterate, start, invariants,
                             maximum_iterations=self.options["maximum_iterations"])
        after = self._packed(results)
        if self.made:
            self._check_initialized(after, test)
        return after

    def _set_invariants(self, value: Any, shape: Any) -> None:
        leaves, shapes = (value, shape) if nest.is_nested(value) else ([value], [shape])
        self.shapes.update({id(v): s if isinstance(v, Bundle) else as_shape(s)
                            for v, s in zip(leaves, shapes, strict=True)})

    def _invariant(self, leaf: Any, tensor: Any) -> Any:
        """Returns the shape invariant of a leaf, a spec (or None) for composites and arrays."""
        if isinstance(tensor, Bundle):
            return self.shapes.get(id(leaf))
        return self.shapes.get(id(leaf), tensor._spec.shape)

    def _initialize(self, body: Callable[[], Any]) -> None:
        """Finds initial values for names without one: zeros like the values after an iteration."""
        with use(FuncGraph("trial", current_graph(), discarded=True)):
            self.set(_copied(self.before))
            body()
            after = self.get()
        self.set(self.before)
        for i, (before, value) in enumerate(zip(self.before, after, strict=True)):
            if not _is_missing(before) or _is_missing(value):
                continue
            if not all(map(is_value, nest.flatten(value))):
                self.start[i] = value  # a Python object: unchanged
                continue
            self.start[i] = nest.map_structure(self._zeros, value)
            if before is not NO_VALUE:
                self.made.append(i)

    def _zeros(self, leaf: Any) -> Any:
        if isinstance(leaf, Bundle):
            return leaf._nothing_like()
        dtype, shape = convert_spec(leaf)
        made = zeros([d or 0 for d in shape or ()], dtype)
        if shape is None or None in shape:
            self.shapes[id(made)] = shape
        return made

    def _packed(self, leaves: Sequence[Any]) -> list[Any]:
        found = iter(leaves)
        values = []
        for value, kinds, fixed in zip(self.start, self.variable, self.constants, strict=True):
            constants = iter(fixed)
            values.append(nest.pack_sequence_as(value, [next(found) if k else next(constants) for k in kinds]))
        return values

    def _leaves_after(self, values: Sequence[Any]) -> list[Any]:
        """Returns the loop variables after an iteration, checked against those before it."""
        out: list[Any] = []
        for name, before, value, first, kinds, fixed in zip(self.names, self.before, values, self.start, self.variable,
                                                            self.constants, strict=True):
            if value is UNDEFINED or value is NO_VALUE:
                raise ValueError(f"'{name}' must be defined before the loop.\n  Built at {user_source(2)}\n"
                                 "  Fix: give it a value there")
            if value is None and first is not None:
                raise ValueError(f"'{name}' is None at the end of an iteration.\n  Built at {user_source(2)}\n"
                                 "  Fix: give it a tensor in each iteration")
            try:
                nest.assert_same_structure(first, value, check_types=False)
            except (TypeError, ValueError) as e:
                raise TypeError(
                    f"'{name}' does not have the same nested structure after one iteration. Its elements cannot be "
                    f"added to or taken from inside a loop on tensors.\n  Built at {user_source(2)}\n"
                    f"  Fix: tf.TensorArray for lists that grow, e.g. ta = ta.write(i, x)\n{e}"
                ) from None
            constants = iter(fixed)
            for leaf, varies in zip(nest.flatten(value), kinds, strict=True):
                if varies:
                    out.append(self._checked(name, leaf, self.likes[len(out)], *self.specs[len(out)]))
                elif leaf is not (constant := next(constants)) and (is_value(leaf) or not _is_missing(before)):
                    raise _no_tensor(name, constant)
        return out

    def _checked(self, name: str, leaf: Any, like: Any, dtype: Any, shape: Any) -> Any:
        if not is_value(leaf):
            raise _no_tensor(name, leaf)
        if isinstance(like, Bundle) or isinstance(leaf, Bundle):
            if type(like) is not type(leaf):
                raise TypeError(f"'{name}' is a {type(like).__name__} before the loop, but a {type(leaf).__name__} "
                                f"after one iteration.\n  Built at {user_source(2)}\n  Fix: convert one of them")
            return leaf
        tensor = convert_to_tensor(leaf)
        if tensor.dtype is not dtype:
            raise TypeError(f"'{name}' has dtype {dtype.name} before the loop, but dtype {tensor.dtype.name} after one "
                            f"iteration.\n  Built at {user_source(2)}\n  Fix: tf.cast it")
        if not TensorShape(tensor._spec.shape).is_subtype_of(shape):
            raise ValueError(
                f"'{name}' has shape {shape_str(shape)} before the loop, but shape {shape_str(tensor._spec.shape)} "
                "after one iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.\n"
                f"  Built at {user_source(2)}\n  Fix: at the top of the loop, tf.autograph.experimental."
                f"set_loop_options(shape_invariants=[({name}, tf.TensorShape(...))])"
            )
        return tensor

    def _check_initialized(self, after: list[Any], test: Callable[[], Any]) -> None:
        """Checks that the loop runs at least once if names get a value only in it."""
        graph = current_graph()
        if graph is not None and graph.building_function and graph._outer_graph is not None:
            return  # a check would move each iteration of an outer loop to the host
        self.set(self.start)
        first = test()
        if not is_symbolic(first):
            return
        for i in self.made:
            text = f"loop must iterate at least once to initialize {self.names[i]}"
            leaves = nest.flatten(after[i])
            leaves = put_together(leaves, [after_check(t, first, [text]) for t in all_tensors(leaves)])
            after[i] = nest.pack_sequence_as(after[i], leaves)


def _is_missing(value: Any) -> bool:
    return value is UNDEFINED or value is NO_VALUE or value is None


def _copied(values: Sequence[Any]) -> list[Any]:
    return [nest.map_structure(lambda leaf: leaf, v) if isinstance(v, (list, dict)) else v for v in values]


def _no_tensor(name: str, leaf: Any) -> TypeError:
    return TypeError(
        f"'{name}' holds a {type(leaf).__name__} in one iteration and something else in another; only tensors can "
        f"change in a loop on tensors.\n  Built at {user_source(3)}\n  Fix: use a tensor, or a loop over `range`"
    )
