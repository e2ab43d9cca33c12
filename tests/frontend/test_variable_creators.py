"""Creators of variables, and messages that name variables."""

from __future__ import annotations

from typing import Any

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

pytestmark = pytest.mark.usefixtures("graph")


def test_variables_made_by_others() -> None:
    """Creators change what variables are made with, the innermost first; messages name variables."""
    order = []

    def outer(next_creator: Any, **kwargs: Any) -> Any:
        order.append("outer")
        return next_creator(**{**kwargs, "trainable": False})

    def inner(next_creator: Any, **kwargs: Any) -> Any:
        order.append("inner")
        return next_creator(**{**kwargs, "name": f"{kwargs['name']}_own"})

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable([1.0], name="v")
        w = tf.get_variable("w", [2])
    u = tf2.Variable(2.0)
    assert order == ["inner", "outer"] * 2 and not v.trainable and v.name == "v_own:0" and not w.trainable
    assert u.trainable
    message = v.to_proto()
    assert message.variable_name == "v_own:0" and message.is_resource and v.to_proto("elsewhere") is None
    same = tf.Variable.from_proto(message)
    with HostSession() as sess:
        sess.run(same.initializer)
        assert sess.run([same, v])[1].tolist() == [1.0] and same.name == v.name
