"""Devices: where operations run, what is moved between them, and what is refused.

The processor counts for two devices here; each is a client of XLA of its own, which refuses the other's buffers.
"""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import xla
from graphgrad.executor.plan import partition, placement
from graphgrad.executor.program.plan_types import Cluster
from graphgrad.executor.runtime.session import HostSession
from graphgrad.frontend.config import devices
from graphgrad.ir.graph import Graph
from graphgrad.testing import machine

TWO = tf.ConfigProto(device_count={"CPU": 2})
HERE = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def two_devices(monkeypatch):
    """Functions, too, have two devices."""
    monkeypatch.setattr(placement, "default_placement", placement.Placement(2))


def _plans(sess):
    return [entry.executable.plan for entry in sess._entries.values()]


def _training():
    """A step of training on two devices, with a loop, random numbers, sparse updates and a large constant."""
    x = tf.placeholder(tf.float32, [4, 6], name="x")
    with tf.device("/cpu:1"):
        w = tf.get_variable("w", initializer=np.linspace(-1, 1, 36).reshape(6, 6).astype(np.float32))
        rows = tf.get_variable("rows", initializer=np.ones((5, 6), np.float32))
        many = tf.constant(np.linspace(0, 1, 2400).reshape(400, 6).astype(np.float32))
        h = tf.tanh(tf.matmul(x, w)) + tf.reduce_mean(many, 0)
    v = tf.get_variable("v", initializer=np.ones(6, np.float32))
    steps = tf.get_variable("steps", initializer=0, trainable=False)
    h = h * v + tf.gather(rows, [0, 3, 3, 1])
    with tf.device("/cpu:1"):
        h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.sin(h) * v), [0, h])[1]
    noise = tf.random_uniform([4, 6], seed=3)
    loss = tf.reduce_mean(tf.square(h - noise))
    update = tf.train.AdamOptimizer(0.1).minimize(loss, steps, colocate_gradients_with_ops=True)
    return x, [loss, h, update, steps]


@pytest.mark.usefixtures("first_in_xla")
def test_two_devices_compute_what_one_does(graph):
    tf.set_random_seed(1)
    x, fetches = _training()
    results = []
    for config in (TWO, None):
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            values = [sess.run(fetches, {x: np.full((4, 6), k / 3)})[:2] for k in range(3)]
            results.append([*[v for pair in values for v in pair], *sess.run(tf.global_variables())])
            report = sess.explain(fetches, {x: np.ones((4, 6))})
            assert (config is TWO) == any(s.device for s in report.steps) == ("default" in str(report))
            if config is TWO:
                _check_clusters(_plans(sess))
                assert {s.device for s in report.steps if s.kind == "cluster"} == {"", "CPU:1"}
                assert f"{sum(s.kind == 'move' for s in report.steps)} between devices" in str(report)
                # Variables stay where they were asked for.
                homes = {c.name: c.held._sharding for c in sess._cells.values()}
                assert homes["w"] is homes["rows"] is homes["w/Adam"] is xla.device("CPU:1")._sharding
                assert homes["v"] is homes["steps"] is xla.device()._sharding
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def _check_clusters(plans):
    """No cluster mixes devices or reads a value of another one."""
    clusters = 0
    for plan in plans:
        home = dict.fromkeys(range(plan.slots))
        home.update(plan.homes)
        for step in plan.steps:
            if isinstance(step, Cluster):
                clusters += 1
                assert {i.device for i in step.program if i.outs and i.op.type != "Const"} <= {step.device, None}
                assert all(home[s] == step.device for s in step.ins)
            home.update(dict.fromkeys(step.outs, getattr(step, "device", None)))
    assert clusters


