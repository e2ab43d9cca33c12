"""`import_graph_def`: a `GraphDef` message becomes operations of the current graph."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from graphgrad.gradients.core.inside_loop import OldControlFlow
from graphgrad.ir.builder import add_to_graph
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.graph_messages import GraphDef, graph_def_of
from graphgrad.ir.graphdef import OWN, custom_rule, output_places
from graphgrad.ir.opdef import OpDef, raw, registry
from graphgrad.ir.source import user_source
from graphgrad.ir.state.undo import all_or_nothing
from graphgrad.ops.control.py_func import function_of

from .control_flow_lives import without_repeated
from .control_flow_v1 import ControlFlowNode, functional
from .custom_gradients import MARK, rule_of, with_captures
from .dataset_types import DATASETS, NEXT
from .function_calls import CALLS, results_of
from .function_library import FunctionLibrary
from .import_limits import SizeLimit, refused
from .mutable_lists import with_lists
from .node_order import in_order, shape_of_argument, without_outer_control
from .old_operations import DEFAULTS, type_of_node, with_current
from .reference_variables import with_resources
from .session_handles import ONE_SHOT, handle_of, layout_of, make_one_shot, one_shot_of, with_handles
from .table_handles import TYPES, mark, table_type, type_of

_OF_TABLES = ("key_dtype", "value_dtype", "value_shape", "mutable", "key_rank", "dense")  # attributes, from the handle
_CASES = frozenset({"Case", "StatelessCase"})
_OLD = frozenset({"If", "VectorizedMap", "While"})  # made of TensorFlow 1's, too
_NO_GRADIENTS: Mapping[str, Any] = {}


def import_graph_def(graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None,
                     op_dict: Any = None, producer_op_list: Any = None) -> list[Any] | Any:
    """Adds the operations of a `GraphDef` to the current graph; all of them, or none if there is an error.

    Args:
      graph_def: a `GraphDef`, or the bytes of one, also of TensorFlow's.
      input_map: name of an operation or tensor of `graph_def` -> the tensor to use in its place.
      return_elements: names of operations and tensors of `graph_def` to return.
      name: the name scope; 'import' by default, '' for none.
      op_dict, producer_op_list: accepted; without effect.
    Returns: the `return_elements`, in their order; None if not given.
    Raises: TypeError if `graph_def` is not one; ValueError for unknown op types and
      entries of `input_map` and `return_elements` that are not in it, tensors in `input_map` of other dtypes.
    Reference: TensorFlow 2.21 `tf.import_graph_def`.

    >>> g = tf.Graph()
    >>> with g.as_default():
    ...     y = tf.multiply(tf.placeholder(tf.float32, [], name="x"), 3.0, name="y")
    >>> y, = tf.import_graph_def(g.as_graph_def(), {"x:0": tf.constant(2.0)}, ["y:0"])
    >>> y.name, sess.run(y)
    ('import/y:0', np.float32(6.0))
    """
    graph_def = graph_def_of(graph_def)
    if input_map is None:
        input_map = {}
    elif not isinstance(input_map, dict) or not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError("Argument `input_map` must be a dictionary mapping strings to Tensor objects. "
                        f"Received: {input_map}")
    graph = get_default_graph()
    with contextlib.ExitStack() as stack:
        prefix = stack.enter_context(graph.name_scope("import" if name is None else name)) if name != "" else ""
        if name == "":
            prefix = f"{graph._around.scope}/" if graph._around.scope else ""
        given = {(k.decode() if isinstance(k, bytes) else k): v for k, v in input_map.items()}
        given = {k: v if isinstance(v, Tensor) else convert_to_tensor(v, name="inputs") for k, v in given.items()}
        if graph.building_function:
            given = {k: v if v.graph is graph else graph.capture(v) for k, v in given.items()}
        stack.enter_context(all_or_nothing(graph))
        reader = _Reader(graph, FunctionLibrary(graph_def.library), prefix, given, SizeLimit(graph_def))
        reader.gradients, reader.blocks = graph._around.gradients, tuple(graph._around.control)
        with graph.control_dependencies(None), graph._own_gradients(), graph._around.having(colocated=()), refused():
            reader.read(list(graph_def.node))
        unused = sorted(set(given) - reader.used)
        if unused:
            raise ValueError("Attempted to map inputs that were not found in graph_def: "
                             f"[{', '.join(unused)}]\n  Asked for at {user_source(2)}")
        return None if return_elements is None else [reader.element(e) for e in return_elements]


class _Reader:
    """Adds nodes to a graph."""

    def __init__(self, graph: Graph, library: FunctionLibrary, prefix: str, given: dict[str, Any], budget: SizeLimit):
        self.budget = budget
        self.graph = graph
        self.library = library
        self.prefix = prefix
        self.given = given  # replacements of tensors, by their names in the message
        self.used: set[str] = set()
        self.gradients: dict[str, Any] = {}  # of `gradient_override_map` blocks around, for the nodes alone
        self._inside: dict[str, Any] = {}  # those for the functions of the node that is being added
        self.blocks: tuple[Any, ...] = ()  # `control_dependencies` blocks around, which all operations wait for
        self.renamed: dict[str, str] = {}  # nodes whose names are taken
        self.made: dict[str, Any] = {}  # operations; representations of loops and branches
        self.places: dict[str, list[str]] = {}  # names of results, of calls by the name of the function

    def read(self, nodes: list[Any]) -> None:
        """Adds all nodes, inputs first."""
        nodes = functional(with_lists(without_repeated(with_resources(with_handles(with_current(nodes))))))
        self._check(nodes)
        self._rename(nodes)
        for node in nodes:  # what is made besides gets other names
            if not isinstance(node, ControlFlowNode):
                self.graph._names.reserve(self._full(node))
        for node in in_order(nodes):
            self.budget.add()
            if node.name in self.made:
                raise ValueError(f"graph_def is invalid: it has two nodes of the name {node.name!r}\n"
                                 f"  Asked for at {user_source(4)}\n  Fix: use another copy of the graph")
            if isinstance(node, ControlFlowNode):
                self.made[node.name] = SimpleNamespace(outputs=node.build(self._enter, self._input, node.name))
            else:
                called = node.op in CALLS or self.library.has(node.op)
                add = self._call if called else self._add_dataset if node.op in DATASETS else self._add
                self.made[node.name] = self._one_shot(node) if node.op == ONE_SHOT else add(node)

    def _rename(self, nodes: list[Any]) -> None:
        """Chooses other names for nodes whose names are taken in the graph."""
        taken = self.graph._index.by_name()
        if not taken:
            return
        own = {node.name for node in nodes}
        for node in nodes:
            name, count = node.name, 0
            while self.prefix + name in taken or (count and name in own):
                count += 1
                name = f"{node.name}_{count}"
            if count:
                own.add(name)
                self.renamed[node.name] = name

    def _full(self, node: Any) -> str:
        """Returns the name of the operation that a node becomes."""
        return self.prefix + self.renamed.get(node.name, node.name)

    def _enter(self, nodes: list[Any], given: dict[str, Any], aliases: dict[str, str], results: list[str]) -> list[Any]:
        """Adds nodes to the graph of a branch or of a loop's body."""
        graph = get_default_graph()
        inside = _Inside(graph, self.library, "", given, self.budget)
        inside.outer, inside.aliases, inside.gradients = self, aliases, self.gradients
        with graph.control_dependencies(None), graph._own_gradients():
            inside.read(without_outer_control(nodes))
            return [inside._input(name) for name in results]

    def _check(self, nodes: list[Any]) -> None:
        known = CALLS | TYPES.keys() | DATASETS | {ONE_SHOT}
        strange = sorted({n.op for n in nodes if type_of_node(n) not in registry and n.op not in known
                          and not self.library.has(n.op)})
        if not strange:
            return
        fix = "declare them with graphgrad.ir.op, or import a part of the graph without them"
        raise ValueError(f"graph_def has operations of types that are not there: {', '.join(strange)}\n"
                         f"  Asked for at {user_source(4)}\n  Fix: {fix}")

    def _add(self, node: Any) -> Operation:
        if node.op in TYPES:
            table = self._add(handle_of(node))
            mark(table.outputs[0], table_type(node, self._input, constant_value))
            return table
        opdef = registry[type_of_node(node)]
        rule: Any = None
        if node.op in self.gradients:
            rule = self.gradients[node.op]
        elif MARK in node.attr:
            node, rule = self._with_gradient(node)
        inputs = [self._input(name) for name in node.input if not name.startswith("^")]
        if any(t.op.type == "DatasetPass" for t in inputs):
            if node.op not in NEXT:
                raise NotImplementedError(f"{node.op} {node.name!r} is given an iterator that the same function makes, "
                                          "which is not supported. Fix: loop over the data set, or make the iterator "
                                          "where it is used, before the model is saved")
            return self._add_dataset(node)
        if len(inputs) > len(opdef.inputs) and not any(arg.is_list for arg in opdef.inputs):
            raise ValueError(f"graph_def is invalid: {node.name!r}, of type {node.op}, has {len(inputs)} inputs. "
                             "Fix: use another copy of the graph")
        self._inside = self.gradients if OldControlFlow.on and opdef.name in _OLD else {}
        attrs = self._attrs(node, opdef, inputs)
        if "one_shot" in opdef.attrs:
            attrs["one_shot"] = one_shot_of(inputs[0])
        op = add_to_graph(self.graph, opdef, tuple(inputs), attrs, f"{self._full(node)}/")
        self.graph._names.reserve(op.name)
        self._settle(op, node, rule)
        return op

    def _settle(self, op: Operation, node: Any, rule: Any) -> None:
        """Gives an operation what its node says besides: gradient, control inputs, device, colocation, shapes."""
        op._gradient = rule or op._gradient
        waits = [self._control(n[1:]) for n in node.input if n.startswith("^")]
        op.control_inputs = tuple(dict.fromkeys([*waits, *self._around()]))
        for block in self.blocks:
            block.made.add(op)
        if node.device:
            op._set_device(node.device)
        if "_class" in node.attr:
            groups = [g.decode() for g in node.attr["_class"].list.s]
            op._colocation = tuple("loc:@" + self.prefix + g.removeprefix("loc:@") for g in groups)
        if "_output_shapes" in node.attr:
            for t, shape in zip(op.outputs, node.attr["_output_shapes"].list.shape):
                with contextlib.suppress(ValueError):
                    t.set_shape(shape.shape())

    def _with_gradient(self, node: Any) -> tuple[Any, Any]:
        """Returns a node with all that its custom gradient needs, and the rule; the name where that is not there."""
        kind = node.attr[MARK].s.decode()
        name = self.library.gradients.get(kind)
        if name is None:
            return node, custom_rule(kind)
        count = sum(not n.startswith("^") for n in node.input)
        function = self.library.gradient_function(name)
        return with_captures(node, function, self._input), rule_of(name, count, function, self.library.read)

    def _call(self, node: Any) -> Operation:
        """Adds what a call of a function does, in the scope of the call's name."""
        given = [self._input(name) for name in node.input if not name.startswith("^")]
        waits = [self._control(n[1:]) for n in node.input if n.startswith("^")]
        with self.graph.control_dependencies(waits if node.op in _CASES else ()):
            results, effects = results_of(node, self.library, given, self._inline)
        if self.library.has(node.op):
            self.places[node.name] = [arg.name for arg in self.library.message(node.op).signature.output_arg]
        return self._together(node, results, [*effects, *waits])

    def _one_shot(self, node: Any) -> Operation:
        """Adds an iterator with a data set of its own, which a function makes."""
        factory = self.library.message(node.attr["dataset_factory"].func.name)
        (dataset,), _ = self._inline(factory, [], f"{node.name}/dataset")
        handle = self._add(handle_of(node))
        make_one_shot(handle.outputs[0], dataset)
        return handle

    def _add_dataset(self, node: Any) -> Operation:
        """Adds a data set, or what reads one."""
        from .dataset_nodes import DatasetNode, results_of

        waits = [self._control(n[1:]) for n in node.input if n.startswith("^")]
        iterator = node.input[1].partition(":")[0] if node.op == "MakeIterator" else ""
        begins = iterator in self.made and self.made[iterator].type == "NoOp"
        names = [n for n in node.input if not n.startswith("^")]
        given = list(map(self._input, names[:1] if begins else names))
        with self.graph.control_dependencies(waits):
            results, effects = results_of(DatasetNode(node, given, self.library, self._inline))
        if begins:  # from here on the iterator is a pass through this data set
            self.made[iterator] = effects[0]
        self.places[node.name] = ["components"]
        return self._together(node, results, [*effects, *waits])

    def _inline(self, message: Any, given: list[Tensor], scope: str,
                graph: Graph | None = None) -> tuple[list[Tensor], list[Operation]]:
        """Adds the operations of a function to the graph, or another one; returns its results and its effects."""
        named = {}
        for arg, t in zip(message.signature.input_arg, given):
            named[arg.name] = named[f"{arg.name}:0"] = t
        prefix = f"{self.prefix if graph is None else ''}{scope}/"
        inside = _Reader(graph or self.graph, self.library, prefix, named, self.budget)
        inside.blocks = () if graph is not None else self.blocks
        with self.budget.within(message.signature.name):
            inside.read(list(message.node_def))
        self.budget.called(message.signature.name)
        results = [inside._input(message.ret[arg.name]) for arg in message.signature.output_arg]
        return results, [inside._control(name) for name in message.control_ret.values()]

    def _together(self, node: Any, results: list[Any], waits: list[Operation]) -> Operation:
        """Makes the operation that has some results, in place of a node."""
        with self.graph.control_dependencies([*waits, *self._around()]):
            name = f"{self._full(node)}/"
            if not results:
                done: Operation = raw.NoOp(name=name)
                return done
            outputs: list[Tensor] = raw.IdentityN(results, name=name)
        return outputs[0].op

    def _around(self) -> list[Operation]:
        """Returns the control inputs of the blocks around the import."""
        return [op for block in self.blocks for op in block.ops]

    # -- inputs ----------------------------------------------------------------------

    def _input(self, name: str) -> Tensor:
        op, _, rest = name.partition(":")
        full = f"{op}:{rest or 0}"
        for key in (full, op) if not rest or rest == "0" else (full,):
            if key in self.given:
                self.used.add(key)
                return self.given[key]
        if op not in self.made:
            raise ValueError(f"graph_def is invalid: input {name!r} is of an operation that is not in it. "
                             "Fix: use another copy of the graph")
        outputs = self.made[op].outputs
        if ":" in rest:  # in a function: the argument's name, and the index in it
            if len(outputs) == 1:
                return outputs[0]
            argument, _, place = rest.partition(":")
            if op in self.places:
                return outputs[self.places[op].index(argument) + int(place)]
            return outputs[output_places(self.made[op]).index((argument, int(place)))]
        if int(rest or 0) >= len(outputs):
            raise ValueError(f"graph_def is invalid: {op!r} has no output {rest}. Fix: use another copy of the graph")
        return outputs[int(rest or 0)]

    def _control(self, name: str) -> Operation:
        key = f"^{name}"
        if key in self.given:
            self.used.add(key)
            given: Operation = self.given[key].op
            return given
        if name not in self.made and name in self.given:  # an argument of a function
            self.used.add(name)
            argument: Operation = self.given[name].op
            return argument
        if name not in self.made:
            raise ValueError(f"graph_def is invalid: control input {name!r} is not in it. "
                             "Fix: use another copy of the graph")
        return self.made[name]

    def element(self, name: Any) -> Any:
        """Returns the object that a return element names."""
        text = name.decode() if isinstance(name, bytes) else name
        if not isinstance(text, str):
            raise TypeError(f"Argument `return_elements` must be a list of strings. Received: {name!r}")
        op, _, index = text.partition(":")
        if op in self.made and (not index or int(index) < len(self.made[op].outputs)):
            return self.made[op].outputs[int(index)] if index else self.made[op]
        raise ValueError(f"Requested return_element '{text}' not found in graph_def.")

    # -- attributes ------------------------------------------------------------------

    def _attrs(self, node: Any, opdef: OpDef, inputs: list[Tensor]) -> dict[str, Any]:
        """Converts the attributes of an operation to those of its record."""
        own = OWN.get(opdef.name, ())
        found = {**DEFAULTS.get(node.op, {}), **self._written_attrs(node, opdef, own)}
        for arg in opdef.inputs:
            if arg.number_attr is not None and arg.number_attr not in found:
                found[arg.number_attr] = len(inputs)
        if "shape" in own and "shape" not in found and inputs[0].op.type == "VarHandleOp":
            found["shape"] = inputs[0].op._attr("shape")
        if node.op.startswith("ResourceScatterNd") and "dtype" not in found:
            found["dtype"] = inputs[2].dtype
        table = type_of(inputs[0]) if not set(own).isdisjoint(_OF_TABLES) else None
        for name in _OF_TABLES if table is not None else ():
            if name in own:
                found.setdefault(name, getattr(table, name))
        if "func" in opdef.attrs and "token" in found:
            found["func"] = function_of(found["token"])
        if node.op == "VarHandleOp":
            found |= layout_of(node) | {"shared_name": found.get("shared_name") or self._full(node)}
        if opdef.name == "While":
            self._settle_loop(found, inputs)
        return found

    @staticmethod
    def _settle_loop(found: dict[str, Any], inputs: list[Tensor]) -> None:
        """Completes the attributes of a loop."""
        found.setdefault("Tout", tuple(t.dtype for t in inputs))
        body = found["body"]
        body.outputs = body.outputs[: len(found["Tout"])]  # TensorFlow's bodies also return their captures
        shapes = found.pop("output_shapes", ())[: len(found["Tout"])]
        found["output_shapes"] = shapes or tuple(t.shape for t in body.outputs)

    def _written_attrs(self, node: Any, opdef: OpDef, own: Collection[str]) -> dict[str, Any]:
        """Returns the attributes that a node has and that do not follow from its inputs; `own` are this package's."""
        found: dict[str, Any] = {}
        derived = {a.type_attr for a in opdef.inputs if a.type_attr and not a.is_list} & set(opdef._derived)
        for name, message in node.attr.items():
            plain = name[1:] if name.startswith("_") and (name[1:] in own or name == "_sum_duplicates") else name
            if plain in opdef.attrs and plain not in derived and not (plain == name and name in own):
                found[plain] = self._value(plain, message)
                if plain == "dtype" and not isinstance(found[plain], DType):
                    raise ValueError(f"graph_def is invalid: attribute 'dtype' of node {node.name!r} is no type. "
                                     "Fix: use another copy of the graph")
        return found

    def _value(self, name: str, message: Any) -> Any:
        kind = message.WhichOneof("value")
        if kind is None:
            return None
        value = getattr(message, kind)
        if kind == "list":
            return self._list(name, value)
        return self._single(kind, value)

    def _single(self, kind: str, value: Any) -> Any:
        if kind == "s":
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value
        if kind == "type":
            return as_dtype(int(value))
        if kind == "shape":
            return value.shape()
        if kind == "tensor":
            array = value.array()
            array.flags.writeable = False
            return array
        return self._function(value.name) if kind == "func" else value

    def _list(self, name: str, value: Any) -> Any:
        for kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            items = getattr(value, kind)
            if items:
                return tuple(self._single(kind, v) for v in items)
        return ()

    def _function(self, name: str) -> Any:
        message = self.library.message(name)
        with self.budget.within(name):
            count = len(message.signature.input_arg)
            graph = self.body(message, FuncGraph(name, self.graph), count, gradients=self._inside)
        self.budget.called(name)
        return graph

    def body(self, message: Any, graph: FuncGraph, count: int, captured: Sequence[Any] = (),
             gradients: Mapping[str, Any] = _NO_GRADIENTS) -> FuncGraph:
        """Fills the graph of a function.

        Args:
          message: the function.
          graph: the graph.
          count: how many of its arguments are arguments.
          captured: the outer tensors that the others stand for.
          gradients: overridden ones that hold in it: op type -> name or rule.
        """
        graph.keeps_effects = bool(message.control_ret)
        reader = _Reader(graph, self.library, "", {}, self.budget)
        reader.gradients = dict(gradients)
        for i, arg in enumerate(message.signature.input_arg):
            if i < count:
                placeholder = graph.add_input(as_dtype(int(arg.type)), shape_of_argument(message, i), arg.name)
            else:
                outer = captured[i - count]
                with graph.as_default():
                    placeholder = outer(reader._inline) if callable(outer) else graph.capture(outer, arg.name)
            reader.given[arg.name] = reader.given[f"{arg.name}:0"] = placeholder
        with graph.as_default():
            reader.read(list(message.node_def))
            graph.outputs = [reader._input(message.ret[arg.name]) for arg in message.signature.output_arg]
        return graph


