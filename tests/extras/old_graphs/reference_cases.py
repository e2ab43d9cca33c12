"""Programs with reference variables, as TensorFlow 1 built them; see `tests/record/old/old_programs.py`.

Each case builds a graph and gives a dictionary: `outputs`, `feeds` (by name, the values of three runs), `xs` (what the
first output is differentiated by), and where there is one `train`, an operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Case = dict[str, Any]
XS = [[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [0.25, -2.0, 1.5]]
ROWS = [[0, 2], [3, 1], [2, 2]]


def _x(tf: Any, name: str = "x") -> Any:
    return tf.placeholder(tf.float32, [3], name=name)


def _feeds(**more: Any) -> Case:
    return {"x:0": XS, **more}


def assignments(tf: Any) -> Case:
    """Assign, AssignAdd and AssignSub, one after the other; their outputs and later reads."""
    x = _x(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    before = tf.identity(v * x, name="before")
    with tf.control_dependencies([before]):
        added = tf.assign_add(v, x, name="added")
    with tf.control_dependencies([added]):
        subtracted = tf.assign_sub(v, [0.5, 0.5, 0.5])
    y = tf.multiply(subtracted, 2.0)
    with tf.control_dependencies([y]):
        assigned = tf.assign(v, y * 0.25)
    with tf.control_dependencies([assigned]):
        after = v.read_value()
    return {"outputs": [before, y, after], "feeds": _feeds(), "xs": [x, v]}


def bare_reads(tf: Any) -> Case:
    """Operations that take the reference itself, before and after it is changed."""
    x = _x(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    before = tf.raw_ops.Mul(x=v._ref(), y=x)
    with tf.control_dependencies([before]):
        changed = tf.assign_add(v, x)
    with tf.control_dependencies([changed]):
        after = tf.raw_ops.Add(x=v._ref(), y=x)
    with tf.control_dependencies([after]):
        again = tf.assign_add(v, tf.ones([3]))
    with tf.control_dependencies([again]):
        last = tf.raw_ops.Neg(x=v._ref())
    return {"outputs": [before, after, last], "feeds": _feeds(), "xs": [x]}


def old_variable(tf: Any) -> Case:
    """The operation `Variable`, with a shared name and a container."""
    x = _x(tf)
    v = tf.raw_ops.Variable(shape=[3], dtype=tf.float32, container="c", shared_name="s", name="v")
    init = tf.assign(v, [1.0, -1.0, 0.5])
    y = tf.reduce_sum(tf.identity(v) * x * x, name="y")
    return {"outputs": [y], "feeds": _feeds(), "xs": [x], "init": init}


def initialized(tf: Any) -> Case:
    """Whether variables have values."""
    x = _x(tf)
    v, w = tf.Variable(x * 0.0 + 2.0, name="v"), tf.Variable([5.0, 5.0, 5.0], name="w")
    u = tf.Variable(v.initialized_value() * 3.0, name="u")
    is_there = tf.is_variable_initialized(w)
    y = tf.cond(is_there, lambda: w * x, lambda: tf.zeros([3]))
    return {"outputs": [y, is_there, u.read_value()], "feeds": _feeds(), "xs": [x], "init_feeds": {"x:0": XS[0]}}


def scatters(tf: Any) -> Case:
    """The scatters of rows into a reference."""
    rows = tf.placeholder(tf.int32, [2], name="rows")
    v = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2) + 1.0, name="v")
    found = []
    for kind, amount in (("update", 3.0), ("add", 1.0), ("sub", 0.5), ("mul", 2.0), ("div", 4.0), ("min", 2.5),
                         ("max", -1.0)):
        with tf.control_dependencies(found[-1:]):
            new = getattr(tf, f"scatter_{kind}")(v, rows, tf.fill([2, 2], amount))
        with tf.control_dependencies([new]):
            found.append(tf.identity(new + 0.0))
    return {"outputs": found, "feeds": {"rows:0": ROWS}, "xs": []}


def scatters_of_elements(tf: Any) -> Case:
    """The scatters of elements and slices into a reference."""
    rows = tf.placeholder(tf.int32, [2], name="rows")
    v = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2) + 1.0, name="v")
    found = []
    for kind, amount in (("update", 3.0), ("add", 1.0), ("sub", 0.5)):
        with tf.control_dependencies(found[-1:]):
            new = getattr(tf, f"scatter_nd_{kind}")(v, tf.stack([rows, [0, 1]], 1), tf.fill([2], amount))
        with tf.control_dependencies([new]):
            found.append(new + 0.0)
    with tf.control_dependencies(found[-1:]):
        part = v[1:3, 0].assign(tf.cast(rows, tf.float32) * 2.0)
    with tf.control_dependencies([part]):
        found.append(v.read_value() + 0.0)
    return {"outputs": found, "feeds": {"rows:0": ROWS}, "xs": []}


def counting(tf: Any) -> Case:
    """CountUpTo, a global step, and what is computed from both."""
    x = _x(tf)
    v = tf.Variable(0, name="v")
    step = tf.train.get_or_create_global_step()
    n = tf.count_up_to(v, 10)
    with tf.control_dependencies([n]):
        more = tf.assign_add(step, 2)
    with tf.control_dependencies([more]):
        y = x * tf.cast(n, tf.float32) + tf.cast(more + 0, tf.float32)
    return {"outputs": [y, n, more + 0], "feeds": _feeds(), "xs": []}


def temporary(tf: Any) -> Case:
    """A temporary variable, which sums in place."""
    x = _x(tf)
    raw = tf.raw_ops
    v = raw.TemporaryVariable(shape=[3], dtype=tf.float32, var_name="sums")
    first = tf.assign(v, x)
    second = tf.assign_add(first, x * 2.0)
    y = raw.DestroyTemporaryVariable(ref=second, var_name="sums")
    return {"outputs": [y * 2.0, tf.accumulate_n([x, x * 3.0])], "feeds": _feeds(), "xs": []}


def reference_branches(tf: Any) -> Case:
    """Assignments within branches: the references go through RefSwitch."""
    x = _x(tf)
    v, w = tf.Variable([1.0, 1.0, 1.0], name="v"), tf.Variable(0.0, name="w")
    positive = x[0] > 0.0
    result = tf.cond(positive, lambda: tf.assign_add(v, x), lambda: tf.assign(v, x * 2.0))
    done = tf.cond(positive, lambda: tf.group(tf.assign_add(w, 1.0)), lambda: tf.group(tf.assign_sub(w, 5.0)))
    with tf.control_dependencies([result, done]):
        return {"outputs": [v.read_value() * 2.0, w.read_value(), result + 0.0], "feeds": _feeds(), "xs": [x]}


def reference_loop(tf: Any) -> Case:
    """Assignments within a loop: the references go through RefEnter."""
    x = _x(tf)
    v = tf.Variable([1.0, 1.0, 1.0], name="v")

    def body(i: Any, y: Any) -> Any:
        with tf.control_dependencies([y]):
            new = tf.assign_add(v, y * 0.5)
        with tf.control_dependencies([new]):
            return i + 1, y + tf.identity(v._ref())

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, x], parallel_iterations=1)
    with tf.control_dependencies([y]):
        return {"outputs": [y, v.read_value()], "feeds": _feeds(), "xs": []}


def reference_passing(tf: Any) -> Case:
    """RefIdentity, RefSwitch and RefMerge by hand."""
    raw = tf.raw_ops
    x = _x(tf)
    v, w = tf.Variable([1.0, 1.0, 1.0], name="v"), tf.Variable([2.0, 2.0, 2.0], name="w")
    one = raw.AssignAdd(ref=raw.RefIdentity(input=v._ref()), value=x)
    with tf.control_dependencies([one]):
        two = raw.Assign(ref=raw.RefIdentity(input=raw.RefIdentity(input=w._ref())), value=x * 3.0)
    with tf.control_dependencies([two]):
        off, on = raw.RefSwitch(data=v._ref(), pred=x[1] > 0.0)
        merged, which = raw.RefMerge(inputs=[raw.AssignAdd(ref=off, value=x), raw.AssignSub(ref=on, value=x)])
        y = tf.identity(merged) * 2.0
    with tf.control_dependencies([y]):
        return {"outputs": [y, which + 0, v.read_value(), w.read_value()], "feeds": _feeds(), "xs": []}


def other_shapes(tf: Any) -> Case:
    """A variable of any shape, assigned values of other shapes."""
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.Variable([1.0], name="v", validate_shape=False)
    new = tf.assign(v, tf.cast(tf.range(n), tf.float32), validate_shape=False)
    with tf.control_dependencies([new]):
        y = v.read_value() * 2.0
    return {"outputs": [tf.reduce_sum(y), tf.shape(new)], "feeds": {"n:0": [3, 0, 5]}, "xs": []}


def averages(tf: Any) -> Case:
    """Moving averages with a number of updates; streaming metrics in local variables."""
    x = _x(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    step = tf.train.create_global_step()
    average = tf.train.ExponentialMovingAverage(0.9, step, zero_debias=True)
    applied = average.apply([v])
    with tf.control_dependencies([applied]):
        update = tf.group(tf.assign_add(v, x), tf.assign_add(step, 1))
    _, of_mean = tf.metrics.mean(x)
    _, of_right = tf.metrics.accuracy(tf.cast(x > 0.0, tf.int32), [1, 0, 1])
    _, of_area = tf.metrics.auc(x > 0.0, tf.sigmoid(x), num_thresholds=11)
    with tf.control_dependencies([update, of_mean, of_right, of_area]):
        value = average.average(v).read_value() * 1.0
    return {"outputs": [value, of_mean, of_right, of_area], "feeds": _feeds(), "xs": []}


def partitions(tf: Any) -> Case:
    """A partitioned variable, whole and looked up."""
    rows = tf.placeholder(tf.int32, [2], name="rows")
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer())
    y = tf.reduce_sum(tf.nn.embedding_lookup(v, rows, "div") ** 2) + tf.reduce_sum(tf.sin(tf.convert_to_tensor(v)))
    train = tf.train.AdagradOptimizer(0.1).minimize(y)
    return {"outputs": [y, tf.convert_to_tensor(v)], "feeds": {"rows:0": ROWS}, "xs": list(v), "train": train}


def shared(tf: Any) -> Case:
    """Two operations that are one variable, by their shared name; reuse in a scope; a name as a scope's."""
    raw = tf.raw_ops
    x = _x(tf)
    a = raw.VariableV2(shape=[3], dtype=tf.float32, shared_name="same", name="a")
    b = raw.VariableV2(shape=[3], dtype=tf.float32, shared_name="same", name="b")
    init = tf.group(tf.assign(a, [1.0, 2.0, 3.0]))
    with tf.variable_scope("s"):
        u = tf.get_variable("u", [3], initializer=tf.ones_initializer())
    with tf.variable_scope("s", reuse=True):
        again = tf.get_variable("u")
    changed = tf.assign_add(a, x)
    with tf.control_dependencies([changed]):
        y = tf.identity(b) * u + again
    return {"outputs": [y], "feeds": _feeds(), "xs": [x, u], "init": tf.group(init, u.initializer)}


