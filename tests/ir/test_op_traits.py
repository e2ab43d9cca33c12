"""What records of ops say besides kernel, shape and gradient: `graphgrad.op_traits`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import partition
from graphgrad.executor.plan.partition import cut
from graphgrad.executor.plan.planner import make_plan
from graphgrad.executor.program.plan_types import Cluster
from graphgrad.executor.runtime.numpy_run import seconds
from graphgrad.gradients.bodies.subgraphs import through_identity
from graphgrad.ir.constant_value import static_value
from graphgrad.ir.opdef import op, raw, registry
from graphgrad.op_traits import BatchSplit, Cost, Linear, OpTraits


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def of(trait: str, value: Any = True) -> set[str]:
    """The op types whose records have a value of a trait."""
    return {name for name, opdef in registry.items() if getattr(opdef, trait) == value}


# -- the table ---------------------------------------------------------------------------

# trait, value, types that have it, types that do not
_ROWS: list[tuple[str, Any, str, str]] = [
    ("cost", Cost.PRODUCT, "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum SparseMatMul SparseTensorDenseMatMul "
     "BlockLSTM BlockLSTMV2 BlockLSTMGrad BlockLSTMGradV2 LSTMBlockCell GRUBlockCell", "Mul Sum"),
    ("cost", Cost.CONVOLUTION, "Conv2D Conv2DBackpropInput Conv2DBackpropFilter Conv3D Conv3DBackpropInputV2 "
     "Conv3DBackpropFilterV2 DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput "
     "DepthwiseConv2dNativeBackpropFilter", "MaxPool"),
    ("cost", Cost.FACTORIZATION, "Cholesky Qr Svd Lu Eig SelfAdjointEigV2 MatrixInverse MatrixSolve MatrixSolveLs "
     "MatrixTriangularSolve MatrixDeterminant LogMatrixDeterminant", "MatrixDiag"),
    ("cost", Cost.SERIES, "Lgamma Digamma Polygamma Zeta Igamma Igammac IgammaGradA Betainc RandomGammaGrad Expint",
     "Erf Exp BesselJ0"),
    ("cost", Cost.HEAVY, "MaxPool MaxPoolV2 MaxPoolGrad MaxPool3D MaxPool3DGrad AvgPool AvgPool3D FusedBatchNorm "
     "FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad FusedBatchNormGradV3 LRN LRNGrad TopK TopKV2 Cumsum Cumprod "
     "CumulativeLogsumexp FFT IFFT2D RFFT3D IRFFT FFTND CTCLoss CTCLossV2 Dilation2D", "AddV2 Relu"),
    ("saves_result", True, "Tanh Sigmoid Exp Softmax Sqrt Rsqrt", "Log Sin"),
    ("shape_only", True, "Shape ShapeN Rank Size VariableShape TensorListLength", "ZerosLike Fill"),
    ("fill", 0, "ZerosLike", "OnesLike Fill"),
    ("fill", 1, "OnesLike", "ZerosLike"),
    ("alias", True, "Identity IdentityN StopGradient PreventGradient Snapshot GuaranteeConst", "Reshape CheckNumerics"),
    ("identity", True, "Identity IdentityN Snapshot GuaranteeConst", "StopGradient PreventGradient"),
    ("data_movement", True, "Identity Reshape Transpose ConcatV2 GatherV2 Tile Pad Fill SelectV2 Maximum",
     "Cast Neg Sum AddV2 Relu"),
    ("zero_preserving", True, "Identity Reshape Neg Cast Sum Mean Conj AddN", "Exp Const"),
    ("linear", Linear.JOINTLY, "AddV2 Sub Sum Mean Reshape Identity ConcatV2 GatherV2 BiasAdd", "Mul Maximum Exp"),
    ("linear", Linear.SEPARATELY, "Mul MatMul BatchMatMulV2 Einsum Conv2D", "RealDiv Square TridiagonalMatMul"),
    ("elementwise", True, "AddV2 Mul Tanh TanhGrad Pow RealDiv Maximum SelectV2", "Select AddN Softmax Cumsum"),
    ("quotient", True, "RealDiv Div", "DivNoNan FloorDiv"),
    ("operator", "+", "Add AddV2 AddN", "Sub"),
    ("operator", "-", "Sub", "Neg"),
    ("operator", "<=", "LessEqual", "Less"),
    ("operator", "and", "LogicalAnd", "LogicalOr"),
    ("variable", "read", "ReadVariableOp", "VariableShape"),
    ("variable", "assign", "AssignVariableOp", "AssignAddVariableOp"),
    ("tensor_list", "set", "TensorListSetItem", "TensorListGetItem"),
    ("placeholder", True, "Placeholder PlaceholderWithDefault", "Const"),
    ("checks", True, "CheckNumerics CheckNumericsV2", "Identity"),
]


@pytest.mark.parametrize(("trait", "value", "have", "have_not"), _ROWS, ids=lambda v: str(v)[:20])
def test_table(trait: str, value: Any, have: str, have_not: str) -> None:
    """Records say what the table says."""
    assert set(have.split()) <= of(trait, value)
    assert not set(have_not.split()) & of(trait, value)


def test_options_are_traits_or_types() -> None:
    """An option that is neither a trait nor an attribute of the op is a slip of the pen."""
    assert not {(name, o) for name, opdef in registry.items() for o in opdef.allowed.keys() - opdef.attrs.keys()}


def test_an_op_that_says_nothing() -> None:
    """The values in `OpTraits` hold for ops that say nothing, and records share them."""
    try:
        record = op("TraitlessTest", "x: T -> y: T")(lambda xp, x: x)
        assert not {name for name in vars(record) if name in vars(OpTraits)} - {"__doc__"}
        assert (record.cost, record.alias, record.data_movement, record.value_rule) == (Cost.LIGHT, False, False, None)
    finally:
        del registry["TraitlessTest"]


def test_what_follows_from_a_trait() -> None:
    """An identity is an alias, an alias moves data, and what moves data preserves zeros."""
    assert of("identity") < of("alias") < of("data_movement") < of("zero_preserving")
    assert all(registry[name].value_rule is not None for name in of("alias"))
    assert [cost for cost in Cost if cost.kept] == [Cost.SERIES, Cost.PRODUCT, Cost.CONVOLUTION, Cost.FACTORIZATION]


# -- what they decide --------------------------------------------------------------------


def _clusters(product: Any, n: int = 60) -> int:
    x = tf.placeholder(tf.float32, [2, 4, 4])
    y = x
    for _ in range(n):
        y = tf.tanh(product(y, tf.ones([2, 4, 4]) * 0.1) + 0.1)
    g = tf.gradients(y, x)
    plan = make_plan([y, *g], [], [x], lambda t: None)  # type: ignore[arg-type, return-value]  # no variables
    return sum(isinstance(step, Cluster) for step in plan.steps)


def _pieces(x: tf.Tensor, y: tf.Tensor) -> list[list[Any]]:
    """How the instructions that compute y from x are cut."""
    # Silenced: no variables.
    plan = make_plan([y], [], [x], lambda t: None, whole=True)  # type: ignore[arg-type, return-value]
    (program,) = [step.program for step in plan.steps if isinstance(step, Cluster)]
    return cut(program)


def test_products_are_cut_alike() -> None:
    """A graph of 60 layers has the same clusters with each of the batched products."""
    counts = {_clusters(raw.BatchMatMul), _clusters(raw.BatchMatMulV2),
              _clusters(lambda a, b: raw.BatchMatMulV3(a, b, Tout=tf.float32))}
    assert len(counts) == 1
    assert counts.pop() > 5


def test_pieces_begin_with_what_is_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are cut before pools, normalizations, factorizations and maps, too."""
    for name, value in {"WHOLE": 2, "LIGHT": 100, "LARGEST": 1, "UNLIKE": 0}.items():
        monkeypatch.setattr(partition, name, value)
    x = tf.placeholder(tf.float32, [1, 2, 4, 4, 1])
    h = raw.MaxPool3D(tf.tanh(tf.sin(x)), ksize=[1] * 5, strides=[1] * 5, padding="SAME")
    m = tf.tanh(tf.reshape(h, [2, 4, 4]) + 0.1)
    lu = raw.Lu(m + 5.0 * tf.eye(4))[0]
    rows = tf.vectorized_map(lambda r: tf.sin(r) * 2.0, tf.sin(lu))
    firsts = {piece[0].op.type for piece in _pieces(x, rows)[1:]}
    assert firsts == {"MaxPool3D", "Lu", "VectorizedMap"}


