"""Operations with sub-graphs: `If`, `While` and `VectorizedMap`.

A kernel gets each sub-graph as a function `f(args, state) -> (outputs, state)` and the values
of the variables that the sub-graphs touch as `state`; it returns outputs and new state. Where `f.watched` is true, the
last element of the state is whether a value was rejected (`OpDef.refuses`). The
gradients need the sweep itself, so they are declared in `gradients/control_flow/if_gradient.py`.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from graphgrad.errors import Complaint, NeedsHostValue
from graphgrad.ir.dtypes import ANY
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.shape import is_fully_defined, relax, shape_str
from graphgrad.ir.values.tensor_list import TensorList

_FLAGS = ("stateful", "functional")


def _decision(value):
    """Returns the one bool of a condition, which may have axes of size 1."""
    if value.shape == ():
        return value
    if math.prod(value.shape) != 1:
        raise Complaint(f"a condition must be a scalar, but has shape {shape_str(value.shape)}",
                        "tf.reduce_all or tf.reduce_any it")
    return value.reshape(())


def _on_device(run):
    """Calls `run`; leaves the op to NumPy if shapes differ between branches or iterations."""
    try:
        return run()
    except TypeError as e:
        if any(text in str(e) for text in _SHAPES_DIFFER):
            raise NeedsHostValue("") from None
        raise


_SHAPES_DIFFER = ("carry", "must have equal output types", "must have identical types", "must have equal types",
                  "must have same type structure", "must have same structure",
                  "must have the same pytree structure")


def _on_loan(xp, value, shape=None):
    """Converts a value to a form that compiled control flow can carry: an array, or a list in one array."""
    return value.in_one(xp, shape) if isinstance(value, TensorList) else xp.asarray(value)


def _carried(xp, values, iterate):
    """Returns the initial loop variables; a list without shape gets that of the first iteration's elements."""
    values = [_on_loan(xp, v) for v in values]
    unknown = [i for i, v in enumerate(values) if isinstance(v, TensorList) and v.items is not None]
    if unknown:
        from graphgrad.ops.common.lax_functions import shapes_of

        after = shapes_of(xp, iterate, values)
        for i in unknown:
            if after[i].buffer is not None:
                values[i] = values[i].in_one(xp, tuple(after[i].buffer.shape[1:]))
    return values


@op("If", "cond: bool, input: list(Tin) -> output: list(Tout)", Tin=ANY, Tout=ANY, flags=_FLAGS)
def if_(xp, cond, args, *, then_branch, else_branch, state):
    """Runs one of two sub-graphs."""
    cond = _decision(cond)
    if xp is np or isinstance(cond, np.ndarray):
        return (then_branch if bool(cond) else else_branch)(args, state)
    if any(value is None for value in state):
        # One branch may handle a variable without a value, for which the other one cannot be traced.
        raise NeedsHostValue("cond")

    from graphgrad.ops.common.lax_functions import lax_of  # not needed to import this package

    def run(branch):
        def call(operands):
            # Both branches must give JAX arrays, constants too.
            outputs, new_state = branch(*operands)
            return [_on_loan(xp, o) for o in outputs], new_state

        return call

    return _on_device(lambda: lax_of(xp).cond(cond, run(then_branch), run(else_branch), (args, state)))


@if_.shape
def _if_shape(cond, args, then_branch, else_branch):
    if cond is not None and math.prod(n for n in cond if n is not None) not in (0 if None in cond else 1, 1):
        raise Complaint(f"cond must be a scalar, but has shape {shape_str(cond)}", "tf.reduce_all or tf.reduce_any it")
    pairs = zip(then_branch.outputs, else_branch.outputs, strict=True)
    return [relax(a._spec.shape, b._spec.shape) for a, b in pairs]


