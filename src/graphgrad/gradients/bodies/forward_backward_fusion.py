"""Fuses a `While` with the recording loop of its gradient into one loop.

The graph keeps both, since existing operations are not changed. A run that needs both, as training does, executes the
joint loop that is built here: it returns the loop variables and also records what the backward loop needs.
`Notes.joints` lists for the executor which loops belong together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphgrad.ir.context import use
from graphgrad.ir.dtypes import variant
from graphgrad.ir.effects import effects_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .subgraphs import copy_list, needed_ops


class Joint:
    """A loop and its recording loop, which repeats it and writes lists.

    Args:
      forward: the `While`.
      record: the recording loop: its outputs are the number of iterations, `variables`, the lists.
      variables: the positions of the loop variables that it repeats.
      wanted: the tensors of the forward body that it records in lists.
    """

    def __init__(self, forward: Operation, record: Operation, variables: Sequence[int], wanted: Sequence[Tensor]):
        self.forward, self.record = forward, record
        self._variables, self._wanted = list(variables), list(wanted)
        self._whole: Operation | None = None

    @property
    def same(self) -> list[tuple[Tensor, Tensor]]:
        """Returns the pairs of equal outputs of the two loops: those of `record`, those of `forward`."""
        variables = self.record.outputs[1 : 1 + len(self._variables)]
        return [(t, self.forward.outputs[i]) for t, i in zip(variables, self._variables, strict=True)]

    @property
    def holds(self) -> bool:
        """Returns whether the forward loop still has its former body: it may be gone, or rebuilt with more outputs."""
        body = self.forward.attrs.get("body")
        return body is not None and all(t.graph is body for t in self._wanted)

    def moved(self, record: Operation, inside: dict[int, Tensor]) -> Joint | None:
        """Returns the joint for a copy of `record`; None if the forward loop is not copied to its graph.

        Args:
          record: the copy.
          inside: the copies, by the id of the original tensor.
        """
        copy = inside.get(id(self.forward.outputs[0]))
        if copy is None or copy.graph is not record.graph or copy.op.type != "While":
            return None
        return Joint(copy.op, record, self._variables, self._wanted)

    def operation(self) -> Operation:
        """Builds the joint loop. It is in no graph; its outputs are theirs, each once."""
        if self._whole is None:
            self._whole = self._made()
        return self._whole

    def _made(self) -> Operation:
        forward, record = self.forward, self.record
        n, first = len(forward.outputs), 1 + len(self._variables)
        count, lists = record.inputs[0], record.inputs[first : first + len(self._wanted)]
        inputs = [*forward.inputs[:n], count, *lists, *forward.inputs[n:]]
        sources = [forward._attr("body"), forward._attr("cond")]
        body, cond = (FuncGraph(f"{forward.name}_{what}", forward.graph) for what in ("joint", "joint_cond"))
        inner: list[dict[int, Tensor]] = []
        for graph, source in ((body, sources[0]), (cond, sources[1])):
            places = [*source.inputs[:n], count, *lists, *source.inputs[n:]]
            graph.inputs = [graph._placeholder(t.dtype, t._spec.shape, "arg") for t in places]
            own = [*graph.inputs[:n], *graph.inputs[n + 1 + len(lists) :]]
            inner.append({id(t): p for t, p in zip(source.inputs, own, strict=True)})
            with use(graph):
                effects = {o.index: o for o in effects_of(source)}
                graph.keeps_effects = True
                reads = [t for o in effects.values() for t in o.inputs]
                effects.update((o.index, o) for o in needed_ops([*source.outputs, *reads], inner[-1]))
                copy_list(graph, [effects[i] for i in source.in_order(effects)], inner[-1], as_it_is=True)
            graph.outputs = [inner[-1][id(t)] for t in source.outputs]
        with use(body):
            step, own_lists = body.inputs[n], body.inputs[n + 1 : n + 1 + len(lists)]
            values = [inner[0][id(t)] for t in self._wanted]
            written = [raw.TensorListSetItem(lst, step, t) for lst, t in zip(own_lists, values, strict=True)]
            body.outputs += [raw.AddV2(step, np.int32(1)), *written]
        made = Operation.__new__(Operation)
        made.graph, made.opdef, made.inputs = forward.graph, forward.opdef, tuple(inputs)
        made.name, made.source, made.device = forward.name, forward.source, forward.device
        made.outputs = (*forward.outputs, record.outputs[0], *record.outputs[first:])
        made.control_inputs = tuple(dict.fromkeys([*forward.control_inputs, *record.control_inputs]))
        made._colocation, made._original_op, made._gradient = (), forward._original_op, None
        made.index = -2 - record.index  # unique among operations
        shapes = (*forward._attr("output_shapes"), (), *(() for _ in lists))
        made.attrs = {**forward.attrs, "body": body, "cond": cond, "output_shapes": shapes, "memory": None,
                      "T": tuple([t.dtype for t in inputs]), "Tout": tuple([t.dtype for t in made.outputs]),
                      "bounded_by": n + 1 if lists else None}
        assert all(t.dtype is variant for t in lists)
        return made
