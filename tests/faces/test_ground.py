"""What libraries stand on besides operations: structures, methods in branches, conversions, TensorFlow's inside.

What is expected here was seen with TensorFlow 2.21.
"""

from __future__ import annotations

import collections
import collections.abc
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as tf1
from graphgrad.compat.internal.framework.bounded_specs import BoundedTensorSpec
from graphgrad.compat.internal.ops.rnn import _concat
from graphgrad.compat.internal.ops.sparse_matrices import CSRSparseMatrix, matmul
from graphgrad.compat.internal.saved_model import load_context
from graphgrad.compat.internal.saved_model.structure_coder import decode_proto, encode_structure
from graphgrad.compat.internal.util.object_identity import ObjectIdentityDictionary, ObjectIdentitySet
from graphgrad.compat.internal.util.tf_inspect import getcallargs

v1 = tf.compat.v1
_Attribute = collections.namedtuple("_Attribute", ["name"])


class Pair:
    """As the package `attrs` makes classes: fields in an order of their own."""

    __attrs_attrs__ = (_Attribute("b"), _Attribute("a"))

    def __init__(self, b: Any, a: Any):
        self.b, self.a = b, a


class Row(collections.abc.Sequence[Any]):
    """A sequence that is neither a list nor a tuple."""

    def __init__(self, values: Any):
        self.values = list(values)

    def __getitem__(self, i: Any) -> Any:
        return self.values[i]

    def __len__(self) -> int:
        return len(self.values)


class Masked:
    """A class that says what it consists of."""

    def __init__(self, value: Any, mask: Any):
        self.value, self.mask = value, mask

    def __tf_flatten__(self) -> Any:
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, leaves: Any) -> Any:
        return cls(leaves[0], *metadata)


def test_structures() -> None:
    """Objects of classes of `attrs`, sequences of all kinds and of classes with `__tf_flatten__` are nested."""
    nested = {"z": Row([1, (2,)]), "a": Pair(3, [4]), "m": Masked(5, "left"), "r": range(6, 8), "t": "text"}
    assert tf.nest.flatten(nested) == [3, 4, 5, 6, 7, "text", 1, 2]
    doubled = tf.nest.map_structure(lambda v: v * 2, nested)
    assert isinstance(doubled["z"], Row) and doubled["z"].values == [2, (4,)]
    assert (doubled["a"].b, doubled["a"].a, doubled["m"].value, doubled["m"].mask) == (6, [8], 10, "left")
    assert doubled["r"] == [12, 14] and doubled["t"] == "texttext"
    assert tf.nest.flatten(collections.deque([1, 2])) == [1, 2] and not tf.nest.is_nested(b"ab")
    with pytest.raises(TypeError, match="sequence type"):
        tf.nest.assert_same_structure(Pair(1, 2), (1, 2))


def test_structures_in_loops() -> None:
    """Such an object is a loop variable, an argument and a result of a function; gradients are those of its parts."""

    @tf.function
    def looped(pair: Any, n: Any) -> Any:
        return tf.while_loop(lambda p, i: i < n, lambda p, i: (Pair(p.b + p.a, p.a * 2.0), i + 1), (pair, 0))[0]

    a = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        found = looped(Pair(tf.constant(1.0), a), tf.constant(3))
    assert (float(found.b), float(found.a)) == (15.0, 16.0)
    assert float(tape.gradient(found.b, a)) == 7.0


class Base:
    def f(self, x: Any) -> Any:
        return x * 2.0


class Derived(Base):
    def f(self, x: Any) -> Any:
        y: Any = x
        if tf.reduce_sum(x) > 0.0:
            y: Any = super().f(x) + 1.0  # type: ignore[no-redef]  # the program says it twice
        for _ in tf.range(2):
            y: Any = y + super().f(x)  # type: ignore[no-redef]  # the program says it twice
        return y


def test_methods_in_branches() -> None:
    """`super()` without arguments and annotations of names, in branches and loops on tensors."""
    f = tf.function(Derived().f)
    assert [float(f(tf.constant(v))) for v in (1.0, -1.0)] == [7.0, -5.0]