def summaries(tf: Any) -> Case:
    """Summaries, strings and a table beside variables."""
    x = _x(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    loss = tf.reduce_sum((v - x) ** 2, name="loss")
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("v", v)
    merged = tf.summary.merge_all()
    names = tf.as_string(x, precision=2)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.create_global_step())
    return {"outputs": [loss, names, tf.size(merged)], "feeds": _feeds(), "xs": [x, v], "train": train}


def accumulators(tf: Any) -> Case:
    """A control dependency on an initializer; variables that start from each other; integers and booleans."""
    x = _x(tf)
    a = tf.Variable(3, name="a", dtype=tf.int64)
    b = tf.Variable(tf.cast(a.initialized_value(), tf.float32) * 0.5, name="b")
    c = tf.Variable([True, False], name="c")
    with tf.control_dependencies([tf.assign_add(a, 2)]):
        flip = tf.assign(c, tf.logical_not(c))
    with tf.control_dependencies([flip]):
        y = tf.where(tf.reduce_any(c.read_value()[:1]), x * b, x * tf.cast(a.read_value(), tf.float32))
    return {"outputs": [y, tf.identity(flip)], "feeds": _feeds(), "xs": [x, b]}


# -- optimizers ------------------------------------------------------------------------


def _trained(tf: Any, optimizer: Any) -> Case:
    x, rows = _x(tf), tf.placeholder(tf.int32, [2], name="rows")
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]]))
        table = tf.get_variable("table", [4, 2], initializer=tf.constant_initializer(np.arange(8).reshape(4, 2) / 8))
    y = tf.tanh(tf.matmul(x[None], w)) - tf.reduce_mean(tf.gather(table, rows), 0)
    loss = tf.reduce_sum(y ** 2) + 0.1 * tf.nn.l2_loss(w)
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return {"outputs": [loss, w.read_value(), table.read_value()], "feeds": _feeds(**{"rows:0": ROWS}),
            "xs": [x, w, table], "train": train}


