"""Writes traced functions so that TensorFlow runs and differentiates them as they run here.

Three things are said that go without saying here: in which order operations that use one variable run (here, the order
in which they were built), how many iterations a loop has at most, and which gradients functions have of their own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.effects import changed_by, effect_of, effects_of, handle_behind, with_all_before
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, shape_proto
from graphgrad.ir.graphdef import GraphWriter, name_in_function
from graphgrad.ir.source import line_of
from graphgrad.system.log import Log

from .cannot_be_written import CannotBeWritten
from .loop_of_map import LoopOfMap, result_of_map
from .written_datasets import WrittenDatasets, constant_node, name_of_result, nodes_of, reads_data
from .written_gradients import TracedGradient, has_gradient

_log = Log("tensorflow")

_ARGUMENT = re.compile(r"[a-z][a-z0-9_]*")
# Op types that TensorFlow lacks, or whose signature there is another one.
_NOT_THERE = frozenset(
    "BatchNonMaxSuppression BetaincDerivative CTCLossDense CTCLossDenseStates CTCLossStates CTCUniqueLabels "
    "CloseSummaryWriter CollapseRepeated Dilation2DBackpropFilterGrad Dilation2DBackpropInputGrad "
    "ExtractGlimpseGrad FlushSummaryWriter FractionalAvgPoolGradGrad FractionalMaxPoolGradGrad "
    "IgammaDerivative ImageProjectiveTransformGrad IteratorGetNextAsOptional IteratorGetNextFromString "
    "LinearRecurrence LoopSegments MakeIterator OwnedIteratorGetNext OwnedIteratorHas RaggedVariantLike "
    "ResizeAreaGrad SparsePlaces VariableOf WriteSummary ZetaDerivative".split())


_NONE: Mapping[int, Any] = {}


class FunctionWriter(GraphWriter):
    """Writes functions for SavedModels."""

    limits_loops = False  # all loops have a counter, see `_add_counter`

    def __init__(self) -> None:
        super().__init__(None)
        self._loops: dict[str, Any] = {}  # by a function's name: BODY, or the number of iterations that it allows
        self._beside: list[Any] = []  # further nodes, of the function that is being written
        self._behind: list[Any] = []
        self._further: list[Any] = []  # functions that no graph is behind
        self._order: dict[int, list[Operation]] = {}  # for operations, by id: those that they wait for
        self._places: dict[int, tuple[str, dict[int, str]]] = {}  # of graphs: their names and those of arguments
        self._gradients: dict[int, TracedGradient | str] = {}  # of operations, by id; a name alone if it has no trace
        self.traced: list[TracedGradient] = []
        self.keeps_gradients = True
        self._number = 0
        self._returned: dict[str, Any] = {}  # by a function's name: the data set that it returns

    # -- functions -------------------------------------------------------------------

    def definition(self, name: str, function: FuncGraph, inputs: Sequence[Tensor], outputs: Sequence[Tensor],
                   effects: Sequence[Operation], leading: int = 0, constants: Mapping[int, Any] = _NONE) -> Any:
        """Makes the message of a function.

        Args:
          name: its name.
          function: its graph; what the outputs and effects do not need is left out.
          inputs, outputs: tensors of it.
          effects: operations to run besides.
          leading: the number of `int32` arguments to put before the others.
          constants: by their ids, inputs that become constants, and their values.
        """
        made = FunctionDef()
        made.signature.name = name
        arguments: dict[int, str] = {}
        taken = {op.name for op in function._operations}
        for i in range(leading):
            _add_argument(made, f"loop_argument_{i}", dtypes.int32, ())
        for i, t in enumerate(inputs):
            if id(t) in constants:
                made.node_def.append(constant_node(t.op.name, constants[id(t)]._value, t.dtype))
                arguments[id(t)] = f"{t.op.name}:output:0"
                continue
            usable = _ARGUMENT.fullmatch(t.op.name) is not None
            arguments[id(t)] = t.op.name if usable else _unused(f"arg_{i}", taken)
            _add_argument(made, arguments[id(t)], t.dtype, t._spec.shape)

        def names(t: Tensor) -> str:
            return arguments.get(id(t)) or self.name_of_output(t)

        self._places[id(function)] = name, arguments
        given = {id(t.op) for t in inputs}
        ops = [op for op in self._with_gradients(function, outputs, effects) if id(op) not in given]
        self._put_in_order(ops)
        self._beside, self._behind = [], []
        nodes = [self.node(op, names, True) for op in ops]
        made.node_def.extend([*self._beside, *nodes, *self._behind])
        for i, t in enumerate(outputs):
            made.signature.output_arg.add(name=f"output_{i}", type=t.dtype.enum)
            made.ret[f"output_{i}"] = names(t)
        for op in effects:
            made.control_ret[op.name] = op.name
            made.signature.control_output.append(op.name)
        made.signature.is_stateful = any("stateful" in op.opdef.flags for op in ops)
        return made

    def function(self, name: str, function: FuncGraph) -> Any:
        """Makes the message of the body of a branch or loop."""
        if name in self._returned:
            return self._returning(name, function)
        role = self._loops.get(name)
        effects = effects_of(function) if function.keeps_effects else []
        outputs = list(function.outputs)
        if role is None:
            return self.definition(name, function, function.inputs, outputs, effects)
        if role is _BODY:
            outputs += function.inputs[len(outputs):]
        made = self.definition(name, function, function.inputs, outputs, effects, leading=2)
        add = made.node_def.add
        if role is _BODY:
            taken = {n.name for n in made.node_def}
            one, following = (_unused(n, taken) for n in ("loop_counter/one", "loop_counter/next"))
            made.node_def.append(constant_node(one, 1))
            add(name=following, op="AddV2", input=["loop_argument_0", f"{one}:output:0"]).attr["T"] = _INT32
            made.ret["loop_output_0"], made.ret["loop_output_1"] = f"{following}:z:0", "loop_argument_1"
            _put_first(made.signature.output_arg, ["loop_output_0", "loop_output_1"])
        elif role is not _ENDLESS:
            taken = {n.name for n in made.node_def}
            less, both = (_unused(n, taken) for n in ("loop_counter/less", "loop_counter/and"))
            add(name=less, op="Less", input=["loop_argument_0", "loop_argument_1"]).attr["T"] = _INT32
            add(name=both, op="LogicalAnd", input=[f"{less}:z:0", made.ret["output_0"]])
            made.ret["output_0"] = f"{both}:z:0"
        return made

    def _returning(self, name: str, function: FuncGraph) -> Any:
        """Makes the message of a function that returns a data set, made of its results."""
        dataset = self._returned[name]
        made = self.definition(name, function, function.inputs, function.outputs, [])
        results = [made.ret[a.name] for a in made.signature.output_arg]
        added = WrittenDatasets(self, "returned", {id(t): n for t, n in zip(dataset._captured, results, strict=True)})
        made.signature.output_arg.clear()
        made.ret.clear()
        made.ret["handle"] = added.name(dataset)
        made.signature.output_arg.add(name="handle", type=dtypes.variant.enum)
        made.node_def.extend(added.nodes)
        return made

    def function_of_data(self, called: Any) -> str:
        """Returns the name of a function that an operation on data sets calls, a `dataset_base.Called`."""
        name = self.name_of(called.graph)
        if called.inner is not None:
            self._returned[name] = called.inner
        return name

    def add_definition(self, definition: Any) -> str:
        """Adds a function that is written already; returns its name."""
        self._further.append(definition)
        return str(definition.signature.name)

    def _with_gradients(self, function: FuncGraph, outputs: Sequence[Tensor],
                        effects: Sequence[Operation]) -> list[Operation]:
        """Returns the operations to write, and traces the gradients that they have of their own."""
        ops = with_all_before([*(t.op for t in outputs), *effects])
        while True:
            new = [op for op in ops if id(op) not in self._gradients and has_gradient(op)]
            if not new:
                break
            for op in new:
                self._trace_gradient(op)
            found = [self._gradients[id(op)] for op in ops if id(op) in self._gradients]
            inside = [t for g in found if isinstance(g, TracedGradient) for t in g.inside if t.graph is function]
            ops = with_all_before([*(t.op for t in (*outputs, *inside)), *effects])
        return ops

    def _trace_gradient(self, op: Operation) -> None:
        name = f"CustomGradient-{len(self._gradients)}"
        if not self.keeps_gradients:  # a name that is not there is an error when it is needed, not another gradient
            self._gradients[id(op)] = name
            return
        graph: Any = op.graph
        count = len(graph.inputs)
        try:
            made = TracedGradient(op, name)
            if len(graph.inputs) > count and graph._outer_graph is not None:
                raise CannotBeWritten("what it uses is outside of a branch or loop")
        except Exception as e:  # the user's function may raise anything; the model is saved all the same
            _log.warning("The SavedModel is written without the gradient of the operation '%s', built at %s: %s: %s",
                         op.name, line_of(op.source), type(e).__name__, e)
            self._gradients[id(op)] = name
            return
        self._gradients[id(op)] = made
        self.traced.append(made)

    def place(self, t: Tensor) -> tuple[str, str]:
        """Returns where a tensor is: the name of its function, and its own one in the graph of that function."""
        function, arguments = self._places[id(t.graph)]
        if id(t) in arguments:
            return function, f"{arguments[id(t)]}:0"
        name = self.name_of_output(t).partition(":")[0]
        number = t.value_index + 2 if t.op.type == "While" else t.value_index if name == t.op.name else 0
        return function, f"{name}:{number}"

    def new_name(self, wanted: str) -> str:
        """Returns a name for a function: it ends in a number that no other one has, as fingerprints demand."""
        self._number += 1
        return super().new_name(f"{wanted}_{self._number}")

    # -- operations ------------------------------------------------------------------

    def node(self, op: Operation, names: Any, add_shapes: bool) -> Any:
        """Makes the message of an operation; raises CannotBeWritten where TensorFlow has no such operation."""
        if op.type == "VectorizedMap":
            return self._map(op, names)
        if reads_data(op):
            before = nodes_of(self, op, names)
            self._beside += [n for n in before if n.name != op.name]
            return next(n for n in before if n.name == op.name)
        if op.type in _NOT_THERE:
            raise CannotBeWritten(f"the operation '{op.name}' of type {op.type}, built at {line_of(op.source)}")
        made = super().node(op, names, add_shapes)
        made.input.extend(self._waits(op))
        if op.type == "LoopBound":  # here a power of two, so that there are few of them
            made.op = "Identity"
            made.attr.clear()
            made.attr["T"] = _INT32
        elif op.type == "While":
            self._add_counter(op, made)
        gradient = self._gradients.get(id(op))
        if gradient is not None:
            name = gradient if isinstance(gradient, str) else gradient.name
            made.attr["_gradient_op_type"] = AttrValue(s=name.encode())
        return made

    def _waits(self, op: Operation) -> list[str]:
        """Returns the control inputs that an operation gets besides its own."""
        return [f"^{before.name}" for before in self._order.get(id(op), ()) if before not in op.control_inputs]

    def _map(self, op: Operation, names: Any) -> Any:
        """Writes a map over rows as a loop."""
        if any(t.dtype is dtypes.variant for t, is_row in zip(op.inputs, op.attrs["mapped"], strict=True) if is_row):
            raise CannotBeWritten(f"the operation '{op.name}', a map over lists, built at {line_of(op.source)}")
        if any(op.outputs[i].dtype is dtypes.variant for i in range(len(op.outputs))):
            raise CannotBeWritten(f"the operation '{op.name}', a map with lists as results, built at "
                                  f"{line_of(op.source)}")
        body = self.name_of(op.attrs["body"])
        functions = [self.new_name(f"{body}_{what}") for what in ("cond", "rows")]
        loop = LoopOfMap(op, list(map(names, op.inputs)), body, functions)
        self._beside += loop.before
        self._behind += loop.after
        self._further += loop.functions
        loop.node.input.extend([*(f"^{c.name}" for c in op.control_inputs), *self._waits(op)])
        return loop.node

    def write_functions(self, library: Any) -> None:
        """Adds the functions that have been named to a library."""
        super().write_functions(library)
        library.function.extend(self._further)
        self._further = []

    @contextlib.contextmanager
    def all_or_nothing(self, library: Any) -> Iterator[None]:
        """Adds to a library what functions that are written inside call; none of it if one cannot be written."""
        known, written, count, traced = dict(self.functions), self._written, len(library.function), len(self.traced)
        try:
            yield
            self.write_functions(library)
        except CannotBeWritten:
            self.functions, self._written, self._further = known, written, []
            del library.function[count:], self.traced[traced:]
            raise

    def name_of_output(self, t: Tensor) -> str:
        """Returns a tensor's name in the message of a function."""
        if t.op.type == "While":
            return f"{t.op.name}:output:{t.value_index + 2}"
        if t.op.type == "LoopBound":  # an Identity there
            return f"{t.op.name}:output:0"
        if t.op.type == "VectorizedMap":
            return result_of_map(t)
        if reads_data(t.op):
            return name_of_result(t)
        return name_in_function(t)

    def _add_counter(self, op: Operation, made: Any) -> None:
        """Adds what loops in TensorFlow have as first variables: a counter, and the most iterations."""
        limit = op.attrs.get("maximum_iterations")
        cond, body = made.attr["cond"].func.name, made.attr["body"].func.name
        wanted = _ENDLESS if limit is None else _LIMITED
        if self._loops.setdefault(cond, wanted) is not wanted:  # the same condition, with and without a limit
            cond = made.attr["cond"].func.name = self.new_name(cond)
            self.functions[id(made)] = cond, op.attrs["cond"]
            self._loops[cond] = wanted
        self._loops[body] = _BODY
        start, most = (_free(op, f"{op.name}/{name}") for name in ("loop_counter", "maximum_iterations"))
        self._beside += [constant_node(start, 0), constant_node(most, -1 if limit is None else int(limit))]
        made.input[:] = [f"{start}:output:0", f"{most}:output:0", *made.input]
        for name in ("T", "_Tout"):
            made.attr[name].list.type[:] = [dtypes.int32.enum] * 2 + list(made.attr[name].list.type)
        made.attr["output_shapes"].list.shape[:] = [shape_proto(()), shape_proto(()),
                                                    *made.attr["output_shapes"].list.shape]
        for name in ("_counter", "_bounded_by"):  # positions among the inputs
            if name in made.attr and made.attr[name].i >= 0:
                made.attr[name].i += 2

    def _put_in_order(self, ops: Sequence[Operation]) -> None:
        """Notes for the operations on variables that change which ones each has to wait for."""
        changes = {id(op): {id(h) for h in changed_by(op)} for op in ops if "stateful" in op.opdef.flags}
        changed = set().union(*changes.values())
        last: dict[int, Operation] = {}
        reads: dict[int, list[Operation]] = {}
        for op in ops:
            for handle in {id(handle_behind(t)) for t in op.inputs if t.dtype is dtypes.resource} & changed:
                waits = self._order.setdefault(id(op), [])
                if handle in changes.get(id(op), ()):
                    waits += reads.pop(handle, []) or ([last[handle]] if handle in last else [])
                    last[handle] = op
                elif effect_of(op):
                    waits += [last[handle]] if handle in last else []
                    reads.setdefault(handle, []).append(op)


_BODY, _ENDLESS, _LIMITED = "body", "endless", "limited"  # what a function is to a loop
_INT32 = AttrValue(type=dtypes.int32.enum)


def _free(op: Operation, name: str) -> str:
    """Returns a name that no operation of an operation's graph has."""
    taken = op.graph._index.by_name()
    while name in taken:
        name += "_"
    return name


def _add_argument(made: Any, name: str, dtype: Any, shape: Any) -> None:
    number = len(made.signature.input_arg)
    made.signature.input_arg.add(name=name, type=dtype.enum)
    attrs = made.arg_attr[number].attr
    attrs["_output_shapes"].list.shape.append(shape_proto(() if dtype is dtypes.resource else shape))
    attrs["_user_specified_name"] = AttrValue(s=name.encode())


def _put_first(arguments: Any, names: Sequence[str]) -> None:
    others = list(arguments)
    del arguments[:]
    for name in names:
        arguments.add(name=name, type=dtypes.int32.enum)
    arguments.extend(others)


def _unused(name: str, taken: set[str]) -> str:
    found, n = name, 0
    while found in taken:
        n += 1
        found = f"{name}_{n}"
    return found