def test_changing_devices_is_rare(graph, monkeypatch):
    """Ten pieces on each device, built in turns, are one cluster on each."""
    monkeypatch.setattr(partition, "WHOLE", 160)
    x = tf.placeholder(tf.float32, [3])
    parts = []
    for i in range(20):
        with tf.device(f"/cpu:{i % 2}"):
            parts.append(tf.sin(x) * float(i))
    with tf.Session(config=TWO) as sess:
        report = sess.explain(tf.add_n(parts), {x: [0.0, 1.0, 2.0]})
        assert Counter((s.kind, s.device) for s in report.steps)["cluster", "CPU:1"] == 1
        assert sum(s.kind == "cluster" for s in report.steps) <= 3
        want = sum(range(20)) * np.sin([0.0, 1.0, 2.0])
        np.testing.assert_allclose(sess.run(tf.add_n(parts), {x: [0.0, 1.0, 2.0]}), want, rtol=1e-5)


def test_gradients_beside_their_operations(graph):
    x = tf.placeholder(tf.float32, [3])
    with tf.device("/cpu:1"):
        y = tf.tanh(x)
    for colocate in (True, False):
        g = tf.gradients(y, x, colocate_gradients_with_ops=colocate)[0]
        with tf.Session(config=TWO) as sess:
            report = sess.explain(g, {x: np.ones(3)})
            np.testing.assert_allclose(sess.run(g, {x: np.ones(3)}), 1 - np.tanh(np.ones(3)) ** 2, rtol=1e-5)
        where = {s.device for s in report.steps if s.operations["TanhGrad"]}
        assert where == ({"CPU:1"} if colocate else {""})


@pytest.mark.parametrize("engine", ["clusters", "whole"])
def test_strings_and_host_functions_in_between(graph, engine):
    options = tf.OptimizerOptions(global_jit_level=int(engine == "whole"))
    config = tf.ConfigProto(device_count={"CPU": 2}, graph_options=tf.GraphOptions(optimizer_options=options))
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/cpu:1"):
        positive = tf.boolean_mask(x, x > 0)
        shape = tf.shape(positive)
        again = tf.py_func(lambda v: v * 2, [positive], tf.float32)
    ones = tf.reshape(tf.sin(again), shape) + tf.cast(shape[0], tf.float32)
    with tf.Session(config=config) as sess:
        for fed in ([1.0, -1.0, 2.0], [3.0]):
            kept = 2 * np.array([v for v in fed if v > 0])
            np.testing.assert_allclose(sess.run(ones, {x: fed}), np.sin(kept) + len(kept), rtol=1e-5)


@pytest.mark.parametrize("device", ["/gpu:7", "/cpu:2", "/job:ps/task:1", "/device:TPU:*"])
def test_a_device_that_does_not_exist(graph, device):
    x = tf.placeholder(tf.float32, [2])
    with tf.device(device):
        y = tf.add(x, 1.0, name="y")
    z = tf.sin(x)
    # TensorFlow 2.21's words, for the first of the devices.
    said = (f"Cannot assign a device for operation y: {{{{node y}}}} was explicitly assigned to {y.device} but "
            f"available devices are [ {HERE} ]. Make sure the device specification refers to "
            "a valid device")
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=False)) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(y, {x: [1, 2]})
        assert said in str(caught.value) and caught.value.op is y.op
        assert 'y = tf.add(x, 1.0, name="y")' in str(caught.value)
        assert "Fix: name a device that exists" in str(caught.value)
        sess.run(z, {x: [1, 2]})  # what does not run is not looked at
    for config in (tf.ConfigProto(allow_soft_placement=True), tf.ConfigProto(), None):
        with tf.Session(config=config) as sess:
            assert sess.run(y, {x: [1, 2]}).tolist() == [2.0, 3.0]