def _optimizer(name: str, *args: Any, **kwargs: Any) -> Any:
    def case(tf: Any) -> Case:
        """Training dense and sparse with an optimizer."""
        return _trained(tf, getattr(tf.train, f"{name}Optimizer")(*args, **kwargs))

    return case


def adagrad_da(tf: Any) -> Case:
    """AdagradDA, which takes the number of the step."""
    return _trained(tf, tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()))


def raw_updates(tf: Any) -> Case:
    """The updates of optimizers that have no class."""
    raw = tf.raw_ops
    x = _x(tf)
    made = [tf.Variable([1.0, -2.0, 0.5], name=f"v{i}") for i in range(2)]
    slots = [tf.Variable([0.1, 0.2, 0.3], name=f"m{i}") for i in range(4)]
    refs, s = [v._ref() for v in made], [v._ref() for v in slots]
    done = [raw.ApplyAdaMax(var=refs[0], m=s[0], v=s[1], beta1_power=0.9, lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-6,
                            grad=x),
            raw.ApplyFtrlV2(var=refs[1], accum=s[2], linear=s[3], grad=x, lr=0.1, l1=0.01, l2=0.02, l2_shrinkage=0.03,
                            lr_power=-0.5)]
    with tf.control_dependencies(done):
        return {"outputs": [v.read_value() for v in (*made, *slots)], "feeds": _feeds(), "xs": []}


