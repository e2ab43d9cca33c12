"""Runs on a mesh: where values lie, what is refused, and that numbers are those of one device."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib._hlo import HloSharding, OpSharding

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import mesh
from graphgrad.executor.backend.mesh import MeshBuffer
from graphgrad.frontend.distribute.sharding import layout_text
from graphgrad.ir.values.mesh_layout import DeviceMesh, MeshLayout

_RNG = np.random.RandomState(0)
_W, _V = _RNG.randn(16, 32).astype("f"), _RNG.randn(32, 4).astype("f")
_X = _RNG.randn(8, 16).astype("f")


def _config(count: int) -> Any:
    return tf.ConfigProto(device_count={"CPU": count})


def _session(count: int = 4) -> Any:
    return tf.Session(config=_config(count))


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    with tf.Graph().as_default():
        yield


def _held(session: Any, variable: Any) -> Any:
    return session._resolve(variable._handle).held


def _net() -> tuple[Any, Any, list[Any]]:
    x = tf.placeholder(tf.float32, [8, 16])
    w = tf.shard(tf.get_variable("w", initializer=_W), [None, "model"])
    v = tf.shard(tf.get_variable("v", initializer=_V), ["model", None])
    return x, tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(tf.shard(x, ["data"]), w)), v))), [w, v]


def test_training_is_that_of_jax() -> None:
    with tf.mesh(data=2, model=2):
        x, loss, (w, v) = _net()
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    def of_jax(w: Any, v: Any) -> Any:
        return jnp.mean(jnp.square(jnp.tanh(_X @ w) @ v))

    expected = [_W, _V]
    with _session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            value, _ = session.run([loss, step], {x: _X})
            np.testing.assert_allclose(value, of_jax(*expected), rtol=1e-5)
            expected = [a - 0.1 * g for a, g in zip(expected, jax.grad(of_jax, (0, 1))(*expected), strict=True)]
        for found, wanted in zip(session.run([w, v]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_variables_and_slots_are_split_in_memory() -> None:
    with tf.mesh(data=2, model=2):
        x, loss, (w, v) = _net()
        tf.shard(w, [None, "model"], slots=["data", "model"])
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.minimize(loss)
    with _session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):  # as initialized, and as the program leaves it
            for variable, parts in [(w, 2), (v, 2), (optimizer.get_slot(w, "m"), 4), (optimizer.get_slot(v, "v"), 2)]:
                held = _held(session, variable)
                whole = 4 * int(np.prod(variable.shape.as_list()))
                assert held.bytes_of_devices() == [whole // parts] * 4
                assert [s.data.nbytes for s in held.array.addressable_shards] == [whole // parts] * 4
            session.run(step, {x: _X})
        report = session.explain([loss, step], {x: _X})
    assert layout_text(optimizer.get_slot(w, "m")) == "data=2,model=2|data model"
    assert "on each of 4 devices at most" in str(report)
    assert len(report.steps[-1].device_bytes) == 4
    assert report.steps[-1].device == "mesh:CPU:data=2,model=2"


def test_a_model_that_one_device_could_not_hold() -> None:
    """Of a model of 8 MB each of eight devices has one, and what belongs to no single one of them."""
    with tf.mesh(model=8):
        layers = [tf.shard(tf.get_variable(f"w{i}", [512, 1024], initializer=tf.zeros_initializer()), [None, "model"])
                  for i in range(4)]
    x = tf.placeholder(tf.float32, [4, 512])
    loss = tf.add_n([tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0)) for w in layers])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with _session(8) as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: np.ones([4, 512])})
        (found,) = session.explain(step, {x: np.ones([4, 512])}).steps
    total = 4 * 4 * 512 * 1024
    assert max(found.device_bytes) < 2 * total / 8 + 100_000  # before and after the step
    assert found.output_bytes + found.temporary_bytes < 2 * total / 8


def test_gradients_lie_as_what_they_are_gradients_of() -> None:
    with tf.mesh(data=2, model=2):
        x, loss, variables = _net()
        h = tf.shard(tf.tanh(x), ["data", "model"])
    gradients = tf.gradients(loss + tf.reduce_sum(tf.square(h)), [*variables, h])
    assert [g.op.node_def.attr["_spec"].s for g in gradients] == [b"- model", b"model -", b"data model"]
    (second,) = tf.gradients(tf.reduce_sum(gradients[0] ** 2), variables[0])
    assert second.op.type == "XlaSharding"


def test_feeds_of_other_sizes_and_python_in_between() -> None:
    with tf.mesh(data=4):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.shard(x, ["data"]) * 2.0
        z = tf.reduce_sum(tf.shard(tf.py_func(np.sin, [y], tf.float32), ["data"])) + tf.reduce_sum(y)
    with _session() as session:
        for n in (4, 8):
            fed = np.arange(3.0 * n).reshape(n, 3).astype("f")
            np.testing.assert_allclose(session.run(z, {x: fed}), np.sum(np.sin(2 * fed)) + np.sum(2 * fed), rtol=1e-5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="size 6 cannot be split into 4 equal parts.*'data'"):
            session.run(z, {x: np.ones([6, 3])})


def test_the_runs_of_other_devices_see_the_values() -> None:
    with tf.mesh(data=2):
        w = tf.shard(tf.get_variable("w", initializer=_W), ["data"])
    b = tf.get_variable("b", initializer=np.ones(32, "f"))
    both = tf.assign_add(b, tf.reduce_sum(w, 0))
    with _session(2) as session:
        session.run(tf.global_variables_initializer())
        session.run(both)
        assert isinstance(_held(session, b), MeshBuffer)
        np.testing.assert_allclose(session.run(b * 2.0), 2 * (1 + _W.sum(0)), rtol=1e-5)  # not on the mesh
        session.run(tf.assign(b, b + 1.0))
        np.testing.assert_allclose(session.run(both), 2 * (1 + _W.sum(0)), rtol=1e-5)


def test_scalars_stay_scalars() -> None:
    with tf.mesh(data=2):
        w = tf.shard(tf.get_variable("w", initializer=_W), ["data"])
    steps = tf.train.get_or_create_global_step()
    with _session(2) as session:
        session.run([w.initializer, steps.initializer])
        assert session.run(steps).shape == () == np.asarray(_held(session, steps)).shape


def test_a_run_that_fails_leaves_variables_alone() -> None:
    with tf.mesh(data=2):
        w = tf.shard(tf.get_variable("w", initializer=_W), ["data"])
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.debugging.assert_less(x, 1.0)]):
        step = tf.assign_add(w, x * tf.ones_like(w))
    with _session(2) as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: 0.5})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(step, {x: 2.0})
        np.testing.assert_allclose(session.run(w), _W + 0.5)


def test_graphs_keep_the_annotations() -> None:
    with tf.mesh(data=2, model=2):
        _, loss, _ = _net()
    written = tf.get_default_graph().as_graph_def()
    nodes = {n.name: n for n in written.node}
    assert nodes["w"].attr["_spec"].s == b"- model"
    assert nodes["shard"].op == "XlaSharding" and nodes["shard"].attr["_mesh"].s == b"data=2,model=2"
    with tf.Graph().as_default():
        (again,) = tf.import_graph_def(written, return_elements=[loss.name], name="")
        with _session() as session:
            session.run("w/Assign")
            session.run("v/Assign")
            found = session.run(again, {"Placeholder:0": _X})
            assert session._cells["w"].held.bytes_of_devices() == [1024] * 4
    np.testing.assert_allclose(found, np.mean(np.square(np.tanh(_X @ _W) @ _V)), rtol=1e-5)


@pytest.mark.parametrize(("sizes", "spec", "text"), [
    ({"a": 3}, ["a"], "size 8 cannot be split into 3 equal parts along the mesh axis 'a'"),
    ({"a": 2, "b": 2}, [("a", "b"), "a"], "the axis 'a' is named twice"),
    ({"a": 2}, [("a", "a")], "the axis 'a' is named twice|named twice in"),
    ({"a": 2}, ["b"], "the mesh a=2 has no axis 'b'"),
    ({"a": 2}, [None, None, "a"], "for 3 dimensions, the value has 2"),
    ({"a": 2}, "a", "a list with an entry for each dimension, not 'a'"),
])
def test_layouts_that_cannot_be(sizes: Any, spec: Any, text: str) -> None:
    for value in (tf.zeros([8, 4]), tf.get_variable("w", [8, 4])):
        with tf.mesh(**sizes), pytest.raises(ValueError, match=f"(?s){text}.*Fix: "):
            tf.shard(value, spec)


def test_meshes_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="there is no mesh"):
        tf.shard(tf.zeros([2]), [None])
    with pytest.raises(ValueError, match="cannot have 0 devices"):
        tf.mesh(data=0)
    with pytest.raises(ValueError, match="at least one axis"):
        tf.mesh()
    x = tf.shard(tf.zeros([8]), ["a"], mesh=tf.mesh(a=4))
    y = tf.shard(tf.zeros([8]), ["b"], mesh=tf.mesh(b=4))
    with _session(2) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)a=4 needs 4 devices.*counts as 2.*Fix: "):
            session.run(x)
    with _session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)needs the mesh b=4, and the mesh a=4"):
            session.run(x + y)
        assert session.run(y).tolist() == [0.0] * 8


def test_many_threads_train_one_model() -> None:
    import threading

    with tf.mesh(data=2):
        w = tf.shard(tf.get_variable("w", initializer=np.zeros([4, 2])), ["data"])
    step, read = tf.assign_add(w, tf.ones([4, 2], tf.float64)), tf.identity(w)
    with _session(2) as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        wrong: list[Any] = []

        def work() -> None:
            for _ in range(20):
                session.run(step)
                seen = session.run(read)
                if not (seen == seen[0, 0]).all():
                    wrong.append(seen)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert session.run(w).tolist() == [[61.0] * 2] * 4


@pytest.mark.parametrize("spec", [(("data",), ()), ((), ("model",)), (("model",), ("data",)), (("data", "model"), ()),
                                  ((), ("model", "data")), (("model", "data"),)])
def test_the_message_is_that_of_jax(spec: Any) -> None:
    """What TensorFlow's attribute says, and where parts lie, is what JAX makes of the same layout."""
    layout = MeshLayout(DeviceMesh((("data", 2), ("model", 4))), spec)
    devices = mesh.device("mesh:CPU:data=2,model=4")
    theirs = NamedSharding(devices.jax_mesh, PartitionSpec(*spec))
    message = OpSharding()
    message.ParseFromString(layout.op_sharding(2))
    found, wanted = HloSharding.from_proto(message), theirs._to_xla_hlo_sharding(2)
    for what in ("tile_assignment_dimensions", "tile_assignment_devices", "replicate_on_last_tile_dim"):
        assert getattr(found, what)() == getattr(wanted, what)()
    parts = theirs.devices_indices_map((16, 24))
    for device, part in zip(devices._all, layout.parts((16, 24)), strict=True):
        assert [range(*s.indices(n)) for s, n in zip(parts[device], (16, 24), strict=True)] == [
            range(s.start, s.stop) for s in part]
