"""Registration of gradient functions, and what is said of those that are missing or wrong.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import pytest

import graphgrad.compat.v1 as tf
from sessions import run, without_gradient

pytestmark = pytest.mark.usefixtures("graph")


def test_registering_twice_quotes_the_first_place():
    with pytest.raises(KeyError, match=r"Registering two gradient with name 'Tanh'!"):
        tf.RegisterGradient("Tanh")(lambda op, dy: dy)

    tf.RegisterGradient("TwiceMine")(lambda op, dy: dy)
    with pytest.raises(KeyError, match=r"(?s)TwiceMine.*test_gradients_registry.py"):
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
    with pytest.raises(LookupError, match=r"(?s)'Nope'.*'Tanh'.*test_gradients_registry.py"):
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
    assert "test_gradients_registry.py" in text
    assert "@tf.RegisterGradient('WithoutGradient')" in text and "tf.stop_gradient" in text


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda op, dy: [dy, dy], "Num gradients 2 generated for op .* do not match num inputs 1"),
        (lambda op, dy: tf.cast(dy, tf.float64), "Gradient of dtype float64 computed for input"),
        (lambda op, dy: tf.ones([7]), r"Incompatible shapes.*Original input shape: \(2,\).*\(7,\)"),
    ],
)
def test_rules_that_return_nonsense_are_caught(graph, rule, text):
    name = f"Nonsense{abs(hash(text))}"
    tf.RegisterGradient(name)(rule)
    x = tf.constant([1.0, 2.0])
    with graph.gradient_override_map({"Sin": name}):
        y = tf.sin(x)
    with pytest.raises(ValueError, match=f"(?s){text}.*test_gradients_registry.py"):
        tf.gradients(y, x)
