"""What the graph, the gradients and the executor know of an op besides its kernel, shape rule and gradient.

A trait stands in the op's record, as an option of `op` or as a function registered beneath the kernel, and nowhere
else: no other module has a table of op types. An op that says nothing has the value that stands in `OpTraits`.

    @op("MatMul", "a: T, b: T -> product: T", T=NUMERIC, cost=Cost.PRODUCT)
    def mat_mul_op(xp, a, b, *, transpose_a=False, transpose_b=False):
        ...

    @mat_mul_op.multiply_adds
    def _mat_mul_work(op, unknown):
        ...
"""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Cost(enum.Enum):
    """What an operation costs, compared with reading its operands and writing its results.

    Attributes:
      kept: whether the result is kept for the gradient of a loop, not computed again.
    """

    LIGHT = enum.auto()  # elementwise, or moves data: XLA fuses it with its neighbours
    SERIES = enum.auto()  # elementwise, by a long series or an iteration: the gamma function and its relatives
    HEAVY = enum.auto()  # passes of its own over the data: a pool, a normalization, a sort, a scan, a transform
    PRODUCT = enum.auto()  # a matrix product, or composed of some
    CONVOLUTION = enum.auto()
    FACTORIZATION = enum.auto()  # a decomposition of a matrix, an inverse, the solution of a system

    @property
    def kept(self) -> bool:
        return self not in (Cost.LIGHT, Cost.HEAVY)


class Linear(enum.Enum):
    """In which way an operation is linear in its floating inputs; what its gradient rule returns says the same."""

    JOINTLY = enum.auto()  # in all of them together, as a sum: no gradient depends on any of them
    SEPARATELY = enum.auto()  # in each of them while the others stay, as a product: none depends on its own input


class BatchSplit(NamedTuple):
    """How the batch of an operation is split into parts that are computed by themselves.

    Attributes:
      inputs: the positions of the inputs whose first dimension is the batch.
      filter: the position of the filter, or of what has its shape; -1 for the result.
      image: the position of the smaller one of the two images, the strided one; -1 for the result.
      sizes: the position of the input that holds the shape of the result, or None.
      added: whether the partial results are added, not concatenated.
    """

    inputs: tuple[int, ...]
    filter: int
    image: int
    sizes: int | None = None
    added: bool = False

    def image_of(self, op: Any) -> Any:
        """Returns the smaller one of the images."""
        return op.outputs[0] if self.image < 0 else op.inputs[self.image]

    def filter_of(self, op: Any) -> Any:
        """Returns the filter, or what has its shape."""
        return op.outputs[0] if self.filter < 0 else op.inputs[self.filter]


class Library(NamedTuple):
    """How a library within XLA:CPU computes an operation, as a program of its own.

    Attributes:
      takes: a function of an operation: whether the library is to compute it, by what is known while it is planned.
      program: a function of (shapes, sizes, attrs): the shapes of the inputs, without that of the one that holds the
        shape of the result; its value, or None; and the attributes. It gives the StableHLO, as text, and the shape of
        the result; None for what the library is not to compute after all.
    """

    takes: Callable[[Any], bool]
    program: Callable[..., tuple[str, tuple[int, ...]] | None]


class SideBySide(NamedTuple):
    """How the results of an operation lie in one of its inputs, side by side along an axis.

    Attributes:
      position: which input.
      axis: the axis.
      sizes: the size of each result along it.
    """

    position: int
    axis: int
    sizes: tuple[int, ...]


class Shortened(NamedTuple):
    """What has to be computed of an operand for a part of a result.

    Attributes:
      position: which operand.
      op_type: the type of the operation that cuts it.
      attrs: its attributes.
      shape: the shape of the part.
    """

    position: int
    op_type: str
    attrs: dict[str, Any]
    shape: tuple[int | None, ...]


class Dependence(NamedTuple):
    """On which elements of an input the elements of a result depend; all are numbered as they lie in memory.

    Attributes:
      rows: for each element of the result the number of a group, or -1; None: group 0 for all.
      groups, members: pairs of a group and an element of the input that belongs to it; both are None if group i is
        element i.
    """

    rows: Any
    groups: Any = None
    members: Any = None