@op("While", "input: list(T) -> output: list(Tout)", T=ANY, Tout=ANY, flags=_FLAGS)
def while_(xp, args, *, cond, body, output_shapes, state, maximum_iterations=None, counter=None,
           bounded_by=None, memory=None):
    """Runs a sub-graph while another one returns true. The first inputs are the loop variables, the rest captures.

    `counter` is the loop variable that numbers the iterations for random operations, if they are not numbered from 0,
    and -1 if they are numbered inside;
    `bounded_by` is an input, a list with at least as many elements as iterations; `memory` is the checkpointing of its
    reverse sweep: None, 'sqrt' or 'log'.
    """
    n = len(output_shapes)
    captures = args[n:]
    limit = maximum_iterations

    def number(step, values):
        return step if counter is None else values[counter] if counter >= 0 else None

    if xp is np:
        values, step = list(args[:n]), 0
        while limit is None or step < limit:
            (more,), state = cond([*values, *captures], state, step)
            if not bool(_decision(more)):
                break
            values, state = body([*values, *captures], state, number(step, values))
            step += 1
        return values, state
    if cond.changes:  # XLA's conditions can only decide
        raise NeedsHostValue("")
    from graphgrad.ops.common.lax_functions import lax_of

    def keep_going(carry):
        step, values, state = carry
        more = _decision(xp.asarray(cond([*values, *captures], state, step)[0][0]))
        if cond.stop is not None:
            more = xp.logical_and(more, xp.logical_not(cond.stop(step)))
        if cond.watched or body.watched:  # a rejected value may be the one that ends the loop
            more = xp.logical_and(more, xp.logical_not(state[-1]))
        return more if limit is None else xp.logical_and(more, step < limit)

    def judged(step, values, state):
        """Adds the condition's rejections to the state; the caller of `keep_going` cannot pass them on."""
        return (*state[:-1], cond([*values, *captures], state, step)[1][-1]) if cond.watched else state

    def iterate(carry):
        step, values, state = carry
        state = judged(step, values, state)
        values, state = body([*values, *captures], state, number(step, values))
        return step + 1, [_on_loan(xp, v) for v in values], state

    def run():
        zero, now = xp.zeros((), xp.int64), tuple(map(xp.asarray, state))
        values = _carried(xp, args[:n], lambda values: iterate((zero, values, now))[1])
        return lax_of(xp).while_loop(keep_going, iterate, (zero, values, now))

    step, values, state = _on_device(run)
    return values, judged(step, values, state)


@while_.shape
def _while_shape(args, output_shapes):
    return list(output_shapes)


@op("LoopBound", "count: int32 -> bound: int32", flags=("host",))
def loop_bound(xp, count):
    """Returns the next power of two: the length of lists that store something for each iteration of a loop.

    A compiled loop depends on the bound, so few bounds mean few compilations.
    """
    return np.int32(1 << max(0, int(count) - 1).bit_length())


@loop_bound.shape
def _loop_bound_shape(count):
    return ()


loop_bound.grad(NOT_DIFFERENTIABLE)


@op("LoopSegments", "bound: int32 -> length: int32, segments: int32", flags=("host",),
    limits={"levels": range(1, 32)})
