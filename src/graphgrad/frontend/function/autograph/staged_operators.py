"""Operators of rewritten code: Python's for Python values, the graph's for tensors."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import branches, cond, trace_branch
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.ir.constant_value import may_reject
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import Bundle
from graphgrad.ops.array.fill import zeros
from graphgrad.ops.control.assertions import Assert
from graphgrad.ops.control.py_func import print_tensors

from .jumps import RETURNED, VALUE
from .loop_sources import LoopSource


class _Missing:
    """The value of a name that has none."""

    def __init__(self, what: str):
        self._what = what

    def __repr__(self) -> str:
        return self._what


UNDEFINED = _Missing("undefined")
NO_VALUE = _Missing("no value returned")


def value(get: Callable[[], Any]) -> Any:
    """Returns the value of a name, or `UNDEFINED`."""
    try:
        return get()
    except (NameError, AttributeError):
        return UNDEFINED


def set_attribute(owner: Any, name: str, new: Any) -> None:
    """Sets an attribute; removes it for `UNDEFINED`."""
    if owner is UNDEFINED:
        return
    if new is not UNDEFINED:
        if getattr(owner, name, UNDEFINED) is not new:
            setattr(owner, name, new)
    elif name in getattr(owner, "__dict__", ()):
        delattr(owner, name)


def is_symbolic(x: Any) -> bool:
    """Returns whether the truth of `x` is unknown to Python: a graph tensor, or a variable while building a graph."""
    return isinstance(x, Tensor) or (current_graph() is not None and hasattr(type(x), "handle"))


def returned(result: Any, flag: Any = True) -> Any:
    """Returns a function's result, set by its `return` statements."""
    if is_symbolic(flag):
        raise ValueError(
            "the else branch must also have a return statement: a tensor decides whether this function returns a "
            f"value, and it can end without one.\n  Built at {user_source(2)}\n"
            "  Fix: return a value on every path"
        )
    return None if result is NO_VALUE else result


# -- branches --------------------------------------------------------------------------


def if_(test: Any, body: Callable[[], Any], orelse: Callable[[], Any], get: Callable[[], Any],
        set_: Callable[[Any], Any], names: Sequence[str], results: int) -> None:
    """Executes `if test: body else: orelse`.

    Args:
      test: what decides.
      body, orelse: the branches.
      get, set_: access to the values of `names`.
      names: those that the branches change and that are read in or after them; the first `results` are read after.
    """
    if not is_symbolic(test):
        (body if test else orelse)()
        return
    before = get()

    def run(branch: Callable[[], Any]) -> Callable[[], Any]:
        def traced() -> Any:
            set_(_copied(before))
            branch()
            return get()[:results]

        return traced

    try:
        found = _choose(test, run(body), run(orelse), names, before)
    except BaseException:
        set_(before)
        raise
    set_([*found, *before[results:]])


def if_exp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Evaluates `body if test else orelse`."""
    if not is_symbolic(test):
        return body() if test else orelse()
    return _choose(test, lambda: (body(),), lambda: (orelse(),), ["the conditional expression"], ())[0]


def _copied(values: Sequence[Any]) -> list[Any]:
    """Copies lists and dictionaries among values, so that branches do not change each other's."""
    return [nest.map_structure(_same, v) if isinstance(v, (list, dict)) else v for v in values]


def _same(leaf: Any) -> Any:
    return leaf


def _choose(test: Any, body: Callable[[], Any], orelse: Callable[[], Any], names: Sequence[str],
            before: Sequence[Any]) -> list[Any]:
    """Chooses the values of one of two branches, as results of an `If`."""
    graph = current_graph()
    if graph is None:
        raise TypeError(
            f"The condition {test!r} is a symbolic tensor, but nothing builds a graph here.\n"
            f"  Asked at {user_source(3)}\n  Fix: return the tensor from its function and branch on the result"
        )
    then_graph, mains = trace_branch(graph, "cond_true", body)
    else_graph, elses = trace_branch(graph, "cond_false", orelse)
    places: list[Any] = []  # for each name: the unchanged value, or the structure of the chosen one
    then_leaves: list[Any] = []
    else_leaves: list[Any] = []
    for i, (name, main, other) in enumerate(zip(names, mains, elses, strict=False)):
        if _stays(name, main, other):
            unchanged = i < len(before) and _stays("", before[i], main)
            places.append((before[i] if unchanged else main, None))
            continue
        main, other = _filled_in(name, names, main, other, then_graph, else_graph)
        try:
            nest.assert_same_structure(main, other, check_types=False)
        except (TypeError, ValueError) as e:
            raise type(e)(
                f"{_quoted(name)} must have the same nested structure in the main and else branches.\n"
                f"  Built at {user_source(3)}\n  Fix: give both branches the same nesting\n{e}"
            ) from None
        pairs = list(zip(nest.flatten(main), nest.flatten(other), strict=True))
        kept = [a is b and not is_value(a) for a, b in pairs]
        for (a, b), same in zip(pairs, kept, strict=True):
            if not same:
                ta, tb = _in_graph(name, a, then_graph), _in_graph(name, b, else_graph)
                if isinstance(ta, Bundle) or isinstance(tb, Bundle):
                    _check_kinds(name, ta, tb)
                if getattr(ta, "dtype", None) is not getattr(tb, "dtype", None):
                    raise TypeError(
                        f"{_quoted(name)} has dtype {ta.dtype.name} in the main branch, but dtype "
                        f"{tb.dtype.name} in the else branch.\n  Built at {user_source(3)}\n"
                        "  Fix: tf.cast one of them"
                    )
                then_leaves.append(ta)
                else_leaves.append(tb)
        places.append((main, kept))
    results = iter(branches(graph, test, then_graph, then_leaves, else_graph, else_leaves))
    return [main if kept is None else nest.pack_sequence_as(
        main, [leaf if same else next(results) for leaf, same in zip(nest.flatten(main), kept, strict=True)])
        for main, kept in places]