def test_functions(two_devices):
    @tf2.function
    def f(x):
        with tf2.device("/cpu:1"):
            y = tf2.sin(x)
        with tf2.device("/gpu:3"):
            return y + x

    v = tf2.Variable([1.0, 2.0])

    @tf2.function
    def update(x):
        with tf2.device("/cpu:1"):
            v.assign_add(tf2.exp(x))
            return v * 2.0

    with tf2.init_scope():
        x = tf2.constant([0.5, 1.0])
        np.testing.assert_allclose(f(x).numpy(), np.sin([0.5, 1.0]) + [0.5, 1.0], rtol=1e-6)
        for _ in range(2):
            doubled = update(x)
        np.testing.assert_allclose(doubled.numpy(), 2 * (np.array([1, 2]) + 2 * np.exp([0.5, 1.0])), rtol=1e-5)
        np.testing.assert_allclose((v + 0.0).numpy(), doubled.numpy() / 2, rtol=1e-6)
        tf2.config.set_soft_device_placement(False)
        again = tf2.function(f.python_function)
        with pytest.raises(tf2.errors.InvalidArgumentError, match="GPU:3 but available devices are"):
            again(x)


def test_placements_are_printed(graph, capsys):
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:0"):
        b = tf.add(a, 1.0, name="b")
    with tf.device("/cpu:1"):
        c = tf.add(a, 1.0, name="c")
    config = tf.ConfigProto(device_count={"CPU": 2}, log_device_placement=True, allow_soft_placement=True)
    with tf.Session(config=config) as sess:
        for _ in range(2):
            assert sess.run([b, c]) == [2.0, 2.0]
    other = HERE.replace("CPU:0", "CPU:1")
    # Recorded from TensorFlow 2.21, constants last.
    assert capsys.readouterr().out.splitlines() == [
        f"b: (AddV2): {HERE}", f"c: (AddV2): {other}", f"a: (Const): {HERE}", f"b/y: (Const): {HERE}",
        f"c/y: (Const): {other}"]


def test_lists_of_devices_agree(graph, two_devices):
    with tf.Session() as sess:
        names = [d.name for d in sess.list_devices()]
        assert repr(sess.list_devices()[0]).startswith(f"_DeviceAttributes({HERE}, CPU, ")
    local = [n[len("/job:localhost/replica:0/task:0") :] for n in names]
    assert [d.name for d in tf.config.list_logical_devices()] == local
    assert [d.name for d in machine.list_local_devices()] == local
    assert local[:2] == ["/device:CPU:0", "/device:CPU:1"]
    assert len(tf.config.list_physical_devices("CPU")) == 1
    gpus = [n for n in local if "GPU" in n]
    assert tf.test.is_gpu_available() == bool(gpus) == bool(tf.config.list_physical_devices("GPU"))
    assert tf.test.gpu_device_name() == (gpus[0] if gpus else "")
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        assert not any("GPU" in d.name for d in sess.list_devices())


def test_dividing_and_hiding(monkeypatch):
    monkeypatch.setattr(placement, "default_placement", placement.Placement())
    monkeypatch.setattr(devices, "_growing", {})
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert tf.config.get_logical_device_configuration(cpu) is None
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    assert len(tf.config.list_logical_devices("CPU")) == 3 == len(tf.Session(graph=tf.Graph()).list_devices())
    assert len(tf.config.get_logical_device_configuration(cpu)) == 3
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:9", "GPU")
    with pytest.raises(ValueError, match=r"GPU:9 cannot be divided(?s:.*)Fix:"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.config.set_visible_devices([], "GPU")
    assert tf.config.get_visible_devices() == [cpu]
    with pytest.raises(ValueError, match=r"The processor cannot be hidden(?s:.*)Fix:"):
        tf.config.set_visible_devices([], "CPU")
    with pytest.raises(ValueError, match=r"Unrecognized device: (?s:.*)GPU:9(?s:.*)Fix:"):
        tf.config.set_visible_devices([gpu])
    with pytest.raises(ValueError, match=r"Some accelerators(?s:.*)Fix:"):
        monkeypatch.setattr(xla, "accelerators", lambda: ["GPU:0", "GPU:1"])
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:1], "GPU")
    tf.config.experimental.set_memory_growth(cpu, True)
    assert tf.config.experimental.get_memory_growth(cpu)