class Rounded(tf.Variable):
    """A variable that is read as its sign, as libraries for quantized networks define them."""

    def __init__(self, variable: Any):
        self.variable = variable

    @property
    def dtype(self) -> Any:
        return self.variable.dtype

    @property
    def shape(self) -> Any:
        return self.variable.shape

    def _dense_var_to_tensor(self, *args: Any, **kwargs: Any) -> Any:
        return tf.sign(self.variable._dense_var_to_tensor(*args, **kwargs))


Rounded._OverloadAllOperators()
tf.register_tensor_conversion_function(Rounded, Rounded._dense_var_to_tensor)


def test_conversion_of_a_class_of_variables() -> None:
    """The function registered for a class derived from `Variable` is used, in eager mode and in a function."""
    variable = tf.Variable([-3.0, 0.5])
    rounded = Rounded(variable)
    np.testing.assert_array_equal(tf.multiply(rounded, [2.0, 3.0]), [-2.0, 3.0])
    np.testing.assert_array_equal(tf.function(lambda: tf.reduce_sum(rounded) * 4.0)(), 0.0)
    np.testing.assert_array_equal(tf.multiply(variable, [2.0, 3.0]), [-6.0, 1.5])
    with pytest.raises(ValueError, match="float64"):
        tf.convert_to_tensor(variable._dense_var_to_tensor(), tf.float64)


def test_graphs_of_libraries() -> None:
    """A graph that a library makes to try a function takes tensors of another such graph, none from inside of it."""
    graphs = [tf.__internal__.FuncGraph(name) for name in ("first", "second")]
    with graphs[0].as_default():
        x = v1.placeholder(tf.float32, [None, 2])
        y = tf.sqrt(x)
    with graphs[1].as_default():
        z = y * 2.0
        inner: list[Any] = []
        tf.while_loop(lambda i: i < 2, lambda i: inner.append(i + 1) or i + tf.cast(y[0, 0], tf.int32), [0])
        with pytest.raises(ValueError, match="out of scope"):
            tf.identity(inner[0])
    assert z.shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="out of scope"), tf.Graph().as_default():
        tf.identity(y)


def test_global_step_in_eager_mode() -> None:
    """It is one eager variable, which functions find, too; each graph has its own."""
    step = v1.train.get_or_create_global_step()
    before = int(step)
    step.assign_add(2)
    assert v1.train.get_global_step() is step and v1.train.get_or_create_global_step() is step
    assert int(tf.function(lambda: v1.train.get_or_create_global_step().assign_add(1))()) == before + 3 == int(step)
    with pytest.raises(ValueError, match="already exists"):
        v1.train.create_global_step()
    with tf.Graph().as_default():
        assert v1.train.get_or_create_global_step() is not step


def test_state_as_text(tmp_path: pathlib.Path) -> None:
    """State of Python objects in a checkpoint; what the base class lacks has to be defined."""

    class State(tf.train.experimental.PythonState):
        text = "first"

        def serialize(self) -> str:
            return self.text

        def deserialize(self, string_value: Any) -> None:
            self.text = string_value.decode()

    state = State()
    checkpoint = tf.train.Checkpoint(state=state, v=tf.Variable(1.0))
    path = checkpoint.save(str(tmp_path / "c"))
    state.text = "later"
    checkpoint.restore(path)
    assert state.text == "first"
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.PythonState()