class _Inside(_Reader):
    """Adds nodes to the graph of a branch or of a loop's body; other inputs come from outside."""

    outer: _Reader
    aliases: dict[str, str]

    def _input(self, name: str) -> Tensor:
        op, _, port = name.partition(":")
        if op in self.made or f"{op}:{port or 0}" in self.given:
            return super()._input(name)
        tensor = self.outer._input(self.aliases.get(op, name))
        # Silenced: its graph is a FuncGraph.
        captured: Tensor = self.graph.capture(tensor) if tensor.graph is not self.graph else tensor
        return captured


def reader_of(graph: FuncGraph, library: FunctionLibrary, budget: SizeLimit) -> _Reader:
    """Returns what adds the operations of a function to its graph."""
    return _Reader(graph, library, "", {}, budget)


def import_part(graph: FuncGraph, nodes: list[Any], library: FunctionLibrary, given: dict[str, Any],
                fetches: Sequence[str]) -> list[Any]:
    """Adds some nodes to the graph of a function.

    Args:
      graph: the graph.
      nodes: the `NodeDef`s.
      library: the functions that they call.
      given: tensors of the graph by the names of tensors that the nodes use.
      fetches: names of tensors and operations.
    Returns: the tensors; None for an operation.
    Raises: ValueError for nodes that are invalid.
    """
    budget = SizeLimit(GraphDef(node=nodes, library=library._library))
    reader = _Reader(graph, library, "", given, budget)
    with refused(), graph._own_gradients(), graph.as_default():
        reader.read(nodes)
        return [reader._input(n) if ":" in n or n in given else reader._control(n) and None for n in fetches]