def _check_kinds(name: str, main: Any, other: Any) -> None:
    if type(main) is not type(other):
        raise TypeError(f"{_quoted(name)} is a {type(main).__name__} in the main branch, but a {type(other).__name__} "
                        f"in the else branch.\n  Built at {user_source(4)}\n  Fix: convert one of them")


def _stays(name: str, main: Any, other: Any) -> bool:
    """Returns whether both branches leave the same object, which then need not be chosen."""
    if main is other:
        return True
    if name.startswith("_ag_") and isinstance(main, bool) and isinstance(other, bool):
        return main is other
    if nest.is_nested(main) and nest.is_nested(other):
        a, b = nest.flatten(main), nest.flatten(other)
        return type(main) is type(other) and len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
    return False


def _filled_in(name: str, names: Sequence[str], main: Any, other: Any, then_graph: FuncGraph,
               else_graph: FuncGraph) -> tuple[Any, Any]:
    """Fills in a missing value of the two, if it will never be read."""
    for mine, theirs, side, graph in ((main, other, "main", then_graph), (other, main, "else", else_graph)):
        if mine is NO_VALUE or (mine is None and name == VALUE):
            if mine is NO_VALUE and RETURNED in names and theirs is not None:
                with use(graph):
                    like = nest.map_structure(_zeros_like, theirs)
                return (like, other) if side == "main" else (main, like)
            raise ValueError(f"the {side} branch must also have a return statement"
                             f"{' with a value' if mine is None else ''}.\n  Built at {user_source(4)}\n"
                             "  Fix: return a value on every path")
        if mine is UNDEFINED:
            raise ValueError(f"{_quoted(name)} must also be initialized in the {side} branch.\n"
                             f"  Built at {user_source(4)}\n  Fix: give it a value before the `if`")
        if mine is None:
            raise ValueError(f"{_quoted(name)} is None at the end of the {side} branch.\n"
                             f"  Built at {user_source(4)}\n  Fix: give it a tensor in both branches")
    return main, other


def _zeros_like(leaf: Any) -> Any:
    if isinstance(leaf, Bundle):
        return leaf._nothing_like()
    if not is_value(leaf):
        return leaf
    dtype, shape = convert_spec(leaf)
    return zeros([d or 0 for d in shape or ()], dtype)


def convert_spec(leaf: Any) -> tuple[Any, Any]:
    """Returns the dtype and static shape of a leaf as a tensor."""
    if isinstance(leaf, (Tensor, EagerTensor)):
        return leaf.dtype, leaf._spec.shape
    with use(FuncGraph("spec", None, discarded=True)):
        tensor = convert_to_tensor(leaf)
        return tensor.dtype, tensor._spec.shape


def is_value(leaf: Any) -> bool:
    """Returns whether a leaf is, or becomes, a tensor."""
    return isinstance(leaf, (Tensor, EagerTensor, Bundle, bool, int, float, complex, str, bytes,
                             np.ndarray, np.generic))


def _in_graph(name: str, leaf: Any, graph: FuncGraph) -> Any:
    if isinstance(leaf, Bundle):
        return leaf
    with use(graph):
        try:
            return convert_to_tensor(leaf)
        except (TypeError, ValueError):
            raise TypeError(
                f"{_quoted(name)} holds a {type(leaf).__name__}, which is no tensor, and the branches give different "
                f"ones.\n  Built at {user_source(4)}\n  Fix: assign tensors in the branches, and choose other objects "
                "by conditions that Python knows"
            ) from None


def _quoted(name: str) -> str:
    return "the return value" if name == VALUE else name if " " in name else f"'{name}'"


# -- operators -------------------------------------------------------------------------


def and_(*operands: Callable[[], Any]) -> Any:
    """Evaluates `a and b and ...`: operands after a false one are not evaluated."""
    return _combined(operands, True, raw.LogicalAnd)


def or_(*operands: Callable[[], Any]) -> Any:
    """Evaluates `a or b or ...`: operands after a true one are not evaluated."""
    return _combined(operands, False, raw.LogicalOr)