def test_average_losses() -> None:
    """Weights of one rank less or more; sizes; gradients; a scalar is refused."""
    losses = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for weights in ([1.0, 2.0], [[1.0], [2.0]]):
        assert float(tf.nn.compute_average_loss(losses, weights)) == 8.5
    assert float(tf.nn.compute_average_loss(losses[:, 0], [[1.0], [2.0]], 4)) == 1.75
    with tf.GradientTape() as tape:
        tape.watch(losses)
        y = tf.nn.compute_average_loss(losses, global_batch_size=4) + tf.nn.scale_regularization_loss(losses)
    np.testing.assert_array_equal(tape.gradient(y, losses), np.full((2, 2), 1.25))
    with pytest.raises(ValueError, match=r"(?s)at least rank 1.*Fix:"):
        tf.nn.compute_average_loss(1.0)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_products_of_sparse_matrices(batch: tuple[int, ...]) -> None:
    """All kinds of factors, turned or not, against dense products; the gradient by the values of the sparse one."""
    random = np.random.default_rng(3)
    a, b = (random.normal(size=(*batch, *s)) * (random.random((*batch, *s)) > 0.5) for s in ((3, 4), (4, 5)))
    first, second = (tf.sparse.from_dense(v) for v in (a, b))
    turned = [np.swapaxes(v, -1, -2) for v in (a, b)]
    for found in (matmul(CSRSparseMatrix(first), b), matmul(a, CSRSparseMatrix(second)),
                  matmul(CSRSparseMatrix(first), CSRSparseMatrix(second)).to_dense(),
                  matmul(CSRSparseMatrix(turned[0]), b, transpose_a=True),
                  matmul(a, CSRSparseMatrix(turned[1]), adjoint_b=True)):
        np.testing.assert_allclose(found, a @ b)
    with tf.GradientTape() as tape:
        tape.watch(first.values)
        y = tf.reduce_sum(matmul(CSRSparseMatrix(first), b))
    dense = np.broadcast_to(b.sum(-1)[..., None, :], a.shape)
    np.testing.assert_allclose(tape.gradient(y, first.values), dense[a != 0.0])


def test_names_of_the_inside() -> None:
    """Bounded specs, sets by identity, arguments of calls, structures as messages."""
    spec = BoundedTensorSpec([2], tf.int32, 0, [1, 2], name="action")
    assert spec == BoundedTensorSpec.from_spec(spec) and hash(spec) == hash(BoundedTensorSpec.from_spec(spec))
    assert spec != BoundedTensorSpec([2], tf.int32, 0, 3) and spec.maximum.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"(?s)not compatible.*Fix:"):
        BoundedTensorSpec([2], tf.int32, 0, [1, 2, 3])
    ones = [1.0], [1.0]
    held = ObjectIdentitySet(ones)
    assert len(held) == 2 and ones[0] in held and [1.0] not in held and len(held.difference([ones[0]])) == 1
    table = ObjectIdentityDictionary([(ones[0], "a")])
    table[ones[1]] = "b"
    del table[ones[0]]
    assert list(table.values()) == ["b"] and table.get(ones[0]) is None
    assert getcallargs(lambda a, b=2, *c, d=4, **e: 0, 1, d=3, z=9) == {"a": 1, "b": 2, "d": 3, "z": 9}
    assert getcallargs(Derived().f, 1)["x"] == 1
    nested = {"a": (tf.TensorSpec([None], tf.int64), 2.5), "b": [None, "text"]}
    assert decode_proto(encode_structure(nested)) == nested


def test_shapes_joined() -> None:
    """`rnn_cell_impl._concat`: sizes and tensors of sizes, as a vector or as what is known."""
    with tf1.Graph().as_default(), tf1.Session() as sess:
        n = tf1.placeholder(tf.int32, [])
        assert sess.run(_concat(n, [2, 3]), {n: 5}).tolist() == [5, 2, 3]
        assert sess.run(_concat(4, tf.constant([2]))).tolist() == [4, 2]
        assert _concat(n, [2, 3], static=True) == [None, 2, 3] and _concat(tf.constant(4), 2, static=True) == [4, 2]
        with pytest.raises(ValueError, match="None.*Fix:"):
            _concat([None, 2], 3)
        with pytest.raises(ValueError, match="(?s)scalar or vector.*Fix:"):
            _concat(tf.zeros([2, 2], tf.int32), 3)


def test_options_of_what_is_loaded() -> None:
    """The innermost block's options are found."""
    assert load_context.get_load_options() is None and not load_context.in_load_context()
    with load_context.load_context("a"), load_context.load_context("b"):
        assert load_context.get_load_options() == "b" and load_context.in_load_context()
    assert load_context.get_load_options() is None
