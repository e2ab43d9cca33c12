"""Programs with queues, tables, devices and names, and graphs in text with old operations; see `reference_cases`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .reference_cases import XS, Case


def _x(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [3], name="x")


def _case(outputs: list[Any], xs: list[Any], **more: Any) -> Case:
    return {"outputs": outputs, "feeds": {"x:0": XS}, "xs": xs, **more}


def input_queues(tf: Any) -> Case:
    """An input pipeline of queues with its runners: limited epochs, in order, in batches."""
    rows = tf.train.input_producer(tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2)), shuffle=False,
                                   num_epochs=4)
    batch = tf.train.batch([rows.dequeue() * 2.0], 3, num_threads=1)
    v = tf.Variable([1.0, 2.0], name="v")
    return {"outputs": [batch * v], "feeds": {}, "xs": [v], "queues": True}


def queues(tf: Any) -> Case:
    """Queues of several kinds, filled and emptied in one run."""
    x = _x(tf)
    first = tf.FIFOQueue(10, [tf.float32, tf.int32], [[3], []], shared_name="q")
    padding = tf.PaddingFIFOQueue(10, [tf.float32], [[None]])
    priority = tf.PriorityQueue(10, [tf.float32], [[]])
    with tf.control_dependencies([first.enqueue([x, 1]), padding.enqueue([x]),
                                  priority.enqueue_many([[3, 1, 2], x])]):
        seconds = [first.enqueue([x * 2.0, 2]), padding.enqueue([x[:1]])]
    with tf.control_dependencies(seconds):
        a, n = first.dequeue_many(2)
        b = padding.dequeue_many(2)
        (_, c) = priority.dequeue()
    with tf.control_dependencies([a, b, c]):
        size, _ = first.size(), priority.dequeue_many(2)
    return _case([a, b, c, n, size], [])


def tables(tf: Any) -> Case:
    """Tables with the operations that fill them."""
    x = _x(tf)
    keys, values = tf.constant(["a", "b", "c"]), tf.constant([1, 2, 3], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    found = table.lookup(tf.constant(["c", "x", "a"]))
    return _case([x * tf.cast(found, tf.float32), found], [x])


def devices(tf: Any) -> Case:
    """Devices, colocation, name scopes, a placeholder with a default."""
    x = _x(tf)
    with tf.device("/cpu:0"), tf.name_scope("inner"):
        v = tf.Variable([1.0, 2.0, 3.0], name="v")
        with tf.colocate_with(v):
            y = x * v
    z = tf.placeholder_with_default(tf.ones([3]), [None], name="z")
    with tf.device("/device:CPU:0"):
        loss = tf.reduce_sum(y * z, name="loss")
    return _case([loss, y], [x, v])


def savers(tf: Any) -> Case:
    """The operations of two savers, one of them sharded, beside a variable."""
    x = _x(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    loss = tf.reduce_sum((v * x) ** 2)
    tf.train.Saver([v], name="one")
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(sharded=True, name="two"))
    return _case([loss], [x, v], train=tf.train.AdamOptimizer(0.1).minimize(loss))


CASES = {f.__name__: f for f in (input_queues, queues, tables, devices, savers)}


# -- graphs in text --------------------------------------------------------------------

_X = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } %s }\n'
_T = 'attr { key: "T" value { type: DT_FLOAT } }'


def _shape(*sizes: int) -> str:
    dims = " ".join(f"dim {{ size: {n} }}" for n in sizes)
    return f'attr {{ key: "shape" value {{ shape {{ {dims} }} }} }}'


def _ints(name: str, values: list[int]) -> str:
    sizes = f"dim {{ size: {len(values)} }}"
    vals = " ".join(f"int_val: {v}" for v in values)
    return (f'node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }} '
            f'attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ {sizes} }} {vals} }} }} }} }}\n')


def _floats(name: str, values: Any) -> str:
    array = np.asarray(values, np.float32)
    sizes = " ".join(f"dim {{ size: {n} }}" for n in array.shape)
    vals = " ".join(f"float_val: {v}" for v in array.ravel().tolist())
    return (f'node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
            f'attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT tensor_shape {{ {sizes} }} {vals} }} }} }} }}\n')


def _node(name: str, op: str, inputs: str, attrs: str = _T) -> str:
    given = " ".join(f'input: "{n}"' for n in inputs.split())
    return f'node {{ name: "{name}" op: "{op}" {given} {attrs} }}\n'


def _b(name: str, value: bool) -> str:
    return f' attr {{ key: "{name}" value {{ b: {str(value).lower()} }} }}'


def _i(name: str, value: int) -> str:
    return f' attr {{ key: "{name}" value {{ i: {value} }} }}'


def _f(name: str, value: float) -> str:
    return f' attr {{ key: "{name}" value {{ f: {value} }} }}'


def _type(name: str, value: str) -> str:
    return f' attr {{ key: "{name}" value {{ type: DT_{value} }} }}'


def _s(name: str, value: str) -> str:
    return f' attr {{ key: "{name}" value {{ s: "{value}" }} }}'


_SQUARE = [[[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]], [[1.0, 0.2, 0.0], [0.2, 2.0, 0.3], [0.0, 0.3, 4.0]],
           [[3.0, 0.1, 0.4], [0.1, 1.0, 0.2], [0.4, 0.2, 2.5]]]
_IMAGE = [(np.sin(np.arange(48) + k) * 2).reshape(1, 4, 4, 3).tolist() for k in range(3)]

_ONE = ('node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { '
        'tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }\n')

# Name -> (the producer's version, text of the nodes, outputs, values of x in three runs).
TEXTS: dict[str, tuple[int, str, list[str], Any]] = {
    "old_reductions": (10, _X % _shape(2, 3) + _ints("axes", [1]) + _ints("all", [0, 1]) + "".join(
        _node(kind.lower(), kind, "x axes") for kind in ("Sum", "Max", "Min", "Mean", "Prod"))
        + _node("total", "Sum", "x all", _T + _b("keep_dims", True)) + _ints("axis", [0]) + _ONE
        + _node("arg", "ArgMax", "x one"),
        ["sum:0", "max:0", "min:0", "mean:0", "prod:0", "total:0", "arg:0"], [XS[:2], XS[1:], [XS[2], XS[0]]]),
    "old_joins": (10, _X % _shape(2, 3) + 'node { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 '
        '} } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }\n'
        + _node("joined", "Concat", "axis x x", _T + _i("N", 2)) + _node("pack", "Pack", "x x", _T + _i("N", 2))
        + _node("parts", "Unpack", "pack", _T + _i("num", 2)) + _node("split", "Split", "axis joined",
                                                                     _T + _i("num_split", 3))
        + _node("wide", "ExpandDims", "x axis") + _node("narrow", "Squeeze", "wide") + _ints("shape", [3, 2])
        + _node("reshaped", "Reshape", "x shape") + _node("inverse", "Inv", "x") + _ints("perm", [1, 0])
        + _node("turned", "Transpose", "x perm") + _node("product", "MatMul", "x turned")
        + _ints("times", [2, 1]) + _node("tiled", "Tile", "x times") + _ints("pads", [1]) + _node("sign", "Sign", "x"),
        ["joined:0", "pack:0", "parts:1", "split:1", "narrow:0", "reshaped:0", "inverse:0", "product:0", "tiled:0",
         "sign:0"], [XS[:2], XS[1:], [XS[2], XS[0]]]),
    "old_choices": (10, _X % _shape(2, 3) + _node("top", "TopKV2", "x one", _T) + _ints("rows", [1, 0])
        + _ONE
        + _node("gathered", "Gather", "x rows", _type("Tparams", "FLOAT") + _type("Tindices", "INT32"))
        + _node("zeros", "ZerosLike", "x") + _node("test", "Greater", "x zeros")
        + _node("select", "Select", "test x zeros") + _node("places", "Where", "test", "")
        + _node("soft", "Softmax", "x") + _node("lrelu", "Relu6", "x") + _ints("a", [1, 2, 3]) + _ints("b", [2])
        + _node("rest", "ListDiff", "a b", _type("T", "INT32")) + _node("div", "Div", "x top_plus")
        + _node("top_plus", "Exp", "x") + _node("norm", "L2Loss", "x"),
        ["top:0", "top:1", "gathered:0", "select:0", "places:0", "soft:0", "lrelu:0", "rest:0", "div:0", "norm:0"],
        [XS[:2], XS[1:], [XS[2], XS[0]]]),
    "old_normalization": (8, _X % _shape(1, 4, 4, 3) + _floats("m", [0.1, -0.2, 0.3]) + _floats("v", [1.0, 2.0, 0.5])
        + _floats("beta", [0.5, 0.0, -0.5]) + _floats("gamma", [1.5, 1.0, 0.5])
        + _node("y", "BatchNormWithGlobalNormalization", "x m v beta gamma",
                _T + _f("variance_epsilon", 0.001) + _b("scale_after_normalization", True)),
        ["y:0"], _IMAGE),
    "old_images": (10, _X % _shape(1, 4, 4, 3) + _floats("filter", np.cos(np.arange(24)).reshape(2, 2, 3, 2))
        + _node("conv", "Conv2D", "x filter", _T + _s("padding", "SAME")
                + ' attr { key: "strides" value { list { i: 1 i: 1 i: 1 i: 1 } } }')
        + _node("pool", "MaxPool", "x", _s("padding", "VALID")
                + ' attr { key: "ksize" value { list { i: 1 i: 2 i: 2 i: 1 } } }'
                + ' attr { key: "strides" value { list { i: 1 i: 2 i: 2 i: 1 } } }')
        + _node("mean", "AvgPool", "x", _T + _s("padding", "SAME")
                + ' attr { key: "ksize" value { list { i: 1 i: 2 i: 2 i: 1 } } }'
                + ' attr { key: "strides" value { list { i: 1 i: 2 i: 2 i: 1 } } }')
        + _node("local", "LRN", "x", "") + _ints("size", [6, 5]) + _node("larger", "ResizeBilinear", "x size")
        + _node("near", "ResizeNearestNeighbor", "x size") + _floats("bias", [0.1, 0.2])
        + _node("biased", "BiasAdd", "conv bias") + _node("added", "BiasAddV1", "conv bias")
        + _floats("scale", [1.0, 2.0, 0.5]) + _floats("offset", [0.0, 0.5, 1.0])
        + _node("fused", "FusedBatchNorm", "x scale offset none none") + _floats("none", np.zeros(0)),
        ["conv:0", "pool:0", "mean:0", "local:0", "larger:0", "near:0", "biased:0", "added:0", "fused:0"], _IMAGE),
    "old_matrices": (10, _X % _shape(3, 3) + _floats("two", [[_SQUARE[0][0], _SQUARE[0][1], _SQUARE[0][2]]] * 2)
        + _node("inverse", "BatchMatrixInverse", "two") + _node("one", "MatrixInverse", "x")
        + _node("root", "BatchCholesky", "two") + _node("det", "BatchMatrixDeterminant", "two")
        + _node("band", "BatchMatrixBandPart", "two low low") + 'node { name: "low" op: "Const" attr { key: "dtype" '
        'value { type: DT_INT64 } } attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: 0 '
        '} } } }\n' + _node("part", "BatchMatrixDiagPart", "two") + _node("diag", "BatchMatrixDiag", "part")
        + _node("solved", "BatchMatrixSolve", "two two") + _node("product", "BatchMatMul", "two diag")
        + _node("eigen", "SelfAdjointEig", "x") + _node("triangle", "BatchMatrixTriangularSolve", "root two")
        + _node("set", "BatchMatrixSetDiag", "two part"),
        ["inverse:0", "one:0", "root:0", "det:0", "band:0", "diag:0", "solved:0", "product:0", "triangle:0", "set:0"],
        _SQUARE),
    "old_arrays": (10, _X % _shape(3) + 'node { name: "n" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } '
        'attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 2 } } } }\n'
        'node { name: "i" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } '
        'attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }\n'
        'node { name: "k" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } '
        'attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }\n'
        + _floats("start", 0.0)
        + _node("array", "TensorArrayV2", "n", _type("dtype", "FLOAT") + _b("clear_after_read", False))
        + _node("w1", "TensorArrayWriteV2", "array i x start") + _node("w2", "TensorArrayWriteV2", "array k twice w1")
        + _node("twice", "Add", "x x") + _node("size", "TensorArraySizeV2", "array w2", "")
        + _node("all", "TensorArrayGatherV2", "array both w2", _type("dtype", "FLOAT")) + _ints("both", [1, 0])
        + _node("joined", "TensorArrayConcatV2", "array all_flow", _type("dtype", "FLOAT"))
        + _node("all_flow", "Identity", "w2") + _node("y", "TensorArrayReadV2", "array k joined_flow",
                                                      _type("dtype", "FLOAT"))
        + _node("joined_flow", "Identity", "w2 ^joined ^all"), ["all:0", "joined:0", "y:0", "size:0"], XS),
    "old_placeholders": (20, 'node { name: "x" op: "PlaceholderV2" attr { key: "dtype" value { type: DT_FLOAT } } '
        + _shape(2, 3) + " }\n" + _ints("low", [0, 1]) + _ints("high", [2, 3]) + _ints("steps", [1, 1])
        + _node("part", "StridedSlice", "x low high steps", _T + _type("Index", "INT32"))
        + _node("sized", "Shape", "x") + _node("rank", "Rank", "x") + _ints("extra", [2])
        + _node("slice", "Slice", "x low sizes", _T + _type("Index", "INT32")) + _ints("sizes", [1, 2])
        + _node("filled", "Fill", "sizes value") + _floats("value", 2.5)
        + _node("noted", "Print", "x x", _T + ' attr { key: "U" value { list { type: DT_FLOAT } } }'
                + _s("message", "x"))
        + _node("checked", "CheckNumerics", "noted", _T + _s("message", "bad"))
        + _node("drop", "StopGradient", "checked") + _node("end", "Mul", "checked drop"),
        ["part:0", "sized:0", "rank:0", "slice:0", "filled:0", "end:0"], [XS[:2], XS[1:], [XS[2], XS[0]]]),
}