class OpTraits:
    """The traits of an op: options of `op` by these names.

    Attributes:
      cost: see `Cost`. Programs are cut into clusters before what is not light.
      saves_result: whether its gradient reads its result in place of its arguments, so that a loop keeps that.
      batch_split: how its batch is split over several cores, or None.
      library: how a library computes it, or None.
      shape_only: whether its results depend on the shapes of its inputs alone, and are integers.
      fill: the number that all elements of its result are; None if they differ.
      alias: whether its outputs have the values of its inputs, one by one, and share their memory.
      identity: whether, besides, the gradients of its inputs are those of its outputs. It is an alias then.
      data_movement: whether each element of its results is an element of an input, or a zero.
      zero_preserving: whether its results are zero where its floating inputs are; what moves data preserves zeros.
      operator: the operator or function of Python that it computes elementwise ("+", "-", "<", "and", "min", ...);
        conditions and counters of loops are read by it.
      linear: see `Linear`; None if it is not linear.
      elementwise: whether each element of its only result depends on the same elements of its inputs alone, which
        broadcast.
      quotient: whether its result times its second input is the first one, elementwise.
      variable: what it does to the variable behind its handle: "read", "assign", "update"; "ask" if it asks whether
        there is a value; "handle" if it makes the handle, "hold" if it makes that of one that holds its input.
      table: whether it acts on a lookup table.
      tensor_list: what it does to a list: "reserve", "set", "get", "length", "element_shape".
      placeholder: whether its value is fed, or may be.
      checks: whether it returns its input, or raises an error; errors then name the operation that made the value.
      finite_advice: how to keep its value and its gradient finite, as a clause.
      gradient_advice: an expression that can replace it and has a gradient. `k` is how steep, `t` a temperature.
      formula: what it computes as a Python expression of the names of its inputs and attributes, in which functions
        have NumPy's names; None for a call by its own name. See `written_as`.
      eager_seconds: what NumPy takes for each element of the largest input or output, in seconds, if XLA takes at most
        three quarters of it on large arrays; then eager mode uses programs for it once it recurs.
      eager_where: for which shape of its first result that is so; None for all.
      keyed: the op type that draws the same random numbers from a key and a counter; such a program serves all seeds.
      stacked_rule: see `stacked`.
      value_rule: see `partial_value`.
      dependence_rule: see `dependences`; "elementwise" says that the result depends on the same elements of the inputs
        alone, which broadcast, whatever else `elementwise` says.
      rows_rule: see `by_rows`.
      work_rule: see `multiply_adds`.
      parts_rule: see `parts`.
      cut_rule: see `cut_operand`.
      summed: the op type that computes the sum of several of its operations; its inputs are the list of their first
        inputs, then that of their second ones.
      fault: see `refuses`; `fault_needs` has the indices of the inputs whose value it looks at; None if it looks at the
        results. `fault_when` says which operations are watched for it; None for all.
    """

    cost = Cost.LIGHT
    saves_result = False
    batch_split: BatchSplit | None = None
    library: Library | None = None
    shape_only = False
    fill: int | None = None
    alias = False
    identity = False
    data_movement = False
    zero_preserving = False
    operator: str | None = None
    linear: Linear | None = None
    elementwise = False
    quotient = False
    variable: str | None = None
    table = False
    tensor_list: str | None = None
    placeholder = False
    checks = False
    finite_advice = ""
    gradient_advice = ""
    formula: str | Callable[[Any], str | None] | None = None
    eager_seconds = 0.0
    eager_where: Callable[[Any], bool] | None = None
    keyed = ""
    stacked_rule: Callable[..., Any] | None = None
    value_rule: Callable[..., Any] | None = None
    dependence_rule: Callable[..., Any] | str | None = None
    rows_rule: Callable[[Any, Sequence[bool]], bool] | None = None
    work_rule: Callable[..., float] | None = None
    parts_rule: Callable[[Any], SideBySide | None] | None = None
    cut_rule: Callable[[Any, int, int, int], Shortened] | None = None
    summed: str | None = None
    fault: Callable[..., Any] | None = None
    fault_needs: tuple[int, ...] | None = ()
    fault_when: Callable[[Any], bool] | None = None
    _fault_attrs: tuple[str, ...] = ()

    # Set by `OpDef`, for the rules here.
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    attrs: dict[str, Any]

    def _take_traits(self, options: dict[str, Any]) -> None:
        """Takes the traits out of the options of `op`."""
        for name in _OPTIONS & options.keys():
            setattr(self, name, options.pop(name))
        rule = options.pop("partial_value", None)
        if self.identity:
            self.alias, self.linear = True, Linear.JOINTLY
        if self.alias:
            self.data_movement, rule = True, rule or same_value
        if self.data_movement:
            self.zero_preserving = True
        if rule is not None:
            self.value_rule = rule
        if (rows := options.pop("rows", None)) is not None:
            self.rows_rule = rows
        if (dependence := options.pop("dependence", None)) is not None:
            self.dependence_rule = dependence

    def written_as(self, rule: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
        """Declares what an operation computes as a formula, where that depends on its attributes (a decorator).

        The rule is a function of an operation, and gives what the option `formula` of `op` says: in `tf.formula`'s
        language `total(list)` adds up a list, `item(x, "0, :")` is x[0, :], and `swapped(x)` turns matrices around.
        None: it is written as a call.
        """
        self.formula = rule
        return rule

    def dependences(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Declares on which elements of its inputs a result depends, for sparse derivatives (a decorator).

        Elementwise operations and those that move data need none. The rule is a function of (op, values, index): an
        operation with known shapes, for each input its value as an array if it is known and needs no derivative, and
        the number of the result. It gives for each input a `Dependence`, None where there is none; or None in place of
        all if it cannot say. It may name too many elements, never too few.
        """
        self.dependence_rule = rule
        return rule

    def by_rows(self, rule: Callable[[Any, Sequence[bool]], bool]) -> Callable[[Any, Sequence[bool]], bool]:
        """Declares when an operation treats the examples of a batch one by one (a decorator).

        Elementwise operations need none. The rule is a function of (op, rows): an operation, and which of its inputs
        are batches, with one slice along the first axis for each example. It says whether all results are batches of
        the same examples, each computed from that example of these inputs alone; False where it cannot say.
        """
        self.rows_rule = rule
        return rule

    def partial_value(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Declares what is known of the value of a result while the graph is built (a decorator).

        The rule is a function of (t, values): an output, and for each input of its operation the value as
        `ir.constant_value` has it, None where nothing is known. It gives the value of `t` in the same form. As an
        option of `op`, `partial_value=elementwise` or `folded` computes it by the kernel.
        """
        self.value_rule = rule
        return rule

    def stacked(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Declares how an operation is applied to stacks of values at once (a decorator); by default by a map.

        The rule is a function of (op, operands, stacked): an operation, a tensor for each of its inputs, and which of
        these have one more dimension in front. It builds operations and gives the result, with that dimension. Where
        the operation treats the examples of a batch alike, a stacked operand may have a batch of 1 for all of them, and
        so may the result. None: it cannot do this one.
        """
        self.stacked_rule = rule
        return rule

    def multiply_adds(self, rule: Callable[..., float]) -> Callable[..., float]:
        """Declares about how many multiplications and additions an operation takes (a decorator).

        The rule is a function of (op, unknown): the operation, and the size of dimensions that are not known. It may
        give infinity where nothing can be said.
        """
        self.work_rule = rule
        return rule

    def parts(self, rule: Callable[[Any], SideBySide | None]) -> Callable[[Any], SideBySide | None]:
        """Declares that the results are parts of an input (a decorator).

        The rule is a function of an operation; it gives the `SideBySide`, None if they are not known.
        """
        self.parts_rule = rule
        return rule

    def cut_operand(self, rule: Callable[[Any, int, int, int], Shortened]) -> Callable[[Any, int, int, int], Shortened]:
        """Declares that a part of an operand is enough for a part of the result (a decorator).

        The rule is a function of (op, axis, begin, size): an operation, and the part of its result along an axis; it
        gives the `Shortened`.
        """
        self.cut_rule = rule
        return rule

    def refuses(
        self, *needs: str, when: Callable[[Any], bool] | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares which values the kernel rejects (a decorator), for compiled programs, which cannot raise.

        The rule is a function of (xp, *inputs, **attributes) like the kernel. It returns a list of error conditions:
        pairs `(integers, size)` for integers outside [0, size), and arrays of bool. Where one of them is true, NumPy
        repeats the computation, and its kernel raises.

        Args:
          *needs: the inputs whose values the rule reads; of the others only the shape. None: it takes the results
            instead of the inputs.
          when: a function of an `Operation` that returns whether to check it, outside of sub-graphs; by default all are
            checked, in sub-graphs too.
        """
        names = [a.name for a in self.inputs]

        def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
            self.fault, self.fault_when = rule, when
            self.fault_needs = tuple(names.index(n) for n in needs) or None
            self._fault_attrs = wanted(rule, self.attrs)
            return rule

        return declare

    def faults(self, xp: Any, inputs: Sequence[Any], results: Any, attrs: dict[str, Any]) -> Any:
        """Applies the rule of `refuses`; returns pairs and arrays.

        Args:
          xp: NumPy or jax.numpy.
          inputs: one value for each input of the signature.
          results: the kernel's results; None if the rule does not read them.
          attrs: the kernel's keyword arguments.
        """
        assert self.fault is not None
        if self.fault_needs is None:
            inputs = results if len(self.outputs) > 1 else (results,)
        return self.fault(xp, *inputs, **{k: attrs[k] for k in self._fault_attrs})


_OPTIONS = frozenset({
    "cost", "saves_result", "batch_split", "library", "shape_only", "fill", "alias", "identity", "data_movement",
    "zero_preserving", "operator", "linear", "elementwise", "quotient", "variable", "table", "tensor_list",
    "placeholder", "checks", "finite_advice", "gradient_advice", "formula", "eager_seconds",
    "eager_where", "keyed", "summed"})


# Code objects are read directly: `inspect.signature` of every kernel and shape rule would take
# half of the package's import time.


def wanted(fn: Callable[..., Any], offered: Iterable[str]) -> tuple[str, ...]:
    """Returns which of the offered attribute names `fn` takes as keyword arguments."""
    code = inspect.unwrap(fn).__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return tuple(offered)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple([n for n in offered if n in parameters])


def size_of(shape: tuple[int | None, ...] | None, unknown: int) -> float:
    """Returns the number of elements, with `unknown` for each dimension that is not known, and for an unknown rank.

    Args:
      shape: a static shape.
      unknown: the number.
    """
    return unknown if shape is None else math.prod([float(unknown) if n is None else n for n in shape])


def is_sum(op: Any) -> bool:
    """Returns whether an operation adds up a list of tensors."""
    return op.opdef.operator == "+" and bool(op.opdef.has_lists)


def same_value(t: Any, values: list[Any]) -> Any:
    """Returns the value of the input in the same place: the `partial_value` of aliases."""
    return values[t.value_index]