def test_accelerators_come_first(graph, monkeypatch):
    """As far as it can be tested without one: what is asked for, and what is the default."""
    monkeypatch.setattr(xla, "accelerators", lambda: ["GPU:0", "GPU:1"])
    monkeypatch.setattr(xla, "default_name", lambda: "GPU:0")
    a = tf.constant(1.0)
    with tf.device("/gpu:1"):
        b = a + 1.0
    with tf.device("/cpu:0"):
        c = a + 1.0
    with tf.device("/device:GPU:*"):
        d = a + 1.0
    with tf.device("/gpu:5"):
        e = a + 1.0
    ops = [t.op for t in (a, b, c, d, e)]
    assert placement.Placement().assign(ops) == {b.op.index: "GPU:1", c.op.index: "CPU:0"}
    hidden = placement.Placement.of(tf.ConfigProto(device_count={"GPU": 0})).assign(ops)
    assert hidden == dict.fromkeys([o.index for o in ops], "CPU:0")


def test_one_device_costs_nothing():
    code = (
        "import numpy as np, graphgrad.compat.v1 as tf\nfrom graphgrad.executor.backend import xla\n"
        "with tf.Graph().as_default(), tf.device('/gpu:0'), tf.Session() as s:\n"
        "    x = tf.placeholder(tf.float32, [3])\n    s.explain(tf.sin(x), {x: np.ones(3)})\n"
        "    print(len(xla._others), s._entries and [e.executable.plan.homes for e in s._entries.values()])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.stdout == "0 [{}]\n", done.stderr


_STEP = st.tuples(st.sampled_from(["sin", "matmul", "add", "shape", "update", "host", "late", "loop", "constant"]),
                  st.integers(0, 99), st.integers(0, 99), st.integers(0, 2))

settings.register_profile("place", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True,
                          suppress_health_check=list(HealthCheck))


def _grow(steps):
    x = tf.placeholder(tf.float32, [4, 4])
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=np.eye(4, dtype=np.float32))
    tensors = [x]
    for kind, i, j, device in steps:
        a, b = tensors[i % len(tensors)], tensors[j % len(tensors)]
        with tf.device(f"/cpu:{device}"):
            if kind == "sin":
                new = tf.sin(a)
            elif kind == "matmul":
                new = tf.tanh(tf.matmul(a, b))
            elif kind == "add":
                new = a + b * 0.5
            elif kind == "shape":
                new = tf.reshape(a, tf.shape(b)) * 0.5
            elif kind == "update":
                with tf.control_dependencies([b.op]):
                    new = v.assign_add(tf.sin(a)) * 0.5
            elif kind == "host":
                new = tf.sin(tf.py_func(lambda u: u + np.float32(1), [a], tf.float32))
                new.set_shape([4, 4])
            elif kind == "late":
                with tf.control_dependencies([a.op]):
                    new = tf.cos(b)
            elif kind == "loop":
                new = tf.while_loop(lambda k, c: k < 2, lambda k, c, b=b: (k + 1, tf.sin(c) + b + v), [0, a])[1]
            else:
                new = a + tf.constant(np.full((4, 4), i, np.float32))
        tensors.append(new)
    return x, [t for t in tensors[1:] if not t.consumers()] or tensors[-1:]


@settings(settings.get_profile("place"), max_examples=40)
@given(st.lists(_STEP, min_size=3, max_size=20))
def test_random_graphs(steps):
    with Graph().as_default():
        x, fetches = _grow(steps)
        results = []
        for config in (tf.ConfigProto(device_count={"CPU": 3}), None):
            with HostSession(config=config) as sess:
                sess.run(tf.global_variables_initializer())
                values = [sess.run(fetches, {x: np.linspace(-1, 1, 16).reshape(4, 4)}) for _ in range(2)]
                results.append([*values[0], *values[1], *sess.run(tf.global_variables())])
                if config:
                    _check_clusters([p for p in _plans(sess) if any(isinstance(s, Cluster) for s in p.steps)]
                                    or _plans(sess)[:1])
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
