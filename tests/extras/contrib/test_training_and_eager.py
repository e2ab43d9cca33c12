"""Hyperparameters, older losses, `tfe`, and functions that programs take from TensorFlow's inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.compat.contrib import eager, framework, metrics, nn, training
from graphgrad.compat.internal.framework import ops as inside
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def test_hparams() -> None:
    """Names keep their types, whether set one by one or from a text."""
    h = training.HParams(rate=0.1, layers=[1, 2], name="a", on=True, n=3)
    h.parse("rate=1e-2, layers=[4,5,6],on=false,name=b c,n=7")
    assert h.values() == {"rate": 0.01, "layers": [4, 5, 6], "name": "b c", "on": False, "n": 7}
    h.parse("layers[1]=9").set_hparam("rate", 2)
    assert h.layers == [4, 9, 6] and h.rate == 2.0 and isinstance(h.rate, float)
    assert training.HParams(**h.values()).parse_json(h.to_json()).values() == h.values()
    assert "rate" in h and h.get("no", 5) == 5
    h.del_hparam("rate")
    assert "rate" not in h
    for bad, text in (("n=x", "Could not parse hparam 'n'"), ("no=1", "Unknown hyperparameter"),
                      ("n", "Malformed"), ("n=[1,2]", "Must not pass a list")):
        with pytest.raises(ValueError, match=text):
            h.parse(bad)
    for name, value in (("n", 1.5), ("on", "yes"), ("layers", 3)):
        with pytest.raises(ValueError):
            h.set_hparam(name, value)
    with pytest.raises(ValueError, match="reserved"):
        h.add_hparam("parse", 1)
    with pytest.raises(ValueError, match="cannot be empty"):
        training.HParams(a=[])


def test_accuracy(sess: Any) -> None:
    """The share of equal elements, weighted if asked for."""
    p, l = tf.constant([1, 2, 3, 4]), tf.constant([1, 0, 3, 0])
    assert sess.run(metrics.accuracy(p, l)) == 0.5
    assert sess.run(metrics.accuracy(p, l, [1.0, 0.0, 1.0, 2.0])) == 0.5
    with pytest.raises(ValueError, match="should match"):
        metrics.accuracy(p, tf.constant([1.0]))


def test_flipped_losses(sess: Any) -> None:
    """The losses of 0.x: logits come first."""
    logits = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    one_hot = tf.constant([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(*sess.run([
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1, 0]),
        nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, one_hot)]), rtol=1e-6)
    np.testing.assert_allclose(sess.run(nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, one_hot)),
                               np.log1p(np.exp([[1.0, -2.0], [-3.0, -1.0]])), rtol=1e-5)


def test_eager() -> None:
    """`tfe`: variables, gradients, data sets in eager mode."""
    with context.use(None):
        v = eager.Variable(2.0)
        (grad, variable), = eager.implicit_gradients(lambda x: x * v * v)(tf.constant(3.0))
        assert grad.numpy() == 12.0 and variable is v
        assert eager.gradients_function(lambda x: x * x)(3.0)[0].numpy() == 6.0
        value, grads = eager.value_and_gradients_function(lambda x: x * x)(3.0)
        assert (value.numpy(), grads[0].numpy()) == (9.0, 6.0)
        assert eager.defun(lambda x: x + 1.0)(tf.constant(1.0)).numpy() == 2.0
        iterator = eager.Iterator(tf.data.Dataset.range(2))
        assert [e.numpy() for e in iterator] == [0, 1]
        with pytest.raises(errors.OutOfRangeError):
            iterator.get_next()
        assert eager.executing_eagerly() and eager.num_gpus() >= 0


def test_inside(sess: Any) -> None:
    """Small functions that programs take from TensorFlow's inside."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    results = [inside.alias_inplace_update(x, 1, [9.0, 9.0]), inside.alias_inplace_add(x, [0], [[1.0, 1.0]]),
               inside.alias_inplace_subtract(x, [1, 0], [[1.0, 1.0], [0.0, 2.0]])]
    found = [a.tolist() for a in sess.run(results)]
    assert found == [[[1, 2], [9, 9]], [[2, 3], [3, 4]], [[1, 0], [2, 3]]]
    assert inside.strip_name_scope("^a/b/c", "a/b") == "^c" and inside.prepend_name_scope("c:0", "a/") == "a/c:0"
    assert inside.strip_name_scope("x", None) == "x" == inside.prepend_name_scope("x", "")
    assert inside.uid() < inside.uid()
    v = tf.Variable(1.0)
    assert inside.is_resource_variable(v) and not inside.is_resource_variable(x)
    waits = inside.with_dependencies([v.initializer], x)
    assert waits.op.control_inputs == (v.initializer,)
    assert inside.get_tpu_context() is None and inside.GetContainingXLAContext(None) is None


def test_adagrad_da_arguments() -> None:
    """Sums of squares start above zero."""
    for make in (lambda: tf.train.AdagradDAOptimizer(0.1, 1, 0.0), lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.0)):
        with pytest.raises(ValueError, match="must be positive"):
            make()


def test_shallow_structures() -> None:
    """Structures are taken apart as far as another one goes."""
    nest = framework.nest
    assert nest.flatten_up_to({"a": 0, "b": [0]}, {"a": (1, 2), "b": [3]}) == [(1, 2), 3]
    assert nest.flatten_up_to(0, [1]) == [[1]]
    assert nest.flatten_dict_items({("a", "b"): (1, [2][0]), "c": [3]}) == {"a": 1, "b": 2, "c": [3]}
    for shallow, deep, kind in (([0], 1, TypeError), ([0, 0], [1], ValueError), ([0], {"a": 1}, TypeError),
                                ({"a": 0}, {"b": 1}, ValueError)):
        with pytest.raises(kind, match="structure"):
            nest.assert_shallow_structure(shallow, deep)
    for wrong, kind in (([1], TypeError), ({("a", "b"): 1}, ValueError), ({("a",): (1,), "a": 2}, ValueError)):
        with pytest.raises(kind):
            nest.flatten_dict_items(wrong)
