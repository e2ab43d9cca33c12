"""Registration of gradient functions, and what is said of those that are missing or wrong.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import pathlib

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.gradients import get_gradient_function
from graphgrad.gradients.core import registry as registrations
from graphgrad.gradients.core.rule_types import TAKEN
from graphgrad.ir import op as declare
from graphgrad.ir.opdef import registry
from tests.support.sessions import run, without_gradient

pytestmark = pytest.mark.usefixtures("graph")


def test_registering_twice_quotes_the_first_place():
    with pytest.raises(KeyError, match=r"two gradient with name 'Tanh'!.*Previous registration was at trig.py:\d+"):
        tf.RegisterGradient("Tanh")(lambda op, dy: dy)

    tf.RegisterGradient("TwiceMine")(lambda op, dy: dy)
    with pytest.raises(KeyError, match=r"(?s)TwiceMine.*test_registry.py"):
        tf.RegisterGradient("TwiceMine")(lambda op, dy: dy)


def test_override_map_nests_and_ends(graph):
    for factor in (2.0, 3.0):
        tf.RegisterGradient(f"Times{factor}")(lambda op, dy, factor=factor: dy * factor)
    x = tf.constant(0.0)
    with graph.gradient_override_map({"Sin": "Times2.0"}):
        a = tf.sin(x)
        with graph.gradient_override_map({"Sin": "Times3.0"}):
            b = tf.sin(x)
        c = tf.sin(x)
    d = tf.sin(x)
    assert run([tf.gradients(y, x)[0] for y in (a, b, c, d)]) == [2.0, 3.0, 2.0, 1.0]


def test_override_with_an_unregistered_name(graph):
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Tanh": "Nope"}):
        y = tf.tanh(x)
    with pytest.raises(LookupError, match=r"(?s)'Nope'.*'Tanh'.*test_registry.py"):
        tf.gradients(y, x)


def test_not_differentiable_gives_none(graph):
    tf.NotDifferentiable("DeclaredConstant")
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Sin": "DeclaredConstant"}):
        assert tf.gradients(tf.sin(x), x) == [None]
    assert tf.gradients(tf.floor(x), x) == [None]


def test_py_func_is_constant_as_in_tensorflow():
    x = tf.constant(2.0)
    assert tf.gradients(tf.py_func(lambda v: v, [x], tf.float32), x) == [None]


def test_missing_gradient_names_op_path_and_line():
    x = tf.constant(2.0, name="x")
    y = without_gradient(x * 2.0, name="host")
    z = tf.exp(tf.reshape(y, []), name="z")
    with pytest.raises(LookupError) as e:
        tf.gradients(z, x)
    text = str(e.value)
    assert "No gradient defined for operation 'host' (op type: WithoutGradient)" in text
    assert "z (Exp) <- " in text and "<- host (WithoutGradient) <- mul (Mul) <- x (Const)" in text
    assert "test_registry.py" in text
    assert "@tf.RegisterGradient('WithoutGradient')" in text and "tf.stop_gradient" in text


@declare("OfMine", "x: T, y: T -> z: T", shape=lambda x, y: x)
def of_mine(xp, x, y):
    """An op of the user's."""
    return xp.add(x, y)


@declare("Namespace>OfMine", "x: T -> z: T", shape=lambda x: x)
def in_namespace(xp, x):
    """An op in a namespace."""
    return xp.add(x, x)


def test_user_ops():
    with pytest.raises(LookupError, match="No gradient defined for operation 'OfMine'"):
        x = tf.constant(2.0)
        tf.gradients(of_mine(x, x), x)

    @tf.RegisterGradient("OfMine")
    def _of_mine_grad(op, dz):
        assert op.type == "OfMine" and len(op.inputs) == 2 and op.get_attr("T") is tf.float32
        return dz * 10.0, dz * op.inputs[0]

    assert run(tf.gradients(of_mine(x, 3.0 * x), x)) == [10.0 + 6.0]
    with pytest.raises(KeyError, match=r"OfMine.*Previous registration was at .*test_registry.py:\d+"):
        tf.RegisterGradient("OfMine")(_of_mine_grad)
    with pytest.raises(KeyError, match="OfMine"):
        tf.NotDifferentiable("OfMine")


def test_op_types_with_a_namespace(graph):
    tf.RegisterGradient("Namespace>OfMine")(lambda op, dz: dz * 2.0)
    x = tf.constant(2.0)
    (g,) = tf.gradients(in_namespace(x), x)
    assert run(g) == 2.0 and g.op.name == "gradients/Namespace>OfMine_grad/mul"


def test_op_types_that_the_user_declares_constant():
    @declare("OfMineAndConstant", "x: T -> z: T", shape=lambda x: x)
    def constant(xp, x):
        """A constant op of the user's."""
        return x

    tf.NoGradient("OfMineAndConstant")
    x = tf.constant(2.0)
    assert tf.gradients(constant(x), x) == [None]
    assert run(tf.gradients(constant(x) + x, x)) == [1.0]
    for register in (tf.NotDifferentiable, tf.NoGradient, tf.RegisterGradient):
        with pytest.raises(TypeError, match="op_type must be a string"):
            register(3)


def test_the_override_map_takes_strings(graph):
    for wrong in ({"Sin": 3}, {3: "Sin"}, [("Sin", "Cos")]):
        with pytest.raises(TypeError, match="op_type_map must be a dictionary mapping strings to strings"):
            with graph.gradient_override_map(wrong):
                pass