CASES = {f.__name__: f for f in (
    assignments, bare_reads, old_variable, initialized, scatters, scatters_of_elements, counting, temporary,
    reference_branches, reference_loop, reference_passing, other_shapes, averages, partitions, shared, summaries,
    accumulators, adagrad_da, raw_updates)}
CASES |= {
    "descent": _optimizer("GradientDescent", 0.1),
    "momentum": _optimizer("Momentum", 0.1, 0.9),
    "nesterov": _optimizer("Momentum", 0.1, 0.9, use_nesterov=True),
    "adam": _optimizer("Adam", 0.05),
    "adagrad": _optimizer("Adagrad", 0.1),
    "adadelta": _optimizer("Adadelta", 0.5),
    "rms_prop": _optimizer("RMSProp", 0.05, momentum=0.5),
    "rms_prop_centered": _optimizer("RMSProp", 0.05, centered=True),
    "ftrl": _optimizer("Ftrl", 0.1, l1_regularization_strength=0.01),
    "ftrl_shrinkage": _optimizer("Ftrl", 0.1, l2_shrinkage_regularization_strength=0.01),
    "proximal_descent": _optimizer("ProximalGradientDescent", 0.1, l1_regularization_strength=0.01),
    "proximal_adagrad": _optimizer("ProximalAdagrad", 0.1, l2_regularization_strength=0.01),
}
