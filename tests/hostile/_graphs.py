"""Graphs that mean nothing: random wiring, huge constants, functions that call each other."""

from __future__ import annotations

import random
from typing import Any


def strange_graph(rng: random.Random) -> bytes:
    """A graph of random wiring: cycles, loops and branches that are none, functions that call each other."""
    import graphgrad.compat.v1 as tf
    from graphgrad.ir.graph_messages import AttrValue

    made = tf.GraphDef()
    count = rng.choice((1, 3, 8, 30, 300))
    functions = rng.choice((0, 0, 2, 12, 40))
    old = ["Merge", "Switch", "NextIteration", "Enter", "Exit", "LoopCond"]
    types = rng.choice(
        (
            ["Identity", "Neg", "AddV2"],
            [*old, "Identity"],
            ["Const", "Reshape", "Fill", "Transpose", "Tile"],
            ["PartitionedCall", "StatefulPartitionedCall", "If", "While", "StatelessIf"],
            ["VariableV2", "Assign"],
            ["TensorArrayV3", "TensorArrayReadV3", "TensorArrayWriteV3", *old],
        )
    )

    def fill(nodes: Any, names: list[str], forward: bool) -> None:
        for i in range(count if nodes is made.node else rng.choice((1, 2, 3))):
            node = nodes.add(name=f"n{i}" if rng.random() < 0.98 else "n0", op=rng.choice(types))
            near = [*names, *(f"n{j}" for j in range(max(0, i - 3), i if forward else i + 3))] or ["n0"]
            for _ in range(rng.choice((0, 1, 2, 2, 3))):
                name = rng.choice(near)
                port = rng.choice(("", "", ":1", ":0", ":output:0", ":-1", ":x"))
                node.input.append(("^" if rng.random() < 0.1 else "") + name + port)
            node.attr["T"] = node.attr["dtype"] = AttrValue(type=rng.choice((1, 1, 3, 10, 20, 99)))
            for name in ("f", "then_branch", "else_branch", "cond", "body"):
                node.attr[name].func.name = f"f{rng.randrange(functions + 1)}"
            node.attr["frame_name"] = AttrValue(s=rng.choice((b"a", b"b", b"\xff")))
            if node.op == "Const":
                tensor = node.attr["value"].tensor
                tensor.dtype = node.attr["dtype"].type
                for _ in range(rng.choice((0, 1, 1, 2, 70))):
                    tensor.tensor_shape.dim.add(
                        size=rng.choice((0, 1, 2, 3, 10**4, 10**9, 3 * 10**9, 10**12, -1, 1 << 62))
                    )
                tensor.int_val.extend([rng.choice((0, 1, 2, 10**6))] * rng.choice((0, 1, 2, 5)))

    fill(made.node, [], rng.random() < 0.5)
    for i in range(functions):
        function = made.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        fill(function.node_def, ["x"], True)
        function.ret["y"] = rng.choice(("x", "n0:output:0", "n1:output:0", "n0:z:0", "n9"))
    return made.SerializeToString()
