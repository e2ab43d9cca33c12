"""Maps over rows, which TensorFlow lacks, as loops: each iteration computes one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.dtypes import DType, bool_, int32, variant
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, NodeDef, TensorProto, shape_proto


def result_of_map(t: Tensor) -> str:
    """Returns the name that a result of a map has in the message of a function."""
    if t.value_index in t.op.attrs.get("summed", ()):
        return f"{t.op.name}/sum_{t.value_index}:output:0"
    return f"{t.op.name}/stack_{t.value_index}:tensor:0"


class LoopOfMap:
    """The messages of the loop that computes what a map does.

    Args:
      op: the map.
      inputs: the names of its inputs.
      body: the name of the function that computes a row.
      names: the names of the functions of the loop.

    Attributes:
      node: the loop; before and after it come further nodes.
      functions: its condition and its body.
    """

    def __init__(self, op: Operation, inputs: list[str], body: str, names: list[str]):
        self._op, self._name = op, op.name
        self.before: list[Any] = []
        self.after: list[Any] = []
        self._mapped = list(op.attrs["mapped"])
        given = [self._list(i, inputs[i]) if is_row else inputs[i] for i, is_row in enumerate(self._mapped)]
        self._kinds = [variant if is_row else t.dtype for t, is_row in zip(op.inputs, self._mapped, strict=True)]
        self._rows(inputs[self._mapped.index(True)])
        results = op.attrs["body"].outputs
        lists = [self._reserved(k, t) for k, t in enumerate(results)]
        types = [int32, int32, *[variant] * len(lists), *self._kinds]
        self.node = NodeDef(name=self._name, op="While", input=[
            f"{self._name}/zero:output:0", f"{self._name}/rows:output:0", *lists, *given])
        self.node.attr["T"].list.type.extend(t.enum for t in types)
        self.node.attr["_Tout"].list.type.extend(t.enum for t in types[: 2 + len(lists)])
        shapes = [(), (), *[()] * len(lists), *[() if r else t._spec.shape
                                                for t, r in zip(op.inputs, self._mapped, strict=True)]]
        self.node.attr["output_shapes"].list.shape.extend(map(shape_proto, shapes))
        self.node.attr["parallel_iterations"] = AttrValue(i=10)
        for key, name in zip(("cond", "body"), names, strict=True):
            self.node.attr[key].func.name = name
        for k, t in enumerate(results):
            self._stacked(k, t)
        self.functions = [self._condition(names[0], types), self._iteration(names[1], types, len(lists), body)]

    # -- around the loop -------------------------------------------------------------

    def _add(self, nodes: list[Any], name: str, op: str, inputs: list[str], **attrs: Any) -> None:
        node = NodeDef(name=f"{self._name}/{name}", op=op, input=inputs)
        for key, value in attrs.items():
            node.attr[key] = value
        nodes.append(node)

    def _constant(self, nodes: list[Any], name: str, value: Any) -> str:
        array = np.asarray(value, np.int32)
        self._add(nodes, name, "Const", [], dtype=_type(int32), value=AttrValue(tensor=TensorProto.of(array, int32)),
                  _output_shapes=_shapes(array.shape))
        return f"{self._name}/{name}:output:0"

    def _list(self, i: int, name: str) -> str:
        t = self._op.inputs[i]
        shape = self._constant(self.before, f"row_shape_{i}", _sizes(None if t._spec.shape is None else
                                                                     t._spec.shape[1:]))
        self._add(self.before, f"rows_of_{i}", "TensorListFromTensor", [name, shape], element_dtype=_type(t.dtype),
                  shape_type=_type(int32), _output_shapes=_shapes(()))
        return f"{self._name}/rows_of_{i}:output_handle:0"

    def _rows(self, name: str) -> None:
        t = self._op.inputs[self._mapped.index(True)]
        self._constant(self.before, "zero", 0)
        ends = [self._constant(self.before, f"slice_{k}", [k]) for k in (0, 1)]
        self._add(self.before, "shape", "Shape", [name], T=_type(t.dtype), out_type=_type(int32))
        self._add(self.before, "rows", "StridedSlice", [f"{self._name}/shape:output:0", *ends, ends[1]],
                  T=_type(int32), Index=_type(int32), begin_mask=AttrValue(i=0), ellipsis_mask=AttrValue(i=0),
                  end_mask=AttrValue(i=0), new_axis_mask=AttrValue(i=0), shrink_axis_mask=AttrValue(i=1),
                  _output_shapes=_shapes(()))

    def _reserved(self, k: int, t: Tensor) -> str:
        shape = self._constant(self.before, f"result_shape_{k}", _sizes(t._spec.shape))
        self._add(self.before, f"results_{k}", "TensorListReserve", [shape, f"{self._name}/rows:output:0"],
                  element_dtype=_type(t.dtype), shape_type=_type(int32), _output_shapes=_shapes(()))
        return f"{self._name}/results_{k}:handle:0"

    def _stacked(self, k: int, t: Tensor) -> None:
        out = self._op.outputs[k]
        is_sum = k in self._op.attrs.get("summed", ())
        self._add(self.after, f"stack_{k}", "TensorListStack", [
            f"{self._name}:output:{k + 2}", f"{self._name}/result_shape_{k}:output:0"], element_dtype=_type(t.dtype),
                  num_elements=AttrValue(i=-1),
                  _output_shapes=_shapes(out._spec.shape if not is_sum else None))
        if is_sum:
            self._add(self.after, f"sum_{k}", "Sum", [f"{self._name}/stack_{k}:tensor:0",
                                                      f"{self._name}/zero:output:0"], T=_type(t.dtype),
                      Tidx=_type(int32), keep_dims=AttrValue(b=False), _output_shapes=_shapes(out._spec.shape))

    # -- the loop's functions --------------------------------------------------------

    def _function(self, name: str, types: list[DType]) -> Any:
        made = FunctionDef()
        made.signature.name = name
        made.signature.is_stateful = True
        for i, t in enumerate(types):
            made.signature.input_arg.add(name=f"loop_argument_{i}", type=t.enum)
            made.arg_attr[i].attr["_output_shapes"] = _shapes(
                self.node.attr["output_shapes"].list.shape[i].shape())
        return made

    def _condition(self, name: str, types: list[DType]) -> Any:
        made = self._function(name, types)
        less = made.node_def.add(name="less", op="Less", input=["loop_argument_0", "loop_argument_1"])
        less.attr["T"] = _type(int32)
        made.signature.output_arg.add(name="more", type=bool_.enum)
        made.ret["more"] = "less:z:0"
        return made

    def _iteration(self, name: str, types: list[DType], count: int, body: str) -> Any:
        made = self._function(name, types)
        add = made.node_def.add
        results = self._op.attrs["body"].outputs
        one = add(name="one", op="Const")
        one.attr["dtype"], one.attr["value"] = _type(int32), AttrValue(tensor=TensorProto.of(np.int32(1), int32))
        add(name="next", op="AddV2", input=["loop_argument_0", "one:output:0"]).attr["T"] = _type(int32)
        given = []
        for i, (t, is_row) in enumerate(zip(self._op.inputs, self._mapped, strict=True)):
            argument = f"loop_argument_{2 + count + i}"
            if not is_row:
                given.append(argument)
                continue
            shape = self._inner_constant(add, f"shape_{i}", None if t._spec.shape is None else t._spec.shape[1:])
            row = add(name=f"row_{i}", op="TensorListGetItem", input=[argument, "loop_argument_0", shape])
            row.attr["element_dtype"] = _type(t.dtype)
            row.attr["_output_shapes"] = _shapes(None if t._spec.shape is None else t._spec.shape[1:])
            given.append(f"row_{i}:item:0")
        call = add(name="call", op="StatefulPartitionedCall", input=given)
        call.attr["Tin"].list.type.extend(t.dtype.enum for t in self._op.inputs)
        call.attr["Tout"].list.type.extend(t.dtype.enum for t in results)
        call.attr["f"].func.name = body
        call.attr["_output_shapes"].list.shape.extend(shape_proto(t._spec.shape) for t in results)
        outputs = ["next:z:0", "loop_argument_1"]
        for k, t in enumerate(results):
            put = add(name=f"put_{k}", op="TensorListSetItem",
                      input=[f"loop_argument_{2 + k}", "loop_argument_0", f"call:output:{k}"])
            put.attr["element_dtype"] = _type(t.dtype)
            put.attr["_output_shapes"] = _shapes(())
            outputs.append(f"put_{k}:output_handle:0")
        outputs += [f"loop_argument_{i}" for i in range(len(outputs), len(types))]
        for i, (dtype, place) in enumerate(zip(types, outputs, strict=True)):
            made.signature.output_arg.add(name=f"output_{i}", type=dtype.enum)
            made.ret[f"output_{i}"] = place
        made.control_ret["call"] = "call"
        made.signature.control_output.append("call")
        return made

    @staticmethod
    def _inner_constant(add: Any, name: str, shape: Any) -> str:
        node = add(name=name, op="Const")
        node.attr["dtype"] = _type(int32)
        node.attr["value"] = AttrValue(tensor=TensorProto.of(np.asarray(_sizes(shape), np.int32), int32))
        return f"{name}:output:0"


def _type(dtype: DType) -> Any:
    return AttrValue(type=dtype.enum)


def _shapes(shape: Any) -> Any:
    made = AttrValue()
    made.list.shape.append(shape_proto(shape))
    return made


def _sizes(shape: Any) -> Any:
    """Returns a shape as the value of an input; -1 stands for what is not known."""
    return -1 if shape is None else [-1 if n is None else n for n in shape]