def test_many_series_are_cut_apart() -> None:
    """What XLA makes of many in one program is told beside `partition.SERIES`."""
    x = tf.placeholder(tf.float32, [8])
    few = many = x
    for _ in range(5):
        few = tf.math.lgamma(few + 1.5)
    for _ in range(40):
        many = tf.math.lgamma(many + 1.5)
    assert len(_pieces(x, few)) == 1
    series = [sum(i.op.type == "Lgamma" for i in piece) for piece in _pieces(x, many)]
    assert sum(series) == 40
    assert max(series) <= partition.LARGEST // partition.SERIES


def test_multiply_adds() -> None:
    """Products and convolutions say how much work they are."""
    a, b = tf.placeholder(tf.float32, [3, 5]), tf.placeholder(tf.float32, [5, 7])
    image, f = tf.placeholder(tf.float32, [2, 8, 8, 3]), tf.placeholder(tf.float32, [3, 3, 3, 4])
    unknown = tf.placeholder(tf.float32, [None, 5])
    depthwise = tf.nn.depthwise_conv2d_native(image, tf.placeholder(tf.float32, [3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
    convolution = tf.nn.conv2d(image, f, [1, 2, 2, 1], "SAME")
    to_image, to_filter = tf.gradients(convolution, [image, f])
    found = {t.op.type: t.op.opdef.work_rule(t.op, 100) for t in (
        tf.matmul(a, b), raw.BatchMatMul(a, a, adj_x=True), raw.SparseMatMul(a, b), convolution, to_image, to_filter,
        depthwise)}
    assert found == {
        "MatMul": 3 * 5 * 7, "BatchMatMul": 5 * 5 * 3, "SparseMatMul": 3 * 5 * 7,
        "Conv2D": 2 * 4 * 4 * 9 * 3 * 4, "Conv2DBackpropInput": 2 * 4 * 4 * 9 * 3 * 4,
        "Conv2DBackpropFilter": 2 * 4 * 4 * 9 * 3 * 4, "DepthwiseConv2dNative": 2 * 8 * 8 * 9 * 3 * 2}
    product = tf.matmul(unknown, b).op
    assert product.opdef.work_rule(product, 100) == 100 * 5 * 7


def test_every_batch_split_has_work() -> None:
    """Convolutions whose batch may be split say how much they compute: small ones are left whole."""
    split = {name: opdef for name, opdef in registry.items() if opdef.batch_split is not None}
    assert set(split) == {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv3D", "Conv3DBackpropInputV2",
                          "Conv3DBackpropFilterV2"}
    assert all(opdef.work_rule is not None for opdef in split.values())
    assert registry["Conv2D"].batch_split == BatchSplit((0,), 1, -1)


def test_partial_values() -> None:
    """Values of shapes are followed through identities and comparisons, as far as they are known."""
    x = tf.placeholder(tf.float32, [None, 3])
    n = tf.shape(x)
    assert static_value(tf.identity_n([n, n * 2])[1]) == (None, 6)
    assert static_value(raw.Snapshot(n)) == (None, 3)
    assert static_value(raw.ShapeN([tf.ones([2]), x])[1]) == (None, 3)
    assert static_value(raw.LessEqual(n[1], 3)) is True
    assert static_value(raw.GreaterEqual(n[1], 4)) is False
    assert static_value(raw.LessEqual(n[0], 3)) is None


def test_an_identity_with_another_gradient_is_none(graph: tf.Graph) -> None:
    """What is looked through must hand gradients on, too."""
    x = tf.placeholder(tf.float32, [])
    assert through_identity(tf.identity(tf.identity_n([x])[0])) is x
    stopped = tf.stop_gradient(x)
    assert through_identity(stopped) is stopped

    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        return tf.identity(x), lambda dy: 2.0 * dy

    assert through_identity(doubled(x)) is not x


def test_a_loop_variable_that_passes_another_gradient() -> None:
    """A gradient that a user gives to an identity counts in each iteration of a loop, also if the value stays."""
    if "DoubledInLoopTest" not in tf.get_default_graph()._scoped_state:
        tf.RegisterGradient("DoubledInLoopTest")(lambda op, dy: 2.0 * dy)
    x = tf.placeholder(tf.float32, [])

    def body(i: Any, v: Any, y: Any) -> Any:
        with tf.get_default_graph().gradient_override_map({"Identity": "DoubledInLoopTest"}):
            return i + 1, tf.identity(v), y + v

    y = tf.while_loop(lambda i, *_: i < 3, body, (0, x, 0.0))[2]
    with tf.Session() as sess:
        assert sess.run(tf.gradients(y, x)[0], {x: 5.0}) == 1.0 + 2.0 + 4.0


def test_first_runs_know_products() -> None:
    """The estimate of a first run counts the products of sparse matrices, too."""
    a = tf.placeholder(tf.float32, [400, 400])
    # Silenced: no variables.
    plan = make_plan([raw.SparseMatMul(a, a), raw.MatMul(a, a)], [], [a], lambda t: None)  # type: ignore[arg-type, return-value]
    times = {i.op.type: seconds(i, 1) for step in plan.steps if isinstance(step, Cluster) for i in step.program}
    assert times["SparseMatMul"] == pytest.approx(times["MatMul"])
    assert np.isfinite(times["MatMul"])
