"""Third derivatives of what the table of ops cannot hold: lists, branches, loops, variables, Python functions.

`test_ops.py` checks the rows of the table to order 3. Here the third derivative along three random directions is
compared with the difference of the second one, all of it in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.opdef import raw, registry
from tests.ops import rows
from tests.support import exempt

_X = np.random.default_rng(1).uniform(0.5, 1.5, (4, 3))


def _array(x: Any, **options: Any) -> Any:
    return tf.TensorArray(tf.float64, 4, infer_shape=False, clear_after_read=False, **options).unstack(x)


def _grown(x: Any) -> Any:
    lst = raw.EmptyTensorList(np.int32([3]), np.int32(-1), element_dtype=tf.float64)
    lst = raw.TensorListPushBack(raw.TensorListPushBack(lst, x[0]), x[1] * x[2])
    shorter, item = raw.TensorListPopBack(lst, np.int32([3]), element_dtype=tf.float64)
    longer = raw.TensorListResize(shorter, np.int32(2))
    return tf.concat([raw.TensorListStack(longer, np.int32([3]), element_dtype=tf.float64), [item]], 0)


def _variable(x: Any) -> Any:
    v = tf.get_variable("v", initializer=np.full(3, 0.75), use_resource=True)
    return v.read_value() ** 3 * x[0], v


def _changed_later(x: Any) -> Any:
    v = tf.get_variable("v", initializer=np.full(3, 0.75), use_resource=True)
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: v.read_value() ** 3 * x[0], lambda: x[0])
    v.assign_add([1.0, 2.0, 3.0])  # it need not run: from here on the gradient of the branch reads an older value
    return y, v


def _table(x: Any) -> Any:
    v = tf.get_variable("t", initializer=_X, use_resource=True)
    return tf.gather(v, [1, 3, 1]) ** 3 * x[:3], v


def _coordinates(x: Any) -> Any:
    v = tf.get_variable("c", initializer=_X, use_resource=True)
    read = raw.ResourceGatherNd(v.handle, np.int32([[1, 2], [0, 0], [1, 2]]), dtype=tf.float64, shape=(4, 3))
    return read**3 * x[:, 0][:3], v


def _perhaps(x: Any) -> Any:
    held = raw.OptionalFromValue([x**2, x[0]])
    get = raw.OptionalGetValue(held, output_types=(tf.float64, tf.float64), output_shapes=((4, 3), (3,)))
    return get[0] * x + get[1] ** 3


def _older(x: Any) -> Any:
    lst = raw.TensorListScatter(x[:3] ** 2, np.int32([3, 1, 0]), np.int32([3]))
    return raw.TensorListConcat(lst, element_dtype=tf.float64, element_shape=(3,))[0] ** 2


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x + tf.sin(y)), (0, x))[1]


_PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "TensorListFromTensor, TensorListGetItem, TensorListSetItem, TensorListStack":
        lambda x: _array(x).write(1, _array(x).read(2) ** 3).stack() ** 2,
    "TensorListGather": lambda x: _array(x).gather([3, 0, 3]) ** 3,
    "TensorListScatterV2": lambda x: tf.TensorArray(tf.float64, 4).scatter([3, 1], x[:2] ** 2).stack() ** 2,
    "TensorListScatterIntoExistingList": lambda x: _array(x).scatter([1], x[:1] ** 2).stack() ** 2,
    "TensorListSplit, TensorListConcatV2": lambda x: tf.TensorArray(tf.float64, 2, infer_shape=False)
        .split(x ** 2, [1, 3]).concat() ** 2,
    "TensorListPushBack, TensorListPopBack, TensorListResize": lambda x: _grown(x) ** 3,
    "If": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x) * x, lambda: x),
    "While": _loop,
    "VectorizedMap": lambda x: tf.vectorized_map(lambda row: row ** 3 * tf.sin(x[0]), x),
    "ReadVariableOp": _variable,
    "VariableOf": _changed_later,
    "ResourceGatherNd": _coordinates,
    "TensorListConcat, TensorListScatter": _older,
    "OptionalFromValue, OptionalGetValue": _perhaps,
    "ResourceGather": _table,
    "Cholesky": lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_a=True) + tf.eye(3, dtype=tf.float64)),
    "EagerPyFunc": lambda x: tf.py_function(lambda t: t ** 3, [x], tf.float64),
}


OPS = {name for key in _PROGRAMS for name in key.split(", ")}


def _sum_along(gradient: Any, direction: Any) -> Any:
    return tf.reduce_sum(tf.convert_to_tensor(gradient) * direction)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_third_derivative(name: str) -> None:
    """The third derivative agrees with the difference of the second."""
    rng = np.random.default_rng(2)
    with tf.Graph().as_default(), HostSession() as sess:
        fed = tf.placeholder(tf.float64, (4, 3))
        y, x = result if isinstance(result := _PROGRAMS[name](fed), tuple) else (result, fed)
        shape = x.shape.as_list()
        f = tf.reduce_sum(y * rng.normal(size=y.shape.as_list() if y.shape.is_fully_defined() else ()))
        directions = [rng.normal(size=shape) for _ in range(3)]
        derivatives = []
        for v in directions:
            f = _sum_along(tf.gradients(f, x)[0], v)
            derivatives.append(f)
        if name == "VariableOf":
            assert name in {op.type for op in tf.get_default_graph().get_operations()}
        sess.run(tf.global_variables_initializer())
        h = 1e-5
        ends = []
        for step in (h, -h):
            feeds = {fed: _X}
            if x is fed:
                feeds[fed] = _X + step * directions[2]
            else:
                start = sess.run(x)
                x.load(start + step * directions[2], sess)
            ends.append(sess.run(derivatives[1], feeds))
            if x is not fed:
                x.load(start, sess)
        third = sess.run(derivatives[2], {fed: _X})
    difference = (ends[0] - ends[1]) / (2 * h)
    assert abs(third) > 1e-3, "a third derivative that vanishes tests nothing"
    np.testing.assert_allclose(third, difference, rtol=1e-5, atol=1e-7)


def test_every_gradient_is_checked_to_the_third_order() -> None:
    """Every op with a gradient is differentiated three times: in the table, here, or `exempt` says why not."""
    in_table = {r.op_type for r in rows.load() if r.cases and r.order >= 3}
    own = {n for n, o in registry.items() if callable(o.gradient) and o.kernel.__module__.startswith("graphgrad.")}
    assert own >= OPS
    missing = own - in_table - OPS - set(exempt.ORDERS)
    assert not missing, f"nothing checks third derivatives of {sorted(missing)}"
    stale = set(exempt.ORDERS) & (in_table | OPS) | set(exempt.ORDERS) - own
    assert not stale, f"exempt in vain: {sorted(stale)}"
    assert all(len(reason) > 10 for reason in exempt.ORDERS.values())
