"""`CriticalSection`."""

from __future__ import annotations

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.sessions import run_in_numpy

pytestmark = pytest.mark.usefixtures("graph")


def test_critical_sections() -> None:
    """Functions run one after the other; a section within itself is refused."""
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    section = tf.CriticalSection()
    first, second = section.execute(lambda: v.assign_add(1.0)), section.execute(lambda: v * 10.0)
    with HostSession() as sess:
        sess.run(v.initializer)
        assert sess.run([first, second]) == [1.0, 10.0]
    with pytest.raises(ValueError, match="(?s)Attempting to lock.*Fix:"):
        section.execute(lambda: section.execute(lambda: 1))
    with pytest.raises(ValueError, match="(?s)mutually exclusive.*Fix:"):
        tf.CriticalSection(shared_name="a", critical_section_def=1)
    with tf.xla.experimental.jit_scope():
        (y,) = tf.xla.experimental.compile(lambda x: x * 2.0, [3.0])
    assert run_in_numpy(y) == 6.0