def test_an_override_holds_for_its_graph_alone(graph):
    tf.RegisterGradient("TripledHere")(lambda op, dy: dy * 3.0)
    x = tf.constant(1.0)

    @tf2.function
    def f(t):
        return tf.identity(t) * 1.0

    @tf2.function
    def g(t):
        with tf.get_default_graph().gradient_override_map({"Identity": "TripledHere"}):
            return tf.identity(t) * 1.0

    with graph.gradient_override_map({"Identity": "TripledHere"}):
        own, called, branch = tf.identity(x), f(x), tf.cond(x > 0.0, lambda: tf.identity(x), lambda: x)
        (looped,) = tf.while_loop(lambda t: t < 4.0, lambda t: [t + 3.0], [x], return_same_structure=True)
        with tf.Graph().as_default():
            z = tf.constant(1.0)
            assert run(tf.gradients(tf.identity(z), z)) == [1.0]
    values = run([tf.gradients(y, x)[0] for y in (own, called, g(x), branch, looped)])
    assert values == [3.0, 1.0, 3.0, 1.0, 1.0]  # a branch is a function, but in the old control flow


def test_an_override_decides_for_one_operation_while_others_of_its_type_keep_theirs(graph):
    tf.RegisterGradient("GuidedRelu")(lambda op, dy: tf.nn.relu(dy) * tf.cast(op.outputs[0] > 0, dy.dtype))
    x = tf.constant([-1.0, 1.0, 2.0])
    with graph.gradient_override_map({"Relu": "GuidedRelu"}):
        guided = tf.nn.relu(x)
    weights = tf.constant([1.0, -1.0, 1.0])
    got = run([tf.gradients(y * weights, x)[0] for y in (guided, tf.nn.relu(x))])
    assert [g.tolist() for g in got] == [[0, 0, 1], [0, -1, 1]]


def _wrong_count(op, dy):
    return [dy, dy]


def _none_at_all(op, dy):
    return []


def _wrong_shape(op, dy):
    return tf.ones([7])


def _wrong_rows(op, dy):
    return tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]), tf.constant([9, 3]))


def _no_tensor(op, dy):
    return "text"


def _a_dictionary(op, dy):
    return {"x": dy}


@pytest.mark.parametrize(
    ("rule", "error", "text"),
    [
        (_wrong_count, ValueError, "Num gradients 2 generated for op .* do not match num inputs 1"),
        (_none_at_all, ValueError, "Num gradients 0 generated for op .* do not match num inputs 1"),
        (_wrong_shape, ValueError, r"Incompatible shapes.*Original input shape: \(2,\).*\(7,\)"),
        (_wrong_rows, ValueError, r"Incompatible shapes.*Original input shape: \(2,\).*\(9, 3\)"),
        (_no_tensor, TypeError, "gives for input x:0 what is no tensor"),
        (_a_dictionary, TypeError, "gives for input x:0 what is no tensor"),
    ],
)
def test_rules_that_return_nonsense_are_caught_and_named(graph, rule, error, text):
    tf.RegisterGradient(rule.__name__)(rule)
    x = tf.placeholder(tf.float32, [2], name="x")
    with graph.gradient_override_map({"Sin": rule.__name__}):
        y = tf.sin(x)
    line = rule.__code__.co_firstlineno
    where = rf"Built at test_registry.py.*Gradient function: {rule.__name__} \(.*registry.py:{line}\).*Fix"
    with pytest.raises(error, match=f"(?s){text}.*{where}"):
        tf.gradients(y, x)
    with pytest.raises(error, match=f"(?s){text}.*{where}"):
        tf.gradients(tf.sin(y), x)


def test_rules_may_return_none_numbers_and_arrays(graph):
    x = tf.placeholder(tf.float32, [2])
    for i, returned in enumerate((None, [None], np.float32([5, 6]), [[7.0, 8.0]])):
        tf.RegisterGradient(f"Returns{i}")(lambda op, dy, returned=returned: returned)
        with graph.gradient_override_map({"Sin": f"Returns{i}"}):
            y = tf.sin(x)
        (g,) = tf.gradients(y, x)
        assert g is None if i < 2 else run(g).tolist() == list(np.float32([[5, 6], [7, 8]])[i - 2])


def test_get_gradient_function():
    x = tf.constant(2.0)
    with pytest.raises(LookupError, match="No gradient defined for operation 'WithoutGradient'"):
        get_gradient_function(without_gradient(x).op)
    assert get_gradient_function(tf.shape(x).op) is None
    assert callable(get_gradient_function(tf.tanh(x).op))


def test_what_tensorflow_leaves_open_is_the_users(monkeypatch):
    recorded = (pathlib.Path(__file__).parents[1] / "recorded" / "registered_gradients.tsv").read_text().splitlines()
    theirs = {line.split("\t")[0] for line in recorded[1:]}
    package = str(pathlib.Path(tf2.__file__).parent)
    ours = {name for name, opdef in registry.items() if opdef.gradient and opdef.source.filename.startswith(package)}
    assert theirs == TAKEN and len(ours - theirs) > 150
    monkeypatch.setattr(registrations, "_users", set())
    for name in sorted(ours):
        opdef = registry[name]
        monkeypatch.setattr(opdef, "gradient", opdef.gradient)
        monkeypatch.setattr(opdef, "gradient_source", opdef.gradient_source)
        mine = tf.RegisterGradient(name)
        if name in theirs:
            with pytest.raises(KeyError, match="two gradient with name"):
                mine(_users_gradient)
            continue
        mine(_users_gradient)
        assert opdef.gradient is _users_gradient
        with pytest.raises(KeyError, match=r"two gradient with name.*test_registry.py"):
            mine(_users_gradient)


def _users_gradient(op, *dys):
    return [None] * len(op.inputs)
