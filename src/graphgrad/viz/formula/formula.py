"""`formula`: writes what computes a tensor as a formula."""

from __future__ import annotations

import html
import inspect
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from graphgrad.frontend.function.function import Function
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.source import line_of, user_source
from graphgrad.ir.values.function_hooks import is_function

from .expressions import FormulaNode
from .latex import Latex
from .latex import name as latex_name
from .leaves import Leaves
from .lines import lines
from .plain import plain
from .reading import FormulaReader


class Formula:
    """A tensor as a formula; prints as text, notebooks show it as mathematics.

    Attributes:
      lines: pairs of a name and an expression, in the order of computation: parts that occur more than once, and long
        ones, have names. The name of the last one, the result, is "".
      tensors: what the formula begins with, by its name there: placeholders, variables, large constants, random
        numbers.
      operations: loops, branches and calls of functions, by their names there.
      latex: the formula as LaTeX, without dollar signs.
    """

    def __init__(self, root: FormulaNode, leaves: Leaves):
        self.tensors: Mapping[str, Tensor] = leaves.tensors
        self.operations: Mapping[str, Operation] = leaves.operations
        chosen = lines(root, {*leaves.tensors, *leaves.operations})
        self.lines = [(chosen.names.get(part, ""), plain(part, chosen.names)) for part in chosen.parts]
        ranks = [t._spec.shape != () for t in leaves.tensors.values()]
        latex = Latex(chosen.names, r"\odot" if any(ranks) else r"\,")
        written = [(chosen.names.get(part), latex.write(part)) for part in chosen.parts]
        self.latex = _aligned([(None if n is None else latex_name(n), text) for n, text in written])

    def __str__(self) -> str:
        notes = [f"# {name}: {op.type}, built at {line_of(op.source)}" for name, op in self.operations.items()]
        return "\n".join([*notes, *(f"{name} = {text}" if name else text for name, text in self.lines)])

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def _repr_html_(self) -> str:
        return f'<code style="white-space:pre-wrap">{html.escape(str(self))}</code>'


def _aligned(written: list[tuple[str | None, str]]) -> str:
    if len(written) == 1:
        return written[0][1]
    rows = [f"{name} &= {text}" if name is not None else f"& {text}" for name, text in written]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def formula(tensor: Any, *arguments: Any) -> Formula:
    """Writes what computes a tensor as a formula, such as a derivative.

    What changes no value is left out where shapes prove it: factors of one, sums over what was not broadcast,
    broadcasts of numbers. Otherwise a formula says what the graph computes; it is not simplified as algebra systems do.

    Args:
      tensor: a tensor of a graph. Or a Python function, which is traced.
      *arguments: for a function examples of its arguments, whose shapes and dtypes count.
    Returns: a `Formula`. It prints as Python with NumPy's functions, `**` and `@`; `where` is NumPy's, and
      `sum_to(x, shape)` sums over what was broadcast from that shape. `latex` is LaTeX, which notebooks show.
    Raises: TypeError for anything but a tensor of a graph, and for a function of several results.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own; TensorFlow has no such function.

    >>> x = tf.placeholder(tf.float32, [], name="x")
    >>> slope = tf.formula(tf.gradients(tf.sin(x) * x, x)[0])
    >>> slope
    sin(x) + x * cos(x)
    >>> print(slope.latex)
    \\sin\\left(x\\right) + x \\, \\cos\\left(x\\right)
    >>> tf.formula(tf.jacobian(lambda x: x ** 3), 2.0)
    3 * x**2
    """
    leaves = Leaves()
    if is_function(tensor):
        tensor = _traced(tensor, arguments, leaves)
    elif arguments:
        raise TypeError(f"tf.formula: arguments are for a Python function, not for {tensor!r}.\n"
                        f"  Asked for at {user_source()}\n  Fix: tf.formula(tensor)")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tf.formula needs a tensor of a graph, not {_described(tensor)}.\n"
                        f"  Asked for at {user_source()}\n  Fix: {_remedy(tensor)}")
    return Formula(FormulaReader(leaves).read(tensor), leaves)


def _traced(f: Callable[..., Any], arguments: tuple[Any, ...], leaves: Leaves) -> Any:
    """Returns the result of a function as a tensor of a graph; leaves get the names of its arguments."""
    examples = [nest.map_structure(_spec, a) for a in arguments]
    graph = Function(f).get_concrete_function(*examples).graph
    found = graph.outputs
    if len(found) != 1:
        raise TypeError(f"tf.formula: the function has {len(found)} results.\n  Asked for at {user_source(2)}\n"
                        "  Fix: give a function that returns one of them")
    inputs = iter(graph.inputs)
    for name, example in zip(_argument_names(f, len(examples)), examples, strict=True):
        parts = nest.flatten(example)
        for i, t in enumerate(itertools.islice(inputs, len(parts))):
            leaves.give(t, name if len(parts) == 1 else f"{name}_{i}")
    return found[0]


def _spec(value: Any) -> TensorSpec:
    t = convert_to_tensor(value)
    return TensorSpec(t.shape, t.dtype)


def _argument_names(f: Any, count: int) -> list[str]:
    """Returns the names of the first arguments of a function, or of the one whose derivative it is."""
    while hasattr(f, "differentiated"):
        f = f.differentiated
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        names = [p.name for p in inspect.signature(f).parameters.values() if p.kind in kinds]
    except (TypeError, ValueError):  # of a builtin
        names = []
    return [*names, *(f"x{i}" for i in range(len(names), count))][:count]


def _described(value: Any) -> str:
    if isinstance(value, EagerTensor):
        return "an eager one, which does not know how it was computed"
    return f"a {type(value).__name__}" if isinstance(value, (list, tuple)) else repr(value)


def _remedy(value: Any) -> str:
    if isinstance(value, EagerTensor):
        return "give the function that computes it, and its arguments: tf.formula(f, x)"
    if isinstance(value, (list, tuple)):
        return "ask for one of its tensors, such as tf.gradients(y, x)[0]"
    if value is None:
        return "tf.explain_gradient(y, x) says why there is no gradient"
    return "give a tensor, or a Python function and its arguments"