def _combined(operands: Sequence[Callable[[], Any]], goes_on: bool, both: Callable[..., Any]) -> Any:
    result = operands[0]()
    for i, operand in enumerate(operands[1:], 1):
        if is_symbolic(result):
            return _with_rest(result, operands[i:], goes_on, both)
        if bool(result) is not goes_on:
            return result
        result = operand()
    return result


def _may_fail(op: Operation) -> bool:
    """Returns whether an operation may raise, or has effects, so that it must not run where Python would not run it."""
    on_lists = any(t.dtype is variant for t in (*op.inputs, *op.outputs))
    return on_lists or bool(op.opdef.flags & {"functional", "host", "stateful"}) or may_reject(op)


def _with_rest(first: Any, rest: Sequence[Callable[[], Any]], goes_on: bool, both: Callable[..., Any]) -> Any:
    graph = current_graph()
    assert graph is not None
    first = convert_to_tensor(first)
    trial = FuncGraph("operand", graph, discarded=True)
    with use(trial):
        result = convert_to_tensor(_combined(rest, goes_on, both))
    inside = {id(p): t for p, t in zip(trial.inputs, trial.captured, strict=True)}

    def second() -> Any:
        from graphgrad.gradients.bodies.subgraphs import copy_ops

        here = current_graph()
        assert here is not None
        known = {i: here.capture(t) if getattr(t, "graph", None) is not here else t for i, t in inside.items()}
        return copy_ops(here, [result], known)[0]

    # Two cheap conditions cost less than a branch, if the second one cannot fail.
    if not any(_may_fail(op) for op in trial._operations if op.type != "Placeholder"):
        return both(first, second())
    return cond(first, second, lambda: first) if goes_on else cond(first, lambda: first, second)


def not_(operand: Any) -> Any:
    """Evaluates `not a`."""
    return raw.LogicalNot(operand) if is_symbolic(operand) else not operand


def chain(comparisons: Sequence[Callable[[Any, Any], Any]], *operands: Callable[[], Any]) -> Any:
    """Evaluates `a < b < c`: each operand once, and not after a comparison that Python finds false."""
    left = operands[0]()
    result: Any = True
    for compare, operand in zip(comparisons, operands[1:], strict=True):
        right = operand()
        holds = compare(left, right)
        result = raw.LogicalAnd(result, holds) if is_symbolic(result) else holds
        if not is_symbolic(result) and not result:
            return result
        left = right
    return result


def assert_(test: Any, message: Callable[[], Any]) -> None:
    """Executes `assert test, message`: on a tensor, when the graph runs."""
    if is_symbolic(test):
        text = message()
        Assert(test, [text if text is not None else "assertion failed"])
    elif not test:
        text = message()
        raise AssertionError(text) if text is not None else AssertionError


def print_(*values: Any, **kwargs: Any) -> None:
    """Executes `print`: of tensors, when the graph runs."""
    if any(is_symbolic(v) for v in nest.flatten(list(values))):
        import sys

        print_tensors(*values, output_stream=kwargs.get("file") or sys.stdout, sep=kwargs.get("sep", " "),
                      end=kwargs.get("end", "\n"))
    else:
        builtins.print(*values, **kwargs)


def _len(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return x.size() if isinstance(x, TensorArray) else len(x)
    shape = x._spec.shape
    if shape == ():
        raise ValueError("len requires a non-scalar tensor, got one of shape ()")
    if shape is not None and shape[0] is not None:
        return shape[0]
    return raw.StridedSlice(raw.Shape(x), [0], [1], [1], shrink_axis_mask=1)


def _range(*args: Any) -> Any:
    if any(is_symbolic(a) for a in args):
        from graphgrad.ops.array.ranges import range_ as tf_range

        return tf_range(*args)
    return range(*args)


def _number(kind: type, dtype: Any) -> Callable[..., Any]:
    def convert_number(*args: Any, **kwargs: Any) -> Any:
        if args and is_symbolic(args[0]):
            return raw.Cast(convert_to_tensor(args[0]), DstT=dtype)
        return kind(*args, **kwargs)

    return convert_number


class Enumerated:
    """`enumerate` of a tensor, or of a data set in a graph."""

    def __init__(self, rows: Any, start: Any):
        self.rows, self.start = rows, start


def _enumerate(iterable: Any, start: Any = 0) -> Any:
    in_graph = isinstance(iterable, Tensor) or (current_graph() is not None and isinstance(iterable, LoopSource))
    return Enumerated(iterable, start) if in_graph else enumerate(iterable, start)


def _special() -> dict[Any, Any]:
    from graphgrad.ir.dtypes import float32, int32

    return {len: _len, range: _range, enumerate: _enumerate, int: _number(int, int32), float: _number(float, float32)}


_SPECIAL: dict[Any, Any] = {}


def converted(f: Any) -> Any:
    """Returns the function to call instead of `f`."""
    from .convert import convert

    if not _SPECIAL:
        _SPECIAL.update(_special())
    try:
        special = _SPECIAL.get(f)
    except TypeError:  # not hashable
        special = None
    return convert(f) if special is None else special