def loop_segments(xp, bound, *, levels):
    """Returns the length of the segments of a loop, and their number, if loops are nested `levels` deep."""
    n = max(1, int(bound))
    length = max(1, round(n ** (1 / levels)))
    while length**levels < n:
        length += 1
    return np.int32(length), np.int32(-(-n // length ** (levels - 1)))


@loop_segments.shape
def _loop_segments_shape(bound):
    return [(), ()]


loop_segments.grad(NOT_DIFFERENTIABLE)


@op("VectorizedMap", "input: list(Tin) -> output: list(Tout)", Tin=ANY, Tout=ANY,
    flags=("stateful", "reads", "functional"))
def vectorized_map_op(xp, args, *, body, mapped, state, chunk=None, draws=True, summed=()):
    """Runs a sub-graph on each row of the mapped inputs and stacks the results; all rows at once on a device.

    `mapped` is, for each input, whether the sub-graph gets a row of it or all of it; `chunk` the number of rows
    computed at a time (None: all; 0: as many as need little memory); `draws` whether each row draws its own random
    numbers; `summed` the outputs that are summed over the rows instead of stacked.
    """
    rows = [a for a, is_mapped in zip(args, mapped, strict=True) if is_mapped]
    n = rows[0].shape[0]
    if any(r.shape[0] != n for r in rows):
        sizes = ", ".join(str(r.shape[0]) for r in rows)
        raise Complaint(f"the mapped inputs have different numbers of rows: {sizes}", "give all as many rows")

    def one(i, row):
        parts = iter(row)
        inputs = [next(parts) if is_mapped else a for a, is_mapped in zip(args, mapped, strict=True)]
        return body(inputs, state, i if draws else None)

    if xp is np:
        return _row_by_row(one, rows, body.specs, summed), state
    import jax

    def traced(operands):
        """Computes the outputs for a row; the last one is whether a value was rejected, if that is watched."""
        outputs, after = one(operands[0], operands[1:])
        return [_array_or_list(xp, o) for o in (*outputs, *after[len(after) - body.watched :])]

    operands = (xp.arange(n), *map(xp.asarray, rows))
    try:
        if chunk == 0:
            results = _as_fit(jax, xp, traced, operands, n, summed)
        elif chunk is None or chunk >= n:
            results = _with_sums(jax, xp, jax.vmap(traced)(operands), summed)
        else:
            results = _with_sums(jax, xp, jax.lax.map(traced, operands, batch_size=chunk), summed)
    except NotImplementedError:  # something that JAX cannot batch
        raise NeedsHostValue("") from None
    return (results[:-1], (*state[:-1], xp.any(results[-1]))) if body.watched else (results, state)


def _array_or_list(xp, value):
    if not isinstance(value, TensorList):
        return xp.asarray(value)
    found = value.in_one(xp)
    if found.buffer is None:  # elements of unknown shape
        raise NeedsHostValue("")
    return found


def _with_sums(jax, xp, stacked, summed):
    """Returns the rows' results, some of which are summed: arrays, or lists in one array each."""
    def total(value):
        return jax.tree_util.tree_map(lambda o: xp.sum(o, 0, dtype=o.dtype), value)

    return [total(o) if i in summed else o for i, o in enumerate(stacked)]


_LITTLE = 32 << 20  # bytes that rows computed together may take


def _as_fit(jax, xp, traced, operands, n, summed):
    """Computes `traced` for all rows, stacked or summed, as many rows at a time as need little memory."""
    example = [jax.ShapeDtypeStruct(o.shape[1:], o.dtype) for o in operands]
    jaxpr, shapes = jax.make_jaxpr(traced, return_shape=True)(example)
    values = (v.aval for eqn in jaxpr.eqns for v in eqn.outvars)
    row = 1 + sum(math.prod(v.shape) * v.dtype.itemsize for v in values if hasattr(v, "shape"))
    together = max(1, _LITTLE // row)
    if together >= n:
        return _with_sums(jax, xp, jax.vmap(traced)(operands), summed)
    if not summed:
        return jax.lax.map(traced, operands, batch_size=together)
    whole = n - n % together
    sums = {i: xp.zeros(shapes[i].shape, shapes[i].dtype) for i in summed}

    def step(sums, group):
        outs = jax.vmap(traced)(group)
        return ({i: s + xp.sum(outs[i], 0, dtype=s.dtype) for i, s in sums.items()},
                [o for i, o in enumerate(outs) if i not in sums])

    groups = [o[:whole].reshape(-1, together, *o.shape[1:]) for o in operands]
    sums, stacked = jax.lax.scan(step, sums, groups)
    stacked = [o.reshape(-1, *o.shape[2:]) for o in stacked]
    if whole < n:
        sums, rest = step(sums, [o[whole:] for o in operands])
        stacked = [xp.concatenate(pair) for pair in zip(stacked, rest, strict=True)]
    found = iter(stacked)
    return [sums[i] if i in sums else next(found) for i in range(len(shapes))]


def _row_by_row(one, rows, specs, summed):
    """Computes the outputs one row after the other; `one` is a function of a row's number and the row."""
    n = rows[0].shape[0]
    if n == 0:
        shapes = [spec.shape for spec in specs]
        if not all(map(is_fully_defined, shapes)):  # the shapes of one row's results
            shapes = [np.shape(o) for o in one(0, [np.zeros(r.shape[1:], r.dtype) for r in rows])[0]]
        return [np.zeros(shape if i in summed else (0, *shape), spec.dtype.np_dtype)
                for i, (shape, spec) in enumerate(zip(shapes, specs, strict=True))]
    results = [one(i, [r[i, ...] for r in rows])[0] for i in range(n)]
    return [_sum_of_rows(column) if i in summed else _stacked(column)
            for i, column in enumerate(zip(*results, strict=True))]


def _sum_of_rows(values):
    if isinstance(values[0], TensorList):
        return functools.reduce(lambda total, v: total.plus(np, v), values)
    return np.sum(values, 0, np.asarray(values[0]).dtype)


def _stacked(values):
    """Stacks the rows' results; rejects results that differ in shape."""
    values = [np.asarray(v, object if isinstance(v, bytes) else None) for v in values]
    other = next((v for v in values if v.shape != values[0].shape), None)
    if other is not None:
        raise Complaint(
            f"the rows give results of different shapes, {shape_str(values[0].shape)} and {shape_str(other.shape)}",
            "pad what the function returns to one shape",
        )
    return np.stack(values)


@vectorized_map_op.shape
def _vectorized_map_shape(args, body, mapped, summed):
    n = None
    for shape, is_mapped in zip(args, mapped, strict=True):
        if not is_mapped or shape is None:
            continue
        if not shape:
            raise Complaint("a mapped input is a scalar: it has no rows", "tf.expand_dims(x, 0)")
        if n is not None and shape[0] is not None and shape[0] != n:
            raise Complaint(f"the mapped inputs have different numbers of rows: {n} and {shape[0]}",
                            "give all as many rows")
        n = shape[0] if n is None else n
    return [shape if shape is None or i in summed else (n, *shape)
            for i, shape in enumerate(t._spec.shape for t in body.outputs)]
