"""Graphs whose profiles are compared with TensorFlow's, and how a profile is written down.

`tf` is `tf.compat.v1`, of TensorFlow or of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _of(*shapes: list[int]) -> Callable[[Any], list[Any]]:
    def make(tf: Any) -> list[Any]:
        return [tf.placeholder(tf.float32, shape) for shape in shapes]

    return make


def _raw(name: str, *shapes: list[int], **attrs: Any) -> Callable[[Any], Any]:
    def build(tf: Any) -> Any:
        made = _of(*shapes)(tf)
        names = _INPUTS.get(name, ("x", "y"))
        return getattr(tf.raw_ops, name)(**dict(zip(names, made, strict=False)), **attrs)

    return build


_INPUTS = {"Softmax": ("logits",), "L2Loss": ("t",), "RsqrtGrad": ("y", "dy"), "BiasAdd": ("value", "bias"),
           "BiasAddGrad": ("out_backprop",), "MatMul": ("a", "b"), "Conv2D": ("input", "filter"),
           "Conv3D": ("input", "filter"), "DepthwiseConv2dNative": ("input", "filter"), "AvgPool": ("value",),
           "MaxPool": ("input",), "MaxPoolGrad": ("orig_input", "orig_output", "grad"), "Sum": ("input",),
           "Mean": ("input",), "ArgMax": ("input",), "ArgMin": ("input",), "Dilation2D": ("input", "filter"),
           "Relu": ("features",), "Reciprocal": ("x",), "Square": ("x",)}
_STRIDES = {"strides": [1, 2, 2, 1], "padding": "SAME"}
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}

CASES: dict[str, Callable[[Any], Any]] = {
    **{name: _raw(name, [3, 4]) for name in
       "Reciprocal Square Rsqrt Log Neg Softmax L2Loss Tanh Exp Relu BiasAddGrad".split()},
    **{name: _raw(name, [3, 1], [1, 4]) for name in
       """Add AddV2 Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal NotEqual
       SquaredDifference Div""".split()},
    "RsqrtGrad": _raw("RsqrtGrad", [3, 4], [3, 4]),
    "Sum": _raw("Sum", [3, 4, 5], axis=[1]), "Mean": _raw("Mean", [3, 4, 5], axis=[0, 2]),
    "Max": lambda tf: tf.reduce_max(*_of([3, 4])(tf)),
    "ArgMax": _raw("ArgMax", [3, 4], dimension=1), "ArgMin": _raw("ArgMin", [3, 4], dimension=0),
    "AddN": lambda tf: tf.add_n(_of([3, 4], [3, 4], [3, 4])(tf)),
    "BiasAdd": _raw("BiasAdd", [3, 4], [4]),
    "MatMul": _raw("MatMul", [3, 4], [4, 5]), "MatMul transposed": _raw("MatMul", [4, 3], [4, 5], transpose_a=True),
    "BatchMatMul": lambda tf: tf.matmul(*_of([2, 3, 4], [2, 4, 5])(tf)),
    "Conv2D": _raw("Conv2D", [2, 9, 8, 3], [3, 2, 3, 5], **_STRIDES),
    "Conv2D valid": _raw("Conv2D", [2, 9, 8, 4], [3, 2, 4, 5], strides=[1, 1, 1, 1], padding="VALID"),
    "Conv3D": _raw("Conv3D", [2, 5, 6, 7, 3], [2, 2, 2, 3, 4], strides=[1] * 5, padding="VALID"),
    "DepthwiseConv2dNative": _raw("DepthwiseConv2dNative", [2, 9, 8, 3], [3, 2, 3, 2], **_STRIDES),
    "Dilation2D": _raw("Dilation2D", [2, 9, 8, 3], [3, 2, 3], strides=[1] * 4, rates=[1] * 4, padding="SAME"),
    "AvgPool": _raw("AvgPool", [2, 8, 6, 3], **_POOL), "MaxPool": _raw("MaxPool", [2, 8, 6, 3], **_POOL),
    "unknown": lambda tf: tf.placeholder(tf.float32, [None, 3]) * tf.placeholder(tf.float32, [None, 3]),
}


def convolutions(tf: Any) -> None:
    """A network with its gradients: convolution, pooling, a dense layer."""
    x = tf.placeholder(tf.float32, [4, 12, 12, 3], name="x")
    with tf.variable_scope("features"):
        w = tf.get_variable("filter", [3, 3, 3, 8], use_resource=True)
        h = tf.nn.relu(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME", name="conv"))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name="pool")
    with tf.variable_scope("head"):
        v = tf.get_variable("weights", [72, 5], use_resource=True)
        b = tf.get_variable("bias", [5], initializer=tf.zeros_initializer(), use_resource=True)
        tf.get_variable("steps", [7], trainable=False, use_resource=True)
        y = tf.nn.bias_add(tf.matmul(tf.reshape(h, [4, 72]), v), b)
    loss = tf.reduce_sum(tf.square(y), name="loss")
    tf.gradients(loss, [w, v, b])


def options(tf: Any) -> dict[str, dict[str, Any]]:
    """The options that are compared, by names."""
    builder = tf.profiler.ProfileOptionBuilder
    given = {
        "parameters": builder(builder.trainable_variables_parameter()),
        "all parameters": builder(builder.trainable_variables_parameter()).with_accounted_types(["VarHandleOp"]),
        "floats": builder(builder.float_operation()),
        "floats, two levels": builder(builder.float_operation()).with_max_depth(2).order_by("name"),
        "floats of gradients": builder(builder.float_operation()).with_node_names(start_name_regexes=["gradients.*"]),
        "large ones": builder(builder.float_operation()).with_min_float_operations(3000),
        "all of what is counted": builder(builder.float_operation()).account_displayed_op_only(False)
        .with_min_float_operations(3000),
        "products": builder(builder.float_operation()).with_accounted_types(["MatMul", "Conv2D.*"]).order_by("name"),
        "hidden": builder(builder.float_operation()).with_node_names(hide_name_regexes=[".*grad.*"]),
        "trimmed": builder(builder.trainable_variables_parameter()).with_node_names(trim_name_regexes=["head"]),
        "shown": builder(builder.trainable_variables_parameter()).with_node_names(show_name_regexes=["head.*"]),
    }
    return {name: one.with_empty_output().build() for name, one in given.items()}


def written(root: Any, number: str) -> list[Any]:
    """A profile as rows: depth, name, and what is asked for, a node's own and in total."""
    rows = []
    todo = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        rows.append([depth, node.name, getattr(node, number), getattr(node, f"total_{number}")])
        todo += [(child, depth + 1) for child in reversed(node.children)]
    return rows


def profiles(tf: Any) -> dict[str, Any]:
    """All that is compared."""
    found: dict[str, Any] = {}
    silent = options(tf)["floats"]
    for name, build in CASES.items():
        with tf.Graph().as_default() as graph:
            build(tf)
            found[name] = tf.profiler.profile(graph, cmd="scope", options=silent).total_float_ops
    with tf.Graph().as_default() as graph:
        convolutions(tf)
        for name, given in options(tf).items():
            number = "parameters" if given["select"] == ["params"] else "float_ops"
            for view in ("scope", "op"):
                found[f"{view}: {name}"] = written(tf.profiler.profile(graph, cmd=view, options=given), number)
    return found
